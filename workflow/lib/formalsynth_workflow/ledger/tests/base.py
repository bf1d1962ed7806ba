"""Base class and register of the kinds of tests of claims.

A test is a condition on the cells of a claim. Each kind has a file in this folder: a model whose fields are the keys of that
kind in config, with a method ``judge`` that checks the numbers.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, ClassVar, Literal, TypeVar

from pydantic import Field
from scipy.special import ndtri

from formalsynth.core.arrays import Array
from formalsynth.core.kinds import ByKind
from formalsynth.core.model import Model
from formalsynth.core.registry import Registry
from formalsynth.core.statistics import Scatter
from formalsynth_workflow import PACKAGE

if TYPE_CHECKING:
    from formalsynth_workflow.ledger.claims import Claim
    from formalsynth_workflow.ledger.thresholds import Thresholds

NeededShare = Annotated[float, Field(gt=0, le=1)] | Literal["mostly"]
"""A share of the units, or the word ``mostly`` for the setting ``verdicts.mostly``."""


@dataclass(frozen=True)
class Cells:
    """Values, statistics and errors that a claim compares."""

    values: Array
    """(units, cells) values."""
    estimates: Array
    """(cells,) statistic of each cell."""
    scatter: Scatter
    """Statistics of resampled copies of the values, from which the errors are computed."""
    names: tuple[str, ...]
    """Names of the cells."""

    @property
    def errors(self) -> Array:
        """(cells,) Monte Carlo errors of the statistics."""
        return self.scatter.error()


@dataclass(frozen=True)
class Judgement:
    """Result of a test: verdict and note."""

    verdict: str
    note: str = ""


class Test(Model):
    """Condition that the cells must meet for a claim to be reproduced."""

    kind: str = Field(description="Kind of the test.")
    blames: ClassVar[str] = "estimate.of"
    """Key of the claim that error messages name if the cells do not meet the test's requirement."""

    @abstractmethod
    def judge(self, cells: Cells, claim: Claim, thresholds: Thresholds) -> Judgement:
        """Judge whether the claim holds for the cells.

        Args:
            cells: values, statistics and resampled statistics.
            claim: the claim, whose estimate defines the cells and units.
            thresholds: limits for agreement.
        """

    def needs(self, names: Sequence[str], claim: Claim, thresholds: Thresholds) -> str:
        """Describe what the cells must be for the claim to hold, as in ``LW above CW``; empty if printed numbers show it.

        Args:
            names: names of the cells.
            claim: the claim.
            thresholds: limits for agreement.
        """
        return ""

    def check_cells(self, cells: Sequence[object]) -> str | None:
        """Return the requirement that the cells do not meet; None if they meet all of them.

        Args:
            cells: ids or values of the cells from left to right; empty if the rows of the table determine them.
        """
        return None


TESTS: Registry[type[Test]] = Registry("test of claims", "ledger/tests/*.py", package=PACKAGE)
AnyTest = Annotated[Test, ByKind(TESTS)]
"""A test of any kind."""
Kind = TypeVar("Kind", bound=type[Test])


test_kind = TESTS.register
"""Decorator that registers a class of tests under its ``kind`` in config."""


def several(cells: Sequence[object], kind: str) -> str | None:
    """Return the requirement of at least two cells if there is only one; None otherwise."""
    return f"two cells or more, for {kind}" if len(cells) == 1 else None


def least_share(share: float | str | None, thresholds: Thresholds) -> float | None:
    """Share of the units that a claim requires; None if the claim names no share."""
    return thresholds.mostly if share == "mostly" else share  # type: ignore[return-value]


def share_interval(share: float, units: int, confidence: float) -> tuple[float, float]:
    """Wilson's interval for a share of units; half units, which result from ties, are rounded.

    It is computed here because loading scipy.stats takes longer than judging all claims of a paper.
    """
    share, z = round(share * units) / units, float(ndtri(0.5 + confidence / 2))
    centre, reach = share + z**2 / (2 * units), z * (share * (1 - share) / units + (z / (2 * units)) ** 2) ** 0.5
    scale = 1 + z**2 / units
    # exact at the ends, where rounding errors could exclude 0 or 1
    return (centre - reach) / scale if share > 0 else 0.0, (centre + reach) / scale if share < 1 else 1.0
