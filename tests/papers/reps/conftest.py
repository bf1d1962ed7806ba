from typing import Literal

import numpy as np
import pandas as pd
import pytest

from formalsynth_workflow.papers.reps.attacks import Targets
from formalsynth_workflow.papers.reps.datasets import simulated
from formalsynth_workflow.papers.reps.evaluation import Classifier, auroc
from formalsynth_workflow.papers.reps.prepare import Prepared, prepare
from formalsynth_workflow.papers.reps.release import Replicate
from formalsynth_workflow.papers.reps.settings import ExperimentSettings
from formalsynth_workflow.papers.reps.stages import Streams
from formalsynth_workflow.papers.reps.tables import Table, encode, split_table


def streams_of(seed: int) -> Streams:
    return lambda stage: np.random.default_rng([seed, *stage.encode()])


def frame_of(table: Table) -> pd.DataFrame:
    """The records with the names and values of the schema."""
    schema = table.schema
    columns = {column.name: table.continuous[:, j] for j, column in enumerate(schema.continuous)}
    columns |= {column.name: np.array(column.values)[table.categories[:, j]] for j, column in enumerate(schema.categorical)}
    return pd.DataFrame(columns | {schema.label.name: np.array(schema.label.values)[table.label]})


def tstr(prepared: Prepared, synthetic: Table, part: Literal["validation", "test"]) -> float:
    """AUROC on real records of a classifier trained on synthetic ones, without anything that is kept."""
    real = prepared.split.part(part)
    return auroc(
        real.label, Classifier.trained(encode(synthetic, prepared.space), synthetic.label).scores(encode(real, prepared.space))
    )


@pytest.fixture
def generator() -> np.random.Generator:
    return np.random.default_rng(20260301)


@pytest.fixture(scope="session")
def settings() -> ExperimentSettings:
    return ExperimentSettings(resamples=100)


@pytest.fixture(scope="session")
def streams() -> Streams:
    return streams_of(7)


@pytest.fixture(scope="session")
def prepared(settings, streams) -> Prepared:
    return prepare("simulated", split_table(simulated(streams("source"), n=1000), streams("split")), settings)


@pytest.fixture(scope="session")
def replicate(prepared, settings, streams) -> Replicate:
    return Replicate(prepared, settings, streams)


@pytest.fixture(scope="session")
def targets(replicate) -> Targets:
    return replicate.targets
