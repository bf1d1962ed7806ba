"""Tests of the loss of the perturbed histogram against closed forms, the accounting library and an attack."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from small_audit import PLAIN, N, linear, shares, synthesizer

from formalsynth.audit.audit import audit
from formalsynth.audit.direct import attack_counts, direct_losses, laplace_loss
from formalsynth.audit.losses import discrete_laplace_loss
from formalsynth.core.synthesizer import AuditSearch


def histogram(epsilon=4.0, bins=7):
    """A replay of the histogram with its synthesizer."""
    ph = synthesizer("ph", "perturbed_histogram", epsilon=epsilon, low=0.0, high=1.0, bins=bins)
    return shares((PLAIN, ph)), ph


def losses(n=N, **parameters):
    """Its losses by kind."""
    return {loss.neighbour.kind: loss for loss in direct_losses(*histogram(**parameters), n)}


@given(st.floats(0.05, 8), st.floats(1e-6, 0.3))
def test_one_count_has_the_closed_form_of_laplace_noise(ratio, delta):
    """``delta = 1 - exp((epsilon - ratio) / 2)``."""
    exact = max(0.0, ratio + 2 * math.log1p(-delta))
    loss = laplace_loss(ratio)
    assert loss.mass.sum() == pytest.approx(1)
    assert loss.epsilon(0) == ratio
    assert exact - 2 * ratio / 4000 - 1e-9 <= loss.epsilon(delta) <= exact + 1e-9


@settings(max_examples=10)
@given(st.floats(0.2, 8), st.sampled_from([1e-2, 1e-3, 1e-5]))
def test_replacing_a_record_costs_two_counts_as_in_the_accounting_library(epsilon, delta):
    from dp_accounting.pld.privacy_loss_distribution import from_laplace_mechanism

    replace = losses(epsilon=epsilon)["replace"]
    theirs = from_laplace_mechanism(2 / epsilon, value_discretization_interval=1e-3).self_compose(2)
    assert replace.epsilon(0) == pytest.approx(epsilon)
    assert -1e-6 <= theirs.get_epsilon_for_delta(delta) - replace.epsilon(delta) <= 5e-3 + epsilon / 1000


def test_adding_or_removing_a_record_costs_half_of_replacing_one_unless_the_bins_change():
    by_kind = losses(epsilon=3.0)
    assert [by_kind[kind].epsilon(0) for kind in ("remove", "add", "replace")] == [1.5, 1.5, 3.0]
    # the square root rule gives 7 bins for 49 records and 6 for 48
    rooted = losses(49, bins=0)
    assert [rooted[kind].epsilon(1e-3) < math.inf for kind in ("remove", "add", "replace")] == [False, True, True]
    with pytest.raises(ValueError, match="same bins"):
        attack_counts(rooted["remove"], 49, 10, 1e-3, 1)
    assert all(loss.epsilon(0) == 0 for loss in losses(bins=1).values())


@pytest.mark.parametrize("kind", ["remove", "add"])
def test_the_attack_on_a_histogram_finds_much_of_its_loss_but_not_more(kind):
    assert 0.5 < attack_counts(losses()[kind], N, 4000, 1e-3, 1).epsilon < 2.0


def test_the_rows_of_a_histogram_are_those_of_the_audit():
    replay, _ = histogram()
    rows = audit(replay, N, ["ph"], AuditSearch(deltas=(0, 1e-3), releases=5, attack=200), 1)
    assert len(rows) == 3 * (2 + 1)
    exact = {"remove": 2.0, "add": 2.0, "replace": 4.0}
    for row in rows:
        assert row.audited == exact[row.neighbour] or 0.9 * exact[row.neighbour] < row.audited < exact[row.neighbour]
        assert (row.claimed, row.claimed_larger, row.worst) == (exact[row.neighbour], exact[row.neighbour], True)
    assert [(row.neighbour, row.delta, row.releases) for row in rows if not np.isnan(row.attacked)] == [
        ("remove", 0, 1),
        ("add", 0, 1),
    ]


def test_a_histogram_has_rows_of_the_audited_kinds_only():
    replay, _ = histogram()
    rows = audit(replay, N, ["ph"], AuditSearch(deltas=(0,), releases=1, kinds=("remove", "add")), 1)
    assert {(row.neighbour, row.claimed) for row in rows} == {("remove", 2.0), ("add", 2.0)}


def test_a_number_of_bins_that_depends_on_n_has_no_claim_for_adding_or_removing():
    replay, _ = histogram(bins=0)
    claims = {row.neighbour: row.claimed for row in audit(replay, N, ["ph"], AuditSearch(deltas=(0,), releases=1), 1)}
    assert claims == {"remove": pytest.approx(math.nan, nan_ok=True), "add": pytest.approx(math.nan, nan_ok=True), "replace": 4}


def test_the_audit_of_a_selection_is_the_largest_ratio_of_its_probabilities():
    box = {"low": -4.0, "high": 4.0, "points": 4.0, "stages": 1.0}
    md = synthesizer("md", "minimum_distance", epsilon=2.0, **box)
    replay = shares((PLAIN, md))
    for loss in direct_losses(replay, md, N):
        ours, theirs = (np.exp(side.log_probability) for side in loss.sides)
        assert loss.epsilon(0) == pytest.approx(np.abs(np.log(ours / theirs)).max())
        assert 0 < loss.epsilon(0) <= 2.0
        epsilon = loss.epsilon(1e-3)
        deltas = [np.maximum(a - math.exp(epsilon) * b, 0).sum() for a, b in ((ours, theirs), (theirs, ours))]
        assert max(deltas) == pytest.approx(1e-3, abs=1e-5) or epsilon == 0
    rows = audit(replay, N, ["md"], AuditSearch(deltas=(0,), releases=5, attack=10), 1)
    assert {row.neighbour: row.claimed for row in rows} == {"remove": 1.9, "add": 1.9, "replace": 2.0}
    assert all(row.audited <= row.claimed and np.isnan(row.attacked) for row in rows)


def test_another_direct_release_is_refused():
    replay, _ = histogram()
    with pytest.raises(ValueError, match="has a pseudo posterior"):
        direct_losses(replay, PLAIN, N)


@settings(max_examples=20)
@given(st.floats(0.05, 3), st.integers(1, 4), st.floats(0, 0.4))
def test_counts_with_discrete_noise_have_the_delta_of_their_probabilities(ratio, cells, delta):
    """All outputs of one count written out, and convolved for several."""
    at = np.arange(-200, 202)
    mass = np.exp(-np.abs(at[:, None] - [0, 1]) * ratio) * math.tanh(ratio / 2)
    loss = discrete_laplace_loss(ratio, cells)
    assert loss.mass.sum() == pytest.approx(1)
    assert loss.epsilon(0) == pytest.approx(cells * ratio)
    if cells == 1:
        epsilon = loss.epsilon(delta)
        # beyond the lattice is exp(-200 ratio) of the mass
        exact = np.maximum(mass[:, 0] - math.exp(epsilon) * mass[:, 1], 0).sum()
        assert exact <= delta + 1e-6 + math.exp(-200 * ratio)


@pytest.mark.parametrize("predictors", [False, True])
def test_audited_epsilon_of_noisy_tables_is_the_declared_one(predictors):
    given = {"x_low": 0.0, "x_high": 4.0, "x_bins": 3} if predictors else {}
    bounds = (0.1, 100.0) if predictors else (0.0, 1.0)
    tables = synthesizer("tables", "noisy_tables", epsilon=0.8, low=bounds[0], high=bounds[1], bins=5, **given)
    replay = (linear if predictors else shares)((PLAIN, tables))
    by_kind = {loss.neighbour.kind: loss.epsilon(0) for loss in direct_losses(replay, tables, N)}
    assert by_kind == pytest.approx({"remove": 0.8, "add": 0.8, "replace": 1.6})
