"""Verdicts at the borders of the tests: exact limits, the fewest units, statistics without units, and what notes print."""

import numpy as np
import pytest
from made_up_claims import claim_of, normal, row_of, table_of, verdict_of

from formalsynth_workflow.ledger.verdicts import NOT_REPRODUCED, REPRODUCED, UNDETERMINED

WITHIN = {"kind": "within", "low": 1.0, "high": 3.0}


def of_spread(test):
    """A claim about standard deviations, which have no value for a single unit."""
    return claim_of(test, {"statistic": "sd"})


@pytest.mark.parametrize("value", [1.0, 3.0])
def test_estimates_at_a_limit_without_error_are_within_it(value):
    constant = np.full(100, value)
    assert verdict_of(claim_of(WITHIN), table_of(A=constant, B=constant)) == REPRODUCED


@pytest.mark.parametrize("value", [np.nextafter(1.0, 0.0), np.nextafter(3.0, 4.0)])
def test_estimates_beyond_a_limit_without_error_are_outside(value):
    constant = np.full(100, value)
    assert verdict_of(claim_of(WITHIN), table_of(A=constant, B=constant)) == NOT_REPRODUCED


def test_equal_cells_have_no_note_about_a_distance():
    same = normal(5)
    assert "difference" not in row_of(claim_of({"kind": "equal"}), table_of(A=same, B=same)).note
    assert "The largest difference is 0.5." in row_of(claim_of({"kind": "equal"}), table_of(A=same, B=same + 0.5)).note


@pytest.mark.parametrize("scale", [1e-6, 1.0, 1e6])
def test_the_order_of_a_statistic_without_units_does_not_depend_on_the_unit_of_measurement(scale):
    sure = table_of(A=scale * normal(0), B=scale * normal(0, 2.0, seed=2))
    unsure = table_of(A=scale * normal(0), B=scale * normal(0, seed=2))
    assert verdict_of(of_spread({"kind": "order"}), sure) == REPRODUCED
    assert verdict_of(of_spread({"kind": "order"}), unsure) == UNDETERMINED


def test_an_order_of_a_statistic_without_units_has_to_be_beyond_the_two_sided_confidence():
    """With a confidence of 0.84, below the required 0.975, a step may be chance in either direction."""
    for cells in ({"A": 1.0, "B": 1.1}, {"A": 1.1, "B": 1.0}):
        spread = (normal(0) - normal(0).mean()) / normal(0).std()
        other = np.roll(spread, 1)
        table = table_of(A=cells["A"] * spread, B=cells["B"] * other)
        row = row_of(of_spread({"kind": "order"}), table)
        confidence = float(row.note.split("in the order: ")[1].rstrip("."))
        assert 0.05 < confidence < 0.24 or 0.76 < confidence < 0.95
        assert row.verdict == UNDETERMINED


def test_the_share_of_two_units_counts():
    """One of two units in the wrong order is too many where nearly all have to be in order."""
    table = table_of(A=np.array([0.0, 0.0]), B=np.array([-1.0, 5.0]))
    assert verdict_of(claim_of({"kind": "order", "share": 0.99}, {"statistic": "mean"}), table) == NOT_REPRODUCED


@pytest.mark.parametrize(("count", "least", "most"), [(103, 0.334, 0.636), (28, 0.129, 0.748)])
def test_the_interval_of_a_correlation_is_fishers(count, least, most):
    """Limits computed independently: tanh(0.5493 -+ t / sqrt(n - 3)), with t = 2.025 and 2.097 for these n."""
    generator = np.random.default_rng(3)
    first = generator.normal(size=count)
    first = (first - first.mean()) / first.std()
    noise = generator.normal(size=count)
    noise -= noise.mean() + first * (noise @ first) / count
    noise /= noise.std()
    second = 0.5 * first + 0.75**0.5 * noise
    note = row_of(claim_of({"kind": "correlation", "high": 0.3}), table_of(A=first, B=second)).note
    assert f"The correlation is 0.500; with errors, its absolute value is {least:.3f} to {most:.3f}." in note
