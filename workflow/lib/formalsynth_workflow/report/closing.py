"""Last paragraph of a run: failed replicates, figures and tables that could not be made, and those with stand-in data."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path

from formalsynth.runtime.files import read_table
from formalsynth_workflow.report.info import PaperInfo, RunInfo
from formalsynth_workflow.report.provenance import ROWS, losses


def closing(info: RunInfo, replicates: Iterable[str]) -> list[str]:
    """Describe what a run lacks, in one line for each synthesizer and paper; empty for a run that lacks nothing.

    Args:
        info: the run.
        replicates: paths of the collected tables ``replicates.csv`` of the run, as ``.../<paper>/<scenario>/replicates.csv``;
            those that do not exist are left out.
    """
    by_paper: dict[str, list[Path]] = {}
    for path in map(Path, replicates):
        by_paper.setdefault(path.parts[-3], []).append(path)
    papers = [paper for paper in info.papers if paper.key in by_paper]
    lines = [line for paper in papers for path in by_paper[paper.key] if path.is_file() for line in _failures(paper, path)]
    lines += [f"NOT MADE: {paper.key}: {listed(paper.left_out)}: data are absent" for paper in papers if paper.left_out]
    stand_ins = {paper.key: [display.ledger_name for display in paper.shown if display.stand_in] for paper in papers}
    return lines + [f"STAND-IN: {key}: {listed(shown)}: made from simulated data" for key, shown in stand_ins.items() if shown]


def _failures(paper: PaperInfo, path: Path) -> list[str]:
    """Describe the failed replicates in a collected table, which may not be readable after an error."""
    try:
        lost = losses(read_table(path, ROWS))
    except OSError:
        return []
    return [
        f"FAILED: {paper.key} {loss.scenario}: {loss.synthesizer} in {loss.failed} of {loss.rows} replicates: {loss.reason}"
        for loss in lost
    ]


def listed(names: Sequence[str]) -> str:
    """Join names such as ``figure 3`` and ``figure 4`` to ``figures 3, 4``, with a semicolon between figures and tables."""
    numbers: dict[str, list[str]] = {}
    for name in names:
        kind, _, number = name.rpartition(" ")
        numbers.setdefault(kind, []).append(number)
    return "; ".join(f"{kind}{'s' * (len(several) > 1)} {', '.join(several)}" for kind, several in numbers.items())
