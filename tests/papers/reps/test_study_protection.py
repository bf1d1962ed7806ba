import os
import subprocess
import sys

import numpy as np
import pandas as pd
import pytest
from pydantic import ValidationError

from formalsynth.core.synthesizer import ScenarioKey
from formalsynth_workflow import PACKAGE
from formalsynth_workflow.papers.reps import study_protection, words  # noqa: F401  (register the study and its words)
from formalsynth_workflow.papers.reps.methods import METHODS
from formalsynth_workflow.papers.reps.settings import ExperimentSettings
from formalsynth_workflow.papers.reps.stages import OWN_STAGES
from formalsynth_workflow.study import STUDIES, ChosenArm, Run

STUDY = STUDIES["protection"]
ARMS = [ChosenArm("Non_private", "non_private", {})] + [
    ChosenArm(f"{method}_{epsilon:g}", method, {"epsilon": epsilon})
    for method in METHODS
    if METHODS[method].private
    for epsilon in (0.5, 4)
]


def run_of(replicates, arms=ARMS, dataset="simulated", n=300) -> Run:
    key = ScenarioKey(paper="reps", paper_id=5, scenario=dataset, number=1, n=n, root=1)
    return Run(key, replicates, arms, "")


def test_every_method_is_an_arm_and_private_ones_have_a_budget():
    assert list(STUDY.arms) == list(METHODS) and len(METHODS) == 11
    for name, method in METHODS.items():
        arm = STUDY.arms[name]
        assert list(arm.parameters.model_fields) == (["epsilon"] if method.private else [])
        assert arm.guarantee == method.guarantee(ExperimentSettings())
        assert arm.meaning.endswith(".")
    assert STUDY.arms["reps"].parameters(epsilon=4).epsilon == 4
    for wrong in (0, -1, "4", float("inf")):
        with pytest.raises(ValidationError):
            STUDY.arms["reps"].parameters(epsilon=wrong)


def test_config_gives_settings_as_plain_keys_and_values():
    result = STUDY.settings.model_validate({"dataset": "adult", "settings": {"queries": 500, "strengths": [1, 2]}})
    assert result.dataset == "adult"
    assert result.settings == ExperimentSettings(queries=500, strengths=(1.0, 2.0))
    assert STUDY.settings.model_validate({"dataset": "german"}).settings is None
    assert STUDY.settings.model_json_schema()["properties"]["dataset"]["enum"][0] == "simulated"


@pytest.mark.parametrize(
    ("given", "place"),
    [
        ({}, ("dataset",)),
        ({"dataset": "iris"}, ("dataset",)),
        ({"dataset": "adult", "settings": {"queries": 1}}, ("settings", "queries")),
        ({"dataset": "adult", "settings": {"clip": 0}}, ("settings", "clip")),
        ({"dataset": "adult", "settings": {"tail": 1}}, ("settings", "tail")),
        ({"dataset": "adult", "settings": {"bin": 4}}, ("settings", "bin")),
        ({"dataset": "adult", "size": 4}, ("size",)),
    ],
)
def test_wrong_settings_are_refused_where_they_are(given, place):
    with pytest.raises(ValidationError) as refused:
        STUDY.settings.model_validate(given)
    assert [error["loc"] for error in refused.value.errors()] == [place]


def test_data_files_and_captions_follow_the_data_set():
    assert STUDY.requires({"dataset": "adult"}) == ("adult_training", "adult_test")
    assert STUDY.requires({"dataset": "breast_cancer"}) == ()
    assert STUDY.data({"dataset": "simulated"}) == "simulated data"
    assert STUDY.data({"dataset": "german"}) == ""


def test_one_row_for_each_method_and_budget():
    result = STUDY.function(run_of([0], dataset="breast_cancer", n=569), dataset="breast_cancer")
    rows, details = result.rows, result.details
    assert list(rows["synthesizer"]) == [arm.id for arm in ARMS]
    assert rows.set_index("synthesizer").loc["Non_private", "epsilon"] == np.inf
    assert rows["tstr"].between(0, 1).all()
    assert set(details["decile"]) == set(range(1, 11))
    assert rows["n"].lt(569).all(), "n is the number of training records"
    assert {"dp_delta"} <= set(rows) and "delta" not in rows, "delta is the Lipschitz bound in replicates.csv"
    by_synthesizer = details.groupby("synthesizer", sort=False)["epsilon"]
    pd.testing.assert_series_equal(by_synthesizer.first(), rows.set_index("synthesizer")["epsilon"])


def test_grouping_of_replicates_changes_no_number():
    settings, arms = ExperimentSettings(resamples=100), [arm for arm in ARMS if arm.id in ("Non_private", "reps_4")]
    together = STUDY.function(run_of([3, 4], arms), dataset="simulated", settings=settings)
    apart = [STUDY.function(run_of([replicate], arms), dataset="simulated", settings=settings) for replicate in (3, 4)]
    for name in ("rows", "details"):
        expected = pd.concat([getattr(part, name) for part in apart], ignore_index=True)
        pd.testing.assert_frame_equal(
            getattr(together, name).drop(columns="seconds", errors="ignore"),
            expected.drop(columns="seconds", errors="ignore"),
        )


def test_streams_are_those_of_the_integers_that_never_change():
    assert OWN_STAGES["source"] == 8 and sorted(OWN_STAGES.values()) == list(range(8, 16))
    address = run_of([0]).address(2)
    for stage, number in {**OWN_STAGES, "bootstrap": 6}.items():
        expected = np.random.default_rng(np.random.SeedSequence([1, 5, 1, 300, 2, number])).random(3)
        assert np.array_equal(address.generator(stage).random(3), expected)


def test_the_plan_reads_the_room_without_pandas_and_scikit_learn():
    code = (
        "import sys; from formalsynth_workflow.papers.reps import files, study_protection, words; "
        "assert not {'pandas', 'sklearn', 'scipy.stats'} & set(sys.modules)"
    )
    subprocess.run([sys.executable, "-c", code], check=True, env=os.environ | {"PYTHONPATH": str(PACKAGE.parent)})
