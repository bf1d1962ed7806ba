"""Limits for the agreement of an estimate with a claim."""

from __future__ import annotations

from pydantic import Field
from scipy.special import ndtr, ndtri, stdtrit

from formalsynth.core.model import Model


class Thresholds(Model):
    """Limits for the agreement of an estimate with a claim."""

    within: float = Field(0.05, ge=0, lt=1, description="Relative distance to a printed number that counts as agreement.")
    errors: float = Field(2, ge=0, description="Number of Monte Carlo standard errors that are allowed in addition.")
    mostly: float = Field(0.9, gt=0.5, le=1, description="Share of the units for which a claim about most of them must hold.")
    confidence: float = Field(0.95, gt=0.5, lt=1, description="Confidence level of the interval for a share of units.")
    resamples: int = Field(500, ge=100, description="Number of bootstrap samples for a Monte Carlo error.")

    def errors_of(self, numbers: int, units: int) -> float:
        """Return the number of standard errors allowed for each of several numbers, adjusted for simultaneous comparison.

        Args:
            numbers: number of compared numbers.
            units: number of units of each estimate; with few units, Student's t distribution is used for the error.
        """
        level = ndtr(-self.errors) / numbers
        return -float(stdtrit(units - 1, level) if units > 1 else ndtri(level)) if self.errors else 0.0
