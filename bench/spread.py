"""Monte Carlo errors of measures of spread over 100 replicates: python bench/spread.py. It takes about half a minute.

Bounds are normal, Gumbel or lognormal over replicates; the two measures of their spread are the standard deviation and the range
(max - min). The output is the true standard deviation of the log measure, the reported errors (root of their mean square), and
how often the estimate is within two reported errors of the truth. The same follows for the slope of the log standard deviation on
log n over the four sample sizes of the contraction studies.
"""

import numpy as np
from scipy import stats

from formalsynth.core.statistics import STATISTICS, jackknife

REPLICATES, TRIALS, RESAMPLES = 100, 2000, 200
SIZES = np.array([200, 400, 1600, 6400])
BOUNDS = {
    "normal": stats.norm(),
    "Gumbel": stats.gumbel_r(),
    "lognormal, sigma 0.25": stats.lognorm(0.25),
    "lognormal, sigma 0.5": stats.lognorm(0.5),
    "lognormal, sigma 1": stats.lognorm(1),
}


def main() -> None:
    """Print a row for each distribution and measure."""
    generator = np.random.default_rng(20260205)
    print("bounds                 measure  true    jackknife       bootstrap")
    for name, bounds in BOUNDS.items():
        values = bounds.rvs((REPLICATES, TRIALS), random_state=generator)
        for measure in ("sd", "spread"):
            estimates = np.log(STATISTICS[measure](values))
            truth = np.log(bounds.std()) if measure == "sd" else np.log(np.median(np.exp(estimates)))
            errors = {"jackknife": jackknife(values, "sd").error(np.log)} if measure == "sd" else {}
            errors["bootstrap"] = bootstrap_errors(values, measure, generator)
            shown = {
                kind: f"{np.sqrt((error**2).mean()):.3f} ({share(estimates - truth, error):.2f})"
                for kind, error in errors.items()
            }
            print(f"{name:22} {measure:8} {estimates.std():.3f}   {shown.get('jackknife', ''):15} {shown['bootstrap']}")
    print("slope over four sample sizes: true, jackknife")
    x = np.log(SIZES) - np.log(SIZES).mean()
    x /= x @ x
    for name, bounds in BOUNDS.items():
        cells = [bounds.rvs((REPLICATES, TRIALS), random_state=generator) for _ in SIZES]
        slopes = x @ np.log([STATISTICS["sd"](values) for values in cells])
        errors = np.sqrt(x**2 @ np.array([jackknife(values, "sd").error(np.log) ** 2 for values in cells]))
        print(f"{name:22} {slopes.std():.3f}   {np.sqrt((errors**2).mean()):.3f} ({share(slopes, errors):.2f})")


def bootstrap_errors(values: np.ndarray, measure: str, generator: np.random.Generator) -> np.ndarray:
    """Bootstrap errors of the log measure of each column of values (replicates, trials)."""
    copies = []
    for _ in range(RESAMPLES):
        chosen = generator.integers(len(values), size=values.shape)
        copies.append(np.log(STATISTICS[measure](np.take_along_axis(values, chosen, axis=0))))
    return np.std(copies, axis=0, ddof=1)


def share(misses: np.ndarray, errors: np.ndarray) -> float:
    """Share of misses (differences from the truth) within two errors."""
    return float((np.abs(misses) <= 2 * errors).mean())


if __name__ == "__main__":
    main()
