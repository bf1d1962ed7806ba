"""Accuracy and results of the audit: python bench/audit.py COMMAND [data sets].

estimator: losses from 1000 draws of each posterior against exact ones, for random pairs over all families (200 by default).
table: claimed, audited and attacked epsilon of each mechanism, for lognormal regression with n = 2000 (20 data sets).
value: loss by value of the added record, with fixed and with recomputed weights.
small: the worst neighbours of the smallest data sets.
pi: the share of data sets whose audited loss exceeds the claim, by n.
removals: all n removals from a data set, compared with the few that the audit tries.
attacks: attacks that distinguish the worst neighbours by one synthetic data set.
refute: losses of min-max weights with other priors, sizes and draws, and for records closer to the centre.
stan: losses by bridge sampling from CmdStan draws, compared with exact ones (after a run, which compiles the program).

Tables are also written to the folder ``results``.
"""

import itertools
import sys
import time
from collections.abc import Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from formalsynth.audit.audit import audit
from formalsynth.audit.bridge import bridge, log_ratio
from formalsynth.audit.exact import exact_posteriors
from formalsynth.audit.exceedance import exceedance
from formalsynth.audit.neighbours import added, additions, removed, small_data_sets, to_remove
from formalsynth.audit.posterior_attack import attack_posterior
from formalsynth.audit.replay import Replay
from formalsynth.core.arrays import Array, Records, intercept_only, joined
from formalsynth.core.family import FAMILIES
from formalsynth.core.job import AuditSearch, Synthesizer
from formalsynth.core.mechanism import MECHANISMS
from formalsynth.core.population import POPULATIONS
from formalsynth.core.streams import Address

for register in (FAMILIES, MECHANISMS, POPULATIONS):
    register.find()
RESULTS = Path(__file__).parents[1] / "results"
LINEAR = ("normal", "lognormal_regression")
OUTCOMES = np.exp(np.linspace(-5, 11, 5))
"""Declared outcomes: 3 +- 8 on the log scale, on which the population has mean 3 and standard deviation 1.4."""
PREDICTORS = [np.linspace(-2, 6, 3)]
"""Declared predictors: 2 +- 4."""


def synthesizer(id: str, mechanism: str, *parents: str, **parameters: float) -> Synthesizer:
    """Make a synthesizer with its own fit."""
    words = MECHANISMS[mechanism].words(parameters)
    return Synthesizer(id=id, mechanism=mechanism, parameters=parameters, parents=parents, fit=id, words=words)


SYNTHESIZERS = [
    synthesizer("Unweighted", "unweighted"),
    synthesizer("LW, min-max", "weighted", "Unweighted"),
    synthesizer("LW re-weighted", "reweighted", "LW, min-max", k=0.95),
    synthesizer("range-averaged (0.4, 1.8)", "range_averaged", "Unweighted", a=0.4, b=1.8),
    synthesizer("declared scale 20", "declared_scale", "Unweighted", scale=20.0),
    synthesizer("declared scale 40", "declared_scale", "Unweighted", scale=40.0),
    synthesizer("capped at 4", "capped", "Unweighted", M=4.0),
    synthesizer("reference, scale 4", "reference", scale=4.0, theta1=1.0, theta2=1.0, theta3=1.0),
    synthesizer("reference, scale 8", "reference", scale=8.0, theta1=1.0, theta2=1.0, theta3=1.0),
]


def lognormal(
    n: int,
    replicate: int,
    synthesizers: Sequence[Synthesizer] = SYNTHESIZERS,
    outcomes: Array = OUTCOMES,
    predictors: Sequence[Array] = PREDICTORS,
    priors: Mapping[str, float] | None = None,
    draws: int = 1000,
) -> Replay:
    """Replay of the range paper's population, with the grid of records to add."""
    address = Address(20260205, 90, 1, n, replicate)
    settings = {"predictor_mean": 2, "predictor_sd": 1, "intercept": 1, "sigma": 1}
    records = POPULATIONS["lognormal_on_normal"].draw(address.generator("data"), n, settings)
    family = FAMILIES["lognormal_regression"]
    universe = joined(records, additions(records, outcomes, predictors))
    return Replay(family, {**family.priors, **(priors or {})}, universe, synthesizers, address, draws)


def one_data_set(replicate: int, n: int = 2000) -> list[dict[str, Any]]:
    """Rows of one data set; for the first two data sets, also losses mixed over the random numbers of the weights."""
    settings = AuditSearch(streams=16 if replicate < 2 else 0, each=2, random=3, refined=1, attack=1000 if replicate == 0 else 0)
    replay = lognormal(n, replicate)
    rows = audit(replay, n, [synthesizer.id for synthesizer in SYNTHESIZERS], settings, replicate)
    return [row.row() | {"replicate": replicate} for row in rows]


def table(data_sets: int) -> None:
    """Claimed and audited epsilon of each mechanism; the worst neighbour of one data set is attacked."""
    start = time.process_time()
    with ProcessPoolExecutor(2) as pool:
        rows = []
        for more in pool.map(one_data_set, reversed(range(data_sets))):
            rows += more
            pd.DataFrame(rows).to_csv(RESULTS / "audit_table.csv", index=False)
    losses = pd.DataFrame(rows)
    worst = losses[losses.worst | (losses.neighbour == "same")]
    shown = worst.pivot_table(
        index="synthesizer", columns=["neighbour", "streams", "delta", "releases"], values="audited", aggfunc=summary
    )
    claims = worst.groupby("synthesizer")[["claimed", "claimed_larger", "attacked", "weight"]].agg(summary)
    with pd.option_context("display.width", 300, "display.max_columns", 99):
        print(claims.join(shown).T.to_string())
    print(f"{time.process_time() - start:.0f} s of processor time in this process, without its two workers")


def summary(values: pd.Series) -> str:
    """Median and range."""
    return f"{values.median():.2f} [{values.min():.2f}, {values.max():.2f}]"


def value(data_sets: int) -> None:
    """Loss by outcome of a record added at the predictor's mean, with fixed and with recomputed weights."""
    outcomes = np.exp(3 + np.linspace(-12, 12, 25))
    rows = []
    for replicate in range(data_sets):
        n = 2000
        replay = lognormal(n, replicate, SYNTHESIZERS[:6], outcomes)
        base = replay.run(np.arange(n))
        for neighbour in added(n, len(replay.universe)):
            if replay.universe.design[neighbour.added, 1] != 2:
                continue
            near = replay.run(neighbour.index)
            for id, outcome in near.items():
                fixed = base[id].weights.copy()
                fixed[neighbour.added] = outcome.weights[neighbour.added]
                held = replay.fixed(base[id], fixed)
                again = replay.losses([base[id]], [outcome]).epsilon(1e-3)
                rows.append(
                    (
                        id,
                        float(np.log(replay.universe.x[neighbour.added])) - 3,
                        again,
                        replay.losses([base[id]], [held]).epsilon(1e-3),
                    )
                )
    losses = pd.DataFrame(rows, columns=["synthesizer", "log outcome - mean", "again", "fixed"])
    losses.to_csv(RESULTS / "audit_value.csv", index=False)
    print(losses.groupby(["log outcome - mean", "synthesizer"])[["again", "fixed"]].median().unstack().round(2).to_string())


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
    ratio, other_ratio = (
        log_ratio(family, universe, exact.draws(side, generator.random((draws, exact.dimension))), weights, moved, threshold)
        for side in (base, other)
    )
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


def small(_: int) -> None:
    """Worst neighbours of the smallest data sets."""
    source = lognormal(2000, 0).universe.take(np.arange(2000))
    family, rows = FAMILIES["lognormal_regression"], []
    for name, records in small_data_sets(source).items():
        spread = Records(records.x, np.column_stack([np.ones(len(records))]))
        universe = joined(spread, additions(spread, OUTCOMES))
        chain = [chosen for chosen in SYNTHESIZERS if chosen.mechanism not in ("range_averaged", "reference")]
        replay = Replay(family, family.priors, universe, chain, Address(1, 90, 2, len(records), 0))
        for row in audit(replay, len(records), [chosen.id for chosen in chain], AuditSearch(each=1, random=0, refined=1), 1):
            if row.worst and row.delta == 1e-3 and row.releases == 1:
                rows.append((name, row.synthesizer, row.neighbour, row.audited, row.claimed))
    results = pd.DataFrame(rows, columns=["data", "synthesizer", "kind", "audited", "claimed"])
    print(
        results.pivot_table(index=["data"], columns=["synthesizer", "kind"], values="audited", sort=False).round(1).T.to_string()
    )


def pi_of(task: tuple[int, int]) -> list[tuple[object, ...]]:
    """Claimed and audited epsilon of one data set, by synthesizer; a record is removed, or a declared one is added."""
    n, replicate = task
    settings = AuditSearch(deltas=(1e-3,), each=1, random=0, refined=1, releases=1)
    audited = audit(lognormal(n, replicate, SYNTHESIZERS[:7]), n, [chosen.id for chosen in SYNTHESIZERS[:7]], settings, replicate)
    results: list[tuple[object, ...]] = []
    for id in {row.synthesizer for row in audited}:
        rows = [row for row in audited if row.synthesizer == id and row.neighbour in ("add", "remove") and row.worst]
        results += [(n, id, row.neighbour, row.audited, row.claimed, row.claimed_larger) for row in rows]
    return results


def pi(data_sets: int) -> None:
    """Share of data sets in which the loss exceeds the claim, by kind of neighbour."""
    with ProcessPoolExecutor(2) as pool:
        rows = list(itertools.chain.from_iterable(pool.map(pi_of, itertools.product((100, 400, 1600, 6400), range(data_sets)))))
    results = pd.DataFrame(rows, columns=["n", "synthesizer", "kind", "audited", "claimed", "larger"])
    for (id, kind, n), cell in results.groupby(["synthesizer", "kind", "n"]):
        share, both = (exceedance(cell.audited.to_numpy(), cell[claim].to_numpy()) for claim in ("claimed", "larger"))
        print(
            f"{id:28}{kind:8}{n:6} pi {share.share:.2f} [{share.low:.2f}, {share.high:.2f}], larger claim {both.share:.2f}"
            f"  audited {cell.audited.median():8.2f}  claimed {cell.claimed.median():6.2f} {cell.larger.median():6.2f}"
            f"  sd of Delta {cell.claimed.std() / 2:.3f}"
        )


def removals(_: int) -> None:
    """Compare the removals that the audit tries with the worst of all removals."""
    n = 2000
    replay = lognormal(n, 0)
    base = replay.run(np.arange(n), bounds=True)
    chosen = to_remove(replay.family, replay.universe.take(np.arange(n)), base, 3, 5, np.random.default_rng(0))
    tried = {removal.removed for removal in removed(n, chosen)}
    losses = {id: np.zeros(n) for id in base}
    for neighbour in removed(n, {"all": range(n)}):
        near = replay.run(neighbour.index)
        for id in base:
            losses[id][neighbour.removed] = replay.losses([base[id]], [near[id]]).epsilon(1e-3)
    for id, values in losses.items():
        largest = max(values[k] for k in tried)
        print(
            f"{id:28} worst of all {values.max():.3f}, worst of the {len(tried)} tried {largest:.3f}, "
            f"median of all {np.median(values):.3f}"
        )


def attacks(data_sets: int) -> None:
    """Attack the worst addition and removal, and audit the same neighbours."""
    for replicate in range(data_sets):
        n = 2000
        replay = lognormal(n, replicate)
        base = replay.run(np.arange(n), bounds=True)
        far = max(added(n, len(replay.universe)), key=lambda candidate: (replay.universe.x[candidate.added], candidate.added))
        bounds = base["Unweighted"].bounds
        assert bounds is not None
        first = removed(n, {"largest risk": [int(bounds.by_record.argmax())]})[0]
        for neighbour in (far, first):
            near = replay.run(neighbour.index)
            for synthesizer in SYNTHESIZERS:
                audited = replay.losses([base[synthesizer.id]], [near[synthesizer.id]]).epsilon(1e-3)
                result = attack_posterior(replay, n, synthesizer.id, neighbour, 2000, 1e-3, replicate)
                print(
                    f"{synthesizer.id:28}{neighbour.kind:8} audited {audited:7.2f}  attacked {result.epsilon:6.2f}",
                    result,
                    flush=True,
                )


CHECKED = [chosen for chosen in SYNTHESIZERS if chosen.id in ("Unweighted", "LW, min-max", "declared scale 20", "capped at 4")]
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
                replay = lognormal(n, replicate, CHECKED, outcomes, [np.array([z, z + 1])], **settings)
                base = replay.run(np.arange(n), bounds=True)
                for neighbour in added(n, len(replay.universe))[::2]:
                    near = replay.run(neighbour.index)
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
        replay = lognormal(n, replicate, CHECKED, np.exp(3 + np.array([0.0, 2.0, 3.0, 4.0, 8.0])), [np.array([2.0, 3.0])])
        base = replay.run(np.arange(n))
        for neighbour in added(n, len(replay.universe))[::2]:
            near = replay.run(neighbour.index)
            for chosen in CHECKED:
                sides = base[chosen.id].weights, near[chosen.id].weights
                ratios = []
                for weights, seed in zip(sides, (1, 2), strict=True):
                    data = family.stan_data(replay.universe, weights, family.priors)
                    fit = run_chain(executable, data, family.inits(data), family.parameters, seed, Lengths(1000, 4000, 1, 0.8))
                    ratios.append(log_ratio(family, replay.universe, fit.draws, *sides))
                estimate = bridge(ratios[0], ratios[1])
                exact = replay.losses([base[chosen.id]], [near[chosen.id]]).epsilon(1e-2)
                print(
                    f"{chosen.id:20} outcome {np.log(replay.universe.x[neighbour.added]) - 3:4.1f} sd out: exact {exact:6.2f}, "
                    f"bridged {estimate.losses.epsilon(1e-2):6.2f}, effective {estimate.effective:7.1f}, "
                    f"{'enough' if estimate.enough else f'at least {estimate.at_least(1e-2):.2f}'}", flush=True,
                )  # fmt: skip


if __name__ == "__main__":
    DEFAULTS = {estimator: 200, table: 20, value: 3, small: 1, pi: 40, removals: 1, attacks: 1, refute: 2, stan: 1}
    chosen = next((command for command in DEFAULTS if sys.argv[1:] and command.__name__ == sys.argv[1]), None)
    if chosen is None:
        sys.exit(__doc__)
    RESULTS.mkdir(exist_ok=True)
    chosen(int(sys.argv[2]) if len(sys.argv) > 2 else DEFAULTS[chosen])
