"""The contract of a Stan program of a user's own, checked on made-up records before it is fitted to any."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from formalsynth.contract.density import Support, check_density
from formalsynth.core.arrays import Array, Draws, Records, count, take
from formalsynth.core.family import Family, ProgramFamily, StanData, program
from formalsynth.core.job import SamplerSettings
from formalsynth.core.model import Told
from formalsynth.stan.chain import ChainFailed
from formalsynth.stan.generate import Point, evaluate, generate, visited
from formalsynth.stan.sample import sample

RECORDS = 6
POINTS = 3
"""Points of the prior at which a program is looked at."""
SEED = 20260205
PREDICTED = 2000
CLOSE = 1e-7
"""Relative difference that is rounding."""
LENGTHS = SamplerSettings(warmup=500, draws=300, ess_min=30, attempts=1, divergences_max=100)
"""How the prior is sampled: to be seen, not to be relied on."""
LONGER = LENGTHS.model_copy(update={"warmup": 3000, "draws": 1500, "rhat_max": 1.1})
"""How a prior is sampled in which a short chain does not get around."""
ENDLESS = 1e9
"""A parameter beyond this has no proper prior, or one that says as little."""


class ProgramUse(Told):
    """How a study uses a program."""

    data: dict[str, float]
    lower: float
    upper: float
    predictors: int
    """Columns of the design, constant included."""


@dataclass(frozen=True)
class Checked:
    """A compiled program as a study uses it."""

    family: ProgramFamily
    executable: Path
    use: ProgramUse
    whole: bool

    def at(self, draw: Draws, records: Records, weights: Array) -> Point:
        """The program at a point of its parameters."""
        data = self.family.stan_data(records, weights, self.use.data)
        return evaluate(self.executable, data, {name: values[0] for name, values in draw.items()})

    def log_lik(self, draws: Draws, records: Records) -> Array:
        """Its log-likelihood (S, n)."""
        data = self.family.stan_data(records, np.ones(len(records)), self.use.data)
        return generate(self.executable, data, draws, SEED)["log_lik"]

    def predicted(self, draws: Draws, records: Records, seed: int = SEED) -> Array:
        """Its predictive values (S, n)."""
        data = self.family.stan_data(records, np.ones(len(records)), self.use.data)
        return generate(self.executable, data, draws, seed)["x_rep"]


def broken(family: Family, executable: Path, uses: Iterable[ProgramUse]) -> list[str]:
    """What a program does not keep to in any of its uses, a sentence for each; none where all is well."""
    own = program(family)
    assert own is not None
    return list(dict.fromkeys(problem for use in uses for problem in check_program(Checked(own, executable, use, own.whole))))


def check_program(checked: Checked) -> list[str]:
    """What a program does not keep to, a sentence for each; none where all is well."""
    try:
        prior, problems = _prior(checked)
        return problems or list(dict.fromkeys(_problems(checked, prior)))
    except ChainFailed as error:
        return [f"the program stops on made-up records within the declared bounds: {error}"]


def made_up(use: ProgramUse, whole: bool, n: int = RECORDS) -> Records:
    """Records within the declared bounds, with predictors that vary."""
    generator = np.random.default_rng(SEED)
    low, high = use.lower, use.upper
    if np.isfinite(low) and np.isfinite(high):
        x = low + (high - low) * generator.uniform(0.2, 0.8, n)
    elif np.isfinite(low) or np.isfinite(high):
        x = low + generator.uniform(0.5, 3, n) if np.isfinite(low) else high - generator.uniform(0.5, 3, n)
    else:
        x = generator.normal(size=n)
    design = np.column_stack([np.ones(n), generator.normal(size=(n, use.predictors - 1))])
    return Records(np.clip(np.rint(x), low, high) if whole else x, design)


def _prior(checked: Checked) -> tuple[dict[str, Array], list[str]]:
    """Draws from the prior, which is what is left where all weights are 0; and what is wrong with it (T4)."""
    records = made_up(checked.use, checked.whole)
    data = checked.family.stan_data(records, np.zeros(RECORDS), checked.use.data)
    fit = sample(checked.executable, data, {}, checked.family.parameters, SEED, LENGTHS)
    # where nothing holds it, a chain goes straight on as far as it may at every step: longer does not help
    if fit.status != "ok" and fit.treedepth_hits < LENGTHS.draws / 2:
        fit = sample(checked.executable, data, {}, checked.family.parameters, SEED, LONGER)
    reached = [fit.draws] if fit.status == "ok" else _visited(checked, data)
    far = [name for name in checked.family.parameters for at in reached if not (np.abs(at[name]) < ENDLESS).all()]
    if far or fit.status != "ok":
        of = f"parameter {far[0]} runs away" if far else fit.reason
        problem = f"the prior alone cannot be sampled ({of}): give every parameter a proper prior, outside the sum over records"
        return {}, [problem]
    return fit.draws, []


def _visited(checked: Checked, data: StanData) -> list[Draws]:
    """Points that a short chain comes to; none where it comes to no end."""
    try:
        return [point.values for point in visited(checked.executable, data, {}, SEED, POINTS)]
    except ChainFailed:
        return []


def _problems(checked: Checked, prior: Draws) -> Iterator[str]:
    records = made_up(checked.use, checked.whole)
    chosen = np.linspace(0, count(prior) - 1, POINTS).astype(int)
    for k in chosen:
        draw = take(prior, [k])
        lengths = {name: np.size(checked.at(draw, records, np.ones(RECORDS)).values[name]) for name in ("log_lik", "x_rep")}
        wrong = [f"{name} has {found} values for {RECORDS} records: declare vector[n] {name}" for name, found in lengths.items()
                 if found != RECORDS]  # fmt: skip
        if wrong:
            yield from wrong
            return
        for check in (_weights, _others, _removed):
            if found := list(check(checked, draw, records)):
                yield from found  # what comes behind would fail for the same reason
                return
    yield from _ends(checked, take(prior, chosen))
    yield from _density(checked, take(prior, chosen))


def _differ(one: Array | float, other: Array | float) -> bool:
    """Whether numbers differ by more than rounding; two that are infinite alike, or both no number, do not."""
    return not np.allclose(one, other, rtol=CLOSE, atol=CLOSE, equal_nan=True)


def _weights(checked: Checked, draw: Draws, records: Records) -> Iterator[str]:
    """T1: the weights are the exponents of the likelihood, and log_lik has none of them."""
    weights = np.random.default_rng(SEED).uniform(0.1, 0.9, RECORDS)
    none, some, full = (checked.at(draw, records, each) for each in (np.zeros(RECORDS), weights, np.ones(RECORDS)))
    log_lik = full.values["log_lik"]
    if _differ(log_lik, some.values["log_lik"]):
        yield "log_lik moves with the weights: leave them out of it, since it has to be the plain log-likelihood"
    elif not _differ(none.log_density, some.log_density):
        yield "the weights are not used: add weights[i] * log_lik_i to the target for each record, in place of a ~ statement"
    else:
        found, expected = some.log_density - none.log_density, float(weights @ log_lik)
        if _differ(found, expected):
            yield (
                f"the target does not hold weights[i] * log_lik[i]: with weights it grows by {found:.6g}, their sum is "
                f"{expected:.6g}; use the same log-likelihood, with all its constants, in the model and in log_lik"
            )


def _others(checked: Checked, draw: Draws, records: Records) -> Iterator[str]:
    """T2: the log-likelihood of a record depends on that record alone."""
    other = _changed(records, 0)
    before, after = (checked.log_lik(draw, each)[0] for each in (records, other))
    if _differ(before[1:], after[1:]):
        yield (
            "log_lik of a record moves when another record changes: what is worked out from all records (a mean, a scale, "
            "centred predictors) has to be a fixed number, declared as data"
        )


def _changed(records: Records, place: int) -> Records:
    """The records with one of them changed into a copy of the last, but for its predictors, which nothing else has."""
    x, design = records.x.copy(), records.design.copy()
    x[place] = x[-1]
    design[place, 1:] += 1.7
    return Records(x, design)


def _removed(checked: Checked, draw: Draws, records: Records) -> Iterator[str]:
    """T3: a record of weight 0 might as well not be there."""
    weights = np.linspace(0, 1, RECORDS)
    with_it = checked.at(draw, records, weights).log_density
    without = checked.at(draw, records.take(slice(1, None)), weights[1:]).log_density
    if _differ(with_it, without):
        yield (
            f"the target moves by {with_it - without:.3g} when a record of weight 0 is taken out: nothing but the weighted "
            "terms may depend on the records or on n (no centring or scaling on the data, no prior that uses them)"
        )


def _ends(checked: Checked, draws: Draws) -> Iterator[str]:
    """T5: the log-likelihood is finite at the declared bounds."""
    records = made_up(checked.use, checked.whole)
    for name, end in (("lower", checked.use.lower), ("upper", checked.use.upper)):
        if np.isfinite(end):
            at_end = Records(np.full(RECORDS, end), records.design)
            if not np.isfinite(checked.log_lik(draws, at_end)).all():
                yield (
                    f"log_lik is not finite at the declared bound {name}: {end:g}, so that no weight bounds such a record's "
                    "share: declare a bound inside the support, or give the value a probability of its own"
                )


def _density(checked: Checked, draws: Draws) -> Iterator[str]:
    """The log-likelihood is that of a density, and x_rep follows it."""
    record = made_up(checked.use, checked.whole).take(slice(0, 1))
    for k in range(POINTS):
        draw = take(draws, [k])
        many = Records(np.repeat(record.x, PREDICTED), np.repeat(record.design, PREDICTED, axis=0))
        predicted = checked.predicted(draw, many)[0]
        support = _reached(checked, predicted)

        def log_density(values: Array, draw: Mapping[str, Array] = draw) -> Array:
            rows = Records(values, np.repeat(record.design, len(values), axis=0))
            return checked.log_lik(draw, rows)[0]

        at = ", ".join(f"{name} = {np.ravel(values)[0]:.3g}" for name, values in draw.items())
        yield from (f"at {at} the program {problem}" for problem in check_density(log_density, predicted, support))


def _reached(checked: Checked, predicted: Array) -> Support:
    """The support of the density: the declared bounds, or what lies around them where predictive values reach beyond.

    What a model can give need not be what an outcome may be: an income of 1000 or more may have a lognormal model.
    """
    lower, upper = checked.use.lower, checked.use.upper
    if predicted.min() < lower:
        lower = 0.0 if predicted.min() >= 0 else -np.inf
    if predicted.max() > upper:
        upper = 1.0 if predicted.max() <= 1 else np.inf
    return Support(lower, upper, checked.whole)
