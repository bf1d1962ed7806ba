"""Studies with settings and arms for tests, run as the workflow runs them."""

import itertools

from formalsynth.core.registry import load
from formalsynth.core.synthesizer import ScenarioKey
from formalsynth_workflow.jobs.inputs import ArmChoice, StudyJob
from formalsynth_workflow.papers.reps.methods import METHODS
from formalsynth_workflow.steps.study import run_study
from formalsynth_workflow.study import STUDIES

MODULES = {
    "zcdp": (
        "study_means", "study_accounting", "study_unknown", "study_coverage", "study_exact", "study_several", "study_losses",
        "study_quantities", "words",
    ),
    "censor_audit": ("study_neighbours", "study_densities", "words"), "cost": ("study_limits", "words"),
    "reps": ("study_protection", "study_scorers", "study_weighting", "words"),
}  # fmt: skip
load([f"formalsynth_workflow.papers.{paper}.{name}" for paper, names in MODULES.items() for name in names])
PLACES = {
    "means": ("zcdp", 4, 1), "accounting": ("zcdp", 4, 2), "unknown": ("zcdp", 4, 3), "coverage": ("zcdp", 4, 4),
    "exact": ("zcdp", 4, 7), "several": ("zcdp", 4, 8), "losses": ("zcdp", 4, 9), "quantities": ("zcdp", 4, 10),
    "neighbours": ("censor", 2, 4), "densities": ("censor", 2, 6), "limits": ("cost", 6, 31), "protection": ("reps", 5, 1),
    "weighting": ("reps", 5, 7), "scorers": ("reps", 5, 18),
}  # fmt: skip
"""Key and number of the paper, and number of the scenario, by study."""
SETTINGS = {
    "means": {"d": 4, "rho": 0.5},
    "accounting": {"d": 4, "delta": 1e-5, "low": 10, "high": 1e6, "points": 26},
    "unknown": {"d": 4, "delta": 1e-5, "low": 10, "high": 1e4, "points": 4},
    "coverage": {"d": 4},
    "exact": {"d": 4, "delta": 1e-5, "low": 10, "high": 1000, "points": 2, "epsilons": 1},
    "several": {"d": 4, "rho": 0.03},
    "losses": {"n_syn": 50, "epsilon": 0.2},
    "quantities": {},
    "neighbours": {"shape1": 0.5, "shape2": 2, "extremes": 3, "closest": 0.001},
    "densities": {"shape1": 0.5, "shape2": 2},
    "limits": {},
    "protection": {"dataset": "simulated", "settings": {"resamples": 100}},
    "weighting": {"dataset": "simulated", "learner": {"name": "naive_bayes"}, "settings": {"resamples": 100}},
    "scorers": {"dataset": "simulated"},
}
SIZES = {"losses": 60, "neighbours": 6, "densities": 150, "limits": 2000, "protection": 300, "weighting": 300, "scorers": 300}
"""Numbers of records; 1000 for others."""


def arm(name, id="", **parameters):
    """Choice of an arm, with its parameters in its id unless one is given."""
    return ArmChoice(id=id or "_".join([name, *(f"{value:g}" for value in parameters.values())]), arm=name, parameters=parameters)


def arms_of(study):
    """Choices of all arms of a study: each with several parameters if it has any."""
    arms = STUDIES[study].arms
    if study == "coverage":
        several = itertools.product(arms, (2, 5, 20), (100, 300, 10_000))
        single = itertools.product(("plugin_t_ppd", "bayes_one_step_t_ppd"), (1,), (100, 300))
        return [arm(name, m=m, n_syn=n_syn) for name, m, n_syn in (*several, *single)]
    if study == "quantities":
        return [arm(name, m=5, n_syn=500) for name in arms]
    if study == "several":
        return [arm(name, correlation=r) for name in arms for r in (0, 0.9)]
    if study == "exact":
        return [arm(name, **({"added": 4} if name == "added" else {})) for name in arms]
    epsilons = {"neighbours": (1.6, 5), "densities": (1.6,), "protection": (0.5, 4), "weighting": (4,), "scorers": (4,)}.get(
        study, ()
    )
    private = {name for name in arms if study != "protection" or METHODS[name].private} - {"posterior", "prior"}
    return [choice for name in arms for choice in ([arm(name, epsilon=e) for e in epsilons if name in private] or [arm(name)])]


def key_of(study, n=None):
    """Key of the scenario of a study."""
    paper, paper_id, number = PLACES[study]
    n = n or SIZES.get(study, 1000)
    return ScenarioKey(paper=paper, paper_id=paper_id, scenario=f"{study}_n{n}", number=number, n=n, root=1)


def run(study, replicates=(0,), arms=None, n=None, **changes):
    """Rows and details of some replicates."""
    job = StudyJob(
        key=key_of(study, n), modules=(), study=study, settings=SETTINGS[study] | changes, arms=tuple(arms or arms_of(study)),
        data_folder="", files={}, replicates=tuple(replicates),
    )  # fmt: skip
    return run_study(job)
