"""E31: what a public sensitive range reveals about its record."""

from check import Interval, Row, near, numeric_check

A, B, INCOME = 0.3, 1.7, 100_000.0
"""Range and income of the paper's example."""


@numeric_check("E31", printed="any value in [a x, b x]", derived="x = (a x) / a, with a known")
def values_given_a_public_range():
    """Incomes in the range [30,000, 170,000] of the paper's example, each with its own range."""
    known = Interval(A * INCOME, B * INCOME), near(A * INCOME / A, 1e-9 * A * INCOME)
    same = [income for income in range(30_000, 170_001, 1000) if A * income == A * INCOME and B * income == B * INCOME]
    how = "incomes, in thousands, whose own range has the public ends"
    smallest, largest = [Interval(low, low + 1e-3) for low, _ in known], [Interval(high - 1e-3, high) for _, high in known]
    return [
        Row("smallest possible income", *smallest, near(min(same), 1e-3), how),
        Row("largest possible income", *largest, near(max(same), 1e-3), how),
    ]
