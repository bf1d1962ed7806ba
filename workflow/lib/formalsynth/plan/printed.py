"""The printed values of what a figure draws, from the tables and claims of its paper."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from formalsynth.ledger.claims import Claim
from formalsynth.show.display import Printed
from formalsynth.show.figures.base import Figure
from formalsynth.show.tables.base import Table

TableAt = tuple[Table, Sequence[str]]
"""A table with the ids of its scenarios."""


def printed_values(
    figure: Figure, scenarios: Sequence[str], ids: Sequence[str], tables: Sequence[TableAt], claims: Sequence[Claim]
) -> tuple[Printed, ...]:
    """Numbers and intervals that the paper prints for cells of a figure, each cell once; those of its tables come first.

    Args:
        figure: the figure.
        scenarios: ids of its scenarios.
        ids: synthesizers that it shows.
        tables: the tables of its paper, each with the ids of its scenarios.
        claims: the claims of its paper.
    """
    columns = {*figure.columns(), *([figure.across] if figure.across else [])}
    found: dict[tuple[str, str, str], Printed] = {}
    for each in [*_of_tables(figure, tables), *_of_claims(figure, claims)]:
        if each.scenario in scenarios and each.column in columns and each.id in ids:
            found.setdefault((each.scenario, each.column, each.id), each)
    return tuple(found.values())


def _of_tables(figure: Figure, tables: Sequence[TableAt]) -> Iterator[Printed]:
    """What tables print of the collected table that the figure draws; one of several sizes says none of each."""
    for table, scenarios in tables:
        if table.table == figure.table and len(scenarios) == 1:
            for id, columns in table.printed_columns().items():
                for column, (low, high) in columns.items():
                    yield Printed(scenario=scenarios[0], column=column, id=id, low=low, high=high)


def _of_claims(figure: Figure, claims: Sequence[Claim]) -> Iterator[Printed]:
    """What claims say of single synthesizers: a typical value, or the limits of all values."""
    for claim in claims:
        of = claim.estimate
        changed = of.distance is not None or of.of_largest or of.above is not None or of.differences or of.rows
        known = claim.kind != "ours" and of.over == "synthesizer" and of.statistic in ("median", "mean") and not changed
        if known and of.table == figure.table and len(of.value) == 1 and len(claim.scenarios) == 1:
            for id, (low, high) in zip(of.of, _cells(claim), strict=False):
                yield Printed(scenario=claim.scenarios[0].id, column=of.value[0], id=str(id), low=low, high=high)


def _cells(claim: Claim) -> list[tuple[float, float]]:
    """The printed number of each cell as an interval of no width, or the printed limits of each."""
    test = claim.test.model_dump()
    if test["kind"] == "value":
        return [(number, number) for number in test["printed"]]
    if test["kind"] == "within" and claim.printed and None not in (test["low"], test["high"]):
        return [(test["low"], test["high"])] * len(claim.estimate.of)
    return []
