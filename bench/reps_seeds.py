"""Printed tables of the REPS paper against more seeds than the paper's 5, with both kinds of noise.

python bench/reps_seeds.py <seeds> <out.md> [data set ...] (20 seeds of all data sets: about an hour of one core)
"""

import sys
from pathlib import Path

import numpy as np
import pandas as pd
import yaml
from formalsynth.core.job import ScenarioKey
from formalsynth.core.registry import PACKAGE
from formalsynth.core.study import STUDIES, ChosenArm, Run
from formalsynth.papers.reps import study_protection  # noqa: F401  (registers the study)
from formalsynth.papers.reps.settings import ExperimentSettings

PAPER = yaml.safe_load((PACKAGE.parents[2] / "config/papers/reps.yaml").read_text())
COLUMNS = {"strength": "lam", "tstr": "TSTR", "domias_printed_top_advantage": "top-decile advantage"}
"""Columns of ``replicates.csv`` to compare, with their names in the table."""


def main(seeds: int, out: Path, names: list[str]) -> None:
    """Run each data set, and write its rows and one table for all of them."""
    lines = [
        f"Means over {seeds} seeds +- standard errors. z: difference from the printed mean of 5 seeds, over the error of both.",
        "",
        "| data set | row | column | printed | per block | z | joint | z |",
        "| --- | --- | --- | --- | --- | --- | --- | --- |",
    ]
    for table in PAPER["tables"].values():
        name = table["scenario"]
        if "printed" in table and (not names or name in names):
            rows = _run(name, seeds)
            rows.to_csv(out.with_name(f"{out.stem}_{name}.csv"), index=False)
            lines += _lines(name, rows, table["printed"])
            out.write_text("\n".join(lines) + "\n")


def _run(name: str, seeds: int) -> pd.DataFrame:
    scenario = PAPER["scenarios"][name]
    key = ScenarioKey(paper="reps", paper_id=PAPER["id"], scenario=name, number=scenario["id"], n=scenario["n"], root=20260205)
    arms = [
        ChosenArm(f"{id}{joint}{'' if epsilon is None else f'_{epsilon:g}'}", f"{entry['arm']}{joint.lower()}", _budget(epsilon))
        for id, entry in PAPER["synthesizers"].items()
        if not entry["arm"].endswith("_joint")
        for epsilon in (PAPER["sweeps"]["epsilon"] if "over" in entry else [None])
        for joint in (("", "_joint") if "over" in entry else ("",))
    ]
    settings = ExperimentSettings(**scenario["study"].get("settings", {}))
    run = Run(key, range(seeds), arms, "")
    return STUDIES["protection"].function(run, dataset=scenario["study"]["dataset"], settings=settings).rows


def _budget(epsilon: float | None) -> dict[str, float]:
    return {} if epsilon is None else {"epsilon": epsilon}


def _lines(name: str, rows: pd.DataFrame, printed: dict[str, dict[str, float]]) -> list[str]:
    """Lines of the table for one data set."""
    lines, groups = [], rows.groupby("synthesizer")
    for id, values in printed.items():
        base, _, epsilon = id.rpartition("_")
        ids = [synthesizer for synthesizer in (id, f"{base}_joint_{epsilon}") if synthesizer in groups.groups]
        for column, heading in COLUMNS.items():
            if column in values and not groups.get_group(id)[column].isna().any():
                compared = [_compared(groups.get_group(synthesizer)[column].to_numpy(), values[column]) for synthesizer in ids]
                lines.append("| " + " | ".join([name, id, heading, f"{values[column]:g}", *compared]) + " |")
    return lines


def _compared(values: np.ndarray, printed: float) -> str:
    mean, variance = values.mean(), values.var(ddof=1)
    if not variance:
        return f"{mean:.3f} +- 0 | "
    error, both = (variance * share for share in (1 / len(values), 1 / len(values) + 1 / 5))
    return f"{mean:.3f} +- {error**0.5:.3f} | {(mean - printed) / both**0.5:.1f}"


if __name__ == "__main__":
    main(int(sys.argv[1]), Path(sys.argv[2]), sys.argv[3:])
