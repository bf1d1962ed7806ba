"""The data and the fits of a batch are the same after a way through a file."""

import sys
from dataclasses import fields, replace
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from small_study import failing_sample, run_batch

from formalsynth import posteriors
from formalsynth.core.arrays import Records
from formalsynth.core.centring import Reference
from formalsynth.core.family import FAMILIES
from formalsynth.core.registry import forget_own, load
from formalsynth.mechanisms.histogram import BinPredictor
from formalsynth.stan.fit import DIAGNOSTICS
from formalsynth_workflow.steps.data import DataBatch
from formalsynth_workflow.steps.fits import Fitted, read_fits, write_fits

DIAGNOSED = dict.fromkeys(DIAGNOSTICS, 1)


@pytest.fixture
def batch(scenario, exact, monkeypatch):
    """A batch of three replicates; the unweighted fit of the second failed, and with it all that build on it."""
    seed = run_batch(scenario, [1]).fits["Unweighted"][0].diagnostics["seed"]
    monkeypatch.setattr(posteriors, "sample", failing_sample(seed))
    return run_batch(scenario, [0, 1, 2])


def same(given, read):
    """True if two values have the same bits."""
    if isinstance(given, dict):
        return list(given) == list(read) and all(same(value, read[name]) for name, value in given.items())
    if isinstance(given, np.ndarray):
        return given.dtype == read.dtype and np.array_equal(given, read, equal_nan=True)
    return given == read or (given != given and read != read)


def assert_same(given, read, where):
    for field in fields(given):
        assert same(getattr(given, field.name), getattr(read, field.name)), f"{where}.{field.name}"


def written(fits, path):
    """Fits after a way through a file."""
    write_fits(path, fits)
    return read_fits(path)


def test_data_are_the_same_after_a_file(batch, tmp_path):
    batch.data.write(tmp_path / "data.npz")
    read = DataBatch.read(tmp_path / "data.npz")
    assert_same(batch.data, read, "data")
    assert_same(batch.data.records(2), read.records(2), "records")


def test_further_columns_of_the_records_are_the_same_after_a_file(tmp_path):
    columns = [{"years": np.arange(3.0) + k, "input": np.ones(3)} for k in range(2)]
    data = DataBatch.of([4, 5], [Records(np.zeros(3), np.ones((3, 1)), its) for its in columns])
    data.write(tmp_path / "data.npz")
    read = DataBatch.read(tmp_path / "data.npz")
    assert_same(data, read, "data")
    assert {name: values.tolist() for name, values in read.records(1).inputs.items()} == {"years": [1, 2, 3], "input": [1, 1, 1]}


def test_fits_are_the_same_after_a_file(batch, tmp_path):
    statuses = {id: [fit.status for fit in fits] for id, fits in batch.fits.items()}
    assert statuses["Unweighted"] == statuses["truncated_0.4_1.8"] == ["ok", "failed", "ok"]
    for id, fits in batch.fits.items():
        for k, (fit, read) in enumerate(zip(fits, written(fits, tmp_path / f"{id}.npz"), strict=True)):
            assert_same(fit, read, f"{id} {k}")


def test_a_reference_and_a_predictor_of_its_own_are_the_same_after_a_file(tmp_path):
    reference = Reference((("beta", (0.5, 1.0)), ("sigma", 2.0)))
    arrays = {"weights": np.ones(2), "sensitive": np.ones(2), "by_record": np.array([0.5, np.inf])}
    censored = Fitted(
        "ok", "", dict.fromkeys(DIAGNOSTICS, 1), {"beta": np.ones((4, 2))}, **arrays, centre=reference.draws, threshold=0.5
    )
    (read,) = written([censored], tmp_path / "fit.npz")
    assert read.owner().form.sensitive.reference == reference
    assert read.owner().form.sensitive.threshold == 0.5
    assert (read.by_record == censored.by_record).all()
    family = FAMILIES["lognormal_regression"]
    assert read.predicts_with(family) is family

    class Release:
        epsilon, predictor = 2.0, BinPredictor(-1.0, 3.0)

    released = replace(censored, epsilon=None).with_release(Release, family)
    (read,) = written([released], tmp_path / "released.npz")
    assert (read.epsilon, read.predicts_with(family)) == (2.0, Release.predictor)


OWN = """
from dataclasses import dataclass
import numpy as np

@dataclass(frozen=True)
class Rounded:
    places: int

    def predict(self, generator, records, draws):
        return np.round(draws["mean"][:, None] + np.zeros(len(records)), self.places)

def local():
    class Inside:
        pass
    return Inside()
"""


def test_a_predictor_of_own_code_is_the_same_after_a_file(tmp_path):
    """In another process, which has run the file, too."""
    own = str(tmp_path / "own.py")
    Path(own).write_text(OWN)
    load([own])
    try:
        module = sys.modules[own]
        release = SimpleNamespace(epsilon=1.0, predictor=module.Rounded(2))
        write_fits(tmp_path / "fit.npz", [Fitted("ok").with_release(release, None)])
        with pytest.raises(TypeError, match=r"cannot be stored .* define its class at the top level of the file"):
            Fitted("ok").with_release(SimpleNamespace(epsilon=1.0, predictor=module.local()), None)
    finally:
        forget_own()
    load([own])
    try:
        (read,) = read_fits(tmp_path / "fit.npz")
        assert read.predicts_with(None) == sys.modules[own].Rounded(2)
    finally:
        forget_own()


def test_an_array_without_values_is_kept(tmp_path):
    (read,) = written([Fitted("ok", draws={"beta": np.ones((4, 2)), "gamma": np.ones((4, 0))})], tmp_path / "fit.npz")
    assert read.draws["gamma"].shape == (4, 0)


def test_a_batch_in_which_every_fit_failed_can_be_read(tmp_path):
    read = written([Fitted("failed", reason, DIAGNOSED) for reason in ("no", "not either")], tmp_path / "fit.npz")
    assert [(fit.status, fit.reason, fit.draws, fit.weights) for fit in read] == [
        ("failed", "no", {}, None), ("failed", "not either", {}, None),
    ]  # fmt: skip
