"""One replicate with many records for each family: python bench/large.py [records]. The default is a million records.

Each run has three synthesizers, through Snakemake on one core: fits, bounds of all records, one synthetic data set and its
utility. It prints processor seconds and the largest memory of a process. Afterwards it audits a data set with a tenth of the
records.
"""

import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import yaml
from copied import ROOT, copied
from page import show

SYNTHESIZERS: dict[str, dict[str, Any]] = {
    "Unweighted": {"mechanism": "unweighted"},
    "Weighted": {"mechanism": "weighted", "parents": ["Unweighted"]},
    "averaged": {"mechanism": "range_averaged", "parents": ["Unweighted"], "parameters": {"a": 0.5, "b": 1.5}},
}
POPULATIONS: dict[str, dict[str, Any]] = {
    "lognormal_regression": {
        "name": "lognormal_on_normal", "predictor_mean": 2, "predictor_sd": 1, "intercept": 1, "sigma": 1,
    },
    "beta": {"name": "beta", "shape1": 0.5, "shape2": 3},
    "poisson": {"name": "poisson", "mu": 100},
    "negative_binomial": {
        "name": "negative_binomial_mixture", "share": 0.2, "mu1": 100, "phi1": 5, "mu2": 100, "phi2": 20,
    },
    "beta_regression": {"name": "shares_by_age"},
    "gamma_regression": {"name": "amounts_by_age"},
    "negative_binomial_regression": {"name": "counts_by_age"},
}  # fmt: skip
AUDITED = "lognormal_regression"
AUDIT: dict[str, Any] = {
    "outcome": {"low": 0.0067379, "high": 59874.1, "points": 5, "log": True},
    "predictors": [{"low": -2, "high": 6, "points": 3}],
}
"""Declared outcomes and predictors of records to add."""


def study(family: str, n: int, chosen: list[str], **more: object) -> dict[str, Any]:
    """Build a study of one replicate of one family."""
    scenario = {"family": family, "population": POPULATIONS[family], "n": n, "replicates": 1, "synthesizers": chosen, **more}
    return {
        "title": "Many records", "code": [str(ROOT / "bench" / "populations.py")],
        "synthesizers": {name: SYNTHESIZERS[name] for name in chosen}, "scenarios": {"many": scenario},
    }  # fmt: skip


def run(copy: Path, name: str, contents: dict[str, Any]) -> tuple[float, float]:
    """Measure processor seconds and megabytes of a study, after its program has been compiled."""
    (copy / f"{name}.yaml").write_text(yaml.safe_dump(contents, sort_keys=False), encoding="utf-8")
    scenario: dict[str, Any] = contents["scenarios"]["many"]
    target = f"results/paper/{name}/many_n{scenario['n']}/replicates.csv"
    command = [sys.executable, "-m", "snakemake", "--cores", "1", "--config", f"study={name}.yaml"]
    for options in (["--until", "compile"], []):
        log = copy / "output"
        with log.open("w") as output:
            started = subprocess.Popen([*command, *options, "--", target], cwd=copy, stdout=output, stderr=subprocess.STDOUT)
            _, status, used = os.wait4(started.pid, 0)  # usage of the process and its children, without the compiler
        if status:
            sys.exit(f"{' '.join(command)}\n{log.read_text(errors='replace')[-3000:]}")
    return used.ru_utime + used.ru_stime, used.ru_maxrss / 1024


def measured(family: str, n: int, *chosen: str, **more: object) -> tuple[float, float]:
    """Measure processor seconds and megabytes of a study in a new copy."""
    with tempfile.TemporaryDirectory() as folder:
        return run(copied(folder), family, study(family, n, ["Unweighted", "Weighted", *chosen], **more))


def main(records: int = 1_000_000) -> None:
    """Write a table of all families and of an audit."""
    rows = []
    for family in POPULATIONS:
        plain, averaged = measured(family, records), measured(family, records, "averaged")
        rows.append([f"`{family}`", f"{plain[0]:.0f}", f"{averaged[0]:.0f}", f"{max(plain[1], averaged[1]):,.0f}"])
    seconds, megabytes = measured(AUDITED, records // 10, audit=AUDIT)
    rows.append([f"audit of {records // 10:,} records, `{AUDITED}`", f"{seconds:.0f}", "", f"{megabytes:,.0f}"])
    head = [f"{records:,} records", "processor seconds, without range-averaging", "with it", "MB of the largest process"]
    show("large", head, rows)


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
