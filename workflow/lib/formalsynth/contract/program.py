"""Contract of a user's own Stan program, checked on made-up records before it is fitted to real ones."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

import numpy as np
from pydantic import Field

from formalsynth.contract.density import Support, check_distribution, check_record, in_words
from formalsynth.core.arrays import Array, Draws, Records, count, joined, take
from formalsynth.core.family import Family, ProgramFamily, StanData, program
from formalsynth.core.inputs import RecordInput
from formalsynth.core.model import JobInput
from formalsynth.core.synthesizer import SamplerSettings
from formalsynth.core.tables import has_distribution
from formalsynth.stan.command import ChainFailed
from formalsynth.stan.generate import Point, evaluate, generate, visited
from formalsynth.stan.sample import sample

RECORDS = 6
POINTS = 3
"""Number of points of the prior at which a program is evaluated."""
FAR = 12.0
"""Largest exponent of e in outlying outcomes."""
SIZES = (1, 2, 50, 10_000)
"""Numbers of records at which a program's results are compared with those for :data:`RECORDS` records."""
SEED = 20260205
PREDICTED = 2000
CLOSE = 1e-7
"""Relative difference that counts as rounding."""
LENGTHS = SamplerSettings(warmup=500, draws=300, ess_min=30, attempts=1, divergences_max=100)
"""Sampler settings for the prior: enough for a check, not for inference."""
LONGER = LENGTHS.model_copy(update={"warmup": 3000, "draws": 1500, "rhat_max": 1.1})
"""Sampler settings for a prior that a short chain does not explore."""
ENDLESS = 1e9
"""Absolute value of a parameter beyond which its prior is improper, or as weak as an improper one."""


class ProgramUse(JobInput):
    """Use of a program by a study."""

    data: dict[str, float]
    lower: float
    upper: float
    predictors: int
    """Number of columns of the design, constant included."""
    inputs: dict[str, RecordInput] = Field(default_factory=dict)
    """Further columns of the records, by name."""
    at_most: str = ""
    """Further column that no outcome exceeds; empty if only ``upper`` bounds outcomes."""

    def highest(self, records: Records) -> Array:
        """Largest outcome (n,) that each record may have."""
        return records.inputs[self.at_most] if self.at_most else np.full(len(records), self.upper)


@dataclass(frozen=True)
class Checked:
    """Compiled program, and how a study uses it."""

    family: ProgramFamily
    executable: Path
    use: ProgramUse
    whole: bool

    def at(self, draw: Draws, records: Records, weights: Array, seed: int = SEED) -> Point:
        """Evaluate the program at a point of its parameters."""
        data = self.family.stan_data(records, weights, self.use.data)
        return evaluate(self.executable, data, {name: values[0] for name, values in draw.items()}, seed)

    def generated(self, name: str, draws: Draws, records: Records) -> Array:
        """Generate one of its quantities (S, n), with all weights 1."""
        data = self.family.stan_data(records, np.ones(len(records)), self.use.data)
        return generate(self.executable, data, draws, SEED)[name]

    def log_lik(self, draws: Draws, records: Records) -> Array:
        """Evaluate its log-likelihood (S, n)."""
        return self.generated("log_lik", draws, records)

    def distribution(self, draws: Draws, records: Records) -> Array:
        """Evaluate its distribution function (S, n)."""
        return np.asarray(np.exp(self.generated("log_cdf", draws, records)))

    def predicted(self, draws: Draws, records: Records) -> Array:
        """Draw its predictive values (S, n)."""
        return self.generated("x_rep", draws, records)


def broken(family: Family, executable: Path, uses: Iterable[ProgramUse]) -> list[str]:
    """List the faults of a program in any of its uses, each as a sentence."""
    own = program(family)
    assert own is not None
    return list(dict.fromkeys(problem for use in uses for problem in check_program(Checked(own, executable, use, own.whole))))


def check_program(checked: Checked) -> list[str]:
    """List the faults of a program, each as a sentence."""
    try:
        prior, problems = _prior(checked)
        return problems or list(dict.fromkeys(_problems(checked, prior)))
    except ChainFailed as error:
        return [f"the program stops on made-up records within the declared bounds: {error}"]


def made_up(
    use: ProgramUse, whole: bool, n: int = RECORDS, seed: int = SEED, far: bool = False, inputs: Mapping[str, Array] | None = None
) -> Records:
    """Draw records within the declared bounds, with predictors and further columns that vary.

    Args:
        use: bounds and predictors.
        whole: True if outcomes are integers.
        n: number of records.
        seed: seed of the generator.
        far: True to spread outcomes and further columns widely, up to the declared bounds if there are any.
        inputs: further columns (n,) by name; None to draw them as well.
    """
    generator, spread = np.random.default_rng(seed), (0.0, 1.0) if far else (0.2, 0.8)
    if inputs is None:
        drawn = np.random.default_rng([seed, 1])
        inputs = {name: column.between(drawn.uniform(*spread, n)) for name, column in use.inputs.items()}
    low, high = use.lower, inputs[use.at_most] if use.at_most else use.upper
    if np.isfinite(use.lower) and np.isfinite(use.upper):
        x = low + (high - low) * generator.uniform(*spread, n)
    elif np.isfinite(use.lower) or np.isfinite(use.upper):
        distance = np.exp(generator.uniform(-2, FAR, n)) if far else generator.uniform(0.5, 3, n)
        x = low + distance if np.isfinite(low) else high - distance
    else:
        x = generator.choice([-1, 1], n) * np.exp(generator.uniform(-2, FAR, n)) if far else generator.normal(size=n)
    design = np.column_stack([np.ones(n), generator.normal(size=(n, use.predictors - 1))])
    return Records(np.clip(np.rint(x), low, high) if whole else x, design, inputs)


def _prior(checked: Checked) -> tuple[dict[str, Array], list[str]]:
    """Draw from the prior by a fit with all weights 0, and list the prior's faults (T4)."""
    records = made_up(checked.use, checked.whole)
    data = checked.family.stan_data(records, np.zeros(RECORDS), checked.use.data)
    fit = sample(checked.executable, data, {}, checked.family.parameters, SEED, LENGTHS)
    # under an improper prior, a chain moves the largest distance at every step: a longer chain does not help
    if fit.status != "ok" and fit.treedepth_hits < LENGTHS.draws / 2:
        fit = sample(checked.executable, data, {}, checked.family.parameters, SEED, LONGER)
    reached = [fit.draws] if fit.status == "ok" else _visited(checked, data)
    if fit.status != "ok" and _at_zero_weights(checked, records):
        return {}, [
            "the target is NaN when all weights are 0: use each weights[i] unchanged, and do not divide by their sum, "
            "mean or maximum"
        ]
    far = [name for name in checked.family.parameters for at in reached if not (np.abs(at[name]) < ENDLESS).all()]
    if far or fit.status != "ok":
        of = f"parameter {far[0]} grows without bound" if far else fit.reason
        problem = f"the prior alone cannot be sampled ({of}): give every parameter a proper prior, outside the sum over records"
        return {}, [problem]
    return fit.draws, []


def _at_zero_weights(checked: Checked, records: Records) -> bool:
    """Check if zero weights break the target at points where other weights do not."""
    ones = checked.family.stan_data(records, np.ones(RECORDS), checked.use.data)
    for draw in _visited(checked, ones):
        named = {name: np.asarray(draw[name])[None] for name in checked.family.parameters}
        if not np.isfinite(_target(checked, named, records, np.zeros(RECORDS))):
            return True
    return False


def _target(checked: Checked, draw: Draws, records: Records, weights: Array) -> float:
    """Log density at a point; NaN if the program rejects it."""
    try:
        return checked.at(draw, records, weights).log_density
    except ChainFailed:
        return float("nan")


def _visited(checked: Checked, data: StanData) -> list[Draws]:
    """Points visited by a short chain; none if the chain fails."""
    try:
        return [point.values for point in visited(checked.executable, data, {}, SEED, POINTS)]
    except ChainFailed:
        return []


def _problems(checked: Checked, prior: Draws) -> Iterator[str]:
    records, draws = made_up(checked.use, checked.whole), take(prior, np.linspace(0, count(prior) - 1, POINTS).astype(int))
    values = checked.at(take(draws, [0]), records, np.ones(RECORDS)).values
    for name in ("log_lik", "x_rep"):
        if (size := np.size(values[name])) != RECORDS:
            yield f"{name} has {size} values for {RECORDS} records: declare vector[n] {name}"
            return
    for check in (_weights, _clipped, _generated, _others, _unweighted, _sizes, _seeds):
        if broken := list(check(checked, draws, records)):
            yield from broken  # the next checks would fail for the same reason
            return
    yield from _ends(checked, draws)
    if broken := list(_density(checked, draws)):
        yield from broken
    elif has_distribution(checked.family):
        yield from _distribution(checked, draws, records)


def _differ(values: Array | float, other: Array | float) -> bool:
    """Check if numbers differ by more than rounding; equal infinities, and two NaN, do not differ."""
    return not np.allclose(values, other, rtol=CLOSE, atol=CLOSE, equal_nan=True)


def _weights(checked: Checked, draws: Draws, records: Records) -> Iterator[str]:
    """T1: the weights are the exponents of the likelihood, and log_lik does not depend on them."""
    generator = np.random.default_rng(SEED)
    # all 1, in the middle, over the whole range, and close together
    patterns = [np.ones(RECORDS), generator.uniform(0.1, 0.9, RECORDS), generator.permutation([0.0, 1e-4, 0.02, 0.5, 0.98, 1.0])]
    patterns += [generator.uniform(low, low + 0.1, RECORDS) for low in (0.05, 0.45, 0.85)]
    far = replace(made_up(checked.use, checked.whole, far=True, inputs=records.inputs), design=records.design)
    for draw, rows in itertools.product((take(draws, [k]) for k in range(POINTS)), (records, far)):
        none = checked.at(draw, rows, np.zeros(RECORDS))
        log_lik = none.values["log_lik"]
        for weights in patterns:
            some = checked.at(draw, rows, weights)
            if _differ(log_lik, some.values["log_lik"]):
                problems = ["log_lik changes with the weights: leave them out of it, because it must be the plain log-likelihood"]
            elif not _differ(none.log_density, some.log_density):
                problems = [
                    "the weights are not used: add weights[i] * log_lik_i to the target for each record instead of a ~ statement"
                ]
            else:
                problems = list(_not_the_sum(none.log_density, some.log_density, weights, log_lik))
            if problems:
                yield from problems
                return


def _clipped(checked: Checked, draws: Draws, records: Records) -> Iterator[str]:
    """Check that a program with a threshold clips the weighted log-likelihood of each record, plus its offset, at it."""
    weights = np.linspace(0.1, 1, RECORDS)
    data = checked.family.stan_data(records, weights, checked.use.data)
    offsets = [np.zeros(RECORDS)] + ([np.linspace(-2, 2, RECORDS)] if "offset" in data else [])
    for draw, offset in itertools.product((take(draws, [k]) for k in range(POINTS)), offsets if "threshold" in data else []):
        terms = weights * (checked.log_lik(draw, records)[0] + offset)
        none = checked.at(draw, records, np.zeros(RECORDS)).log_density
        for threshold in np.quantile(np.abs(terms), (0.2, 0.7)):
            clipped = {**data, "threshold": float(threshold)} | ({"offset": offset} if "offset" in data else {})
            point = evaluate(checked.executable, clipped, {name: values[0] for name, values in draw.items()}, SEED)
            expected = float(np.clip(terms, -threshold, threshold).sum())
            growth = point.log_density - none
            if np.isfinite(expected) and _differ(growth, expected):
                yield (
                    f"at the threshold {threshold:.4g}, the terms of the records sum to {growth:.6g} instead of {expected:.6g}: "
                    "for each record, add fmin(fmax(weights[i] * (log_lik_i + offset[i]), -threshold), threshold) to the target"
                )
                return


def _generated(checked: Checked, draws: Draws, records: Records) -> Iterator[str]:
    """Check that x_rep and log_cdf do not depend on the weights."""
    ones, *others = (
        generate(checked.executable, checked.family.stan_data(records, weights, checked.use.data), draws, SEED)
        for weights in (np.ones(RECORDS), np.zeros(RECORDS), np.linspace(0, 1, RECORDS))
    )
    for name in ("x_rep", *(["log_cdf"] if has_distribution(checked.family) else [])):
        if any(_differ(ones[name], other[name]) for other in others):
            yield f"{name} changes with the weights, which depend on the records: compute it without them"


def _not_the_sum(none: float, some: float, weights: Array, log_lik: Array) -> Iterator[str]:
    """Check that a target with weights exceeds the one without by the weighted sum."""
    growth, expected = some - none, float(weights @ log_lik)
    if np.isfinite(expected) and _differ(growth, expected):
        yield (
            f"the target does not contain weights[i] * log_lik[i]: with weights it grows by {growth:.6g}, but these terms sum "
            f"to {expected:.6g}; use the same log-likelihood, with all its constants, in the model and in log_lik"
        )


def _others(checked: Checked, draws: Draws, records: Records) -> Iterator[str]:
    """T2: the log-likelihood of a record depends on that record alone."""
    before = checked.log_lik(draws, records)
    for i in range(RECORDS):
        for other in _with_others(checked, records, i):
            if _differ(before[:, i], checked.log_lik(draws, other)[:, i]):
                yield MOVES
                return


MOVES = (
    "log_lik of a record changes when another record changes: anything computed from all records (a mean, a scale, centred "
    "predictors) must be a fixed number, declared as data"
)


def _with_others(checked: Checked, records: Records, i: int) -> Iterator[Records]:
    """Yield the i-th record in its place among others: changed records, outliers, and copies of itself."""
    n = len(records)
    others = np.where(np.arange(n) == i, i, n + np.arange(n))
    changed, far = _changed(checked, records, n), made_up(checked.use, checked.whole, n, SEED + 2, far=True)
    for other in (changed, replace(far, design=changed.design[::-1]), records.take(np.full(n, i))):
        yield joined(records, other).take(others)


def _changed(checked: Checked, records: Records, n: int) -> Records:
    """Make n other records, with predictors closer to 0, so a program that accepts the given records does not overflow."""
    generator, design = np.random.default_rng(SEED + 1), records.design[np.arange(n) % len(records)]
    nearer = np.column_stack([design[:, :1], generator.uniform(0, 0.9, (n, 1)) * design[:, 1:]])
    return replace(made_up(checked.use, checked.whole, n, SEED + 1), design=nearer)


def _unweighted(checked: Checked, draws: Draws, records: Records) -> Iterator[str]:
    """T3: records of weight 0 have no effect."""
    weights, log_lik = np.linspace(0, 1, RECORDS), checked.log_lik(draws, records)
    for k in range(POINTS):
        draw = take(draws, [k])
        with_it, without = (_target(checked, draw, records.take(slice(j, None)), weights[j:]) for j in (0, 1))
        if _differ(with_it, without):
            yield f"the target changes when a record of weight 0 is removed: {ALONE}"
            return
        none = _target(checked, draw, records, np.zeros(RECORDS))
        for i in range(RECORDS):
            # with a weight on that record only, and with no weight
            for scale, other in zip((0.7, 0.0, 0.7), _with_others(checked, records, i), strict=True):
                target = _target(checked, draw, other, np.where(np.arange(RECORDS) == i, scale, 0.0))
                if _differ(target, none + scale * log_lik[k, i]):
                    yield f"the target changes when records of weight 0 change: {ALONE}"
                    return


ALONE = (
    "only the weighted terms may depend on the records or on n (no centring or scaling by the data, and no prior or parameter "
    "bound that uses them)"
)


def _sizes(checked: Checked, draws: Draws, records: Records) -> Iterator[str]:
    """T1 to T3 for other numbers of records."""
    draw = take(draws, [0])
    before, none = checked.log_lik(draw, records)[0], _target(checked, draw, records, np.zeros(RECORDS))
    for size in SIZES:
        same, more = min(size, RECORDS), _changed(checked, records, size)
        far = made_up(checked.use, checked.whole, size, SEED + 2, far=True)
        rows = joined(records.take(slice(same)), more.take(slice(same, None)))
        log_lik = checked.log_lik(draw, rows)[0]
        if _differ(log_lik[:same], before[:same]):
            yield f"with {size} records, {MOVES}"
        elif _differ(_target(checked, draw, replace(far, design=rows.design), np.zeros(size)), none):
            yield f"the target changes when records of weight 0 are added or removed, at {size} records: {ALONE}"
        else:
            for weights in (np.random.default_rng(SEED).uniform(0, 1, size), np.ones(size)):
                problems = _not_the_sum(none, _target(checked, draw, rows, weights), weights, log_lik)
                yield from (f"with {size} records, {problem}" for problem in problems)


def _seeds(checked: Checked, draws: Draws, records: Records) -> Iterator[str]:
    """Check that only x_rep uses random numbers, and that it does not depend on the outcomes."""
    points = [checked.at(take(draws, [0]), records, np.ones(RECORDS), seed) for seed in (SEED, SEED + 1)]
    if _differ(points[0].log_density, points[1].log_density) or _differ(*(point.values["log_lik"] for point in points)):
        yield "the target or log_lik changes with Stan's seed: neither may use random numbers, nor may transformed data"
        return
    many = _changed(checked, records, PREDICTED)
    far = made_up(checked.use, checked.whole, PREDICTED, SEED + 2, far=True, inputs=many.inputs)
    before, whole = checked.predicted(draws, many), np.clip(np.rint(many.x), checked.use.lower, checked.use.highest(many))
    if any(_differ(before, checked.predicted(draws, replace(many, x=x))) for x in (far.x, whole)):
        yield "x_rep changes when the outcomes change: draw it from the parameters and the record's own predictors only"
        return
    # random numbers are drawn in the order of the records: in the first draw, those of the second half follow the first half
    half = PREDICTED // 2
    later = made_up(checked.use, checked.whole, PREDICTED - half, SEED + 3)
    later = joined(many.take(slice(half)), replace(later, design=0.9 * many.design[half:] + 0.1 * many.design[:1]))
    if _differ(before[:1, :half], checked.predicted(take(draws, [0]), later)[:, :half]):
        yield "x_rep of a record changes when the predictors of later ones change: draw it from the record's own predictors only"


def _ends(checked: Checked, draws: Draws) -> Iterator[str]:
    """T5: the log-likelihood is finite at the declared bounds."""
    use, records = checked.use, made_up(checked.use, checked.whole)
    for name, end in (("lower", np.full(RECORDS, use.lower)), ("upper", use.highest(records))):
        if np.isfinite(end).all() and not np.isfinite(checked.log_lik(draws, replace(records, x=end))).all():
            yield (
                f"log_lik is not finite at the declared bound {name}: {use.at_most or f'{end[0]:g}'}, so no weight can bound "
                "such a record's contribution: declare a bound inside the support, or give the value a positive probability"
            )
    for name, key in itertools.product(use.inputs, ("low", "high")):
        end = np.full(RECORDS, getattr(use.inputs[name], key))
        at_end = made_up(use, checked.whole, inputs={**records.inputs, name: end})
        if not np.isfinite(checked.log_lik(draws, at_end)).all():
            yield (
                f"log_lik is not finite at the declared {key} of {name}: {end[0]:g}, so no weight can bound such a "
                "record's contribution: declare bounds between which the program has a density"
            )


def _predicted(checked: Checked, record: Records, draws: Draws) -> Iterator[tuple[Draws, Array, Support]]:
    """Yield each draw, with predictive values of a record and their support."""
    for k in range(POINTS):
        draw = take(draws, [k])
        predicted = checked.predicted(draw, record.take(np.zeros(PREDICTED, dtype=int)))[0]
        yield draw, predicted, _reached(checked, predicted, float(checked.use.highest(record)[0]))


def _density(checked: Checked, draws: Draws) -> Iterator[str]:
    """Check that the log-likelihood is that of a density, and that x_rep follows it."""
    record = made_up(checked.use, checked.whole).take(slice(0, 1))
    for draw, predicted, support in _predicted(checked, record, draws):
        yield from check_record(record, draw, partial(checked.log_lik, draw), predicted, support, "the program ")


def _distribution(checked: Checked, draws: Draws, records: Records) -> Iterator[str]:
    """Check that log_cdf depends on its own record alone, and is the distribution function of the density."""
    before = checked.distribution(draws, records)
    if before.shape[1:] != (RECORDS,):
        yield f"log_cdf has {before[0].size} values for {RECORDS} records: declare vector[n] log_cdf"
        return
    others = [(i, other) for i in (0, RECORDS - 1) for other in _with_others(checked, records, i)]
    if any(_differ(before[:, i], checked.distribution(draws, other)[:, i]) for i, other in others):
        yield "log_cdf of a record changes when another record changes: compute it from the record and the parameters only"
        return
    record = records.take(slice(0, 1))
    for draw, predicted, support in _predicted(checked, record, draws):
        likelihood, distribution = partial(checked.log_lik, draw), partial(checked.distribution, draw)
        faults = check_distribution(record, likelihood, distribution, predicted, support)
        yield from (f"at {in_words(draw)} the program {fault}: see log_cdf" for fault in faults)


def _reached(checked: Checked, predicted: Array, upper: float) -> Support:
    """Support of the density: the declared bounds, up to ``upper``, or a wider interval if predictive values exceed them.

    A model may have a wider support than the outcome: an income of 1000 or more may have a lognormal model.
    """
    lower = checked.use.lower
    if predicted.min() < lower:
        lower = 0.0 if predicted.min() >= 0 else -np.inf
    if predicted.max() > upper:
        upper = 1.0 if predicted.max() <= 1 else np.inf
    return Support(lower, upper, checked.whole)
