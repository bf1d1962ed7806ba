"""Fit: each replicate on its own, with a reason where it fails."""

import numpy as np
import pytest
from formalsynth.sampler import DIAGNOSTICS, Fit
from formalsynth.steps import fit as step
from formalsynth.weights import lipschitz_weights
from small_study import exact_sample, run_batch, small_paper


@pytest.fixture
def exact(monkeypatch):
    """The exact posterior in place of CmdStan."""
    monkeypatch.setattr(step, "sample", exact_sample)


@pytest.fixture
def scenario(tmp_path):
    return small_paper(tmp_path).scenarios["skewed_n60"]


@pytest.mark.usefixtures("exact")
def test_a_fit_has_draws_weights_and_diagnostics_of_every_replicate(scenario):
    _, fits, _, _ = run_batch(scenario, [0, 1, 2])
    assert list(fits) == ["Unweighted", "Weighted", "averaged_0.4_1.8", "nothing"]
    for id in ("Unweighted", "Weighted", "averaged_0.4_1.8"):
        one = fits[id]
        assert one["status"].tolist() == ["ok"] * 3
        assert one["draw:beta"].shape == (3, 200, 2)
        assert one["draw:sigma"].shape == (3, 200)
        assert one["fit_weights"].shape == (3, 60)
        assert set(DIAGNOSTICS) <= set(one)
    assert len({fits[id]["seed"][k] for id in fits for k in range(3) if fits[id]["status"][k] == "ok"}) == 9


@pytest.mark.usefixtures("exact")
def test_weights_come_from_the_parent(scenario):
    _, fits, measures, _ = run_batch(scenario, [0, 1])
    for k in range(2):
        alpha = lipschitz_weights(measures["Unweighted"]["by_record:Unweighted"][k])
        known = fits["averaged_0.4_1.8"]["found:known"][k]
        assert (fits["Unweighted"]["fit_weights"][k] == 1).all()
        assert (fits["Weighted"]["fit_weights"][k] == alpha).all()
        assert fits["averaged_0.4_1.8"]["fit_weights"][k] == pytest.approx(known + (1 - known) * alpha)
        assert 0 < known.mean() < 1


@pytest.mark.usefixtures("exact")
def test_weights_that_leave_nothing_to_fit_are_a_failure_with_a_reason(scenario):
    _, fits, _, rows = run_batch(scenario, [0, 1])
    assert fits["nothing"]["status"].tolist() == ["failed"] * 2
    assert "too few records" in fits["nothing"]["reason"][0]
    assert rows["nothing"]["reason"].str.contains("too few records").all()
    assert rows["nothing"][["delta", "epsilon", "mean", "ecdf_avg"]].isna().to_numpy().all()


def test_a_failed_replicate_is_a_reason_for_its_children_and_nobody_else(scenario, monkeypatch):
    seeds = run_seeds(scenario, monkeypatch)

    def failing(executable, data, inits, parameters, seed, settings):
        if seed == seeds[1]:
            return Fit("failed", "gate: R-hat 1.900 above 1.05", {}, seed, 1.9, 3.0, 4.0, 7, 8, 3, 0.5)
        return exact_sample(executable, data, inits, parameters, seed, settings)

    monkeypatch.setattr(step, "sample", failing)
    _, fits, measures, rows = run_batch(scenario, [0, 1, 2])
    assert fits["Unweighted"]["status"].tolist() == ["ok", "failed", "ok"]
    assert np.isnan(fits["Unweighted"]["draw:beta"][1]).all()
    assert np.isfinite(fits["Unweighted"]["draw:beta"][[0, 2]]).all()
    row = rows["Unweighted"].iloc[1]
    assert (row["status"], row["reason"]) == ("failed", "gate: R-hat 1.900 above 1.05")
    assert (row["rhat_max"], row["divergences"], row["treedepth_hits"], row["attempts"]) == (1.9, 7, 8, 3)
    for child in ("Weighted", "averaged_0.4_1.8"):
        assert fits[child]["status"].tolist() == ["ok", "failed", "ok"]
        assert fits[child]["reason"][1] == "its parent Unweighted failed"
        assert set(rows[child].loc[rows[child]["replicate"] == 1, "status"]) == {"failed"}
        assert len(rows[child]) == 3 * len(scenario.members(child))
    monkeypatch.setattr(step, "sample", exact_sample)
    undisturbed = run_batch(scenario, [0, 1, 2])[2]
    for key, values in undisturbed["Weighted"].items():
        assert np.array_equal(measures["Weighted"][key][[0, 2]], values[[0, 2]], equal_nan=True), key


def run_seeds(scenario, monkeypatch):
    """Stan seeds of the unweighted fits."""
    monkeypatch.setattr(step, "sample", exact_sample)
    return run_batch(scenario, [0, 1, 2])[1]["Unweighted"]["seed"].tolist()


def test_a_batch_of_failures_is_a_batch(scenario, monkeypatch):
    monkeypatch.setattr(step, "sample", lambda *given: Fit("failed", "CmdStan stopped: no reason", seed=given[4]))
    _, fits, _, rows = run_batch(scenario, [0, 1])
    for id, one in fits.items():
        assert one["status"].tolist() == ["failed"] * 2, id
        assert (rows[id]["reason"] != "").all()


@pytest.mark.usefixtures("exact")
def test_numbers_do_not_depend_on_the_batch(scenario):
    together, alone = run_batch(scenario, [0, 1, 2]), run_batch(scenario, [2])
    assert_same_replicate(together, 2, alone, 0)


@pytest.mark.stan
def test_numbers_from_stan_do_not_depend_on_the_batch(scenario, program):
    together, alone = run_batch(scenario, [0, 1], program), run_batch(scenario, [1], program)
    assert together[1]["Weighted"]["status"].tolist() == ["ok", "ok"]
    assert_same_replicate(together, 1, alone, 0)


def assert_same_replicate(one, k, other, j):
    """Fits, measures and rows of a replicate in two batches, apart from the time that they took."""
    for step_of in (1, 2):
        for id, arrays in other[step_of].items():
            for key in set(arrays) - {"seconds"} - {name for name in arrays if name.startswith("sample_")}:
                here, there = one[step_of][id][key][k], arrays[key][j]
                assert np.array_equal(here, there, equal_nan=here.dtype.kind == "f"), (id, key)
    for id, rows in other[3].items():
        replicate = rows["replicate"].iloc[0]
        here = one[3][id][one[3][id]["replicate"] == replicate].drop(columns="seconds").reset_index(drop=True)
        there = rows.drop(columns="seconds").reset_index(drop=True)
        assert here.to_csv() == there.to_csv(), id
