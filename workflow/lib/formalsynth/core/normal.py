"""Normal distribution: a constant for intervals."""

NORMAL_95 = 1.959964
"""Normal quantile of a 95 % interval."""
