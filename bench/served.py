"""Fits in a single process compared with a separate process for each: python bench/served.py [repetitions].

It measures the processor milliseconds of a fit with its diagnostics, in alternating blocks of 20 fits. The start of the serving
process is included. Both ways give the same draws, which is checked.
"""

import functools
import json
import statistics
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from fits import ROOT, SETTINGS, comparisons, processor_seconds

from formalsynth.core.arrays import Draws
from formalsynth.core.family import FAMILIES
from formalsynth.stan import sample as sampling
from formalsynth.stan.compile import compile_program
from formalsynth.stan.sample import sample
from formalsynth.stan.served import ended_after

FITS = 20
"""Number of fits in a block."""


def main() -> None:
    """Print a line for each model."""
    repetitions = int(sys.argv[1]) if len(sys.argv) > 1 else 5
    cmdstan = Path(json.loads((ROOT / ".cmdstan" / "cmdstan.json").read_text())["path"])
    print("processor ms of a fit                       a process each   served   ratio")
    with tempfile.TemporaryDirectory() as folder:
        for comparison in comparisons():
            family = FAMILIES[comparison.family]
            executable = Path(folder, family.program)
            compile_program(ROOT / "stan" / f"{family.program}.stan", executable, cmdstan)
            weights = np.random.default_rng(1).random(len(comparison.records))
            data = family.stan_data(comparison.records, weights, family.priors, comparison.threshold)
            fit = functools.partial(sample, executable, data, family.inits(data), family.parameters, settings=SETTINGS)
            compare(comparison.title, fit, repetitions)


def compare(title: str, fit: Callable[..., Any], repetitions: int) -> None:
    """Print the median processor milliseconds of both ways, and their ratio."""
    alone, served = [], []
    for repetition in range(repetitions):
        seeds = range(1 + FITS * repetition, 1 + FITS * (repetition + 1))
        spent, expected = block(fit, seeds, serve=False)
        alone.append(spent)
        spent, draws = block(fit, seeds, serve=True)
        served.append(spent)
        for before, after in zip(expected, draws, strict=True):
            for name, values in before.items():
                np.testing.assert_array_equal(values, after[name])
    before, after = statistics.median(alone), statistics.median(served)
    print(f"{title:44} {before:13.1f} {after:8.1f} {before / after:7.2f}", flush=True)


def block(fit: Callable[..., Any], seeds: range, serve: bool) -> tuple[float, list[Draws]]:
    """Processor milliseconds of a fit, and the draws of all fits."""
    kept = sampling.ask
    if not serve:
        sampling.ask = lambda executable, request: None
    start = processor_seconds()
    try:
        with ended_after():
            draws = [fit(seed=seed).draws for seed in seeds]
    finally:
        sampling.ask = kept
    return 1000 * (processor_seconds() - start) / len(seeds), draws


if __name__ == "__main__":
    main()
