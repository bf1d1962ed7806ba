"""E31: what a public sensitive range reveals about its record."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from formalsynth.errata.check import Comparison, Interval, Reading, near, numeric_check

A, B, INCOME = 0.3, 1.7, 100_000.0
"""Range and income of the paper's example."""
Known = Callable[[float, float], Interval]
"""Function from the public ends of a range to the values that its record may have."""


@numeric_check(
    "E31",
    printed=Reading("any value in [a x, b x]", lambda low, high: Interval(low, high)),
    derived=Reading("x = (a x) / a, with a known", lambda low, high: near(low / A, 1e-9 * low)),
)
def values_given_a_public_range(formula: Known) -> Sequence[Comparison]:
    """Incomes in the range [30,000, 170,000] of the paper's example, each with its own range."""
    known = formula(A * INCOME, B * INCOME)
    same = [income for income in range(30_000, 170_001, 1000) if A * income == A * INCOME and B * income == B * INCOME]
    how = "incomes, in thousands, whose own range has the public ends"
    return [
        Comparison("smallest possible income", Interval(known.low, known.low + 1e-3), near(min(same), 1e-3), how),
        Comparison("largest possible income", Interval(known.high - 1e-3, known.high), near(max(same), 1e-3), how),
    ]
