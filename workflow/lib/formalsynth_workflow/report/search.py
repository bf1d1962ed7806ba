"""Entries of the report's search: claims, figures, tables, errata, papers and terms, in a script that pages load.

The ranking in ``search.js`` is our own. Reports must open from files without a network, and all software that makes them comes
from PyPI. Pagefind needs a web server, because browsers load neither modules nor WebAssembly from files. MiniSearch is only on
npm. lunr.js is only available inside mkdocs, and its last release dates from 2020. Neither of these two ranks the entries better.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence

from formalsynth.core.words import GUARANTEES, METRICS, metric
from formalsynth_workflow.ledger.claims import KINDS, kind_name
from formalsynth_workflow.ledger.errata import Erratum
from formalsynth_workflow.ledger.judge import LedgerRow
from formalsynth_workflow.ledger.verdicts import VERDICTS
from formalsynth_workflow.report.captions import finding
from formalsynth_workflow.report.contents import Item, ShownFigure, ShownPaper, ShownTable
from formalsynth_workflow.report.formats import slug
from formalsynth_workflow.report.glossary import DIAGNOSTICS, SECTIONS, TERMS
from formalsynth_workflow.report.rows import ours, printed

SYNONYMS = (
    ("averaging", "avg"),
    ("truncation", "trunc"),
    ("contraction", "contract", "shrink", "rate"),
    ("lipschitz", "delta", "bound"),
    ("epsilon", "budget", "eps"),
    ("help", "improve", "better", "smaller", "useful"),
    ("utility", "ecdf", "useful", "accuracy"),
    ("coverage", "covers", "interval"),
    ("attack", "membership", "domias", "inference"),
    ("dp", "private", "privacy", "guarantee", "differential"),
    ("salary", "salaries", "income", "wage", "sdr"),
    ("quantile", "percentile"),
    ("histogram", "ph", "laplace"),
    ("zcdp", "rho"),
    ("weight", "alpha", "downweighting"),
    ("censoring", "censor", "clip"),
    ("misprint", "erratum", "error", "mistake", "wrong"),
    ("credit", "german"),
    ("cancer", "breast"),
    ("resample", "replicate", "repeated"),
    ("best", "closest", "closer", "smallest"),
    ("several", "multiple", "five", "m"),
    ("preserve", "keep", "retain"),
    ("convergence", "converge", "contract"),
    ("hurt", "cost", "lose", "degrade"),
    ("record", "person", "people", "somebody", "someone", "individual", "row"),
    ("detect", "find", "discover", "identify", "recognize"),
)
"""Groups of words that readers use as synonyms."""
Entry = dict[str, str | float]
"""Search entry: ``id`` (of a claim), ``url``, ``kind``, ``title``, ``tags``, ``text``, ``note`` and ``boost``."""


OURS = 0.8
"""Score factor of our own studies, so papers on the same subject come first."""


def index_script(
    papers: Sequence[ShownPaper],
    claims: Sequence[LedgerRow],
    errata: Sequence[Erratum],
    mechanisms: Mapping[str, Sequence[str]],
) -> str:
    """Write the script with all search entries.

    Args:
        papers: the papers of the report.
        claims: the ledger; claims under another reading than the first are left out.
        errata: errors in the papers.
        mechanisms: mechanisms of the claims, by the claim's id.
    """
    shown = {(paper.key, item.what): item for paper in papers for item in paper.items}
    about = {paper.key: paper.info for paper in papers}
    own = {paper.key for paper in papers if paper.own}
    entries = [
        _claim(claim, shown, [*mechanisms.get(claim.id, ()), about[claim.paper].asked(claim.id)])
        | ({"boost": OURS} if claim.paper in own else {})
        for claim in claims
        if kind_name(claim.kind) != "another reading"
    ]
    for paper in papers:
        entries += [_item(paper, item) for item in paper.items]
        entries.append(
            {
                "url": f"papers/{paper.key}.html",
                "kind": "paper",
                "title": paper.info.title,
                "tags": f"{paper.key} {paper.info.authors}",
            }
        )
    entries += [_erratum(erratum) for erratum in errata]
    entries += _words()
    # "</" would end the script element if the script were embedded in a page.
    texts = [json.dumps(values, ensure_ascii=False).replace("</", "<\\/") for values in (SYNONYMS, entries)]
    return f"window.SYNONYMS = {texts[0]};\nwindow.INDEX = {texts[1]};\n"


def _claim(row: LedgerRow, shown: Mapping[tuple[str, str], Item], more: Sequence[str]) -> Entry:
    item = shown.get((row.paper, row.shows))
    tags = [row.paper, row.place, row.shows, row.erratum, row.verdict, row.kind, row.cells, _subject(item), *more]
    return {
        "id": row.id, "url": f"claims.html#{row.id}", "kind": "claim", "title": row.claim, "tags": " ".join(tags),
        "text": " ".join([row.id, printed(row), ours(row), row.note]), "note": f"{row.paper}, {row.verdict}",
    }  # fmt: skip


def _subject(item: Item | None) -> str:
    if not isinstance(item, ShownFigure | ShownTable):
        return ""
    return " ".join([item.info.subject, *(metric(column).name for column in item.info.columns)])


def _item(paper: ShownPaper, item: Item) -> Entry:
    subject = item.info.subject if isinstance(item, ShownFigure | ShownTable) else ""
    description = item.caption.replace(finding(item.claims), "") if item.claims else item.caption  # claims have their own entries
    return {
        "url": f"papers/{paper.key}.html#{slug(item.what)}", "kind": item.what.split()[0],
        "title": f"{item.what.capitalize()} of {paper.key}: {subject}",
        "tags": f"{_subject(item)} {paper.info.asked(item.what)}", "text": description, "boost": OURS if paper.own else 1.1,
    }  # fmt: skip


def _erratum(erratum: Erratum) -> Entry:
    places = " ".join(f"{place.paper} {place.place}" for place in erratum.places)
    return {
        "url": f"errata.html#{erratum.id}", "kind": "erratum", "title": f"{erratum.id}: {erratum.title}",
        "tags": " ".join([places, erratum.kind, *erratum.also]),
        "text": " ".join([erratum.printed, erratum.derived, erratum.consequence]), "boost": 1.2,
    }  # fmt: skip


def _words() -> Iterator[Entry]:
    for name, meaning in TERMS.items():
        yield {"url": "index.html#glossary", "kind": "word", "title": name, "text": meaning, "boost": 1.1}
    for words in METRICS.values():
        yield {"url": "index.html#words", "kind": "word", "title": words.name, "text": words.meaning}
    for name, meaning in GUARANTEES.items():
        yield {"url": "index.html#words", "kind": "word", "title": name, "tags": "guarantee", "text": meaning}
    for group, meanings in (("verdict", VERDICTS), ("kind of claim", KINDS)):
        for name, meaning in meanings.items():
            yield {"url": "claims.html#words", "kind": "word", "title": name, "tags": f"{group} meaning", "text": meaning}
    for anchor, section in SECTIONS.items():
        columns = " ".join(column.name for column in DIAGNOSTICS.values()) if anchor == "sampling" else ""
        yield {"url": f"index.html#{anchor}", "kind": "section", "title": section.name, "tags": section.meaning, "text": columns}
