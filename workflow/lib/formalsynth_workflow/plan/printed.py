"""Printed values for the cells of a figure, from its paper's tables and claims."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from formalsynth_workflow.ledger.claims import Claim, Estimate
from formalsynth_workflow.show.display import Printed
from formalsynth_workflow.show.figure import Figure
from formalsynth_workflow.show.table import Table

TableAt = tuple[Table, Sequence[str]]
"""A table with the ids of its scenarios."""


def printed_values(
    figure: Figure, scenarios: Sequence[str], ids: Sequence[str], tables: Sequence[TableAt], claims: Sequence[Claim]
) -> tuple[Printed, ...]:
    """Return the numbers and intervals that the paper prints for cells of a figure, one per cell; tables take precedence.

    Args:
        figure: the figure.
        scenarios: ids of its scenarios.
        ids: synthesizers that it shows.
        tables: its paper's tables, each with the ids of its scenarios.
        claims: its paper's claims.
    """
    columns = figure.shown_columns()
    cells: dict[tuple[str, str, str], Printed] = {}
    for printed in [*_of_tables(figure, tables), *_of_claims(figure, claims)]:
        if printed.scenario in scenarios and printed.column in columns and printed.id in ids:
            cells.setdefault((printed.scenario, printed.column, printed.id), printed)
    return tuple(cells.values())


def _of_tables(figure: Figure, tables: Sequence[TableAt]) -> Iterator[Printed]:
    """Yield values from tables that use the same collected table as the figure and have a single scenario."""
    for table, scenarios in tables:
        if table.table == figure.table and len(scenarios) == 1:
            for id, columns in table.printed_columns().items():
                for column, (low, high) in columns.items():
                    yield Printed(scenario=scenarios[0], column=column, id=id, low=low, high=high)


def _of_claims(figure: Figure, claims: Sequence[Claim]) -> Iterator[Printed]:
    """Yield values from claims about single synthesizers: a typical value, or the limits of all values."""
    for claim in claims:
        of = claim.estimate
        if claim.kind != "ours" and of.table == figure.table and len(claim.scenarios) == 1 and _is_typical(of):
            for id, (low, high) in zip(of.of, _cells(claim), strict=False):
                yield Printed(scenario=claim.scenarios[0].id, column=of.value[0], id=str(id), low=low, high=high)


def _is_typical(of: Estimate) -> bool:
    """Return True for a plain median or mean of one column, by synthesizer."""
    changed = of.distance is not None or of.of_largest or of.above is not None or of.differences or of.rows
    return of.over == "synthesizer" and of.statistic in ("median", "mean") and len(of.value) == 1 and not changed


def _cells(claim: Claim) -> list[tuple[float, float]]:
    """Return the printed number of each cell as an interval of no width, or its printed limits."""
    test = claim.test.model_dump()
    if test["kind"] == "value":
        return [(number, number) for number in test["printed"]]
    if test["kind"] == "within" and claim.printed and None not in (test["low"], test["high"]):
        return [(test["low"], test["high"])] * len(claim.estimate.of)
    return []
