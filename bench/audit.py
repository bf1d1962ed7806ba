"""Accuracy of the audit, and attempts to refute its results: python bench/audit.py COMMAND [data sets].

estimator: losses from 1000 draws of each posterior against exact ones, for random pairs over all families (200 by default).
refute: losses of min-max weights with other priors, sizes and draws, and for records closer to the centre.
stan: losses by bridge sampling from CmdStan draws, compared with exact ones (after a run, which compiles the program).
The study ``cost`` has the losses of all mechanisms.
"""

import sys
from collections.abc import Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from formalsynth.audit.bridge import bridge, ratio_of_targets
from formalsynth.audit.exact import exact_posteriors
from formalsynth.audit.neighbours import added, additions
from formalsynth.audit.replay import Replay
from formalsynth.core.arrays import Array, Records, intercept_only, joined
from formalsynth.core.family import FAMILIES
from formalsynth.core.mechanism import MECHANISMS
from formalsynth.core.population import POPULATIONS
from formalsynth.core.streams import Address
from formalsynth.core.synthesizer import Synthesizer

for register in (FAMILIES, MECHANISMS, POPULATIONS):
    register.find()
RESULTS = Path(__file__).parents[1] / "results"
LINEAR = ("normal", "lognormal_regression")


def synthesizer(id: str, mechanism: str, *parents: str, **parameters: float) -> Synthesizer:
    """Make a synthesizer with its own fit."""
    words = MECHANISMS[mechanism].words(parameters)
    return Synthesizer(id=id, mechanism=mechanism, parameters=parameters, parents=parents, fit=id, words=words)


SYNTHESIZERS = [
    synthesizer("Unweighted", "unweighted"),
    synthesizer("LW, min-max", "weighted", "Unweighted"),
    synthesizer("declared scale 20", "declared_scale", "Unweighted", scale=20.0),
    synthesizer("capped at 4", "capped", "Unweighted", M=4.0),
]


def lognormal(
    n: int,
    replicate: int,
    outcomes: Array,
    predictors: Sequence[Array],
    priors: Mapping[str, float] | None = None,
    draws: int = 1000,
) -> Replay:
    """Replay of the range paper's population, with the grid of records to add."""
    address = Address(20260205, 90, 1, n, replicate)
    settings = {"predictor_mean": 2, "predictor_sd": 1, "intercept": 1, "sigma": 1}
    records = POPULATIONS["lognormal_on_normal"].draw(address.generator("data"), n, settings)
    family = FAMILIES["lognormal_regression"]
    universe = joined(records, additions(records, outcomes, predictors))
    return Replay(family, {**family.priors, **(priors or {})}, universe, SYNTHESIZERS, address, draws)


def estimator(pairs: int) -> None:
    """Compare the general estimator with exact posteriors."""
    with ProcessPoolExecutor(2) as pool:
        results = pd.DataFrame(pool.map(one_pair, range(pairs)))
    results["difference"] = (results.bridged - results.exact).abs()
    print(results.groupby(["enough", "family"]).difference.describe()[["count", "50%", "max"]].round(3).to_string())
    print(results.groupby("enough")[["difference", "exact", "error"]].describe().round(3).T.to_string())
    results["z"] = results.difference / results.error
    print(f"in units of its own error: {results.z[results.enough].quantile([0.5, 0.95, 1]).round(2).to_dict()}")
    print(results.sort_values("difference").tail(12).round(3).to_string())
    far = results[~results.enough]
    print(
        f"overlap too small: {len(far)}; stated bound above the exact epsilon by at most {(far.at_least - far.exact).max():.2f}"
    )


def one_pair(k: int, draws: int = 1000, delta: float = 1e-2) -> dict[str, object]:
    """Compare both losses for a random pair of data sets: D' has one more record, and its weights are changed at random."""
    generator = np.random.default_rng([20260205, k])
    name = ("normal", "lognormal_regression", "poisson", "beta", "negative_binomial", "beta")[k % 6]
    threshold = float(generator.uniform(0.5, 3)) if k % 6 == 5 else None
    n = int(np.exp(generator.uniform(np.log(20), np.log(2000))))
    universe = records_of(name, n + 1, generator)
    family = FAMILIES[name]
    exact = exact_posteriors(family, universe, family.priors)
    weights = np.append(generator.uniform(0.2, 1, n), 0)
    moved = np.clip(weights * (1 + generator.choice([0, 0.02, 0.2, 1]) * generator.uniform(0, 2, n + 1)), 0, 1)
    moved[-1] = generator.uniform(0, 1)
    base, other = exact.posterior(weights, threshold), exact.posterior(moved, threshold)
    truth = exact.losses([base], [other], k).epsilon(delta)
    drawn = [exact.draws(side, generator.random((draws, exact.dimension))) for side in (base, other)]
    factors = [family.factors(universe, of_side) for of_side in drawn]
    ratio, other_ratio = (ratio_of_targets(*both, weights, moved, (threshold, threshold)) for both in factors)
    estimate = bridge(ratio, other_ratio)
    return {
        "family": name if threshold is None else f"{name}, censored", "n": n, "exact": truth,
        "bridged": estimate.losses.epsilon(delta),
        "error": float(np.hypot(estimate.error_of_ratio, estimate.losses.error(delta))),
        "overlap": estimate.overlap, "enough": estimate.enough,
        "at_least": estimate.at_least(delta),
    }  # fmt: skip


def records_of(name: str, n: int, generator: np.random.Generator) -> Records:
    """Generate records of a family, with an outlier at the end."""
    z = generator.normal(2, 1, n)
    noise = generator.standard_normal(n)
    noise[-1] = generator.uniform(2, 6)
    if name in LINEAR:
        x = 1 + z + noise
        return Records(np.exp(x) if name == "lognormal_regression" else x, np.column_stack([np.ones(n), z]))
    if name == "beta":
        x = generator.beta(0.5, 3, n)
        x[-1] = 1 / (1 + np.exp(-2 * noise[-1]))
        return intercept_only(x)
    phi = np.where(generator.random(n) < 0.2, 5, 20)
    counts = generator.poisson(100, n) if name == "poisson" else generator.negative_binomial(phi, phi / (phi + 100.0))
    counts[-1] = int(100 + (10 if name == "poisson" else 40) * noise[-1])
    return intercept_only(counts)


REFUTE: dict[str, dict[str, Any]] = {
    "as in the study": {},
    "prior sd 1": {"priors": {"sd": 1.0}},
    "prior of sigma^2: shape 3, scale 3": {"priors": {"shape": 3.0, "scale": 3.0}},
    "prior of sigma^2: shape 100, scale 100": {"priors": {"shape": 100.0, "scale": 100.0}}, "10,000 draws": {"draws": 10_000},
    "n = 500": {"n": 500}, "n = 20,000": {"n": 20_000},
}  # fmt: skip
"""Changes to the settings of the study."""
DISTANCES = (1.0, 2.0, 3.0, 4.0, 5.7)
"""Distances of the log outcome from its mean given the record's predictor, in units of sigma, which is 1."""


def refute(data_sets: int) -> None:
    """Loss of an added record at delta = 1e-3, by its distance, with the claim on D."""
    rows = []
    for what, change in REFUTE.items():
        n = change.get("n", 2000)
        settings = {key: value for key, value in change.items() if key != "n"}
        for replicate in range(data_sets):
            for z in (0.0, 2.0, 4.0):
                middle = 1 + z
                outcomes = np.exp([middle + sign * far for far in DISTANCES for sign in (-1, 1)])
                # the grid needs two values; only the first is used
                replay = lognormal(n, replicate, outcomes, [np.array([z, z + 1])], **settings)
                base = replay.outcomes_on(np.arange(n), bounds=True)
                for neighbour in added(n, len(replay.universe))[::2]:
                    near = replay.outcomes_on(neighbour.index)
                    far = round(float(np.log(replay.universe.x[neighbour.added])) - middle, 1)
                    rows += [
                        (what, id, z, far, run.bounds.epsilon, replay.losses([run], [near[id]]).epsilon(1e-3))
                        for id, run in base.items()
                        if run.bounds
                    ]
    results = pd.DataFrame(rows, columns=["what", "synthesizer", "predictor", "far", "claimed", "audited"])
    results.to_csv(RESULTS / "audit_refute.csv", index=False)
    shown = results.pivot_table(index=["what", "synthesizer"], columns="far", values="audited", aggfunc="median", sort=False)
    shown.insert(0, "claimed", results.groupby(["what", "synthesizer"], sort=False)["claimed"].median())
    with pd.option_context("display.width", 250, "display.max_columns", 30):
        print(shown.round(2).to_string())
    within = results[results.what == "as in the study"]
    print(
        within.pivot_table(index=["synthesizer", "predictor"], columns="far", values="audited", sort=False).round(2).to_string()
    )


def stan(data_sets: int) -> None:
    """Draw from both posteriors with CmdStan, and estimate the loss by bridge sampling."""
    from formalsynth.stan.sample import Lengths, run_chain

    executable = next(RESULTS.glob("**/stan/linear_regression"))
    family, n = FAMILIES["lognormal_regression"], 2000
    for replicate in range(data_sets):
        replay = lognormal(n, replicate, np.exp(3 + np.array([0.0, 2.0, 3.0, 4.0, 8.0])), [np.array([2.0, 3.0])])
        base = replay.outcomes_on(np.arange(n))
        for neighbour in added(n, len(replay.universe))[::2]:
            near = replay.outcomes_on(neighbour.index)
            for chosen in SYNTHESIZERS:
                sides = base[chosen.id].weights, near[chosen.id].weights
                ratios = []
                for weights, seed in zip(sides, (1, 2), strict=True):
                    data = family.stan_data(replay.universe, weights, family.priors)
                    fit = run_chain(executable, data, family.inits(data), family.parameters, seed, Lengths(1000, 4000, 1, 0.8))
                    ratios.append(ratio_of_targets(*family.factors(replay.universe, fit.draws), *sides, (None, None)))
                estimate = bridge(ratios[0], ratios[1])
                exact = replay.losses([base[chosen.id]], [near[chosen.id]]).epsilon(1e-2)
                print(
                    f"{chosen.id:20} outcome {np.log(replay.universe.x[neighbour.added]) - 3:4.1f} sd out: exact {exact:6.2f}, "
                    f"bridged {estimate.losses.epsilon(1e-2):6.2f}, effective {estimate.effective:7.1f}, "
                    f"{'enough' if estimate.enough else f'at least {estimate.at_least(1e-2):.2f}'}", flush=True,
                )  # fmt: skip


if __name__ == "__main__":
    DEFAULTS = {estimator: 200, refute: 2, stan: 1}
    chosen = next((command for command in DEFAULTS if sys.argv[1:] and command.__name__ == sys.argv[1]), None)
    if chosen is None:
        sys.exit(__doc__)
    RESULTS.mkdir(exist_ok=True)
    chosen(int(sys.argv[2]) if len(sys.argv) > 2 else DEFAULTS[chosen])
