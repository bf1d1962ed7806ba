"""The reference run: the small part of a run at scale paper that the repository keeps, and whether a fresh run agrees with it.

Run as ``python -m formalsynth.report.reference --keep`` after a run, or with ``--compare`` to list the claims whose verdict
changed.
"""

from __future__ import annotations

import argparse
import shutil
import sys
from pathlib import Path

import pandas as pd

from formalsynth.ledger.verdicts import REPRODUCED, VERDICTS
from formalsynth.plan.load import load_yaml, read_plan
from formalsynth.plan.paper import Paper, Plan, figure_file
from formalsynth.runtime.files import read_table, whole, write_text

SCALE = "paper"
KEPT = Path("docs", "reference")
PAGE = Path("docs", "RESULTS.md")
LARGEST = 100_000
"""Bytes of a table beyond which it is not kept."""
COLOURS = 64
"""Colours of a kept drawing: figures of flat colours lose nothing that one sees, and three quarters of their size."""


def main() -> int:
    """Command line: keep the results of a run, or compare a run with what is kept."""
    parser = argparse.ArgumentParser(
        prog="python -m formalsynth.report.reference", description="The reference run of the repository."
    )
    task = parser.add_mutually_exclusive_group(required=True)
    task.add_argument("--keep", action="store_true", help=f"copy the small part of the run at scale {SCALE} to {KEPT}")
    task.add_argument("--compare", action="store_true", help="list claims whose verdict changed; exit 1 if there are any")
    options = parser.parse_args()
    fresh = Path("results", SCALE, "claims.csv")
    if not fresh.exists():
        print(f"{fresh} is not there: run snakemake at scale {SCALE} first", file=sys.stderr)
        return 2
    if options.keep:
        plan = read_plan(load_yaml(Path("config", "config.yaml")), Path("config"))
        keep(plan, Path())
        write_text(PAGE, page(plan, read_table(fresh)))
        return 0
    other = changed(read_table(KEPT / "claims.csv"), read_table(fresh))
    print(other.to_string(index=False) if len(other) else "Every verdict is that of the reference run.")
    return 1 if len(other) else 0


def changed(reference: pd.DataFrame, fresh: pd.DataFrame) -> pd.DataFrame:
    """Claims whose verdict differs between two ledgers, those that only one of them has included.

    Args:
        reference: columns of ``claims.csv``.
        fresh: the same.

    Returns:
        Columns id, reference and fresh, each with verdict and estimate; "absent" where a ledger lacks the claim.
    """
    words = {
        name: table.set_index("id")["verdict"].str.cat(" (" + table.set_index("id")["estimate"].fillna("").astype(str) + ")")
        for name, table in {"reference": reference, "fresh": fresh}.items()
    }
    both = pd.DataFrame(words).fillna("absent")
    verdicts = both.map(lambda text: text.partition(" (")[0])
    return both[verdicts["reference"] != verdicts["fresh"]].rename_axis("id").reset_index()


def keep(plan: Plan, folder: Path) -> None:
    """Copy drawings, small tables and the ledger of a run to the folder of the reference run, in place of what is there."""
    shutil.rmtree(folder / KEPT, ignore_errors=True)
    copies = [(folder / "results" / SCALE / "claims.csv", folder / KEPT / "claims.csv")]
    for key in plan.papers:
        figures, tables = folder / "figures" / SCALE / key, folder / "results" / SCALE / key
        found = [*figures.glob("fig*.csv"), *figures.glob("fig*.png"), *tables.glob("table*.csv")]
        copies += [(path, folder / KEPT / key / path.name) for path in sorted(found)]
    for source, target in copies:
        if source.suffix == ".png":
            _keep_drawing(source, target)
        elif source.stat().st_size <= LARGEST:
            with whole(target) as partial:
                shutil.copyfile(source, partial)


def _keep_drawing(source: Path, target: Path) -> None:
    from PIL import Image

    with Image.open(source) as drawing, whole(target) as partial:
        drawing.convert("RGB").quantize(COLOURS).save(partial, optimize=True)


def page(plan: Plan, ledger: pd.DataFrame) -> str:
    """``docs/RESULTS.md``: the ledger's totals, the most telling figures, and what does not hold."""
    parts = [
        "# Results of the reference run",
        f"All papers at scale `{SCALE}`, root seed {plan.config.root_seed}. Drawings, small tables and the whole ledger are in "
        f"[{KEPT.name}]({KEPT.name}); `make` writes the same with every table and a report to read them by.",
        *(f"Left out: {sentence}." for sentence in plan.skipped),
        "## Verdicts",
        _totals(plan, ledger),
        "\n".join(f"- *{verdict}*: {meaning}" for verdict, meaning in VERDICTS.items() if verdict in set(ledger["verdict"])),
        *(part for paper in plan.papers.values() for part in _paper(paper, ledger[ledger["paper"] == paper.key])),
    ]
    return "\n\n".join(parts) + "\n"


def _totals(plan: Plan, ledger: pd.DataFrame) -> str:
    """Claims by paper and verdict, as a Markdown table."""
    verdicts = [verdict for verdict in VERDICTS if verdict in set(ledger["verdict"])]
    counts = ledger.groupby(["paper", "verdict"]).size().unstack(fill_value=0).reindex(index=list(plan.papers), fill_value=0)
    counts.loc["all"] = counts.sum()
    rows = [["paper", *verdicts, "claims"], ["---", *["---:"] * (len(verdicts) + 1)]]
    rows += [[str(key), *(str(row[verdict]) for verdict in verdicts), str(row.sum())] for key, row in counts.iterrows()]
    return "\n".join("| " + " | ".join(row) + " |" for row in rows)


def _paper(paper: Paper, ledger: pd.DataFrame) -> list[str]:
    """The most telling figures of a paper, and its claims that do not hold."""
    parts = [f"## {paper.config.title}", f"{paper.config.authors}; key `{paper.key}`."]
    for number in paper.config.telling:
        caption = Path("figures", SCALE, paper.key, f"{figure_file(number)}.txt").read_text(encoding="utf-8").strip()
        parts += [f"![Figure {number}]({KEPT.name}/{paper.key}/{figure_file(number)}.png)", f"*{caption}*"]
    failed = ledger[ledger["verdict"] != REPRODUCED].astype(object).fillna("")
    lines = [
        f"- **{row.verdict}**{_in_brackets(row.erratum)}, {row.place}: {row.claim} Found {row.estimate}{_in_brackets(row.note)}."
        for row in failed.itertuples()
    ]
    return [*parts, "Claims that were not simply reproduced:", "\n".join(lines)] if lines else parts


def _in_brackets(text: str) -> str:
    return f" ({text})" if text else ""


if __name__ == "__main__":
    sys.exit(main())
