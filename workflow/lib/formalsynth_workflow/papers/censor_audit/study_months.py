"""Monthly data sets: scale, shift and epsilon are chosen once, and later months are censored (censor paper, Section 4.5)."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from formalsynth.core.arrays import Array, intercept_only, take
from formalsynth.core.constraints import CountOfTwo, NonNegative, OpenProportion, PositiveNumber
from formalsynth.core.utility import ecdf_distances
from formalsynth.core.weights import lipschitz_weights
from formalsynth.families.beta import BetaFamily
from formalsynth_workflow.papers.censor_audit.audit import Budget
from formalsynth_workflow.study import Arm, Outcome, Run, study

if TYPE_CHECKING:
    import pandas as pd

    from formalsynth.audit.lattice import LatticePosterior

AUDITED = "lower bound of epsilon, by audit"
FROZEN, EACH_MONTH, UNSCALED, BY_VALUE = "frozen", "chosen_each_month", "unscaled", "frozen_by_value"
ARMS = {
    FROZEN: Arm(
        AUDITED,
        "The recommended procedure: month 1 chooses scale and shift of min-max weights without censoring; later months use them, "
        "and are censored.",
        Budget,
    ),
    EACH_MONTH: Arm(AUDITED, "Scale and shift are chosen each month, without censoring.", Budget),
    UNSCALED: Arm(AUDITED, "Min-max weights of each month without scale and shift, censored in every month.", Budget),
    BY_VALUE: Arm(
        AUDITED,
        "Ours: the weight is a function of a record's value, fixed with scale and shift by the synthetic data that month 1 "
        "released; later months are censored.",
        Budget,
    ),
}
SHIFTS = (0.0, 0.1, 0.2)
"""Shifts that are tried."""
LARGEST, STEPS = 2.5, 12
"""Largest scale, and number of bisections for it at each shift."""
DRAWS, TRIED = 1000, 20
"""Number of draws for risks and bounds, as in the paper, and of synthetic data sets whose utility is averaged."""
FAMILY = BetaFamily()
Weights = Callable[[float, float], Array]
"""Weights of all records by scale and shift."""


@dataclass(frozen=True)
class Choice:
    """Scale and shift of weights, and the utility of synthetic data with them."""

    scale: float
    shift: float
    ecdf_max: float


class Month:
    """Exact pseudo posteriors of one data set, and of neighbours that have further records or lack some."""

    def __init__(self, x: Array, extra: Array, uniforms: Array) -> None:
        """Prepare the posteriors.

        Args:
            x: (n,) records.
            extra: (k,) values of records that neighbours may have in addition.
            uniforms: (S, 2) uniform numbers, by which draws of all data sets are made.
        """
        from formalsynth.audit.exact_lattice import exact_beta

        self.x = np.append(x, extra)
        self._records, self.uniforms = intercept_only(self.x), uniforms
        self._exact = exact_beta(FAMILY, self._records, FAMILY.priors)
        self._risks: dict[bytes, Array] = {}

    def posterior(self, weights: Array, threshold: float | None = None) -> LatticePosterior:
        """Return the posterior with weights (n + k,), censored at a threshold."""
        posterior: LatticePosterior = self._exact.posterior(weights, threshold)
        return posterior

    def draws(self, posterior: LatticePosterior) -> Mapping[str, Array]:
        """Return draws (S,) of the parameters."""
        return self._exact.draws(posterior, self.uniforms)

    def log_likelihood(self, posterior: LatticePosterior) -> Array:
        """Return log-likelihoods (S, n + k) at the draws of a posterior."""
        left, right = FAMILY.factors(self._records, self.draws(posterior))
        values: Array = left @ right.T
        return values

    def risks(self, present: Array) -> Array:
        """Return risks (n + k,) under the unweighted posterior of the records that are present (n + k,) of 0 and 1."""
        key = present.tobytes()
        if key not in self._risks:
            self._risks[key] = np.abs(self.log_likelihood(self.posterior(present))).max(axis=0)
        return self._risks[key]

    def min_max(self, present: Array) -> Weights:
        """Return the min-max weights (n + k,), by scale and shift, from the risks of the records that are present."""
        index = np.flatnonzero(present)
        risks = self.risks(present)[index]

        def weights(scale: float, shift: float) -> Array:
            values = np.zeros(len(present))
            values[index] = lipschitz_weights(risks, scale, shift)
            return values

        return weights

    def epsilon(self, weights: Array) -> float:
        """Return twice the Lipschitz bound of the posterior with these weights."""
        return 2 * float((weights * np.abs(self.log_likelihood(self.posterior(weights)))).max())

    def loss(self, base: LatticePosterior, other: LatticePosterior, delta: float) -> float:
        """Return the epsilon at delta between two posteriors."""
        return float(self._exact.losses([base], [other]).epsilon(delta))

    def ecdf_max(self, posterior: LatticePosterior, present: Array, generator: np.random.Generator) -> float:
        """Return the mean distance of synthetic data sets from the records that are present."""
        real = self._records.take(present > 0)
        sets = FAMILY.predict(generator, real, take(self.draws(posterior), slice(TRIED)))
        return float(np.mean([ecdf_distances(real.x, values)[0] for values in sets]))


def chosen(month: Month, present: Array, weights: Weights, epsilon: float, seed: np.random.SeedSequence) -> Choice:
    """Choose scale and shift: for each shift the largest scale that keeps twice the bound at epsilon, then the best utility."""
    choices = []
    for shift in SHIFTS:
        low, high = 0.0, LARGEST
        for _ in range(STEPS):
            scale = (low + high) / 2
            low, high = (scale, high) if month.epsilon(weights(scale, shift)) <= epsilon else (low, scale)
        at = weights(low, shift)
        if month.epsilon(at) <= epsilon:
            choices.append(Choice(low, shift, month.ecdf_max(month.posterior(at), present, np.random.default_rng(seed))))
    return min(choices, key=lambda choice: choice.ecdf_max)


def by_value(released: Array, uniforms: Array, epsilon: float, seed: np.random.SeedSequence) -> Callable[[Array], Array]:
    """Choose a weight as a function of a record's value, from released synthetic data (m,) alone."""
    month, present = Month(released, np.empty(0), uniforms), np.ones(len(released))
    centre = {name: np.array([values.mean()]) for name, values in month.draws(month.posterior(present)).items()}

    def risk(x: Array) -> Array:
        left, right = FAMILY.factors(intercept_only(x), centre)
        return np.asarray(np.abs(left @ right.T)[0])

    low, high = risk(released).min(), risk(released).max()

    def weight(x: Array, scale: float, shift: float) -> Array:
        return np.asarray(np.clip(scale * np.clip((high - risk(x)) / (high - low), 0, 1) + shift, 0, 1))

    choice = chosen(month, present, lambda scale, shift: weight(released, scale, shift), epsilon, seed)
    return lambda x: weight(x, choice.scale, choice.shift)


@study(arms=ARMS)
def months(
    run: Run,
    *,
    shape1: PositiveNumber,
    shape2: PositiveNumber,
    number: CountOfTwo = 12,
    trend: NonNegative = 0.015,
    spread: NonNegative = 0.03,
    closest: OpenProportion = 1e-9,
    furthest: OpenProportion = 0.98,
    delta: OpenProportion = 1e-3,
) -> Outcome:
    """Exact posteriors of monthly ``Beta(shape1, shape2)`` data sets whose level and spread drift.

    The log mean of month t is that of the first one plus ``trend`` t and normal changes with standard deviation ``spread``; log
    precisions change with the same. Neighbours lack the record with the largest risk, or have one more, at ``closest`` or
    ``furthest``; their weights, and a choice by the month itself, are made again from their own records.

    Columns, of the months after the first: ``ecdf_max``, mean; ``censored``, median number of records whose weighted
    log-likelihood is clipped at some draw; ``largest_epsilon``, without clipping; ``loss``, the largest epsilon at ``delta``
    between neighbours. Of month 1: ``first_ecdf_max``, and ``first_loss`` with its choice made again. The details have a row for
    each month.
    """
    import pandas as pd

    rows, details = [], []
    for replicate in run.replicates:
        address = run.address(replicate)
        generator = address.generator("data")
        data = [_month(generator, shape1, shape2, trend * t, spread, run.n) for t in range(int(number))]
        uniforms = address.generator("stan").random((DRAWS, 2))
        prepared = [Month(x, np.array([closest, furthest]), uniforms) for x in data]
        seeds = [address.sequence("synthesize", (t,)) for t in range(len(data))]
        for epsilon in dict.fromkeys(arm.parameters["epsilon"] for arm in run.arms):
            plan = Plan(prepared, seeds, epsilon, delta)
            for arm in run.arms:
                if arm.parameters["epsilon"] == epsilon:
                    table = pd.DataFrame([plan.measured(arm.name, t) for t in range(len(data))])
                    rows.append({"replicate": replicate, "synthesizer": arm.id} | _summary(table))
                    details.append(table.assign(replicate=replicate, synthesizer=arm.id))
    return Outcome(pd.DataFrame(rows), pd.concat(details, ignore_index=True))


def _month(generator: np.random.Generator, shape1: float, shape2: float, later: float, spread: float, n: int) -> Array:
    """Draw the records (n,) of a month."""
    first = np.array([shape1 / (shape1 + shape2), shape1 + shape2])
    level, precision = first * np.exp(spread * generator.standard_normal(2) + [later, 0.0])
    return generator.beta(precision * level, precision * (1 - level), n)


def _summary(table: pd.DataFrame) -> dict[str, float]:
    """Summarize the months after the first, and month 1."""
    first, later = table.iloc[0], table.iloc[1:]
    return {
        "ecdf_max": later["ecdf_max"].mean(),
        "censored": later["censored"].median(),
        "largest_epsilon": later["largest_epsilon"].max(),
        "loss": later["loss"].max(),
        "first_ecdf_max": first["ecdf_max"],
        "first_loss": first["loss"],
    }


@dataclass
class Plan:
    """Months of one replicate at one epsilon; what month 1 chose is computed once."""

    months: Sequence[Month]
    seeds: Sequence[np.random.SeedSequence]
    epsilon: float
    delta: float
    _measured: dict[tuple[str, int], dict[str, float]] = field(default_factory=dict)

    @cached_property
    def first(self) -> Choice:
        """The choice of month 1."""
        month = self.months[0]
        present = _present(month)
        return self._chosen(0, present, month.min_max(present))

    @cached_property
    def value_weight(self) -> Callable[[Array], Array]:
        """Weight as a function of the value, from what month 1 released."""
        month = self.months[0]
        present = _present(month)
        draws = month.draws(month.posterior(month.min_max(present)(self.first.scale, self.first.shift)))
        records = intercept_only(month.x[present > 0])
        released = FAMILY.predict(np.random.default_rng(self.seeds[0]), records, take(draws, slice(1)))[0]
        return by_value(released, month.uniforms, self.epsilon, self.seeds[0])

    def measured(self, arm: str, t: int) -> dict[str, float]:
        """Return the row of a month: of month 1, the same for all arms that choose."""
        key = (EACH_MONTH if t == 0 and arm != UNSCALED else arm, t)
        if key not in self._measured:
            self._measured[key] = self._measure(*key)
        return self._measured[key]

    def _measure(self, arm: str, t: int) -> dict[str, float]:
        month, threshold = self.months[t], None if arm == EACH_MONTH else self.epsilon / 2
        present = _present(month)
        weights = self._weights(arm, t, present)
        base = month.posterior(weights, threshold)
        reached = np.abs(weights * month.log_likelihood(base)).max(axis=0) > (np.inf if threshold is None else threshold)
        losses = [
            month.loss(base, month.posterior(self._weights(arm, t, other), threshold), self.delta)
            for other in _neighbours(present, month.risks(present))
        ]
        return {
            "month": t + 1,
            "ecdf_max": month.ecdf_max(base, present, np.random.default_rng(self.seeds[t])),
            "censored": float(reached.sum()),
            "largest_epsilon": month.epsilon(weights),
            "loss": max(losses),
        }

    def _weights(self, arm: str, t: int, present: Array) -> Array:
        """Weights of the records of a month, or of its neighbour, as an arm makes them."""
        month = self.months[t]
        if arm == BY_VALUE:
            return present * self.value_weight(month.x)
        weights = month.min_max(present)
        if arm == UNSCALED:
            return weights(1.0, 0.0)
        choice = self.first if arm == FROZEN else self._chosen(t, present, weights)
        return weights(choice.scale, choice.shift)

    def _chosen(self, t: int, present: Array, weights: Weights) -> Choice:
        return chosen(self.months[t], present, weights, self.epsilon, self.seeds[t])


def _present(month: Month) -> Array:
    """Return 1 for the records (n + 2,) of the month, 0 for the two that neighbours may have."""
    return np.append(np.ones(len(month.x) - 2), [0.0, 0.0])


def _neighbours(present: Array, risks: Array) -> list[Array]:
    """Return which records are present in each neighbour: one without the largest risk, two with one more."""
    changed = [int(np.argmax(present * risks)), len(present) - 2, len(present) - 1]
    return [np.where(np.arange(len(present)) == k, 1 - present, present) for k in changed]
