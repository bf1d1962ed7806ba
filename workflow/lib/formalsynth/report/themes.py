"""What claims are about, in a few words: the headings under which the page of results lists them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

CONTRACTION = "Contraction of the bounds"
REST = "Budgets and losses"
"""The theme of columns that none of the others has."""
THEMES: Mapping[str, Sequence[str]] = {
    "Bounds of records and data sets": ("delta", "bound", "epsilon", "claimed", "claimed_larger"),
    CONTRACTION: (),
    "Weights and censored records": ("affected", "weight", "searched", "known", "strength", "capped_share", "swaying"),
    "Utility of the synthetic data": (
        "ecdf", "mean", "median", "q15", "q90", "tstr", "squared_error", "value", "mu", "phi", "weighting_bias",
    ),
    "Attacks": ("domias", "distance", "advantage", "attacked"),
    "Intervals and their coverage": ("covered", "negative", "width", "error", "estimated_variance", "synthetic_variance"),
}  # fmt: skip
"""The beginnings of the columns that a theme has; a whole column counts before a beginning."""


def theme(column: str, test: str) -> str:
    """The theme of a claim.

    Args:
        column: the column that it speaks of.
        test: the kind of its test; a trend over sample sizes is about contraction.
    """
    if test == "trend":
        return CONTRACTION
    for fits in (column.__eq__, column.startswith):
        for name, columns in THEMES.items():
            if any(fits(each) for each in columns):
                return name
    return REST
