"""Ledger of the claims with their verdicts, computed only from collected tables."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, fields

import numpy as np
import pandas as pd

from formalsynth.core.arrays import Array
from formalsynth.core.statistics import EXTREMES, STATISTICS, scatter, without_error
from formalsynth_workflow.ledger.cells import NoRowsError, values_of
from formalsynth_workflow.ledger.claims import ANOTHER, IMPLIED, Claim
from formalsynth_workflow.ledger.notes import NAMES, quantity, rounded, sentences, statistic, unit_name, without
from formalsynth_workflow.ledger.tests.base import Cells
from formalsynth_workflow.ledger.thresholds import Thresholds
from formalsynth_workflow.ledger.verdicts import ABSENT, DIRECTION, NO_ROWS, REPRODUCED, STAND_IN, TOO_FEW, UNDETERMINED

RANDOM = ("replicate", "record", "set", "draw")
"""Columns whose units are random; estimates over other units, such as the points of a grid, have no Monte Carlo error."""

REPEATED = ("replicate", "set", "draw")
"""Columns whose number of units is a setting of the run; a maximum over such units grows with their number."""
UNSURE = "the {} has no valid Monte Carlo error, so it can show only a direction"


@dataclass(frozen=True)
class LedgerRow:
    """Row of ``claims.csv``: a field for each column, None for missing values."""

    id: str
    paper: str
    place: str
    claim: str
    printed: str
    estimate: str | None
    """Statistic of each cell, from left to right."""
    mcse: str | None
    """Monte Carlo error of each statistic; empty for none."""
    replicates: int | None
    verdict: str
    note: str
    shows: str
    erratum: str
    test: str
    kind: str
    """Kind of the claim; for an implied claim or another reading, with the id of the other claim."""
    cells: str = ""
    """Names of the cells, from left to right."""
    quantity: str = ""
    """Name of the column that the claim is about."""
    statistic: str = ""
    """Statistic of the column, in words."""
    needs: str = ""
    """Condition on the cells, as in ``LW above CW``."""


COLUMNS = tuple(field.name for field in fields(LedgerRow))
"""Columns of ``claims.csv``."""


def ledger(
    claims: Sequence[Claim],
    tables: Mapping[tuple[str, str], pd.DataFrame],
    thresholds: Thresholds,
    root: int,
    judged: bool,
) -> pd.DataFrame:
    """Judge claims, and return a table with a row and a verdict for each claim.

    Args:
        claims: the claims.
        tables: collected tables by scenario id and kind.
        thresholds: limits for agreement.
        root: root seed.
        judged: True if the scale has enough replicates for verdicts.

    Raises:
        ClaimError: a column or cell of a claim is missing.
    """
    rows = []
    for claim in claims:
        chosen = [tables[scenario.id, claim.estimate.table] for scenario in claim.scenarios]
        row = asdict(judge(claim, chosen, thresholds, root, judged))
        rows.append({column: value for column, value in row.items() if value is not None})
    return pd.DataFrame(rows).reindex(columns=list(COLUMNS))


def judge(claim: Claim, tables: Sequence[pd.DataFrame], thresholds: Thresholds, root: int, judged: bool) -> LedgerRow:
    """Judge one claim and return its row of the ledger.

    Args:
        claim: the claim.
        tables: the collected table that the claim uses, for each of its scenarios.
        thresholds: limits for agreement.
        root: root seed, for the resampling.
        judged: True if the scale has enough replicates for verdicts.

    Raises:
        ClaimError: a column or cell of the claim is missing.
    """
    if not tables:
        return _row(claim, ABSENT, sentences(claim.note, "the records are absent"))
    try:
        values, replicates, names, lost = values_of(claim, tables)
    except NoRowsError as error:
        return _row(claim, NO_ROWS, sentences(claim.note, str(error)), replicates=0)
    by, extreme = claim.estimate.by, claim.estimate.statistic in EXTREMES
    chance = len(values) > 1 and by in RANDOM and not extreme
    unsure = len(values) > 1 and by in REPEATED and extreme
    cells = _cells(claim, values, names, chance, thresholds.resamples, root)
    judgement = claim.test.judge(cells, claim, thresholds)
    units = "" if by == "replicate" else f"the statistic is over {len(values)} {unit_name(by)}"
    return _row(
        claim,
        _verdict(claim, DIRECTION if unsure and judgement.verdict == REPRODUCED else judgement.verdict, judged),
        sentences(claim.note, judgement.note, units, without(lost), UNSURE.format(claim.estimate.statistic) if unsure else ""),
        *rounded(cells.estimates, cells.errors if chance else np.full(values.shape[1], np.nan)),
        replicates,
        NAMES.join(names),
        statistic(claim.estimate, len(values)),
        claim.test.needs(names, claim, thresholds),
    )


def _cells(claim: Claim, values: Array, names: tuple[str, ...], chance: bool, resamples: int, root: int) -> Cells:
    """Cells of a claim: values (units, cells), statistics and errors. The random stream depends only on the number of units."""
    name = claim.estimate.statistic
    estimates = STATISTICS[name](values)
    if not chance:
        return Cells(values, estimates, without_error(estimates), names)
    generator = np.random.default_rng([root, len(values)])  # the same stream for every claim, so equal values have equal errors
    return Cells(values, estimates, scatter(values, name, resamples, generator), names)


def _verdict(claim: Claim, verdict: str, judged: bool) -> str:
    """Verdict in the ledger, given the verdict of the test."""
    if any(scenario.stand_in for scenario in claim.scenarios):
        return STAND_IN
    if not judged:
        return TOO_FEW
    return claim.finding or verdict if verdict not in (REPRODUCED, UNDETERMINED) else verdict


def _row(
    claim: Claim,
    verdict: str,
    note: str,
    estimate: str | None = None,
    mcse: str | None = None,
    replicates: int | None = None,
    cells: str = "",
    statistic: str = "",
    needs: str = "",
) -> LedgerRow:
    return LedgerRow(
        id=claim.id, paper=claim.paper, place=claim.place, claim=claim.claim, printed=claim.printed, estimate=estimate,
        mcse=mcse, replicates=replicates, verdict=verdict, note=note, shows=claim.shows, erratum=claim.erratum,
        test=claim.test.kind, kind=_kind(claim), cells=cells, quantity=quantity(claim.estimate), statistic=statistic,
        needs=needs,
    )  # fmt: skip


def _kind(claim: Claim) -> str:
    """Kind of the claim in the ledger, with the other claim that it depends on."""
    if claim.reading_of:
        return f"{ANOTHER}{claim.reading_of}"
    return f"{IMPLIED}{claim.implied_by}" if claim.implied_by else claim.kind
