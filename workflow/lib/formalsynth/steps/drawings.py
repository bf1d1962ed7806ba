"""Ways to draw from a pseudo posterior in place of Stan: apart from the audit, so that a change of it refits nothing."""

from __future__ import annotations

from collections.abc import Callable

from formalsynth.core.job import FitJob
from formalsynth.core.mechanism import Context, Form
from formalsynth.core.registry import Registry
from formalsynth.stan.fit import Fit

Drawing = Callable[[FitJob, Context, Form], Fit]
DRAWINGS: Registry[Drawing] = Registry("way to draw", "steps/exact_draws.py")
"""What draws from a pseudo posterior in place of Stan, by the only name :data:`EXACTLY`."""
EXACTLY = "exact"
