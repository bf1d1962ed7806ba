"""Reference run: the small part of a run at scale paper that the repository contains, and its comparison with a fresh run.

Run as ``python -m dev.reference --keep`` after a run, with ``--compare`` to list the claims whose verdict has changed since the
reference run or, given its ledger, another run; or with ``--write`` to write docs/manual/errata.md and the parts of documents
that come from stored tables; ``--check`` only compares.
"""

from __future__ import annotations

import argparse
import re
import shutil
import sys
from collections.abc import Hashable, Mapping
from pathlib import Path

import pandas as pd
from PIL import Image

from dev.numbers import documents, filled, markdown_rows
from dev.parts import errata_page, parts
from formalsynth.runtime.files import atomic_write, read_table, write_text
from formalsynth.settings.yaml_file import load_yaml
from formalsynth_workflow import REPOSITORY
from formalsynth_workflow.ledger.steadiness import agreement, drawn_verdicts, steadiness
from formalsynth_workflow.plan.load import plan_of
from formalsynth_workflow.plan.marks import between
from formalsynth_workflow.plan.paper import Paper, Plan
from formalsynth_workflow.report.contents import read_ledger

SCALE = "paper"
KEPT = Path("docs", "reference")
LEDGER, STEADINESS = KEPT / "claims.csv", KEPT / "steadiness.csv"
README, ERRATA = Path("README.md"), Path("docs", "manual", "errata.md")
GLOSSARY, EXPLANATIONS = Path("docs", "manual", "glossary.md"), REPOSITORY / "workflow" / "report" / "glossary.yaml"
LARGEST = 100_000
"""Size above which a table is not copied, in bytes."""


def main() -> int:
    """Run the command line: make a run the reference run, compare a run with it, or write the pages about it."""
    parser = argparse.ArgumentParser(prog="python -m dev.reference", description="The reference run of the repository.")
    task = parser.add_mutually_exclusive_group(required=True)
    task.add_argument("--keep", action="store_true", help=f"copy the small part of the run at scale {SCALE} to {KEPT}")
    task.add_argument("--compare", nargs="?", type=Path, const=LEDGER, metavar="CLAIMS",
                      help=f"list claims whose verdict differs from that in another claims.csv (default: {LEDGER})")  # fmt: skip
    task.add_argument("--write", action="store_true", help="write the parts of documents that come from stored tables")
    task.add_argument("--check", action="store_true", help="exit with 1 if one of these is out of date")
    options = parser.parse_args()
    plan = plan_of(Path("config"))
    if options.write or options.check:
        return write(plan, Path(), options.check)
    fresh = Path("results", SCALE, "claims.csv")
    if not fresh.exists():
        print(f"{fresh} is missing: run snakemake at scale {SCALE} first", file=sys.stderr)
        return 2
    if options.keep:
        keep(plan, Path())
        return write(plan, Path())
    if not options.compare.is_file():
        print(f"{options.compare}: there is no such file; give the file claims.csv of a finished run", file=sys.stderr)
        return 2
    changed = changes(read_table(options.compare), read_table(fresh))
    print(markdown_rows(changed) if len(changed) > 2 else f"Every verdict is the same as in {options.compare}.")
    return int(len(changed) > 2)


def changes(before: pd.DataFrame, after: pd.DataFrame) -> list[list[str]]:
    """List claims whose verdict differs between two ledgers, or that only one of them contains.

    Args:
        before: columns of ``claims.csv``.
        after: the same.

    Returns:
        Rows of a Markdown table: id, verdict and estimate before and after, and the note of the later ledger or the earlier.
    """
    ledgers = [table.astype(object).where(table.notna(), "").set_index("id").to_dict("index") for table in (before, after)]
    rows = [["id", "before", "after", "why"], ["---"] * 4]
    for id in ledgers[0] | ledgers[1]:
        earlier, later = (ledger.get(id, {}) for ledger in ledgers)
        if earlier.get("verdict") != later.get("verdict"):
            rows.append([str(id), _words(earlier), _words(later), str(later.get("note") or earlier.get("note") or "")])
    return rows


def _words(row: Mapping[Hashable, object]) -> str:
    """Format the verdict and the estimate of a claim."""
    return f"{row['verdict']} ({row['estimate']})".removesuffix(" ()") if row else "no such claim"


def write(plan: Plan, folder: Path, check: bool = False) -> int:
    """Write ERRATA, GLOSSARY and the generated parts of documents, or report which are out of date.

    Args:
        plan: plan with the errata.
        folder: the repository.
        check: True to write nothing.

    Returns:
        1 if something is out of date and was not written, else 0.

    Raises:
        ValueError: a document has an unknown part.
    """
    rows, steady, explained = read_ledger(folder / LEDGER), read_table(folder / STEADINESS), load_yaml(EXPLANATIONS)
    generated = parts(plan, rows, steady)
    texts = {
        ERRATA: errata_page(plan.errata, explained["erratum_parts"]),
        GLOSSARY: "\n\n".join(["# Glossary", *(f"## {name}\n\n{meaning}" for name, meaning in explained["terms"].items())])
        + "\n",
    }
    for path in documents(folder):
        text = filled(texts.get(path) or _text(folder / path), folder)
        for name in re.findall(r"<!-- begin: ([a-z][a-z ]*) -->", text):
            if name not in generated:
                raise ValueError(f"{path}: there is no generated part {name}; allowed: {', '.join(generated)}")
            text = between(text, name, generated[name]("../" * (len(path.parts) - 1)), str(path))
        texts[path] = text
    stale = [path for path, text in texts.items() if not (folder / path).exists() or _text(folder / path) != text]
    for path in stale:
        if check:
            print(f"{path} is out of date: run python -m dev.reference --write", file=sys.stderr)
        else:
            write_text(folder / path, texts[path])
    return int(check and bool(stale))


def _text(path: Path) -> str:
    return path.read_text(encoding="utf-8")


def keep(plan: Plan, folder: Path) -> None:
    """Replace the drawings, small tables and ledger of the reference run with those of another run."""
    shutil.rmtree(folder / KEPT, ignore_errors=True)
    copies = [(folder / "results" / SCALE / "claims.csv", folder / LEDGER)]
    for key in plan.papers:
        figures, tables = folder / "figures" / SCALE / key, folder / "results" / SCALE / key
        paths = [*figures.glob("fig*.csv"), *figures.glob("fig*.png"), *tables.glob("table*.csv")]
        copies += [(path, folder / KEPT / key / path.name) for path in sorted(paths)]
    for source, target in copies:
        if source.suffix == ".png":
            with Image.open(source) as drawing, atomic_write(target) as partial:
                drawing.convert("RGB").save(partial, optimize=True)
        elif target == folder / LEDGER or source.stat().st_size <= LARGEST:
            with atomic_write(target) as partial:
                shutil.copyfile(source, partial)
    verdicts = pd.concat([_drawn_verdicts(paper, plan, folder / "results" / SCALE / key) for key, paper in plan.papers.items()])
    steady = steadiness(verdicts)
    write_text(folder / STEADINESS, steady.to_csv(index=False))
    if len(steady):
        shares = agreement(verdicts)
        print(f"Two drawings of the replicates agree on {shares.mean():.1%} of verdicts ({shares[0]:.1%} to {shares[-1]:.1%}).")


def _drawn_verdicts(paper: Paper, plan: Plan, results: Path) -> pd.DataFrame:
    """Judge a paper and drawings of its replicates; claims without tables are left out."""
    names: dict[str, list[tuple[str, str]]] = {}
    for claim in paper.claims:
        names[claim.id] = [(scenario.id, claim.estimate.table) for scenario in claim.scenarios]
    paths = {key: results / key[0] / f"{key[1]}.csv" for keys in names.values() for key in keys}
    tables = {key: read_table(path) for key, path in paths.items() if path.exists()}
    claims = [claim for claim in paper.claims if names[claim.id] and tables.keys() >= set(names[claim.id])]
    return drawn_verdicts(claims, tables, plan.config.verdicts, plan.config.root_seed)


if __name__ == "__main__":
    sys.exit(main())
