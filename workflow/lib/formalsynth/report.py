"""The report: static pages that open from the file system, with everything they show copied beside them."""

from __future__ import annotations

import csv
import math
import shutil
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import yaml

from formalsynth import words
from formalsynth.files import unbroken, whole_folder

if TYPE_CHECKING:
    from formalsynth.design import Paper, Plan

SYMBOLS = {
    "reproduced": "✓",
    "direction only": "↗",
    "not reproduced": "✗",
    "contradicted in print": "≠",
    "stand-in data": "◇",
    "data absent": "∅",
    "too few replicates": "…",
}
"""A sign for each verdict, so that none depends on colour."""
DRAWINGS = {"violin": "Violin plots", "density": "Density curves", "scatter": "Scatter plot", "line": "Lines with error bars"}
"""What a drawing is, for those who cannot see it."""
STATIC = ("style.css", "ledger.js")
LEDGER = "claims.csv"


def describe(plan: Plan) -> dict[str, Any]:
    """What the report says of the design, in plain types: everything but what the run made."""
    from formalsynth.claims import VERDICTS
    from formalsynth.datasets import DATASETS, TABLES, find
    from formalsynth.design import data_files

    run, scale = plan.config, plan.config.scales[plan.config.scale]
    wanted = [name for paper in plan.papers.values() for one in paper.config.scenarios.values() for name in data_files(one)]
    files = {name: (DATASETS | TABLES)[name] for name in dict.fromkeys(wanted)}
    return {
        "scale": run.scale,
        "size": scale.model_dump(),
        "root_seed": run.root_seed,
        "sampler": run.sampler.model_dump(),
        "verdicts": VERDICTS,
        "data": [
            {"file": one.file, "source": one.source, "found": find(name, run.data_folder) is not None}
            for name, one in files.items()
        ],
        "skipped": plan.skipped,
        "papers": [_described(paper, run.scale, plan.skipped) for paper in plan.papers.values()],
    }


def _described(paper: Paper, scale: str, skipped: Sequence[str]) -> dict[str, Any]:
    shown = {section: [_shown(paper, section, number, scale) for number in getattr(paper, section)] for section in SECTIONS}
    left_out = [
        f"{section[:-1]} {number}"
        for section in SECTIONS
        for number in getattr(paper.config, section)
        if number not in getattr(paper, section)
    ]
    return {
        "key": paper.key,
        "title": paper.config.title,
        "authors": paper.config.authors,
        "scenarios": list(paper.scenarios),
        "left_out": left_out,
        "skipped": [one for one in skipped if one.startswith(f"{paper.key}: ")],
        **shown,
    }


SECTIONS = ("figures", "tables")


def _shown(paper: Paper, section: str, number: int | str, scale: str) -> dict[str, Any]:
    """A figure or table: its number and name, what it shows, and whose words it needs."""
    from formalsynth.design import figure_file
    from formalsynth.scenario import DATA, PRIOR
    from formalsynth.steps.show import BOUNDS

    display = paper.display(section, number, scale)
    columns = _columns(display.entry, display.source)
    kinds = [display.looks[id]["guarantee"] for id in display.ids if id not in (DATA, PRIOR)]
    return {
        "number": str(number),
        "file": f"{paper.key}/{figure_file(number) if section == 'figures' else f'table{number}'}",
        "subject": display.entry["subject"],
        "kind": display.entry["kind"],
        "same_as": getattr(getattr(paper, section)[number], "same_as", None) or "",
        "stand_in": display.scenarios[0]["stand_in"],
        "columns": columns,
        "guarantees": list(dict.fromkeys(kinds)) if set(columns) & set(BOUNDS) else [],
    }


def _columns(entry: Mapping[str, Any], source: str) -> list[str]:
    """Columns that a figure or table shows, by the names of :data:`formalsynth.words.METRICS`."""
    if "statistics" not in entry:
        values = entry["value"] if isinstance(entry["value"], list) else [entry["value"]]
        return ["released" if (one, source) == ("value", "replicates") else one for one in [*values, entry["x"]] if one]
    if entry["kind"] in ("spread", "rate"):
        return [*(["slope"] if entry["kind"] == "rate" else []), entry["value"]]
    return list(dict.fromkeys(_column(one)[0] for one in entry["statistics"]))


def _column(statistic: str) -> tuple[str, str]:
    """The column of a table's statistic, and which end of its interval it is, if any."""
    column, _, end = statistic.rpartition("_")
    return (column, f", {end} end") if end in ("low", "high") else (statistic, "")


def heading(statistic: str, kind: str) -> str:
    """The name of a table's statistic; in tables of a spread they are summaries of one column."""
    column, end = _column(statistic)
    return statistic if kind == "spread" else words.metric(column).name + end


@dataclass(frozen=True)
class Ran:
    """What the run adds to the design; every field is shown as it is."""

    facts: Mapping[str, str]
    """Commit, date, versions and the like, by name."""
    sampling: Mapping[str, Mapping[str, Any]]
    """How sampling went, by paper; fields of :data:`formalsynth.words.DIAGNOSTICS`."""
    losses: Mapping[str, Sequence[Mapping[str, Any]]]
    """Rows that failed, by paper."""
    costs: Sequence[Mapping[str, Any]]
    """Fields of :class:`formalsynth.provenance.Cost`, by step."""
    seconds: float
    """Time during which at least one job was running."""


@dataclass(frozen=True)
class Files:
    """Where the run left what the report shows."""

    shown: Mapping[str, Path]
    """Figures, tables and captions as ``<paper>/fig02.png`` and so on."""
    ledger: Path | None
    """The ledger of claims, where any paper has claims."""
    sources: Mapping[str, Path]
    """Config and scripts, by the name they are shown under."""
    makers: Mapping[str, Sequence[str]] = field(default_factory=dict)
    """Names of the sources that made ``figures``, ``tables`` and ``claims``, the script first."""


def write_report(folder: Path, told: Mapping[str, Any], ran: Ran, files: Files, templates: Sequence[Path]) -> None:
    """Write the report; the folder takes its name only when it is whole.

    Args:
        folder: becomes the report, in place of an older one.
        told: what :func:`describe` says.
        ran: what was run.
        files: what the run made.
        templates: Jinja2 templates, the style sheet and the script of the pages.
    """
    import jinja2

    texts = {path.name: path.read_text(encoding="utf-8") for path in templates}
    environment = jinja2.Environment(
        loader=jinja2.DictLoader(texts), autoescape=True, undefined=jinja2.StrictUndefined, trim_blocks=True, lstrip_blocks=True
    )
    environment.filters |= {
        "number": number, "duration": duration, "page": source_page, "slug": slug, "guarantee": words.guarantee,
        "metric": words.metric,
        "heading": heading,
    }  # fmt: skip
    claims = read_ledger(files.ledger)
    lines = {name: key_lines(path) for name, path in files.sources.items() if path.suffix == ".yaml"}
    papers = [_paper(one, claims, files, lines) for one in told["papers"]]
    shown = {(paper["key"], item["what"]) for paper in papers for item in (*paper["figures"], *paper["tables"])}
    environment.globals |= {
        "told": told, "ran": ran, "papers": papers, "claims": claims, "shown": shown,
        "makers": files.makers, "sources": list(files.sources), "lines": lines,
        "words": words, "symbols": SYMBOLS, "verdicts": told["verdicts"],
        "counts": Counter((one["paper"], one["verdict"]) for one in claims),
    }  # fmt: skip
    with whole_folder(folder) as partial:

        def render(page: str, template: str, **values: Any) -> None:
            path = partial / page
            path.parent.mkdir(parents=True, exist_ok=True)
            root = "../" * page.count("/")
            path.write_text(environment.get_template(template).render(page=page, root=root, **values), encoding="utf-8")

        render("index.html", "index.html")
        render("claims.html", "claims.html")
        for paper in papers:
            render(f"papers/{paper['key']}.html", "paper.html", paper=paper)
        for name, path in files.sources.items():
            render(source_page(name), "source.html", name=name, code=highlighted(path))
        (partial / "sources" / "code.css").write_text(_code_style(), encoding="utf-8")
        for name in STATIC:
            (partial / name).write_text(texts[name], encoding="utf-8")
        for name, path in files.shown.items():
            copy = partial / "papers" / name
            copy.parent.mkdir(exist_ok=True)
            shutil.copyfile(unbroken(path), copy)
        if files.ledger:
            shutil.copyfile(unbroken(files.ledger), partial / LEDGER)


def _paper(
    one: Mapping[str, Any], claims: Sequence[Mapping[str, str]], files: Files, lines: Mapping[str, Mapping[str, int]]
) -> dict[str, Any]:
    """A paper with what its page shows: captions, sizes of pictures, tables, and claims by what they belong to."""
    key = one["key"]
    about: dict[str, list[Mapping[str, str]]] = {}
    for claim in claims:
        if claim["paper"] == key:
            about.setdefault(claim["shows"], []).append(claim)
    config = lines.get(f"papers/{key}.yaml", {})
    figures = []
    for figure in one["figures"]:
        name = figure["file"]
        width, height = png_size(files.shown[f"{name}.png"])
        alt = f"{DRAWINGS[figure['kind']]}: {figure['subject']}. The caption says more."
        caption = files.shown[f"{name}.txt"].read_text(encoding="utf-8").strip()
        more = {"width": width, "height": height, "alt": alt, "caption": caption}
        figures.append(figure | more | _common("figure", figure["number"], about, config))
    tables = []
    for table in one["tables"]:
        name = table["file"]
        caption = files.shown[f"{name}.txt"].read_text(encoding="utf-8").strip()
        more = {"caption": caption, "grid": read_grid(files.shown[f"{name}.csv"])}
        tables.append(table | more | _common("table", table["number"], about, config))
    shown = {item["what"] for item in (*figures, *tables)}
    other = [claim for what, group in about.items() if what not in shown for claim in group]
    return {**one, "figures": figures, "tables": tables, "other": other, "claims": sum(map(len, about.values()))}


def _common(
    kind: str, number: str, about: Mapping[str, Sequence[Mapping[str, str]]], config: Mapping[str, int]
) -> dict[str, Any]:
    """What figures and tables have in common."""
    return {
        "what": f"{kind} {number}",
        "claims": about.get(f"{kind} {number}", []),
        "line": config.get(f"{kind}s.{number}", 1),
    }


def read_ledger(path: Path | None) -> list[dict[str, str]]:
    """The rows of the ledger as they are written; none where there is no ledger."""
    if path is None:
        return []
    with open(unbroken(path), encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def read_grid(path: Path) -> dict[str, Any]:
    """A table's tidy CSV as a grid: a row for each synthesizer, a column for each statistic."""
    with open(unbroken(path), encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    statistics = list(dict.fromkeys(one["statistic"] for one in rows))
    grid: dict[str, dict[str, Any]] = {}
    for one in rows:
        row = grid.setdefault(one["synthesizer"], {"label": one["label"], "guarantee": one["guarantee"], "cells": {}})
        row["cells"][one["statistic"]] = {key: _value(one[key]) for key in ("estimate", "mcse", "printed")}
    labels = Counter(row["label"] for row in grid.values())
    for id, row in grid.items():
        row["id"] = id if labels[row["label"]] > 1 else ""
    return {"statistics": statistics, "rows": list(grid.values())}


def _value(text: str) -> float:
    return {"": math.nan, "True": 1.0, "False": 0.0}.get(text, math.nan) if text in ("", "True", "False") else float(text)


def number(value: float) -> str:
    """Four significant digits, or all before the point of a number below ten million; a dash for what is not there."""
    if math.isnan(value):
        return "–"
    digits = f"{value:.0f}" if 1e4 <= abs(value) < 1e7 else f"{value:.4g}"
    return digits.replace("inf", "∞").replace("-", "−")


def duration(seconds: float) -> str:
    """A time in its two largest units."""
    whole_seconds = round(seconds)
    hours, minutes = whole_seconds // 3600, whole_seconds % 3600 // 60
    if hours:
        return f"{hours} h {minutes} min"
    return f"{minutes} min {whole_seconds % 60} s" if minutes else f"{seconds:.2g} s" if seconds < 10 else f"{whole_seconds} s"


def slug(text: str) -> str:
    """A text as part of an anchor or a class name."""
    return text.replace(" ", "-")


def source_page(name: str) -> str:
    """The page that shows a source."""
    return f"sources/{name.replace('/', '-')}.html"


def png_size(path: Path) -> tuple[int, int]:
    """Width and height of a PNG in pixels."""
    with open(path, "rb") as file:
        header = file.read(24)
    return int.from_bytes(header[16:20], "big"), int.from_bytes(header[20:24], "big")


def key_lines(path: Path) -> dict[str, int]:
    """Where a YAML file has its keys to the second level, and the items of a list by their ``id``: dotted name to line."""
    found: dict[str, int] = {}
    root = yaml.compose(path.read_text(encoding="utf-8"))
    for key, section in getattr(root, "value", []):
        found[key.value] = key.start_mark.line + 1
        if isinstance(section, yaml.MappingNode):
            found |= {f"{key.value}.{inner.value}": inner.start_mark.line + 1 for inner, _ in section.value}
        for item in section.value if isinstance(section, yaml.SequenceNode) else []:
            for inner, value in item.value if isinstance(item, yaml.MappingNode) else []:
                if inner.value == "id":
                    found[f"{key.value}.{value.value}"] = item.start_mark.line + 1
    return found


def highlighted(path: Path) -> Any:
    """A source as HTML with an anchor for each line."""
    from markupsafe import Markup
    from pygments import highlight
    from pygments.lexers import PythonLexer, YamlLexer

    lexer = YamlLexer() if path.suffix == ".yaml" else PythonLexer()
    return Markup(highlight(path.read_text(encoding="utf-8"), lexer, _formatter()))


def _formatter() -> Any:
    from pygments.formatters import HtmlFormatter

    # Black and white: weight and slant tell the kinds of words apart.
    return HtmlFormatter(style="bw", linenos="inline", lineanchors="line", cssclass="code")


def _code_style() -> str:
    return _formatter().get_style_defs(".code")
