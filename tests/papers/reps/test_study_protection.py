import os
import subprocess
import sys

import numpy as np
import pandas as pd

from formalsynth.core.streams import Address
from formalsynth_workflow import PACKAGE
from formalsynth_workflow.papers.reps.methods import METHODS
from formalsynth_workflow.papers.reps.settings import ExperimentSettings
from formalsynth_workflow.papers.reps.stages import OWN_STAGES
from formalsynth_workflow.study import STUDIES
from papers.studies import arms_of, key_of, run

STUDY = STUDIES["protection"]


def test_every_method_is_an_arm():
    assert list(STUDY.arms) == list(METHODS) and len(METHODS) == 11
    assert all(STUDY.arms[name].guarantee == method.guarantee(ExperimentSettings()) for name, method in METHODS.items())


def test_config_gives_settings_as_plain_keys_and_values():
    result = STUDY.settings.model_validate({"dataset": "adult", "settings": {"queries": 500, "strengths": [1, 2]}})
    assert result.dataset == "adult"
    assert result.settings == ExperimentSettings(queries=500, strengths=(1.0, 2.0))
    assert STUDY.settings.model_validate({"dataset": "german"}).settings is None
    assert STUDY.settings.model_json_schema()["properties"]["dataset"]["enum"][0] == "simulated"


def test_data_files_and_captions_follow_the_data_set():
    assert STUDY.requires({"dataset": "adult"}) == ("adult_training", "adult_test")
    assert STUDY.requires({"dataset": "breast_cancer"}) == ()
    assert STUDY.data({"dataset": "simulated"}) == "simulated data"
    assert STUDY.data({"dataset": "german"}) == ""


def test_one_row_for_each_method_and_budget():
    result = run("protection", n=569, dataset="breast_cancer", settings={})
    rows, details = result.rows, result.details
    assert list(rows["synthesizer"]) == [arm.id for arm in arms_of("protection")]
    assert rows.set_index("synthesizer").loc["non_private", "epsilon"] == np.inf
    assert rows["tstr"].between(0, 1).all()
    assert set(details["decile"]) == set(range(1, 11))
    assert rows["n"].lt(569).all(), "n is the number of training records"
    assert "dp_delta" in rows and rows["delta"].isna().all(), "delta is the Lipschitz bound in replicates.csv"
    by_synthesizer = details.groupby("synthesizer", sort=False)["epsilon"]
    pd.testing.assert_series_equal(by_synthesizer.first(), rows.set_index("synthesizer")["epsilon"])


def test_streams_are_those_of_the_integers_that_never_change():
    assert OWN_STAGES["source"] == 8 and sorted(OWN_STAGES.values()) == [*range(8, 16), 17]
    address = Address.of(key_of("protection"), 2)
    for stage, number in {**OWN_STAGES, "bootstrap": 6}.items():
        expected = np.random.default_rng(np.random.SeedSequence([1, 5, 1, 300, 2, number])).random(3)
        assert np.array_equal(address.generator(stage).random(3), expected)


def test_the_plan_reads_the_room_without_pandas_and_scikit_learn():
    code = (
        "import sys; from formalsynth_workflow.papers.reps import files, study_protection, words; "
        "assert not {'pandas', 'sklearn', 'scipy.stats'} & set(sys.modules)"
    )
    subprocess.run([sys.executable, "-c", code], check=True, env=os.environ | {"PYTHONPATH": str(PACKAGE.parent)})
