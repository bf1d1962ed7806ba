"""Our fits against straightforward ones, on one data set and in one run: python bench/fits.py [repetitions].

Both sides sample 1000 + 1000 iterations in one chain with the same CmdStan, and both end with the by-record Lipschitz bounds.
"""

import json
import statistics
import sys
import tempfile
import time
from pathlib import Path

import cmdstanpy
import numpy as np
from formalsynth.bounds import Sensitive, record_bounds
from formalsynth.families import FAMILIES
from formalsynth.populations import beta, lognormal_on_normal
from formalsynth.sampler import Settings, _cmdstanpy, compile_program, sample
from formalsynth.weights import lipschitz_weights

ROOT = Path(__file__).parents[1]
EPSILON = 4.0


def main() -> None:
    """Print every comparison as median, minimum and maximum seconds."""
    repetitions = int(sys.argv[1]) if len(sys.argv) > 1 else 5
    cmdstan = Path(json.loads((ROOT / ".cmdstan" / "cmdstan.json").read_text())["path"])
    _cmdstanpy().set_cmdstan_path(str(cmdstan))
    with tempfile.TemporaryDirectory() as folder:
        compare_censored(Path(folder), cmdstan, repetitions)
        compare_sizes(Path(folder), cmdstan, repetitions)


def compare_censored(folder: Path, cmdstan: Path, repetitions: int) -> None:
    """Censored Beta, n = 2000: native form, portable form, and the program in the manner of the papers."""
    for native in (True, False):
        compile_program(ROOT / "stan" / "beta.stan", folder / f"beta_{native}", cmdstan, native=native)
    copy = folder / "straightforward_beta.stan"
    copy.write_text((ROOT / "bench" / copy.name).read_text())
    plain = cmdstanpy.CmdStanModel(stan_file=copy)
    records = beta(np.random.default_rng(1), 2000, shape1=0.5, shape2=3)
    weights = lw_weights(records)
    runs = {
        "native": lambda seed: ours(folder / "beta_True", records, weights, seed),
        "portable": lambda seed: ours(folder / "beta_False", records, weights, seed),
        "straightforward": lambda seed: straightforward(plain, records, weights, seed),
    }
    seconds: dict[str, list[float]] = {name: [] for name in runs}
    bounds: dict[str, float] = {}
    for seed in range(1, repetitions + 1):
        for name, run in runs.items():
            start = time.perf_counter()
            bounds[name] = run(seed)
            seconds[name].append(time.perf_counter() - start)
    print(f"censored Beta, n = 2000, epsilon {EPSILON:g}: sampling and by-record bounds")
    for name, values in seconds.items():
        ratio = statistics.median(seconds["straightforward"]) / statistics.median(values)
        print(f"  {line(values)}  {ratio:6.1f} x  {name}, bound before censoring {bounds[name]:.3f}")


def lw_weights(records):
    """LW weights at the generating parameters."""
    left, right = FAMILIES["beta"].factors(records, {"phi": np.array([1 / 7]), "lambda": np.array([3.5])})
    return lipschitz_weights(np.abs(left @ right.T)[0])


def ours(executable: Path, records, weights, seed: int) -> float:
    """Sampling and bounds as the workflow does them, the gate's diagnostics included."""
    family = FAMILIES["beta"]
    data = family.stan_data(records, weights, family.priors, EPSILON / 2)
    # One attempt, whatever the gate says: both sides are to do the same work.
    settings = Settings(attempts=1, ess_min=0, rhat_max=float("inf"), divergences_max=10_000)
    fit = sample(executable, data, family.inits(data), family.parameters, seed, settings)
    return record_bounds(family, records, fit.draws, [Sensitive(weights)])[0].delta


def straightforward(model, records, weights, seed: int) -> float:
    """One chain of the plain program, bounds from its log_lik columns."""
    data = {"n": len(weights), "x": records["x"], "weight": weights, "threshold": EPSILON / 2}
    with tempfile.TemporaryDirectory() as folder:
        fit = model.sample(data=data, chains=1, seed=seed, output_dir=folder, show_progress=False)
        return float(np.abs(fit.stan_variable("log_lik")).max())


def compare_sizes(folder: Path, cmdstan: Path, repetitions: int) -> None:
    """A weighted lognormal regression at two sample sizes: sufficient statistics make the cost nearly the same."""
    executable = folder / "linear_regression"
    compile_program(ROOT / "stan" / "linear_regression.stan", executable, cmdstan)
    family = FAMILIES["lognormal_regression"]
    settings = Settings(attempts=1, ess_min=0, rhat_max=float("inf"))
    seconds: dict[int, list[float]] = {200: [], 6400: []}
    for seed in range(1, 4 * repetitions + 1):
        for n, values in seconds.items():
            generator = np.random.default_rng(seed)
            records = lognormal_on_normal(generator, n, predictor_mean=2, predictor_sd=1, intercept=1, sigma=1)
            weights = generator.random(n)
            start = time.perf_counter()
            data = family.stan_data(records, weights, family.priors)
            sample(executable, data, family.inits(data), family.parameters, seed, settings)
            values.append(time.perf_counter() - start)
    print("weighted lognormal regression: one fit")
    for n, values in seconds.items():
        ratio = statistics.median(values) / statistics.median(seconds[200])
        print(f"  {line(values)}  {ratio:6.2f} x  n = {n}")


def line(values: list[float]) -> str:
    """Median, minimum and maximum."""
    return f"{statistics.median(values):8.3f} s ({min(values):.3f} to {max(values):.3f})"


if __name__ == "__main__":
    main()
