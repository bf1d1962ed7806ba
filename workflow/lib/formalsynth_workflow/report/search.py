"""Entries of the report's search: claims, figures, tables, errata, papers and terms, in a script that pages load.

The ranking in ``search.js`` is our own. Reports must open from files without a network, and all software that makes them comes
from PyPI. Pagefind needs a web server, because browsers load neither modules nor WebAssembly from files. MiniSearch is only on
npm. lunr.js is only available inside mkdocs, and its last release dates from 2020. Neither of these two ranks the entries better.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from formalsynth.core.words import GUARANTEES, METRICS, metric
from formalsynth_workflow.ledger.claims import KINDS, kind_name
from formalsynth_workflow.ledger.errata import Erratum
from formalsynth_workflow.ledger.judge import LedgerRow
from formalsynth_workflow.ledger.verdicts import VERDICTS
from formalsynth_workflow.report.contents import Item, ShownPaper
from formalsynth_workflow.report.formats import slug
from formalsynth_workflow.report.info import RunInfo
from formalsynth_workflow.report.rows import ours, printed

Entry = dict[str, str | float]
"""Search entry: ``id`` (of a claim), ``url``, ``kind``, ``title``, ``tags``, ``text``, ``note`` and ``boost``."""
OURS = 0.8
"""Score factor of our own studies, so papers on the same subject come first."""


def index_script(
    papers: Sequence[ShownPaper], claims: Sequence[LedgerRow], info: RunInfo, glossary: Mapping[str, Mapping[str, Any]]
) -> str:
    """Write the script with all search entries.

    Args:
        papers: the papers of the report.
        claims: the ledger; claims under another reading than the first are left out.
        info: the plan, with the errors in the papers and the mechanisms of claims.
        glossary: explanations of terms, sections and diagnostics.
    """
    by_key, mechanisms = {paper.key: paper for paper in papers}, info.mechanisms
    entries = [
        _claim(claim, by_key[claim.paper], mechanisms.get(claim.id, ()))
        for claim in claims
        if kind_name(claim.kind) != "another reading"
    ]
    for paper in papers:
        entries += [_item(paper, item) for item in paper.items]
        page, tags = f"papers/{paper.key}.html", f"{paper.key} {paper.info.authors}"
        entries.append({"url": page, "kind": "paper", "title": paper.info.title, "tags": tags})
    entries += [*map(_erratum, info.errata), *_words(glossary)]
    # "</" would end the script element if the script were embedded in a page.
    return f"window.INDEX = {json.dumps(entries, ensure_ascii=False)};\n".replace("</", "<\\/")


def _claim(row: LedgerRow, paper: ShownPaper, mechanisms: Sequence[str]) -> Entry:
    subjects = [_subject(item) for item in paper.items if item.ledger_name == row.shows]
    tags = [row.paper, row.place, row.shows, row.erratum, row.verdict, row.kind, row.cells, *subjects, *mechanisms]
    return {
        "id": row.id, "url": f"claims.html#{row.id}", "kind": "claim", "title": row.claim,
        "tags": " ".join([*tags, paper.info.asked(row.id)]), "text": " ".join([row.id, printed(row), ours(row), row.note]),
        "note": f"{row.paper}, {row.verdict}", "boost": OURS if paper.own else 1.0,
    }  # fmt: skip


def _subject(item: Item) -> str:
    return " ".join([item.info.subject, *(metric(column).name for column in item.info.columns)])


def _item(paper: ShownPaper, item: Item) -> Entry:
    named = [claim.claim for claim in item.claims if claim.shows != item.ledger_name]  # its own claims have their own entries
    return {
        "url": f"papers/{paper.key}.html#{slug(item.ledger_name)}", "kind": item.ledger_name.split()[0],
        "title": f"{item.ledger_name.capitalize()} of {paper.key}: {item.info.subject}",
        "tags": f"{_subject(item)} {paper.info.asked(item.ledger_name)}",
        "text": " ".join([item.caption, item.details, *named[:2]]),
        "boost": OURS if paper.own else 1.1,
    }  # fmt: skip


def _erratum(erratum: Erratum) -> Entry:
    places = " ".join(f"{place.paper} {place.place}" for place in erratum.places)
    return {
        "url": f"errata.html#{erratum.id}", "kind": "erratum", "title": f"{erratum.id}: {erratum.title}",
        "tags": " ".join([places, erratum.kind, *erratum.also]),
        "text": " ".join([erratum.printed, erratum.derived, erratum.consequence]), "boost": 1.2,
    }  # fmt: skip


def _words(glossary: Mapping[str, Mapping[str, Any]]) -> Iterator[Entry]:
    for name, meaning in glossary["terms"].items():
        yield {"url": "index.html#glossary", "kind": "word", "title": name, "text": meaning, "boost": 1.1}
    groups = (
        ("index.html#words", "", [(words.name, words.meaning) for words in METRICS.values()]),
        ("index.html#words", "guarantee", GUARANTEES.items()),
        ("claims.html#words", "verdict meaning", VERDICTS.items()),
        ("claims.html#words", "kind of claim meaning", KINDS.items()),
    )
    for url, tags, meanings in groups:
        for name, text in meanings:
            yield {"url": url, "kind": "word", "title": name, "tags": tags, "text": text}
    for anchor, section in glossary["sections"].items():
        text = " ".join(column["name"] for column in glossary["diagnostics"].values()) if anchor == "sampling" else ""
        yield {
            "url": f"index.html#{anchor}",
            "kind": "section",
            "title": section["name"],
            "tags": section["meaning"],
            "text": text,
        }
