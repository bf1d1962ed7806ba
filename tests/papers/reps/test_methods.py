from formalsynth_workflow.papers.reps.methods import METHODS
from formalsynth_workflow.papers.reps.settings import ExperimentSettings


def test_guarantees_name_what_is_outside_the_budget():
    paper, clean = ExperimentSettings(), ExperimentSettings(standardise="declared", threshold_from="marginals", strengths=(1.0,))
    assert METHODS["non_private"].guarantee(paper) == "none"
    assert METHODS["uniform"].guarantee(paper) == "(eps, delta)-DP (add/remove) | fixed standardisation"
    assert METHODS["reps"].guarantee(paper) == "(eps, delta)-DP (add/remove) | fixed standardisation, tau, lam"
    assert METHODS["reps"].guarantee(clean) == "(eps, delta)-DP (add/remove)"
    assert METHODS["random_downweighting"].guarantee(clean).endswith("fixed shuffled weights")
