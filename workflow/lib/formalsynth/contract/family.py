"""Contract of a family: its arithmetic against numeric integrals, its own predictive draws, and its Stan program."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cache, partial
from pathlib import Path

import numpy as np

from formalsynth.contract.density import Support, check_distribution, check_record, in_words
from formalsynth.core.arrays import Array, Draws, Records, take
from formalsynth.core.family import Family, log_likelihood
from formalsynth.core.synthesizer import SamplerSettings
from formalsynth.core.tables import has_distribution, is_whole, lowest
from formalsynth.stan.command import ChainFailed
from formalsynth.stan.generate import Point, evaluate, gradient_error, visited
from formalsynth.stan.sample import sample

DRAWS = 3
"""Number of draws at which a density is integrated."""
POINTS = 20
"""Number of points at which a density is compared with its Stan program."""
PREDICTED = 2000
INSIDE = (0.8, 1.25)
"""Ends of the interval around a record whose probability is compared, as factors of the record."""
CLOSE = 1e-5
"""Largest relative difference that counts as rounding, including that of finite differences."""
CLIPPED = 0.7
"""Threshold at which the clipped density is compared with the Stan program."""
COARSE = 1e-3
"""Largest difference of probabilities that counts as integration error."""
SEED = 20260205


@dataclass(frozen=True)
class Fitted:
    """Family with records, draws from their posterior, and the compiled program."""

    family: Family
    records: Records
    draws: Draws
    executable: Path
    priors: dict[str, float]


RECORDS = 25
"""Largest number of records in a trial of a family."""
MADE_UP: tuple[Callable[[np.random.Generator], Array], ...] = (
    lambda generator: generator.normal(1, 1, RECORDS),
    lambda generator: generator.lognormal(0, 0.7, RECORDS),
    lambda generator: generator.beta(2, 3, RECORDS),
    lambda generator: generator.negative_binomial(4, 0.4, RECORDS).astype(float),
)
"""Made-up outcomes: the first that a family allows are those of its trial."""
LENGTHS = SamplerSettings(warmup=500, draws=500, ess_min=50, attempts=2)
"""Sampler settings of a trial."""


def made_up(family: Family, columns: int) -> Records | None:
    """Make up records with normal predictors; None if the family allows none of the outcomes that are tried.

    Args:
        family: the family.
        columns: number of columns of the design, the constant included.
    """
    for outcomes in MADE_UP:
        generator = np.random.default_rng(SEED)
        if family.outcomes.holds(x := outcomes(generator)):
            return Records(x, np.column_stack([np.ones(RECORDS), generator.normal(size=(RECORDS, columns - 1))]))
    return None


def trial(family: Family, records: Records, executable: Path, priors: Mapping[str, float]) -> Fitted | str:
    """Fit a family to a few of the records for a trial, or return the reason why it cannot be fitted."""
    chosen = np.random.default_rng(SEED).permutation(len(records))[:RECORDS]
    few: Records = records.take(np.sort(chosen))
    try:
        data = family.stan_data(few, np.ones(len(few)), priors)
        fit = sample(executable, data, family.inits(data), family.parameters, SEED, LENGTHS)
    except Exception as error:  # any error in the user's own code
        return f"stops with {type(error).__name__}: {' '.join(str(error).split())}"
    if fit.status != "ok":
        return f"cannot be checked: {len(few)} records could not be fitted ({fit.reason})"
    return Fitted(family, few, fit.draws, executable, dict(priors))


def check_family(fitted: Fitted) -> list[str]:
    """List the faults of a family, each as a sentence."""
    try:
        problems = list(_shapes(fitted))
        return problems or [*_density(fitted), *_intervals(fitted), *_distribution(fitted), *_program(fitted)]
    except ChainFailed as error:
        return [f"its Stan program stops: {error}"]
    except Exception as error:  # any error in the user's own code
        return [f"stops with {type(error).__name__}: {' '.join(str(error).split())}"]


def support(family: Family) -> Support:
    """Support of a family, inferred from a few test values."""
    holds = family.outcomes.holds
    negative = any(holds(np.array([value])) for value in (-1.0, -0.5))
    below_one = not any(holds(np.array([value])) for value in (1.5, 2.0))
    return Support(-np.inf if negative else 0.0, 1.0 if below_one else np.inf, is_whole(family))


def _shapes(fitted: Fitted) -> Iterator[str]:
    family, records, draws = fitted.family, fitted.records, take(fitted.draws, slice(0, 50))
    n, values = len(records), log_likelihood(family, records, draws)
    if values.shape != (50, n):
        yield f"returns a log-likelihood of shape {values.shape} for 50 draws and {n} records"
        return
    if not np.isfinite(values).all():
        yield "returns a log-likelihood that is not finite for its own data"
    order = np.random.default_rng(SEED).permutation(n)
    if not np.allclose(log_likelihood(family, records.take(order), draws), values[:, order], rtol=1e-9, atol=1e-9):
        yield "returns different log-likelihoods when the records are in another order"
    if _moves(family, records, draws, values):
        yield (
            "returns a different log-likelihood for a record when other records change: anything computed from all records must "
            "be a fixed number"
        )
    predicted, other = (
        family.predict(np.random.default_rng(SEED), rows, draws) for rows in (records, replace(records, x=records.x[order]))
    )
    if predicted.shape != (50, n):
        yield f"returns predictive values of shape {predicted.shape} for 50 draws and {n} records"
    elif not np.array_equal(predicted, other):
        yield "returns different predictive values when the outcomes change: draw them from the parameters and predictors only"


def _moves(family: Family, records: Records, draws: Draws, values: Array) -> bool:
    """Check if the log-likelihood of a record changes when all other records are different or missing."""
    n = len(records)
    for i in range(n):
        alone = log_likelihood(family, records.take([i]), draws)[:, 0]
        among = [log_likelihood(family, records.take(np.where(np.arange(n) == i, i, j)), draws)[:, i] for j in (0, n - 1)]
        if not all(np.allclose(column, values[:, i], rtol=1e-9, atol=1e-9) for column in (alone, *among)):
            return True
    return False


def _predicted(fitted: Fitted) -> Iterator[tuple[Draws, Callable[[Records], Array], Array]]:
    """Yield a few draws, each with the log-likelihood (1, m) at it and predictive values of the first record."""
    many = fitted.records.take(np.zeros(PREDICTED, dtype=int))
    for k in range(DRAWS):
        draw = take(fitted.draws, [k])
        predicted = fitted.family.predict(np.random.default_rng([SEED, k]), many, draw)[0]
        yield draw, partial(log_likelihood, fitted.family, draws=draw), predicted


def _density(fitted: Fitted) -> Iterator[str]:
    """Check that the density integrates to 1 and that predictive values follow it."""
    record = fitted.records.take(slice(0, 1))
    for draw, likelihood, predicted in _predicted(fitted):
        if problems := check_record(record, draw, likelihood, predicted, support(fitted.family)):
            yield from problems
            return


def _intervals(fitted: Fitted) -> Iterator[str]:
    """Check that probabilities of intervals are integrals of the density."""
    family, records, draw = fitted.family, fitted.records.take(slice(0, 5)), take(fitted.draws, [0])
    ends = np.sort(np.outer(INSIDE, records.x), axis=0)
    try:
        probability = np.exp(family.log_interval_probability(records, draw, *ends))[0]
    except (NotImplementedError, AttributeError):
        return
    for k, (low, high) in enumerate(ends.T):
        if support(family).whole:
            values = np.arange(np.ceil(low), np.floor(high) + 1)
            lengths = np.ones(len(values))
        else:
            values = np.linspace(low, high, 2001)
            lengths = np.full(2001, (high - low) / 2000)
            lengths[[0, -1]] /= 2
        rows = records.take([k]).repeated(values)
        expected = float(np.exp(log_likelihood(family, rows, draw)[0]) @ lengths) if len(values) else 0.0
        if abs(expected - probability[k]) > COARSE:
            yield (
                f"returns the probability {probability[k]:.4g} where its density integrates to {expected:.4g}, at "
                f"{in_words(draw)}: see log_interval_probability"
            )
            return


def _distribution(fitted: Fitted) -> Iterator[str]:
    """Check that a distribution function for noisy tables is that of the density."""
    family, record = fitted.family, fitted.records.take(slice(0, 1))
    for draw, likelihood, predicted in _predicted(fitted) if has_distribution(family) else ():
        if faults := check_distribution(record, likelihood, partial(_upto, family, draw), predicted, support(family)):
            yield from (f"{fault}, at {in_words(draw)}: see log_interval_probability" for fault in faults)
            return


def _upto(family: Family, draw: Draws, records: Records) -> Array:
    """Probabilities (1, n) of outcomes up to those of the records."""
    lower = np.full(len(records), lowest(family))
    return np.asarray(np.exp(family.log_interval_probability(records, draw, lower, records.x)))


def _program(fitted: Fitted) -> Iterator[str]:
    """Check that the Stan program has the same density, up to a constant in the parameters, and the right gradient."""
    family, records = fitted.family, fitted.records
    weights = np.linspace(0.2, 1.0, len(records))
    data = family.stan_data(records, weights, fitted.priors)
    points = visited(fitted.executable, data, family.inits(data), SEED, POINTS)
    smaller = records.take(np.argsort(records.x, kind="stable")[np.arange(len(records)) // 2])

    @cache
    def base_at(k: int) -> Point:
        return evaluate(fitted.executable, data, points[k].values)

    reversed_x = replace(records, x=records.x[::-1].copy())
    others: list[tuple[Records, Array, float | None]] = [(records, 2 * weights, None), (reversed_x, weights, None)]
    others += [(smaller, weights, None), *([(records, weights, CLIPPED)] if family.censors else [])]
    for other, its_weights, threshold in others:
        its_data, largest = family.stan_data(other, its_weights, fitted.priors, threshold), 1.0
        differences: list[float] = []
        for k, point in enumerate(points):
            base, changed = base_at(k), evaluate(fitted.executable, its_data, point.values)
            draw = {name: np.asarray(base.values[name])[None] for name in family.parameters}
            if any(not np.allclose(base.values[name], changed.values[name], rtol=1e-6) for name in family.parameters):
                differences.clear()  # parameters that change with the data cannot be compared this way
                break
            limit = np.inf if threshold is None else threshold
            clipped = np.clip(its_weights * log_likelihood(family, other, draw)[0], -limit, limit)
            ours = float(clipped.sum() - weights @ log_likelihood(family, records, draw)[0])
            differences.append(changed.log_density - base.log_density - ours)
            largest = max(largest, abs(ours))
        if differences and not np.ptp(differences) <= CLOSE * largest:
            kind = "density" if threshold is None else f"density clipped at {threshold:g}"
            yield (
                f"its Stan program {family.program} has a different {kind}: over {POINTS} points the difference is not constant "
                f"but varies by {np.ptp(differences):.3g}"
            )
            return
    error = gradient_error(fitted.executable, data, points[0].values)
    if error > 1e-3:
        yield f"its Stan program {family.program} has a gradient that differs from finite differences by {error:.2g}"
