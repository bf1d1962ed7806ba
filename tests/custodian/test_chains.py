"""The chains of a release: known from its seed, which the list of processes shows, nobody can draw one again."""

from pathlib import Path

import numpy as np
import pytest
from formalsynth.core.family import FAMILIES
from formalsynth.core.job import SamplerSettings
from formalsynth.custodian.candidates import fit, read_study, secretly_moved
from formalsynth.custodian.records import made_up, records_of
from formalsynth.custodian.schema import read_declared


def test_the_start_of_a_chain_is_secret_and_next_to_where_it_was():
    start = {"mu": 3.0, "theta": np.array([1.0, -2.0, 0.0]), "correlation_factor": np.eye(2)}
    first, second = secretly_moved(start), secretly_moved(start)
    for name, values in start.items():
        assert first[name] == pytest.approx(values, rel=1e-9, abs=0)
        assert (first[name] != second[name]).sum() == np.count_nonzero(values)


def test_every_chain_on_a_file_starts_there(income_study, monkeypatch):
    starts = []

    def sample(executable, data, inits, *_):
        starts.append((FAMILIES["lognormal_regression"].inits(data), inits))
        raise ValueError("not sampled")

    monkeypatch.setattr("formalsynth.steps.fit.sample", sample)
    declared = read_declared(income_study)
    table = made_up(declared.schema, np.random.default_rng(0))
    candidates = fit(
        declared, read_study(declared), records_of(declared.schema, table), Path("none"), ["Unweighted"], SamplerSettings()
    )
    assert candidates["Unweighted"].reason == "not sampled"
    assert len(starts) == 1
    for known, used in starts:
        assert set(known) == set(used)
        assert any(np.any(np.asarray(known[name]) != used[name]) for name in known)
