"""Rows of ``replicates.csv``; in a separate module, so a new statistic does not cause refits."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Protocol

from formalsynth.core.utility import CENTRES, COLUMNS, UTILITY

if TYPE_CHECKING:
    import pandas as pd

    from formalsynth.core.neighbours import Neighbours
    from formalsynth.core.synthesizer import Kind

Row = dict[str, float | int | str | bool | None]
"""Columns of one row."""
SHAPE = ("q2.5", "q15", "median", "iqr", "spread")
"""Statistics of the Lipschitz bounds of the records of one data set, as shares of the largest, which is Δ."""
SHAPE_COLUMNS = tuple(f"bound_{name}" for name in SHAPE)
"""Columns of these statistics in ``replicates.csv``."""
COEFFICIENT = ("coefficient", "coefficient_low", "coefficient_high")
"""Posterior mean of the last coefficient of a regression and the ends of its 95 % interval, in tables that request them."""
BY_AREA = ("area_error",)
"""Error of the means of areas, which are records with equal predictors, in tables that request it."""
_REPLICATE = ("paper", "scenario", "n", "replicate")
_SAMPLE = (*_REPLICATE, "synthesizer")
REPLICATE_COLUMNS = (
    *_SAMPLE, "seed", "status", "delta", "epsilon", "audited", "guarantee",
    "rhat_max", "ess_bulk_min", "ess_tail_min", "divergences", "treedepth_hits", "seconds",
    *COLUMNS, "unit", "delta_mcse", "affected", "draws", "attempts", "searched", "search_steps", "fit_p",
    *SHAPE_COLUMNS, "reason",
)  # fmt: skip
"""Columns of ``replicates.csv``."""
TEXT_COLUMNS = ("paper", "scenario", "synthesizer", "status", "guarantee", "reason", "neighbour", "candidate")
"""Columns of collected tables that contain text."""
SAMPLE_COLUMNS = {
    "records": (*_SAMPLE, "record", "bound", "weight", "known"),
    "values": (*_SAMPLE, "record", "value"),
    "sets": (*_SAMPLE, "set", *UTILITY),
    "draws": (*_SAMPLE, "draw"),
}
"""Columns of the tables of a single sample; ``draws`` also has the parameters of the family."""
AUDIT, AUDITED = "audit", "audited"
"""Name of the collected table of audited scenarios, and its column of the audited epsilon."""
RELATIONS: Mapping[Kind, Neighbours] = {
    "remove": "add_remove", "add": "add_remove", "replace": "replace", "move": "move",
}  # fmt: skip
"""Neighbour relation of each kind of neighbour; kind ``same``, the loss between runs on the same data, is the floor."""
LOSSES = tuple(RELATIONS)
"""Kinds of neighbours whose loss counts."""
CURVE = "curve"
"""Value of ``candidate`` in the rows of a curve."""


@dataclass(frozen=True)
class AuditRow:
    """Loss of one synthesizer on one neighbour at one delta."""

    synthesizer: str
    neighbour: Kind
    candidate: str
    """Reason for trying the neighbour, then the number of omitted neighbours of its kind, or the reason for an infinite loss."""
    value: float
    """Outcome of the added record, otherwise of the removed record; NaN for the same data. In the rows of an attack, whose
    candidate is :data:`formalsynth.audit.attack.ERROR_RATES`: the false positive rate."""
    delta: float
    releases: int
    streams: int
    """Number of random streams: 1 if the attacker knows the random numbers of the weights, more if not."""
    audited: float
    """Audited epsilon: the larger of the two directions."""
    forward: float
    """Epsilon under D."""
    backward: float
    """Epsilon under D'."""
    error: float
    """Monte Carlo standard error of ``audited``; in the rows of an attack, the false negative rate."""
    worst: bool
    """True for the worst neighbour of its kind."""
    claimed: float
    """Claimed epsilon: a strict mechanism's parameter, for others twice the Lipschitz bound on D; NaN without a claim."""
    claimed_larger: float
    """Larger of the claims on D and on D'."""
    attacked: float
    """Lower bound of epsilon from an attack on one synthetic data set, at 95 % confidence; NaN without an attack."""
    weight: float
    """Mean weight on D; NaN for a direct release."""
    oscillation: float = float("nan")
    """Oscillation of the difference of the two log-likelihoods over the draws of both data sets, which bounds the loss at these
    draws; NaN if it was not computed."""
    held: float = float("nan")
    """Audited epsilon with the weights of D held fixed: of a move, and in the rows of a curve; NaN otherwise."""

    def row(self) -> Row:
        """Values by column, for a row of a table."""
        return {field.name: getattr(self, field.name) for field in fields(AuditRow)}


AUDIT_COLUMNS = (
    *_REPLICATE, *(field.name for field in fields(AuditRow)), "reason",
)  # fmt: skip
"""Columns of ``audit.csv``.

``reason`` explains why a synthesizer could not be audited on a data set; such a row has no numbers.
"""


class Requests(Protocol):
    """Requests of a scenario for further columns of ``replicates.csv``."""

    @property
    def centre_sets(self) -> int:
        """Number of synthetic data sets over which statistics are averaged; 0 leaves these columns out."""

    @property
    def coefficient(self) -> bool:
        """True if there are columns for the last coefficient of a regression."""

    @property
    def by_area(self) -> bool:
        """True if there is a column for the error of area means."""

    @property
    def utility(self) -> Sequence[str]:
        """Names of further utility statistics."""


def requested_columns(scenario: Requests) -> tuple[str, ...]:
    """Further columns of ``replicates.csv`` that a scenario requests."""
    chosen = ((CENTRES, scenario.centre_sets), (COEFFICIENT, scenario.coefficient), (BY_AREA, scenario.by_area))
    return (*(column for columns, requested in chosen if requested for column in columns), *scenario.utility)


def replicate_table(rows: Sequence[Mapping[str, object]], more: Sequence[str] = ()) -> pd.DataFrame:
    """Return rows as a table with the columns of ``replicates.csv``, followed by the columns ``more``."""
    import pandas as pd

    table = pd.DataFrame(rows)
    return table.reindex(columns=[*REPLICATE_COLUMNS, *more])


def audit_table(rows: Sequence[Mapping[str, object]]) -> pd.DataFrame:
    """Return rows as a table with the columns of ``audit.csv``; there may be no rows."""
    import pandas as pd

    return pd.DataFrame(rows, columns=list(AUDIT_COLUMNS))
