"""Batches are the same after a way through a file."""

from dataclasses import fields, is_dataclass, replace

import numpy as np
import pytest
from formalsynth.core.arrays import Records
from formalsynth.stan.fit import Fit
from formalsynth.steps import fit as fit_step
from formalsynth.steps.batch import FitBatch, MeasureBatch
from formalsynth.steps.data import DataBatch
from small_study import exact_sample, run_batch, small_paper


@pytest.fixture
def batch(tmp_path, monkeypatch):
    """A batch of three replicates; the unweighted fit of the second failed, and with it all that build on it."""
    monkeypatch.setattr(fit_step, "sample", exact_sample)
    scenario = small_paper(tmp_path).scenarios["skewed_n60"]
    seeds = run_batch(scenario, [0, 1, 2])[1]["Unweighted"].fit.diagnostics["seed"]

    def failing(executable, data, inits, parameters, seed, settings):
        if seed == seeds[1]:
            return Fit("failed", "gate: R-hat 1.900 above 1.05", {}, seed, 1.9, 3.0, 4.0, 7, 8, 3, 0.5)
        return exact_sample(executable, data, inits, parameters, seed, settings)

    monkeypatch.setattr(fit_step, "sample", failing)
    return run_batch(scenario, [0, 1, 2])


def assert_same(given, read, where):
    """Two batches, or parts of them, with the same bits and the same types."""
    assert type(given) is type(read), where
    if is_dataclass(given):
        for field in fields(given):
            assert_same(getattr(given, field.name), getattr(read, field.name), f"{where}.{field.name}")
    elif isinstance(given, dict):
        assert list(given) == list(read), where
        for name, value in given.items():
            assert_same(value, read[name], f"{where}[{name}]")
    elif isinstance(given, np.ndarray):
        assert given.dtype == read.dtype, where
        assert np.array_equal(given, read, equal_nan=given.dtype.kind == "f"), where
    else:
        assert given == read, where


def written(part, path):
    """A part of a batch after a way through a file."""
    part.write(path)
    return type(part).read(path)


def test_data_are_the_same_after_a_file(batch, tmp_path):
    data = batch[0]
    read = written(data, tmp_path / "data.npz")
    assert isinstance(read, DataBatch)
    assert_same(data, read, "data")
    assert_same(data.records(2), read.records(2), "records")


def test_further_columns_of_the_records_are_the_same_after_a_file(tmp_path):
    columns = [{"years": np.arange(3.0) + k, "input": np.ones(3)} for k in range(2)]
    data = DataBatch.of([4, 5], [Records(np.zeros(3), np.ones((3, 1)), its) for its in columns])
    read = written(data, tmp_path / "data.npz")
    assert_same(data, read, "data")
    assert {name: values.tolist() for name, values in read.records(1).inputs.items()} == {"years": [1, 2, 3], "input": [1, 1, 1]}
    assert data.digest != DataBatch(data.replicate, data.x, data.design).digest


def test_a_fit_is_the_same_after_a_file(batch, tmp_path):
    statuses = {id: result.fit.status.tolist() for id, result in batch[1].items()}
    assert statuses["Unweighted"] == statuses["averaged_0.4_1.8"] == ["ok", "failed", "ok"]
    for id, result in batch[1].items():
        read = written(result.fit, tmp_path / f"{id}.fit.npz")
        assert isinstance(read, FitBatch)
        assert_same(result.fit, read, id)
        for k in range(3):
            assert read.ok(k) == result.fit.ok(k)
            assert_same(result.fit.draws_of(k), read.draws_of(k), f"{id} {k}")
            assert_same(result.fit.cache_of(k), read.cache_of(k), f"{id} {k}")


def test_what_was_measured_is_the_same_after_a_file(batch, tmp_path):
    measured = batch[1]["Weighted"].measure
    assert list(measured.members) == ["Weighted", "truncated_0.4_1.8"]
    assert np.isnan(measured.members["Weighted"].by_record).all(axis=1).tolist() == [False, True, False]
    assert measured.sample is not None
    assert batch[1]["nothing"].measure.sample is None
    for id, result in batch[1].items():
        read = written(result.measure, tmp_path / f"{id}.measure.npz")
        assert isinstance(read, MeasureBatch)
        assert_same(result.measure, read, id)


def test_a_digest_tells_what_is_in_a_batch_apart_from_the_time_it_took(batch):
    data, fitted, _ = batch
    result = fitted["Weighted"]
    later = replace(result.fit, diagnostics={**result.fit.diagnostics, "seconds": result.fit.diagnostics["seconds"] + 1})
    assert later.digest == result.fit.digest
    other = replace(result.fit, draws={**result.fit.draws, "sigma": np.nextafter(result.fit.draws["sigma"], 9)})
    assert other.digest != result.fit.digest
    assert replace(result.measure, sample=None).digest == result.measure.digest
    batches = [data, *(part for result in fitted.values() for part in (result.fit, result.measure))]
    assert len({part.digest for part in batches}) == len(batches)
