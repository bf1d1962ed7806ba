"""Functions for Python: from records to weighted posteriors, synthetic data, utility and an audit.

A posterior of a family of models is sampled with weights in [0, 1] as exponents of the likelihood. The largest weighted
log-likelihood of a record over the draws is its Lipschitz bound; epsilon is twice the largest bound. Each posterior names the
kind of its guarantee: a bound from draws is asymptotic, a clipped likelihood is differentially private for every data set.

A family is a name, such as ``beta``, or the path of a Stan program of your own that keeps to the contract of
``docs/howto/own_model.md``; its single numbers are priors. Data are a vector, or :class:`formalsynth.core.arrays.Records` with
a design matrix (n, p) whose first column is the constant.

Example:
    >>> import formalsynth as fs
    >>> data = fs.simulate("beta", 500, seed=1, shape1=0.5, shape2=3)
    >>> plain = fs.fit("beta", data)
    >>> weighted = fs.fit("beta", data, fs.lipschitz_weights(plain))
    >>> weighted.epsilon < plain.epsilon, weighted.guarantee
    (True, 'asymptotic DP (local eps_x)')
    >>> fs.synthesize(weighted, sets=5).shape
    (5, 500)
"""

from __future__ import annotations

import atexit
import functools
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np
from numpy.typing import ArrayLike

from formalsynth.core import data_files
from formalsynth.core import weights as weights_of
from formalsynth.core.arrays import Array, Draws, Integers, Records, count, intercept_only, take
from formalsynth.core.bounds import Sensitive
from formalsynth.core.bounds import record_bounds as bounds_of
from formalsynth.core.data_files import FILES
from formalsynth.core.family import FAMILIES, Family, program, program_name
from formalsynth.core.inputs import Ranges
from formalsynth.core.mechanism import ASYMPTOTIC, MECHANISMS, Context, Form, Parent
from formalsynth.core.population import POPULATIONS
from formalsynth.core.private import DiscreteLaplaceCounts
from formalsynth.core.registry import PACKAGE, Registry
from formalsynth.core.registry import load as load_modules
from formalsynth.core.streams import Address
from formalsynth.core.synthesizer import AuditSearch, SamplerSettings, Synthesizer
from formalsynth.core.utility import utility_columns
from formalsynth.engine.chain import Step
from formalsynth.posteriors import StanPosteriors
from formalsynth.stan.compile import build
from formalsynth.stan.generate import generate
from formalsynth.stan.install import ensure

if TYPE_CHECKING:
    import pandas as pd

Data = Records | ArrayLike
"""Records, or the values (n,) of an outcome without predictors."""
Entry = TypeVar("Entry")


@dataclass(frozen=True)
class Posterior:
    """Draws from a weighted pseudo posterior, with the bounds of the records."""

    family: str
    """Name of the family, or path of a Stan program."""
    records: Records
    """The confidential records, n of them, with outcomes in :attr:`unit`."""
    draws: Draws
    """Each parameter with its S draws along the first axis."""
    weights: Array
    """(n,) exponents of the likelihood."""
    by_record: Array
    """(n,) Lipschitz bound of each record: the largest absolute sensitive log-likelihood over the draws."""
    epsilon: float
    """Privacy loss, of the kind that :attr:`guarantee` names."""
    guarantee: str
    """Kind of the guarantee."""
    rhat: float
    """Largest R-hat of a parameter."""
    ess: float
    """Smallest bulk or tail effective sample size of a parameter."""
    unit: float = 1.0
    """Declared unit of the outcome, on which bounds and clipping of a continuous outcome depend."""

    def parent(self) -> Parent:
        """Return it as the input of a mechanism."""
        return Parent(self.draws, self.by_record, self.weights)

    def arviz(self) -> dict[str, dict[str, Array]]:
        """Return the draws for ``arviz.from_dict``: each parameter with a chain (1), the draws (S) and its own axes.

        They depend on the confidential records, like all draws.

        Example:
            >>> import formalsynth as fs
            >>> fs.fit("poisson", [3, 5, 4, 8, 2, 4, 6, 1, 0, 3]).arviz()["posterior"]["mu"].shape
            (1, 1000)
        """
        return {"posterior": {name: values[None] for name, values in self.draws.items()}}


def load(name: str, folder: str | Path = "") -> Records:
    """Load the records of a registered data file: ``fatigue``, or one of your own folder.

    Args:
        name: name of the data file.
        folder: folder to search first; then that of FORMALSYNTH_DATA, then the public files of the library.

    Returns:
        n records, with outcomes in the unit of the file.

    Raises:
        KeyError: there is no such data file; the message lists all.
        DataError: it is missing, or differs from the published file.

    Example:
        >>> import formalsynth as fs
        >>> len(fs.load("fatigue"))
        22
    """
    _named(FILES, name)
    return data_files.load(name, folder)


def simulate(population: str, n: int, seed: int = 0, **parameters: object) -> Records:
    """Draw n records from a registered population.

    Args:
        population: name of the population, such as ``beta``, ``poisson`` or ``incomes``.
        n: number of records.
        seed: seed of the draws.
        parameters: parameters of the population.

    Returns:
        n records.

    Raises:
        KeyError: there is no such population; the message lists all.

    Example:
        >>> import formalsynth as fs
        >>> fs.simulate("poisson", 3, seed=1, mu=2.0).x.shape
        (3,)
    """
    return _named(POPULATIONS, population).draw(np.random.default_rng(seed), n, parameters)


def fit(
    family: str | Path,
    data: Data,
    weights: Array | None = None,
    *,
    seed: int = 0,
    priors: Mapping[str, float] | None = None,
    sampler: Mapping[str, float] | None = None,
    unit: float = 1.0,
) -> Posterior:
    """Sample the pseudo posterior with likelihood weights, and bound each record.

    The weights may depend on the data; epsilon is then asymptotic: it holds as n grows, for the data set at hand.
    Source: Savitsky, Williams and Hu 2022 (arXiv:1909.11796); range paper (arXiv:2602.04124), Section 1.1. For what it
    costs on a given data set, see ``docs/explanation/which_mechanism.md``.

    Args:
        family: name of the family, such as ``normal``, ``lognormal``, ``beta`` or ``poisson``, or path of a Stan program.
        data: the confidential records, n of them.
        weights: (n,) in [0, 1]; by default, all are 1.
        seed: seed of the draws.
        priors: settings of the prior that differ from the family's, or the single numbers that a Stan program declares.
        sampler: settings of :class:`formalsynth.core.synthesizer.SamplerSettings` that differ from the defaults.
        unit: declared unit of the outcome, such as 1000 for thousands; never computed from the data. Bounds of a continuous
            outcome depend on it.

    Returns:
        The posterior with S draws, 1000 by default.

    Raises:
        KeyError: there is no such family; the message lists all.
        OwnCodeError: the Stan program does not keep to the contract.
        ValueError: the weights, the data or the unit are not allowed, or the chain did not pass its diagnostics.

    Example:
        >>> import formalsynth as fs
        >>> fit = fs.fit("poisson", [3, 5, 4, 8, 2, 4, 6, 1, 0, 3])
        >>> bool(1 < fit.draws["mu"].mean() < 8)
        True
    """
    context = _context(family, data, seed, unit)
    given = np.ones(len(context.records)) if weights is None else np.asarray(weights, dtype=float)
    if given.shape != (len(context.records),) or not ((given >= 0) & (given <= 1)).all():
        raise ValueError(f"weights: given an array {given.shape}; allowed: {len(context.records)} numbers from 0 to 1")
    return _sampled(family, context, Form(given, Sensitive(given)), ASYMPTOTIC, None, priors, sampler, unit)


def lipschitz_weights(posterior: Posterior, c: float = 1.0, g: float = 0.0) -> Array:
    """Weights (n,) that fall with the bound of a record: ``clip(c (1 - risk~) + g, 0, 1)``.

    Source: range paper (arXiv:2602.04124), Section 1.1, with the risk min-max scaled over the records.

    Args:
        posterior: the unweighted posterior.
        c: scale.
        g: shift.

    Returns:
        A weight (n,) in [0, 1] for each record.

    Example:
        >>> import formalsynth as fs
        >>> plain = fs.fit("poisson", [3, 5, 4, 8, 2, 4, 6, 1, 0, 3])
        >>> weights = fs.lipschitz_weights(plain)
        >>> float(weights.min()), float(weights.max())
        (0.0, 1.0)
    """
    return weights_of.lipschitz_weights(posterior.by_record, c, g)


def isolation_weights(data: Data, r: float, c: float = 1.0, g: float = 0.0) -> Array:
    """Weights (n,) that fall with the share of records farther away than r times the record's value.

    Source: reweight paper (arXiv:2006.01230), Section 2.2.

    Args:
        data: the confidential records, n of them.
        r: radius, as a factor of the value of a record.
        c: scale.
        g: shift.

    Returns:
        A weight (n,) in [0, 1] for each record.

    Example:
        >>> import formalsynth as fs
        >>> fs.isolation_weights([1.0, 1.1, 9.0], r=0.5).round(2).tolist()
        [0.67, 0.67, 0.33]
    """
    from formalsynth.mechanisms.isolation import isolation_weights

    return isolation_weights(_records(data).x, r, c, g)


def reweight(posterior: Posterior, k: float, thresh: float = 1.0) -> Array:
    """Weights (n,) moved toward the largest bound of a weighted posterior: ``min(1, k alpha Delta / Delta_i)``.

    Source: reweight paper (arXiv:2006.01230), Equation 3.1.

    Args:
        posterior: the weighted posterior.
        k: factor below 1 that keeps the largest bound.
        thresh: quantile over the draws that replaces the largest bound, as in the script of Supplement 1; 1 is the maximum.

    Returns:
        A weight (n,) in [0, 1] for each record.

    Example:
        >>> import formalsynth as fs
        >>> x = [3, 5, 4, 8, 2, 4, 6, 1, 0, 3]
        >>> weighted = fs.fit("poisson", x, fs.lipschitz_weights(fs.fit("poisson", x)))
        >>> bool((fs.reweight(weighted, 0.9) <= 1).all())
        True
    """
    return _form("reweighted", _with_parent(posterior), {"k": k, "thresh": thresh}).weights


def range_averaged(posterior: Posterior, a: float, b: float, *, seed: int = 0, **settings: float) -> Posterior:
    """Fit with the weights of a sensitive range: only values between a and b times a record's value are sensitive.

    Source: range paper (arXiv:2602.04124), Equations 5 to 7. The guarantee is for moves inside the range.

    Args:
        posterior: the unweighted posterior.
        a: lower end, at most 1.
        b: upper end, at least 1.
        seed: seed of the draws.
        settings: further parameters of the mechanism ``range_averaged``.

    Returns:
        The posterior with these weights, and its epsilon for moves inside the range.

    Raises:
        ValueError: the ends do not include 1, or the chain did not pass its diagnostics.

    Example:
        >>> import formalsynth as fs
        >>> plain = fs.fit("poisson", [3, 5, 4, 8, 2, 4, 6, 1, 0, 3])
        >>> fs.range_averaged(plain, 0.5, 1.5).guarantee
        'range-averaged | R'
    """
    context = _with_parent(posterior, seed)
    return _by_mechanism("range_averaged", posterior.family, context, {"a": a, "b": b, **settings}, unit=posterior.unit)


def censor(
    family: str | Path,
    data: Data,
    epsilon: float,
    *,
    seed: int = 0,
    priors: Mapping[str, float] | None = None,
    unit: float = 1.0,
) -> Posterior:
    """Fit with every log-likelihood clipped to at most epsilon / 2 in absolute value.

    Differentially private for every data set, for adding or removing a record, with exact draws. Replacing one costs twice as
    much. Source: censor paper (arXiv:2205.05003), Equations 3.5 and 3.6; proof: ``docs/proofs/censored_unweighted.md``.

    Args:
        family: name of the family, or path of a Stan program that declares a threshold.
        data: the confidential records, n of them.
        epsilon: privacy budget of a draw.
        seed: seed of the draws.
        priors: settings of the prior that differ from the family's.
        unit: declared unit of the outcome, on which clipping of a continuous outcome depends; never computed from the data.

    Returns:
        The posterior, whose epsilon is the declared one.

    Raises:
        ValueError: the family cannot be censored, the data or the unit are not allowed, or the chain did not pass its
            diagnostics.

    Example:
        >>> import formalsynth as fs
        >>> censored = fs.censor("beta", fs.simulate("beta", 200, shape1=0.5, shape2=3), epsilon=2.0)
        >>> censored.epsilon, bool(censored.by_record.max() <= 1.0)
        (2.0, True)
    """
    return _by_mechanism("censored_unweighted", family, _context(family, data, seed, unit), {"epsilon": epsilon}, priors, unit)


def censor_in_brackets(
    family: str, data: Data, edges: Sequence[float], epsilon: float, *, seed: int = 0,
    priors: Mapping[str, float] | None = None, **theta: float,
) -> Posterior:  # fmt: skip
    """Fit with the probability of each record's public bracket in full, and the density inside clipped to epsilon / 4.

    Differentially private for every data set, for one record that moves inside its bracket, with exact draws. The edges must not
    depend on the data. Source: ours; proof: ``docs/proofs/bracket_clipped.md``.

    Args:
        family: name of a family of the library.
        data: the confidential values.
        edges: increasing edges of the brackets, possibly infinite.
        epsilon: privacy budget of a move.
        seed: seed of the draws.
        priors: prior settings that differ from the family's.
        theta: declared parameter ``theta1``, ``theta2`` and so on, at which the density inside is subtracted before clipping.

    Returns:
        The posterior, whose epsilon is the declared one.

    Raises:
        ValueError: the edges do not increase, or the chain did not pass its diagnostics.

    Example:
        >>> import formalsynth as fs
        >>> values = [0.4, 0.7, 0.9, 1.1, 1.3, 1.6, 2.2, 2.9]
        >>> fs.censor_in_brackets("lognormal", values, [0, 1, 2, 5], 1.0, theta1=0, theta2=0.5).guarantee
        'DP (moves) | R | exact draws'
    """
    context = _context(family, data, seed)
    context = replace(context, records=Ranges(edges=tuple(edges)).added_to(context.records))
    return _by_mechanism("bracket_clipped", family, context, {"epsilon": epsilon, **theta}, priors)


def record_bounds(family: str, data: Data, draws: Draws, weights: Array | None = None, *, unit: float = 1.0) -> Array:
    """Largest absolute weighted log-likelihood (n,) of each record over S draws, such as those of another sampler.

    Source: Savitsky, Williams and Hu 2022 (arXiv:1909.11796).

    Args:
        family: name of the family.
        data: the confidential records, n of them.
        draws: mapping from each parameter to its S draws, along the first axis, of a fit in the declared unit.
        weights: (n,) in [0, 1]; by default, all are 1.
        unit: declared unit of the outcome.

    Returns:
        A bound (n,) for each record; epsilon is twice the largest.

    Raises:
        KeyError: there is no such family; the message lists all.
        ValueError: the data or the unit are not allowed.

    Example:
        >>> import numpy as np
        >>> import formalsynth as fs
        >>> fs.record_bounds("poisson", [0, 9], {"mu": np.array([3.0, 4.0])}).round(2).tolist()
        [4.0, 5.91]
    """
    context = _context(family, data, 0, unit)
    given = np.ones(len(context.records)) if weights is None else np.asarray(weights, dtype=float)
    return bounds_of(context.family, context.records, draws, [Sensitive(given)])[0].by_record


def synthesize(posterior: Posterior, sets: int = 1, seed: int = 0) -> Array:
    """Draw synthetic data sets (sets, n), each from one posterior draw, at the predictors of the records, in units of the data.

    Each set costs epsilon once. Predictors and n are those of the records, unchanged.

    Args:
        posterior: the posterior.
        sets: number of data sets.
        seed: seed of the draws.

    Returns:
        The outcomes (sets, n).

    Raises:
        ValueError: there are fewer draws than sets.

    Example:
        >>> import formalsynth as fs
        >>> fs.synthesize(fs.fit("poisson", [3, 5, 4, 8, 2, 4, 6, 1, 0, 3]), sets=2).shape
        (2, 10)
    """
    generator = np.random.default_rng(seed)
    if not 1 <= sets <= count(posterior.draws):
        raise ValueError(f"sets: given {sets}; allowed: 1 to {count(posterior.draws)}, one for each draw")
    chosen = generator.permutation(count(posterior.draws))[:sets]
    return _family(posterior.family).predict(generator, posterior.records, take(posterior.draws, chosen)) * posterior.unit


def noisy_table(data: Data, edges: Sequence[float], epsilon: float, seed: int | None = None) -> Integers:
    """Count values in declared bins, with discrete Laplace noise: differentially private for adding or removing a record.

    The edges and epsilon must not depend on the data. The noise is NumPy's; for a release, use ``formalsynth_release``. Source:
    Ghosh, Roughgarden and Sundararajan 2009 (arXiv:0811.2841); proof: ``docs/proofs/noisy_tables.md``.

    Args:
        data: the confidential values.
        edges: increasing edges of the bins. A value equal to an edge is in the bin above it, and a value outside is in the
            nearest bin: a refusal would depend on the data.
        epsilon: privacy budget.
        seed: seed of the noise, for tests only: who knows it can subtract the noise.

    Returns:
        A noisy count for each bin; it may be negative.

    Raises:
        ValueError: the edges do not increase, or epsilon is not allowed.

    Example:
        >>> import formalsynth as fs
        >>> len(fs.noisy_table([1.0, 2.0, 2.5], [0, 1, 2, 3], epsilon=1.0))
        3
    """
    x, ends = _records(data).x, np.asarray(edges, dtype=float)
    if not epsilon > 0:
        raise ValueError(f"epsilon: given {epsilon:g}; allowed: a positive number")
    if not (np.diff(ends) > 0).all() or len(ends) < 2:
        raise ValueError("edges: allowed: at least two increasing numbers")
    counts = np.bincount(np.searchsorted(ends[1:-1], x, side="right"), minlength=len(ends) - 1)
    noisy = DiscreteLaplaceCounts(counts.astype(float), 1 / epsilon).noisy(np.random.default_rng(seed), 1)[0]
    counted: Integers = noisy.astype(np.int64)
    return counted


def utility(data: Data, synthetic: ArrayLike) -> dict[str, float]:
    """Statistics of one synthetic data set, and the distances of its distribution function from that of the data.

    Source: censor paper (arXiv:2205.05003), Section 4: ``ecdf_max`` and ``ecdf_avg`` over the stacked values.

    Args:
        data: the confidential records.
        synthetic: one synthetic data set (n,).

    Returns:
        Mapping from a statistic of the synthetic data, in their unit, or a distance, to its value. It depends on the confidential
        records.

    Example:
        >>> import formalsynth as fs
        >>> fs.utility([1.0, 2.0, 3.0], [1.0, 2.0, 3.0])["ecdf_max"]
        0.0
    """
    return utility_columns(_records(data).x, np.asarray(synthetic, dtype=float))


def privacy_audit(
    family: str, data: Data, mechanism: str = "weighted", *, seed: int = 0, unit: float = 1.0, **parameters: float
) -> pd.DataFrame:
    """Largest privacy loss found between the data and data sets that differ from it in one record, with exact posteriors.

    It is a lower bound of what the mechanism costs; ``docs/explanation/audit.md`` lists the data sets that are tried. Both data
    sets use the same random numbers, an idea also of Cebere et al. 2026 (arXiv:2602.17454).

    Args:
        family: a family with exact posteriors: ``normal``, ``lognormal``, ``beta``, ``poisson`` or a regression.
        data: the confidential records.
        mechanism: name of a registered mechanism; its parents are the unweighted and, where it has two, the weighted posterior.
        seed: seed of the random numbers.
        unit: declared unit of the outcome.
        parameters: parameters of the mechanism.

    Returns:
        One row for each kind of neighbour and delta: the epsilon that was claimed and the one that was found.

    Raises:
        KeyError: there is no such family or mechanism; the message lists all.
        ValueError: the family has no exact posteriors, or the data are not allowed.

    Example:
        >>> import formalsynth as fs
        >>> found = fs.privacy_audit("poisson", [3, 5, 4, 8, 2, 4, 6, 1, 0, 3])
        >>> bool((found["audited"] > 0).any())
        True
    """
    import pandas as pd

    from formalsynth.audit.audit import audit
    from formalsynth.audit.replay import Replay

    context = _context(family, data, seed, unit)
    chain = _chain(mechanism, parameters)
    replay = Replay(context.family, context.family.priors, context.records, chain, context.address)
    rows = audit(replay, len(context.records), [chain[-1].id], AuditSearch(kinds=("same", "remove")), seed)
    return pd.DataFrame([row.row() for row in rows])


def _chain(mechanism: str, parameters: Mapping[str, float]) -> list[Synthesizer]:
    """Return a mechanism after the parents that the papers give it."""
    parents = {0: (), 1: ("unweighted",), 2: ("weighted", "unweighted")}[_named(MECHANISMS, mechanism).parents]
    needed = [_synthesizer("unweighted", {}, ())] if parents else []
    if "weighted" in parents and mechanism != "weighted":
        needed.append(_synthesizer("weighted", {}, ("unweighted",)))
    return [*needed, _synthesizer(mechanism, parameters, parents)]


def _synthesizer(mechanism: str, parameters: Mapping[str, float], parents: Sequence[str]) -> Synthesizer:
    """Return a mechanism as a synthesizer with a fit of its own."""
    words = MECHANISMS[mechanism].words(parameters)
    return Synthesizer(
        id=mechanism, mechanism=mechanism, parameters=dict(parameters), parents=tuple(parents), fit=mechanism, words=words
    )


def _by_mechanism(
    mechanism: str,
    family: str | Path,
    context: Context,
    parameters: Mapping[str, float],
    priors: Mapping[str, float] | None = None,
    unit: float = 1.0,
) -> Posterior:
    """Fit with the form of a registered mechanism."""
    form = _form(mechanism, context, parameters)
    entry = MECHANISMS[mechanism]
    return _sampled(family, context, form, entry.kind, entry.claim(parameters), priors, None, unit)


def _form(mechanism: str, context: Context, parameters: Mapping[str, float]) -> Form:
    made = MECHANISMS[mechanism].apply(context, parameters)
    assert isinstance(made, Form)
    return made


def _sampled(
    family: str | Path,
    context: Context,
    form: Form,
    guarantee: str,
    claim: float | None,
    priors: Mapping[str, float] | None,
    sampler: Mapping[str, float] | None,
    unit: float,
) -> Posterior:
    """Sample the posterior of a form, and bound its records."""
    chosen = {**context.family.priors, **(priors or {})}
    stan = StanPosteriors(_executable(context.family.program), chosen, SamplerSettings(**(sampler or {})))
    if own := program(context.family):
        own.bind(functools.partial(generate, stan.executable), chosen)
    result = Step(_synthesizer("unweighted", {}, ()), context, stan).weighted(form, bounds=True)
    fit, bounds = result.posterior, result.bounds
    assert bounds is not None
    return Posterior(
        str(family), context.records, fit.draws, form.weights, bounds.by_record, bounds.epsilon if claim is None else claim,
        guarantee, fit.rhat_max, min(fit.ess_bulk_min, fit.ess_tail_min), unit,
    )  # fmt: skip


@cache
def _executable(name: str) -> Path:
    """Compile a program of the library, or of the user, once in a process; the user's cache keeps it for the next."""
    source, executable = PACKAGE / "programs" / f"{name}.stan", _folder() / name
    build(source if source.exists() else Path(FAMILIES.module(name)), executable, ensure(_folder() / "cmdstan"))
    return executable


@cache
def _folder() -> Path:
    """Return a folder for compiled programs that is removed when the process ends."""
    folder = tempfile.TemporaryDirectory(prefix="formalsynth-")
    atexit.register(folder.cleanup)
    return Path(folder.name)


def _context(family: str | Path, data: Data, seed: int, unit: float = 1.0) -> Context:
    """Return the records, with outcomes in a unit, and with random streams of their own.

    Raises:
        ValueError: the family does not allow an outcome, or the unit is not a positive number.
    """
    records, chosen = _records(data).in_unit(unit), _family(family)
    if not chosen.outcomes.holds(records.x):
        raise ValueError(f"data: the family {family} allows {chosen.outcomes.what}")
    return Context(chosen, records, Address(root=seed, paper=0, scenario=0, n=len(records), replicate=0))


def _with_parent(posterior: Posterior, seed: int = 0) -> Context:
    """Return the records of a posterior as the input of a mechanism whose parent it is."""
    return replace(_context(posterior.family, posterior.records, seed), parents=[posterior.parent()])


def _family(name: str | Path) -> Family:
    """Return the family of a name, or of the path of a Stan program."""
    _find_all()
    path = Path(name).absolute()
    if path.suffix == ".stan":
        load_modules([str(path)])
        return FAMILIES[program_name(path)]
    return _named(FAMILIES, str(name))


def _named(register: Registry[Entry], name: str) -> Entry:
    """Return a registered entry.

    Raises:
        KeyError: there is no such entry.
    """
    _find_all()
    if name not in register:
        raise KeyError(f"{register.what}: given {name!r}; allowed: {', '.join(sorted(register))}")
    return register[name]


@cache
def _find_all() -> None:
    """Import everything that the library registers, once."""
    registers: tuple[Registry[Any], ...] = (FAMILIES, FILES, MECHANISMS, POPULATIONS)
    for register in registers:
        register.find()


def _records(data: Data) -> Records:
    return data if isinstance(data, Records) else intercept_only(np.asarray(data, dtype=float))
