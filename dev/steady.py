"""Steadiness of the verdicts of a run under other replicates: python -m dev.steady, after a run. It takes some minutes.

``docs/reference/steadiness.csv`` contains the result for the reference run.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

import pandas as pd
from formalsynth.core.arrays import Array
from formalsynth.ledger.claims import Claim
from formalsynth.ledger.steadiness import DRAWINGS, STEADY, agreement, drawn_verdicts, steadiness
from formalsynth.plan.load import plan_of
from formalsynth.plan.paper import Paper, Plan
from formalsynth.runtime.files import read_table

from dev.markdown import markdown_rows

RESULTS = Path("results", "paper")


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line; return 0, or 2 if there is no finished run."""
    parser = argparse.ArgumentParser(
        prog="python -m dev.steady", description="Find which verdicts of a run would stay the same with other replicates."
    )
    parser.add_argument("--drawings", type=int, default=DRAWINGS, help="number of drawings of replicates (default: %(default)s)")
    parser.add_argument("--results", type=Path, default=RESULTS, help="folder of the run's results (default: %(default)s)")
    parser.add_argument("--times", type=int, default=1, help="factor on the number of replicates (default: %(default)s)")
    options = parser.parse_args(arguments)
    if options.drawings < 2 or options.times < 1:
        parser.error("--drawings must be 2 or more, and --times 1 or more")
    plan = plan_of(Path("config"))
    verdicts = verdicts_of_run(plan, options.results, options.drawings, options.times)
    if verdicts.empty:
        print(f"{options.results} has no tables to judge: run snakemake at scale paper first", file=sys.stderr)
        return 2
    claims = {claim.id: claim.claim for paper in plan.papers.values() for claim in paper.claims}
    print(steady_part(steadiness(verdicts), agreement(verdicts), claims))
    return 0


def verdicts_of_run(plan: Plan, results: Path, drawings: int = DRAWINGS, times: int = 1) -> pd.DataFrame:
    """Judge a run and drawings of its replicates; see :func:`formalsynth.ledger.steadiness.drawn_verdicts`.

    Args:
        plan: plan of the run.
        results: its folder of results; claims without tables are left out.
        drawings: number of drawings of the replicates.
        times: number of replicates in a drawing, as a multiple of the number in the run.
    """
    parts = []
    for key, paper in plan.papers.items():
        claims, tables = _judged(paper, results / key)
        parts.append(drawn_verdicts(claims, tables, plan.config.verdicts, plan.config.root_seed, drawings, times))
    return pd.concat(parts)


def _judged(paper: Paper, results: Path) -> tuple[list[Claim], dict[tuple[str, str], pd.DataFrame]]:
    """Read the tables of a paper, and select the claims whose tables exist; a claim has no scenario if its data are missing."""
    paths: dict[tuple[str, str], Path] = {
        (scenario.id, claim.estimate.table): results / scenario.id / f"{claim.estimate.table}.csv"
        for claim in paper.claims
        for scenario in claim.scenarios
    }
    tables = {key: read_table(path) for key, path in paths.items() if path.exists()}
    claims = [
        claim
        for claim in paper.claims
        if claim.scenarios and all((scenario.id, claim.estimate.table) in tables for scenario in claim.scenarios)
    ]
    return claims, tables


def steady_part(steady: pd.DataFrame, agreements: Array, claims: Mapping[str, str]) -> str:
    """Write the section on verdicts that may change, in Markdown.

    Args:
        steady: as from :func:`formalsynth.ledger.steadiness.steadiness`.
        agreements: as from :func:`formalsynth.ledger.steadiness.agreement`.
        claims: the sentence of each claim by its id, which begins with the key of its paper.
    """
    turning = steady[steady["stays"] < STEADY].sort_values("stays", kind="stable")
    rows = [["paper", "claim", "verdict", "stays", "otherwise"], ["---", "---", "---", "---:", "---"]]
    for row in turning.itertuples():
        id = str(row.id)
        rows.append([f"`{id.partition('-')[0]}`", claims[id], str(row.verdict), f"{row.stays:.0%}", str(row.otherwise)])
    return "\n\n".join([
        f"Replicates were drawn with replacement from those of the run, and all {len(steady)} claims were judged again. Two such "
        f"drawings agree on {agreements.mean():.1%} of the verdicts (from {agreements[0]:.1%} to {agreements[-1]:.1%}). Two runs "
        f"from different root seeds can be expected to agree no more often. {len(steady) - len(turning)} verdicts are steady: "
        f"they stay the same in at least {STEADY:.0%} of the drawings. The other {len(turning)} are near a border of their test:",
        markdown_rows(rows),
    ])  # fmt: skip


if __name__ == "__main__":
    sys.exit(main())
