"""Our fits compared with others, on one data set and in one run: python bench/fits.py [repetitions] [--pymc PYTHON].

All of them sample 400 + 1000 iterations in one chain and end with the by-record Lipschitz bounds: our programs, straightforward
programs as a paper or brms writes them, exact draws as in the audit, and PyMC with nutpie if PYTHON can import them. Processor
time is measured, including that of the sampler, so other work on the machine matters little. Set OMP_NUM_THREADS=1, as in the
jobs of the workflow.
"""

import argparse
import functools
import json
import resource
import statistics
import subprocess
import tempfile
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import cmdstanpy
import numpy as np
from page import show

from formalsynth.audit.exact import exact_posteriors
from formalsynth.core.arrays import Records
from formalsynth.core.bounds import Sensitive, record_bounds
from formalsynth.core.family import FAMILIES
from formalsynth.core.synthesizer import SamplerSettings
from formalsynth.core.weights import lipschitz_weights
from formalsynth.data.populations.beta import beta
from formalsynth.data.populations.counts import negative_binomial_mixture
from formalsynth.data.populations.lognormal import lognormal_on_normal
from formalsynth.stan.compile import compile_program
from formalsynth.stan.sample import sample
from formalsynth.stan.served import end_all

FAMILIES.find()
ROOT = Path(__file__).parents[1]
# One attempt and no diagnostic limits, for equal work on both sides. The copy is not validated: config may not set these values.
OPEN_GATE = {"ess_min": 0.0, "rhat_max": float("inf"), "divergences_max": 10_000}
SETTINGS = SamplerSettings(attempts=1).model_copy(update=OPEN_GATE)


@dataclass(frozen=True)
class Comparison:
    """Model that is fitted both by our program and by a straightforward one."""

    title: str
    family: str
    plain: str
    """Name of the straightforward program in this folder."""
    records: Records
    near: Mapping[str, list[Any]]
    """Parameters at which the LW weights are computed."""
    data: Callable[[Records], dict[str, Any]]
    """Data of the straightforward program, except the weights."""
    threshold: float | None = None


def comparisons() -> list[Comparison]:
    """List the comparisons, on simulated data of the papers' own sizes."""
    lognormal = lognormal_on_normal(np.random.default_rng(1), 2000, predictor_mean=2, predictor_sd=1, intercept=1, sigma=1)
    counts = negative_binomial_mixture(np.random.default_rng(1), 1000, share=0.2, mu1=100, phi1=5, mu2=100, phi2=20)
    return [
        Comparison(
            "weighted lognormal regression, n = 2000", "lognormal_regression", "straightforward_lognormal", lognormal,
            {"beta": [[1.0, 1.0]], "sigma": [1.0]},
            lambda records: {"n": 2000, "p": 2, "x": records.x, "design": records.design},
        ),
        Comparison(
            "censored Beta, n = 2000, epsilon 4", "beta", "straightforward_beta",
            beta(np.random.default_rng(1), 2000, shape1=0.5, shape2=3), {"phi": [1 / 7], "lambda": [3.5]},
            lambda records: {"n": 2000, "x": records.x, "threshold": 2.0}, threshold=2.0,
        ),
        Comparison(
            "weighted negative binomial, n = 1000", "negative_binomial", "straightforward_negative_binomial", counts,
            {"mu": [100.0], "phi": [12.0]}, lambda records: {"n": 1000, "x": records.x.astype(int)},
        ),
    ]  # fmt: skip


def main() -> None:
    """Write median, minimum and maximum processor seconds of all fits."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("repetitions", nargs="?", type=int, default=5)
    parser.add_argument("--pymc", metavar="PYTHON", help="interpreter with pymc and nutpie")
    options = parser.parse_args()
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        for comparison in comparisons():
            seconds = compare(comparison, Path(folder), options.repetitions, options.pymc)
            base = statistics.median(next(iter(seconds.values())))
            for name, values in seconds.items():
                median, range_ = statistics.median(values), f"({min(values):.3f} to {max(values):.3f})"
                rows.append([comparison.title, name, f"{median:.3f} {range_}", f"{median / base:.2g}"])
    show("fits", ["model", "fit", "seconds (least to most)", "times ours"], rows)


def compare(comparison: Comparison, folder: Path, repetitions: int, pymc: str | None) -> dict[str, list[float]]:
    """Measure every form of our program and the others, taking turns; return their seconds."""
    program, family = FAMILIES[comparison.family].program, FAMILIES[comparison.family]
    cmdstan = Path(json.loads((ROOT / ".cmdstan" / "cmdstan.json").read_text())["path"])
    copy = folder / f"{comparison.plain}.stan"
    copy.write_text((ROOT / "bench" / copy.name).read_text())
    model = cmdstanpy.CmdStanModel(stan_file=copy)
    left, right = family.factors(comparison.records, {name: np.array(value) for name, value in comparison.near.items()})
    weights = lipschitz_weights(np.abs(left @ right.T)[0])
    runs: dict[str, Callable[[int], Any]] = {}
    for native in (True, False):
        executable = folder / f"{program}_{native}"
        form = compile_program(ROOT / "stan" / f"{program}.stan", executable, cmdstan, native=native)
        runs.setdefault(f"ours, {form} form", functools.partial(ours, comparison, executable, weights))
    runs["straightforward Stan"] = functools.partial(straightforward, comparison, model, weights)
    runs["exact draws"] = functools.partial(exact, comparison, weights)
    seconds: dict[str, list[float]] = {name: [] for name in runs}
    for seed in range(1, repetitions + 1):
        for name, run in runs.items():
            start = processor_seconds()
            run(seed)
            end_all()  # the time of a process is counted only after its end
            seconds[name].append(processor_seconds() - start)
    if pymc:
        given, threshold = folder / "data.npz", comparison.threshold or 0
        np.savez(given, x=comparison.records.x, design=comparison.records.design, weight=weights, threshold=threshold)
        name = comparison.plain.removeprefix("straightforward_")
        command = [pymc, str(ROOT / "bench" / "pymc_fits.py"), str(given), name, str(repetitions)]
        answer = json.loads(subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout.splitlines()[-1])
        seconds[f"PyMC with nutpie, after {answer['compiling']:.0f} s of compiling for each data set"] = answer["fits"]
    return seconds


def exact(comparison: Comparison, weights: np.ndarray, seed: int) -> float:
    """Compute bounds over 1000 exact draws from the posterior, made on a lattice if it has no closed form."""
    family, records = FAMILIES[comparison.family], comparison.records
    posteriors = exact_posteriors(family, records, family.priors)
    posterior = posteriors.posterior(weights, comparison.threshold)
    draws = posteriors.draws(posterior, np.random.default_rng(seed).random((SETTINGS.draws, posteriors.dimension)))
    return record_bounds(family, records, draws, [Sensitive(weights)])[0].delta


def ours(comparison: Comparison, executable: Path, weights: np.ndarray, seed: int) -> float:
    """Sample and compute bounds as the workflow does, with the diagnostics of its gate."""
    family = FAMILIES[comparison.family]
    data = family.stan_data(comparison.records, weights, family.priors, comparison.threshold)
    fit = sample(executable, data, family.inits(data), family.parameters, seed, SETTINGS)
    return record_bounds(family, comparison.records, fit.draws, [Sensitive(weights)])[0].delta


def straightforward(comparison: Comparison, model: cmdstanpy.CmdStanModel, weights: np.ndarray, seed: int) -> float:
    """Run one chain of the plain program, with bounds from its log_lik columns."""
    with tempfile.TemporaryDirectory() as folder:
        data = comparison.data(comparison.records) | {"weight": weights}
        delta = SETTINGS.adapt_delta
        lengths: Any = {"iter_warmup": SETTINGS.warmup, "iter_sampling": SETTINGS.draws}
        fit = model.sample(data=data, chains=1, seed=seed, adapt_delta=delta, output_dir=folder, show_progress=False, **lengths)
        return float(np.abs(fit.stan_variable("log_lik")).max())


def processor_seconds() -> float:
    """Processor seconds of this process and of the programs that it has waited for."""
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(usage.ru_utime + usage.ru_stime for usage in used)


if __name__ == "__main__":
    main()
