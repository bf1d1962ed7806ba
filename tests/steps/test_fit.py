"""Fit: result replicate on its own, with a reason where it fails."""

import numpy as np
import pytest
from formalsynth.core.weights import lipschitz_weights
from formalsynth.stan.fit import DIAGNOSTICS, Fit
from formalsynth.steps import fit as step
from small_study import exact_sample, run_batch, small_paper


@pytest.fixture
def exact(monkeypatch):
    """The exact posterior in place of CmdStan."""
    monkeypatch.setattr(step, "sample", exact_sample)


@pytest.fixture
def scenario(tmp_path):
    return small_paper(tmp_path).scenarios["skewed_n60"]


@pytest.mark.usefixtures("exact")
def test_a_fit_has_draws_and_diagnostics_of_every_replicate(scenario):
    fitted = run_batch(scenario, [0, 1, 2])[1]
    fits = {id: result.fit for id, result in fitted.items()}
    assert list(fits) == ["Unweighted", "Weighted", "averaged_0.4_1.8", "nothing"]
    for id in ("Unweighted", "Weighted", "averaged_0.4_1.8"):
        fit = fits[id]
        assert fit.status.tolist() == ["ok"] * 3
        assert [fit.ok(k) for k in range(3)] == [True] * 3
        assert fit.draws["beta"].shape == (3, 200, 2)
        assert fit.draws["sigma"].shape == (3, 200)
        assert set(DIAGNOSTICS) == set(fit.diagnostics)
        assert all(values.shape == (3,) for values in fit.diagnostics.values())
    assert len({fit.diagnostics["seed"][k] for fit in fits.values() for k in range(3) if fit.ok(k)}) == 9


@pytest.mark.usefixtures("exact")
def test_weights_come_from_the_parent(scenario):
    for k in range(2):
        fitted = run_batch(scenario, [0, 1], sample=k)[1]
        weights = {id: result.measure.sample.weights for id, result in fitted.items() if result.measure.sample}
        alpha = lipschitz_weights(fitted["Unweighted"].measure.members["Unweighted"].by_record[k])
        known = fitted["averaged_0.4_1.8"].fit.cache_of(k).outside_share
        assert (weights["Unweighted"] == 1).all()
        assert (weights["Weighted"] == alpha).all()
        assert weights["averaged_0.4_1.8"] == pytest.approx(known + (1 - known) * alpha)
        assert 0 < known.mean() < 1


@pytest.mark.usefixtures("exact")
def test_weights_that_leave_nothing_to_fit_are_a_failure_with_a_reason(scenario):
    _, fitted, rows = run_batch(scenario, [0, 1])
    fit = fitted["nothing"].fit
    assert fit.status.tolist() == ["failed"] * 2
    assert not fit.ok(0)
    assert "too few records" in fit.reason[0]
    assert rows["nothing"]["reason"].str.contains("too few records").all()
    assert rows["nothing"][["delta", "epsilon", "mean", "ecdf_avg"]].isna().to_numpy().all()


def test_a_failed_replicate_is_a_reason_for_its_children_and_nobody_else(scenario, monkeypatch):
    seeds = run_seeds(scenario, monkeypatch)

    def failing(executable, data, inits, parameters, seed, settings):
        if seed == seeds[1]:
            return Fit("failed", "gate: R-hat 1.900 above 1.05", {}, seed, 1.9, 3.0, 4.0, 7, 8, 3, 0.5)
        return exact_sample(executable, data, inits, parameters, seed, settings)

    monkeypatch.setattr(step, "sample", failing)
    _, fitted, rows = run_batch(scenario, [0, 1, 2])
    fit = fitted["Unweighted"].fit
    assert fit.status.tolist() == ["ok", "failed", "ok"]
    assert np.isnan(fit.draws["beta"][1]).all()
    assert np.isfinite(fit.draws["beta"][[0, 2]]).all()
    row = rows["Unweighted"].iloc[1]
    assert (row["status"], row["reason"]) == ("failed", "gate: R-hat 1.900 above 1.05")
    assert (row["rhat_max"], row["divergences"], row["treedepth_hits"], row["attempts"]) == (1.9, 7, 8, 3)
    for child in ("Weighted", "averaged_0.4_1.8"):
        assert fitted[child].fit.status.tolist() == ["ok", "failed", "ok"]
        assert fitted[child].fit.reason[1] == "its parent Unweighted failed"
        assert set(rows[child].loc[rows[child]["replicate"] == 1, "status"]) == {"failed"}
        assert len(rows[child]) == 3 * len(scenario.members(child))
    monkeypatch.setattr(step, "sample", exact_sample)
    undisturbed = run_batch(scenario, [0, 1, 2])[1]["Weighted"].measure
    measured = fitted["Weighted"].measure
    assert list(measured.members) == list(undisturbed.members)
    for id, member in undisturbed.members.items():
        for name, values in vars(member).items():
            assert (getattr(measured.members[id], name)[[0, 2]] == values[[0, 2]]).all(), (id, name)
    assert (measured.sample.values == undisturbed.sample.values).all()
    assert (measured.sample.sets == undisturbed.sample.sets).all()


def run_seeds(scenario, monkeypatch):
    """Stan seeds of the unweighted fits."""
    monkeypatch.setattr(step, "sample", exact_sample)
    return run_batch(scenario, [0, 1, 2])[1]["Unweighted"].fit.diagnostics["seed"].tolist()


def test_a_batch_of_failures_is_a_batch(scenario, monkeypatch):
    monkeypatch.setattr(step, "sample", lambda *given: Fit("failed", "CmdStan stopped: no reason", seed=given[4]))
    _, fitted, rows = run_batch(scenario, [0, 1])
    for id, result in fitted.items():
        assert result.fit.status.tolist() == ["failed"] * 2, id
        assert (rows[id]["reason"] != "").all()


@pytest.mark.usefixtures("exact")
def test_numbers_do_not_depend_on_the_batch(scenario):
    together, alone = run_batch(scenario, [0, 1, 2]), run_batch(scenario, [2])
    assert_same_replicate(together, 2, alone, 0)


@pytest.mark.stan
def test_numbers_from_stan_do_not_depend_on_the_batch(scenario, program):
    together, alone = run_batch(scenario, [0, 1], program), run_batch(scenario, [1], program)
    assert together[1]["Weighted"].fit.status.tolist() == ["ok", "ok"]
    assert_same_replicate(together, 1, alone, 0)


def assert_same_replicate(batch, k, other, j):
    """Fits, measures and rows of a replicate in two batches, apart from the time that they took."""
    assert list(batch[1]) == list(other[1])
    for id in other[1]:
        here, there = arrays_of(batch[1][id]), arrays_of(other[1][id])
        assert list(here) == list(there), id
        for name, values in there.items():
            assert np.array_equal(here[name][k], values[j], equal_nan=values.dtype.kind == "f"), (id, name)
    for id, rows in other[2].items():
        replicate = rows["replicate"].iloc[0]
        here = batch[2][id][batch[2][id]["replicate"] == replicate].drop(columns="seconds").reset_index(drop=True)
        there = rows.drop(columns="seconds").reset_index(drop=True)
        assert here.to_csv() == there.to_csv(), id


def arrays_of(fitted):
    """Every array of a fit that has the replicates along its first axis, by a name of its own."""
    fit, members = fitted.fit, fitted.measure.members
    arrays = {"status": fit.status, "reason": fit.reason}
    arrays |= {f"diagnostic {name}": values for name, values in fit.diagnostics.items() if name != "seconds"}
    arrays |= {f"draws of {name}": values for name, values in fit.draws.items()}
    arrays |= {f"cache {name}": values for name, values in fit.cache.items()}
    return arrays | {f"{name} of {id}": values for id, member in members.items() for name, values in vars(member).items()}
