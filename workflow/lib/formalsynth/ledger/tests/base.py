"""What every kind of test of a claim has, and the register of the kinds.

A test says what has to hold of a claim's cells. Each kind is a file of this folder: a model with the keys of that kind, which
checks what can be seen from the entry alone, and a ``judge`` that looks at the numbers.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, ClassVar, Literal, TypeVar

from pydantic import Field
from scipy.special import ndtri

from formalsynth.core.arrays import Array
from formalsynth.core.kinds import ByKind
from formalsynth.core.model import Model
from formalsynth.core.registry import Registry
from formalsynth.core.statistics import Scatter

if TYPE_CHECKING:
    from formalsynth.ledger.claims import Claim
    from formalsynth.ledger.thresholds import Thresholds

NeededShare = Annotated[float, Field(gt=0, le=1)] | Literal["mostly"]
"""A share of the units, or ``verdicts.mostly``."""


@dataclass(frozen=True)
class Cells:
    """The numbers that a claim compares."""

    values: Array
    """One for each unit and cell, (units, cells)."""
    estimates: Array
    """The claim's statistic of each cell, (cells,)."""
    scatter: Scatter
    """The statistics on changed copies of the values, from which errors follow."""
    names: tuple[str, ...]
    """What each cell is called."""

    @property
    def errors(self) -> Array:
        """Monte Carlo errors of the statistics, (cells,)."""
        return self.scatter.error()


@dataclass(frozen=True)
class Judgement:
    """What a test says of the cells."""

    verdict: str
    note: str = ""


class Test(Model):
    """What has to hold of the cells for a claim to be reproduced."""

    kind: str = Field(description="Kind of the test.")
    blames: ClassVar[str] = "estimate.of"
    """Key of the claim that is at fault where the cells do not suit the test."""

    @abstractmethod
    def judge(self, cells: Cells, claim: Claim, thresholds: Thresholds) -> Judgement:
        """Whether the claim holds of the cells.

        Args:
            cells: values, statistics and what their errors follow from.
            claim: the claim; its estimate says what the cells and units are.
            thresholds: when an estimate agrees.
        """

    def check_cells(self, cells: Sequence[object]) -> str | None:
        """What the cells would have to be for this test, where they are not.

        Args:
            cells: ids or values of the cells from left to right; empty where the rows of the table say which there are.
        """
        return None


TESTS: Registry[type[Test]] = Registry("test of claims", "ledger/tests/*.py")
AnyTest = Annotated[Test, ByKind(TESTS)]
"""A test of any kind."""
Kind = TypeVar("Kind", bound=type[Test])


def test_kind(name: str) -> Callable[[Kind], Kind]:
    """Register a class of tests under the ``kind`` that config names it by."""

    def register(kind: Kind) -> Kind:
        TESTS.add(name, kind, kind.__module__)
        return kind

    return register


def several(cells: Sequence[object], kind: str) -> str | None:
    """What is wrong with cells that are to be compared; nothing where the rows of the table say which there are."""
    return f"two cells or more, for {kind}" if len(cells) == 1 else None


def least_share(share: float | str | None, thresholds: Thresholds) -> float | None:
    """The share of the units that a claim needs, where it needs one."""
    return thresholds.mostly if share == "mostly" else share  # type: ignore[return-value]


def share_interval(share: float, units: int, confidence: float) -> tuple[float, float]:
    """Wilson's interval of a share of units; half units, from ties, are rounded.

    By hand, because scipy.stats takes longer to load than all claims of a paper take to judge.
    """
    share, z = round(share * units) / units, float(ndtri(0.5 + confidence / 2))
    centre, reach = share + z**2 / (2 * units), z * (share * (1 - share) / units + (z / (2 * units)) ** 2) ** 0.5
    whole = 1 + z**2 / units
    # exact at the ends, where rounding could keep all units from being all
    return (centre - reach) / whole if share > 0 else 0.0, (centre + reach) / whole if share < 1 else 1.0
