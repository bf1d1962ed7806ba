import os
from pathlib import Path

import numpy as np
import pytest
from formalsynth.reps.data import simulated
from formalsynth.reps.replicate import Streams, prepare, targets_of
from formalsynth.reps.settings import Settings
from formalsynth.reps.tables import split_table


def streams_of(seed: int) -> Streams:
    return lambda stage: np.random.default_rng([seed, *stage.encode()])


def needs(*files: str) -> pytest.MarkDecorator:
    """Skip, by name, what real data files that are not here would be read by."""
    folder = os.environ.get("FORMALSYNTH_DATA", "resources")
    absent = [file for file in files if not (Path(folder) / file).is_file()]
    return pytest.mark.skipif(bool(absent), reason=f"{', '.join(absent)} not in {folder} (FORMALSYNTH_DATA)")


@pytest.fixture
def generator() -> np.random.Generator:
    return np.random.default_rng(20260301)


@pytest.fixture(scope="session")
def settings() -> Settings:
    return Settings(resamples=100)


@pytest.fixture(scope="session")
def streams() -> Streams:
    return streams_of(7)


@pytest.fixture(scope="session")
def prepared(settings, streams):
    return prepare("simulated", split_table(simulated(streams("source"), n=1000), streams("split")), settings)


@pytest.fixture(scope="session")
def targets(prepared, settings, streams):
    return targets_of(prepared, settings, streams)
