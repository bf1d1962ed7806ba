"""Themes of claims: the headings of the page of results."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

CONTRACTION = "Contraction of the bounds"
REST = "Budgets and losses"
"""Theme of all other columns."""
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
"""Prefixes of the columns of each theme; an exact match has priority over a prefix."""


def theme(column: str, test: str) -> str:
    """Return the theme of a claim.

    Args:
        column: column of the claim.
        test: kind of its test; a trend over sample sizes is about contraction.
    """
    if test == "trend":
        return CONTRACTION
    for fits in (column.__eq__, column.startswith):
        for name, columns in THEMES.items():
            if any(fits(prefix) for prefix in columns):
                return name
    return REST
