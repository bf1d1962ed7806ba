"""Fit: each replicate on its own, with a reason where it fails."""

from dataclasses import fields

import numpy as np
import pytest
from small_study import exact_sample, failing_sample, run_batch

from formalsynth import posteriors
from formalsynth.core.weights import lipschitz_weights
from formalsynth.stan.fit import DIAGNOSTICS, Fit


def statuses(fits):
    return [fit.status for fit in fits]


@pytest.mark.usefixtures("exact")
def test_a_fit_has_draws_and_diagnostics_of_every_replicate(scenario):
    fits = run_batch(scenario, [0, 1, 2]).fits
    assert list(fits) == list(scenario.synthesizers)
    for id in ("Unweighted", "Weighted", "averaged_0.4_1.8"):
        assert statuses(fits[id]) == ["ok"] * 3
        for fit in fits[id]:
            assert fit.draws["beta"].shape == (200, 2)
            assert fit.draws["sigma"].shape == (200,)
            assert set(fit.diagnostics) == set(DIAGNOSTICS)
    own = [id for id, synthesizer in scenario.synthesizers.items() if synthesizer.fit == id]
    assert len({fit.diagnostics["seed"] for id in own for fit in fits[id] if fit.ok}) == 9


@pytest.mark.usefixtures("exact")
def test_who_shares_a_fit_has_its_draws_and_its_diagnostics(scenario):
    fits = run_batch(scenario, [0, 1]).fits
    for shared, own in zip(fits["truncated_0.4_1.8"], fits["Weighted"], strict=True):
        assert all((shared.draws[name] == values).all() for name, values in own.draws.items())
        assert shared.diagnostics == own.diagnostics
        assert (shared.weights == own.weights).all()
        assert shared.delta != own.delta


@pytest.mark.usefixtures("exact")
def test_weights_come_from_the_parent(scenario):
    fits = run_batch(scenario, [0, 1]).fits
    for k in range(2):
        alpha = lipschitz_weights(fits["Unweighted"][k].by_record)
        known = fits["averaged_0.4_1.8"][k].outside_share
        assert (fits["Unweighted"][k].weights == 1).all()
        assert (fits["Weighted"][k].weights == alpha).all()
        assert fits["averaged_0.4_1.8"][k].weights == pytest.approx(known + (1 - known) * alpha)
        assert 0 < known.mean() < 1


@pytest.mark.usefixtures("exact")
def test_weights_that_leave_nothing_to_fit_are_a_failure_with_a_reason(scenario):
    batch = run_batch(scenario, [0, 1])
    assert statuses(batch.fits["nothing"]) == ["failed"] * 2
    assert all("too few records" in fit.reason for fit in batch.fits["nothing"])
    rows = batch.rows["nothing"]
    assert rows["reason"].str.contains("too few records").all()
    assert rows[["delta", "epsilon", "mean", "ecdf_avg"]].isna().to_numpy().all()


def test_a_failed_replicate_is_a_reason_for_its_children_and_nobody_else(scenario, monkeypatch):
    seeds = run_seeds(scenario, monkeypatch)

    monkeypatch.setattr(posteriors, "sample", failing_sample(seeds[1]))
    batch = run_batch(scenario, [0, 1, 2])
    assert statuses(batch.fits["Unweighted"]) == ["ok", "failed", "ok"]
    row = batch.rows["Unweighted"].iloc[1]
    assert (row["status"], row["reason"]) == ("failed", "gate: R-hat 1.900 above 1.05")
    assert (row["rhat_max"], row["divergences"], row["treedepth_hits"], row["attempts"]) == (1.9, 7, 8, 3)
    for child in ("Weighted", "truncated_0.4_1.8", "averaged_0.4_1.8"):
        assert statuses(batch.fits[child]) == ["ok", "failed", "ok"]
        assert batch.fits[child][1].reason == "its parent Unweighted failed"
        assert batch.rows[child]["status"].tolist() == ["ok", "failed", "ok"]
    monkeypatch.setattr(posteriors, "sample", exact_sample)
    undisturbed = run_batch(scenario, [0, 1, 2])
    for id, fits in undisturbed.fits.items():
        for k in (0, 2):
            assert_same(batch.fits[id][k], fits[k])
    for name, part in undisturbed.sample["Weighted"].items():
        assert part.equals(batch.sample["Weighted"][name])


def run_seeds(scenario, monkeypatch):
    """Stan seeds of the unweighted fits."""
    monkeypatch.setattr(posteriors, "sample", exact_sample)
    return [fit.diagnostics["seed"] for fit in run_batch(scenario, [0, 1, 2]).fits["Unweighted"]]


def test_a_batch_of_failures_is_a_batch(scenario, monkeypatch):
    monkeypatch.setattr(posteriors, "sample", lambda *given: Fit("failed", "CmdStan stopped: no reason", seed=given[4]))
    batch = run_batch(scenario, [0, 1])
    for id, fits in batch.fits.items():
        assert statuses(fits) == ["failed"] * 2, id
        assert (batch.rows[id]["reason"] != "").all()


@pytest.mark.usefixtures("exact")
def test_numbers_do_not_depend_on_the_batch(scenario):
    together, alone = run_batch(scenario, [0, 1, 2]), run_batch(scenario, [2])
    assert_same_replicate(together, 2, alone, 0)


def assert_same_replicate(batch, k, other, j):
    """Fits and rows of a replicate in two batches, apart from the time that they took."""
    for id, fits in other.fits.items():
        assert_same(batch.fits[id][k], fits[j])
        here, there = (result.rows[id].iloc[[at]].drop(columns="seconds") for result, at in ((batch, k), (other, j)))
        assert here.to_csv(index=False) == there.to_csv(index=False), id


def assert_same(fit, other):
    """Two results, apart from the time that they took."""
    for field in fields(fit):
        here, there = getattr(fit, field.name), getattr(other, field.name)
        if isinstance(here, dict):
            assert set(here) == set(there)
            assert all(np.array_equal(here[name], there[name], equal_nan=True) for name in here if name != "seconds"), field.name
        else:
            assert np.array_equal(here, there), field.name
