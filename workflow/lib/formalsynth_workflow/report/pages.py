"""The report: static pages that open from the file system, with copies of everything they show."""

from __future__ import annotations

import shutil
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

import pandas as pd

from formalsynth.core.words import GUARANTEES, METRICS, guarantee, metric
from formalsynth.core.words import SYMBOLS as LETTERS
from formalsynth.runtime.files import filled_folder, read_table, unbroken
from formalsynth.settings.yaml_file import load_yaml
from formalsynth_workflow.ledger.claims import KINDS, kind_name
from formalsynth_workflow.ledger.verdicts import STAND_IN, VERDICTS
from formalsynth_workflow.report.contents import Files, ShownPaper, read_ledger, shown_paper
from formalsynth_workflow.report.copies import Copies, archive, copies
from formalsynth_workflow.report.findings import findings
from formalsynth_workflow.report.formats import by_number, duration, number, slug, source_page, with_error
from formalsynth_workflow.report.info import RunInfo
from formalsynth_workflow.report.listings import key_lines
from formalsynth_workflow.report.provenance import Loss
from formalsynth_workflow.report.rows import needed, ours, printed
from formalsynth_workflow.report.search import index_script
from formalsynth_workflow.report.unsteady import Turning, unsteady

if TYPE_CHECKING:
    from jinja2 import Environment

STATIC = ("style.css", "search.js", "ledger.js")
INDEX = "index.js"
"""Script with the search entries."""
GLOSSARY = "glossary.yaml"
"""Explanations of the sections, columns and terms; templates refer to them by the keys."""
FRONTIER = ("cost", "figure 12")
"""Paper and figure of the error against the guaranteed epsilon, shown on the first page if the run has it."""
LEDGER = "claims.csv"


@dataclass(frozen=True)
class Ran:
    """Facts about the run; every field is shown unchanged."""

    facts: Mapping[str, str]
    """Commit, date, versions and the like, by name."""
    sampling: Mapping[str, Mapping[str, float]]
    """Sampling diagnostics, by paper and name."""
    losses: Mapping[str, Sequence[Loss]]
    """Failed rows, by paper."""
    costs: pd.DataFrame
    """Time and memory used by each step, as :func:`formalsynth_workflow.report.provenance.costs` returns them."""
    seconds: float
    """Time during which at least one job was running."""


def write_report(folder: Path, info: RunInfo, ran: Ran, files: Files, templates: Sequence[Path], sent: bool = False) -> None:
    """Write the report and replace an older one.

    Args:
        folder: folder of the report; an older report there is replaced.
        info: the plan.
        ran: facts about the run.
        files: files of the run.
        templates: Jinja2 templates, the style sheet and the script of the pages.
        sent: True if it is to be sent to others, who may not see anything made from unpublished data.

    Raises:
        OSError: a file of the run is damaged.
    """
    texts = {path.name: path.read_text(encoding="utf-8") for path in templates}
    claims = [row for row in read_ledger(files.ledger) if not (sent and row.id in info.confidential_claims)]
    ran = _without(ran, [paper.key for paper in info.papers if paper.confidential]) if sent else ran
    chosen = copies(info, files.shown, sent)
    lines = {name: key_lines(path) for name, path in files.sources.items() if path.suffix == ".yaml"}
    papers = [shown_paper(paper, claims, files, chosen, lines.get(f"papers/{paper.key}.yaml", {}), sent) for paper in info.papers]
    glossary = load_yaml(next(path for path in templates if path.name == GLOSSARY))
    turning = unsteady(read_table(files.steadiness)) if files.steadiness else {}
    environment = _environment(texts, info, turning)
    items = {(paper.key, item.ledger_name): item for paper in papers for item in paper.items}
    environment.globals |= {
        "info": info, "ran": ran, "papers": papers, "claims": claims, "sent": sent, "left_out": chosen.left_out,
        "contents": chosen.contents,
        "shown": items,
        "makers": files.makers, "sources": list(files.sources), "lines": lines, "findings": findings(claims, info.errata),
        "claim_lines": {key: (name, line) for name, keys in lines.items() for key, line in keys.items()},
        "contracting": [(key, item.ledger_name) for (key, _), item in items.items() if item.info.kind == "contraction"],
        "frontier": items.get(FRONTIER),
        **glossary,
    }  # fmt: skip
    with filled_folder(folder) as partial:
        _write_pages(partial, environment, papers, files)
        for name in STATIC:
            (partial / name).write_text(texts[name], encoding="utf-8")
        (partial / INDEX).write_text(index_script(papers, claims, info, glossary), encoding="utf-8")
        _copy_shown(partial, chosen)
        if files.ledger:
            ledger = pd.read_csv(unbroken(files.ledger), dtype=str, keep_default_na=False)
            ledger[ledger["id"].isin([claim.id for claim in claims])].to_csv(partial / LEDGER, index=False)


def _without(ran: Ran, papers: Sequence[str]) -> Ran:
    """Leave out the sampling diagnostics of some papers; if there are any, also the costs, which depend on their records."""
    sampling = {key: diagnostics for key, diagnostics in ran.sampling.items() if key not in papers}
    losses = {key: rows for key, rows in ran.losses.items() if key not in papers}
    return replace(ran, sampling=sampling, losses=losses, costs=ran.costs[:0] if papers else ran.costs)


def _environment(texts: Mapping[str, str], info: RunInfo, turning: Turning) -> Environment:
    """Return the template environment, with the filters and registered words that the templates use."""
    from jinja2 import DictLoader, Environment, StrictUndefined

    mechanisms = info.mechanisms
    environment = Environment(
        loader=DictLoader(texts), autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True
    )
    environment.filters |= {
        "number": number, "duration": duration, "page": source_page, "slug": slug, "guarantee": guarantee, "metric": metric,
        "kind_name": kind_name, "ours": ours, "printed": printed, "needed": needed, "archive": archive,
        "symbol": lambda name: LETTERS.get(name, name),
        "by_number": lambda names: sorted(names, key=by_number), "mechanisms": lambda id: mechanisms.get(id, ()),
        "measured": lambda cell: with_error(cell["estimate"], cell["mcse"]),
        "stays": lambda claim: turning.get((claim.id, claim.verdict)),
    }  # fmt: skip
    words = {"metrics": METRICS, "guarantees": GUARANTEES, "verdicts": VERDICTS, "kinds": KINDS, "stand_in": STAND_IN}
    environment.globals |= words
    return environment


def _write_pages(folder: Path, environment: Environment, papers: Sequence[ShownPaper], files: Files) -> None:
    """Write every page."""

    def render(page: str, template: str, **values: object) -> None:
        path = folder / page
        path.parent.mkdir(parents=True, exist_ok=True)
        root = "../" * page.count("/")
        path.write_text(environment.get_template(template).render(page=page, root=root, **values), encoding="utf-8")

    render("index.html", "index.html")
    render("claims.html", "claims.html")
    render("errata.html", "errata.html")
    for paper in papers:
        render(f"papers/{paper.key}.html", "paper.html", paper=paper)
    for name, path in files.sources.items():
        render(source_page(name), "source.html", name=name, code=path.read_text(encoding="utf-8").splitlines())


def _copy_shown(folder: Path, chosen: Copies) -> None:
    """Copy the files that the pages show or link to."""
    for name, content in chosen.contents.items():
        copy = folder / "papers" / name
        copy.parent.mkdir(exist_ok=True)
        if isinstance(content, bytes):
            copy.write_bytes(content)
        else:
            shutil.copyfile(content, copy)
