"""One replicate of many records for each family: python bench/large.py [records]. A million records when none is given.

``python bench/large.py FAMILY RECORDS [audit | plain]`` runs one family, with an audit, or without range-averaging.

Three synthesizers each, through Snakemake on one core: fits, bounds of all records, one synthetic data set and its utility. It
prints processor seconds, and the largest memory of a process. Afterwards, an audit of one data set of a tenth of the records.
"""

import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import yaml
from copied import ROOT, copied

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
"""Declared outcomes and predictors of records that join."""


def study(family: str, n: int, chosen: list[str], **more: object) -> dict[str, Any]:
    """Study of one replicate of one family."""
    scenario = {"family": family, "population": POPULATIONS[family], "n": n, "replicates": 1, "synthesizers": chosen, **more}
    return {
        "title": "Many records", "code": [str(ROOT / "bench" / "populations.py")],
        "synthesizers": {name: SYNTHESIZERS[name] for name in chosen}, "scenarios": {"many": scenario},
    }  # fmt: skip


def run(copy: Path, name: str, contents: dict[str, Any]) -> tuple[float, float]:
    """Processor seconds and megabytes of a study, once its program is compiled."""
    (copy / f"{name}.yaml").write_text(yaml.safe_dump(contents, sort_keys=False), encoding="utf-8")
    scenario: dict[str, Any] = contents["scenarios"]["many"]
    target = f"results/paper/{name}/many_n{scenario['n']}/replicates.csv"
    command = [sys.executable, "-m", "snakemake", "--cores", "1", "--config", f"study={name}.yaml"]
    for options in (["--until", "compile_program"], []):
        log = copy / "output"
        with log.open("w") as output:
            started = subprocess.Popen([*command, *options, "--", target], cwd=copy, stdout=output, stderr=subprocess.STDOUT)
            _, status, used = os.wait4(started.pid, 0)  # of this process and what it started, without the compiler
        if status:
            sys.exit(f"{' '.join(command)}\n{log.read_text(errors='replace')[-3000:]}")
    return used.ru_utime + used.ru_stime, used.ru_maxrss / 1024


def main() -> None:
    """Print a line for each family, and one for an audit."""
    if len(sys.argv) > 2:  # a process of its own for each study, whose memory is then its own
        with tempfile.TemporaryDirectory() as folder:
            family, n = sys.argv[1], int(sys.argv[2])
            more = {"audit": AUDIT} if "audit" in sys.argv else {}
            chosen = ["Unweighted", "Weighted"] if {"audit", "plain"} & {*sys.argv} else list(SYNTHESIZERS)
            seconds, megabytes = run(copied(folder), family, study(family, n, chosen, **more))
            print(
                f"{family:30} {n:9} records {'with an audit' if more else '':13} {seconds:6.1f} s {megabytes:6.0f} MB", flush=True
            )
        return
    n = int(sys.argv[1]) if len(sys.argv) > 1 else 1_000_000
    for family in POPULATIONS:
        subprocess.run([sys.executable, __file__, family, str(n)], check=True)
    subprocess.run([sys.executable, __file__, AUDITED, str(n // 10), "audit"], check=True)


if __name__ == "__main__":
    main()
