"""Result of a fit, in a separate module, so later steps do not depend on the sampling code."""

from __future__ import annotations

from dataclasses import dataclass, field, fields

from formalsynth.core.arrays import Array


@dataclass
class Fit:
    """Draws and diagnostics of one fit; ``draws`` is empty when the status is ``failed``."""

    status: str
    """``ok`` or ``failed``."""
    reason: str = ""
    """Reason for the failure."""
    draws: dict[str, Array] = field(default_factory=dict)
    """Mapping from a parameter to its S draws, along the first axis."""
    seed: int = 0
    """Stan's seed of the last attempt."""
    rhat_max: float = float("nan")
    ess_bulk_min: float = float("nan")
    ess_tail_min: float = float("nan")
    divergences: int = 0
    treedepth_hits: int = 0
    attempts: int = 0
    """Number of times it was sampled."""
    seconds: float = 0.0
    fit_p: float | None = None
    """P value of the goodness-of-fit test on noisy tables; not a diagnostic of the sampler."""


DIAGNOSTICS = tuple(field.name for field in fields(Fit) if field.name not in ("status", "reason", "draws", "fit_p"))
"""Columns recorded for every fit."""
