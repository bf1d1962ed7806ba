"""Generated parts of documents, about the reference run: the picture, the findings, the claims of a paper, and the errata."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial

import pandas as pd

from dev.numbers import markdown_rows
from formalsynth_workflow.ledger.claims import kind_name
from formalsynth_workflow.ledger.errata import Erratum
from formalsynth_workflow.ledger.judge import LedgerRow
from formalsynth_workflow.ledger.verdicts import NOT_REPRODUCED, VERDICTS
from formalsynth_workflow.plan.paper import Paper, Plan, figure_file
from formalsynth_workflow.report.findings import FINDINGS, JUDGED, Findings, findings
from formalsynth_workflow.report.unsteady import headline_error

KEPT = "docs/reference"
"""Folder of the reference run."""
ERRATA = "docs/manual/errata.md"
FRONTIER = "cost/fig12.png"
"""Picture of the study ``cost``: the error against the guaranteed epsilon."""
Part = Callable[[str], str]
"""Text of a part, given the relative path from its document to the repository."""


def parts(plan: Plan, rows: Sequence[LedgerRow], steady: pd.DataFrame) -> dict[str, Part]:
    """Return the parts by name, as in ``<!-- begin: claims range -->`` and ``<!-- end: claims range -->``.

    Args:
        plan: plan of the reference run.
        rows: its ledger.
        steady: steadiness of its verdicts, from :func:`formalsynth_workflow.ledger.steadiness.steadiness`.
    """
    totals = findings(rows, plan.errata)
    error = headline_error(rows, steady)
    common: dict[str, Part] = {"picture": _picture, "findings": lambda _: _findings(totals, error)}
    return common | {f"claims {key}": partial(_claims, paper, rows, totals) for key, paper in plan.papers.items()}


def _picture(root: str) -> str:
    """Write the picture, with its caption."""
    return (
        f"![Error of the synthetic data against the guaranteed ε]({root}{KEPT}/{FRONTIER})\n\n"
        "*Error of synthetic data against the guaranteed ε; lower is better. The error is the largest difference between the "
        "distribution functions of synthetic and confidential data. Dotted line: two samples from one population.*"
    )


def _findings(totals: Findings, error: float) -> str:
    """Write the headline, and the numbers of claims of kind test by paper; studies of our own are left out."""
    columns = {verdict: [verdict] for verdict in (*JUDGED, *FINDINGS)} | {"not judged": list(totals.unjudged)}
    papers = dict.fromkeys(key for key, _, kind in totals.counts if kind == "test")
    rows = [[f"`{key}`", *(str(totals.of(of, key)) for of in columns.values())] for key in papers]
    return f"{totals.headline(error)}\n\n{markdown_rows([['paper', *columns], ['---', *['---:'] * len(columns)], *rows])}"


def _claims(paper: Paper, rows: Sequence[LedgerRow], totals: Findings, root: str) -> str:
    """List the claims that answer the paper's question or are not reproduced, and the numbers of all claims."""
    by_id = {row.id: row for row in rows if row.paper == paper.key}
    failed = [id for id, row in by_id.items() if row.verdict == NOT_REPRODUCED and kind_name(row.kind) == "test"]
    chosen = [by_id[id] for id in dict.fromkeys((*paper.answer, *failed)) if id in by_id]
    groups = [
        "\n".join([f"**{verdict.capitalize()}**\n", *(_line(row, root) for row in chosen if row.verdict == verdict)])
        for verdict in dict.fromkeys(row.verdict for row in chosen)
    ]
    counts = {verdict: totals.of([verdict], paper.key) for verdict in VERDICTS}
    tested = [(result.erratum.id, row) for result in totals.errata for row in result.claims if kind_name(row.kind) == "test"]
    listed = []
    for verdict in filter(counts.get, counts):
        ids = dict.fromkeys(id for id, row in tested if row.paper == paper.key and row.verdict == verdict in FINDINGS)
        links = ", ".join(f"[{id}]({root}{ERRATA}#{id.lower()})" for id in ids)
        listed.append(f"{counts[verdict]} {verdict}" + f" ({links})" * bool(ids))
    tests = f"; {sum(counts.values())} of them test the paper: {', '.join(listed)}" if listed else ""
    ledger = f"[The ledger]({root}{KEPT}/claims.csv) lists {len(by_id)} claims with their numbers{tests}."
    return "\n\n".join([*groups, ledger])


def _line(row: LedgerRow, root: str) -> str:
    """Write a claim after a link to its figure or table, or else its place in the paper."""
    kind, _, number = row.shows.partition(" ")
    file = f"{figure_file(number)}.png" if kind == "figure" else f"table{number}.csv"
    where = f"[{row.shows.capitalize()}]({root}{KEPT}/{row.paper}/{file})" if kind in ("figure", "table") else row.place
    return f"- {where}: {row.claim}"


def errata_page(errata: Sequence[Erratum], headings: Mapping[str, str]) -> str:
    """Write the page of errata: errors in the printed papers.

    Args:
        errata: the errors.
        headings: headings of the texts of an erratum.
    """
    parts = [
        "# Errata: errors in the printed papers",
        "Pages of papers and the report show the claims that test an error. `python tests/errata E3` checks E3 numerically. [Do "
        "the bounds contract?](../explanation/contraction.md) is about min-max weights, where no single formula is wrong.",
        "\n".join(f"- *{finding}*: {VERDICTS[finding]}." for finding in FINDINGS),
    ]
    for erratum in errata:
        papers = dict.fromkeys(place.paper for place in erratum.places)
        at = [f"`{paper}`: {'; '.join(place.place for place in erratum.places if place.paper == paper)}." for paper in papers]
        also = [f"Earlier numbers: {', '.join(erratum.also)}."] if erratum.also else []
        texts = [f"- {headings[name]}: {getattr(erratum, name)}" for name in ("printed", "derived")]
        texts.append(f"- {headings['matters']} {erratum.matters} {erratum.consequence}".rstrip())
        parts += [f"## {erratum.id}", f"**{erratum.title}**", " ".join([f"*{erratum.kind}*,", *at, *also]), "\n".join(texts)]
    return "\n\n".join(parts) + "\n"
