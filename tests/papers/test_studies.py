"""All studies: the same rows however the replicates are grouped, words for their arms, and settings that are refused."""

import pandas as pd
import pytest
from pydantic import ValidationError

from formalsynth.core.words import GUARANTEES
from formalsynth_workflow.study import STUDIES
from papers.studies import SETTINGS, arm, arms_of, run

PARAMETERS = {
    "coverage": ["m", "n_syn"],
    "limits": ["parameters", "epsilon"],
    "neighbours": ["epsilon"],
    "protection": ["epsilon"],
    "quantities": ["m", "n_syn"],
    "scorers": ["epsilon"],
    "several": ["correlation"],
    "weighting": ["epsilon", "strength", "share", "cap"],
}
"""Parameters of arms, by study; other arms have none."""
WITHOUT = {"posterior", "non_private"}
"""Arms of the same studies without parameters."""
FEW = {
    "protection": [arm("non_private"), arm("reps", epsilon=4)],
    "weighting": [arm("whole", epsilon=4), arm("hinge", epsilon=4), arm("random", epsilon=4)],
}


@pytest.mark.parametrize(
    "study", ["means", "coverage", "losses", "quantities", "neighbours", "protection", "weighting", "scorers"]
)
def test_grouping_of_replicates_and_other_arms_change_no_number(study):
    arms = FEW.get(study) or arms_of(study)
    together = run(study, [0, 1, 2], arms)
    chosen = arms[-2:]
    for name in ("rows", "details") if study in FEW else ("rows",):
        parts = [getattr(run(study, [k], given), name) for k, given in ((0, arms), (1, arms), (2, chosen))]
        apart, whole = pd.concat(parts), getattr(together, name)
        kept = (whole["replicate"] < 2) | whole["synthesizer"].isin([choice.id for choice in chosen])
        tables = [
            table.drop(columns="seconds", errors="ignore").sort_values(["replicate", "synthesizer"], kind="stable")
            for table in (whole[kept], apart)
        ]
        pd.testing.assert_frame_equal(*(table.reset_index(drop=True) for table in tables))


@pytest.mark.parametrize("study", SETTINGS)
def test_arms_say_what_they_are(study):
    for name, entry in STUDIES[study].arms.items():
        assert entry.meaning
        assert entry.guarantee.partition(" | ")[0] in {*GUARANTEES, "none"}
        expected = PARAMETERS.get(study, {"censored": ["epsilon"], "added": ["added"]}.get(name, []) if study != "losses" else [])
        assert list(entry.parameters.model_fields) == ([] if name in WITHOUT else expected)


@pytest.mark.parametrize(
    ("study", "changes", "key"),
    [
        ("coverage", {"d": ...}, ("d",)),
        ("coverage", {"d": 0}, ("d",)),
        ("coverage", {"e": 1}, ("e",)),
        ("coverage", {"level": 1}, ("level",)),
        ("means", {"rho": -1}, ("rho",)),
        ("means", {"m": 1.5}, ("m",)),
        ("accounting", {"delta": 1}, ("delta",)),
        ("accounting", {"low": 0}, ("low",)),
        ("unknown", {"high": 10}, ("high",)),
        ("neighbours", {"shape1": 0}, ("shape1",)),
        ("neighbours", {"closest": 1}, ("closest",)),
        ("neighbours", {"extremes": 1}, ("extremes",)),
        ("neighbours", {"share": 0}, ("share",)),
        ("neighbours", {"other": 1}, ("other",)),
        ("protection", {"dataset": ...}, ("dataset",)),
        ("protection", {"dataset": "iris"}, ("dataset",)),
        ("protection", {"settings": {"queries": 1}}, ("settings", "queries")),
        ("protection", {"settings": {"clip": 0}}, ("settings", "clip")),
        ("protection", {"settings": {"tail": 1}}, ("settings", "tail")),
        ("protection", {"settings": {"bin": 4}}, ("settings", "bin")),
        ("protection", {"size": 4}, ("size",)),
        ("weighting", {"learner": {"name": "forest"}}, ("learner", "name")),
        ("weighting", {"learner": {"name": "dp_sgd", "rate": 1}}, ("learner", "rate")),
        ("weighting", {"scorer": "oracle"}, ("scorer",)),
    ],
)
def test_settings_that_make_no_sense_are_refused(study, changes, key):
    settings = {name: value for name, value in (SETTINGS[study] | changes).items() if value is not ...}
    with pytest.raises(ValidationError) as error:
        STUDIES[study].settings.model_validate(settings)
    assert {problem["loc"] for problem in error.value.errors()} == {key}


@pytest.mark.parametrize(
    ("study", "name", "parameters"),
    [
        ("coverage", "bayes_t_f", {"m": 1}),
        ("coverage", "bayes_t_f", {"m": 0, "n_syn": 10}),
        ("coverage", "bayes_t_f", {"m": 2, "n_syn": 1}),
        ("coverage", "bayes_t_f", {"m": 2.5, "n_syn": 10}),
        *(("protection", "reps", {"epsilon": epsilon}) for epsilon in (0, -1, "4", float("inf"))),
        ("neighbours", "unweighted", {"epsilon": 0}),
        ("weighting", "hinge", {"epsilon": 1, "share": 1}),
        ("weighting", "equalize", {"epsilon": 1, "cap": 0}),
    ],
)  # fmt: skip
def test_parameters_of_arms_that_make_no_sense_are_refused(study, name, parameters):
    with pytest.raises(ValidationError):
        STUDIES[study].arms[name].parameters.model_validate(parameters)
