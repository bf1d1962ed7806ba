"""Exact test of a strict guarantee: the largest ratio of output probabilities over all small data sets and their neighbours.

The test covers the result of the mechanism, which is the form passed to a sampler or the noisy counts, but not the sampler's
program. Every data set of up to :data:`MOST` records on a grid of outcomes and predictors is tried with every neighbour, and a
large data set with extreme neighbours. A form defines one posterior draw; the theorem holds for every prior, so the prior is
uniform on a finite grid of parameters, where both probability vectors are exact. Every value of noisy counts is possible on both
data sets, so the largest log ratio is the L1 distance of the counts divided by the scale of the noise. A selection states its
probabilities. For a form with a private first stage, the log ratio of its counts is added to the largest log ratio of the
posteriors, given the same noisy counts.

``python -m formalsynth.contract.exact_test`` runs it for every registered mechanism with a strict guarantee.
"""

from __future__ import annotations

import contextlib
import itertools
import math
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache, cached_property, lru_cache

import numpy as np

from formalsynth.contract.noise import noise_replaced
from formalsynth.contract.proof import card_faults, trials
from formalsynth.core.arrays import RANGE, Array, Draws, Index, Records, blocks, count, joined
from formalsynth.core.bounds import Range, Sensitive
from formalsynth.core.centring import Reference
from formalsynth.core.family import FAMILIES, Family, log_likelihood
from formalsynth.core.inputs import Ranges
from formalsynth.core.mechanism import MECHANISMS, Context, Counts, DirectRelease, Form, Made, Mechanism
from formalsynth.core.neighbours import Neighbours
from formalsynth.core.selection import Selection, log_ratio
from formalsynth.core.streams import MechanismAddress

MOST = 4
"""Largest number of records for which every data set is tried."""
LARGE = 1000
"""Number of records in the data set that is tried with extreme neighbours."""
ROUNDING = 1e-9
"""Largest excess of a log ratio over the claim that counts as rounding."""
LEAST = -1000.0
"""Log probability of a range that replaces all smaller ones, whose sums would have too few digits; neighbours share them."""
BRACKETS = Ranges(edges=(-math.inf, 0.0, 30.0, math.inf))
"""Declared brackets of amounts, numbers and counts on the grids."""
SHARES = Ranges(edges=(-math.inf, 0.1, math.inf))
"""Declared brackets of shares."""
DataSet = tuple[int, ...]
"""Positions of the records of a data set on the grid, in increasing order."""


@dataclass(frozen=True)
class Grid:
    """Records and parameters on which mechanisms are tried."""

    records: Records
    """Records (m,) from which all data sets are made."""
    thetas: Draws
    """Parameters (S,) of the family with equal prior probability."""
    large: Records | None = None
    """A large data set, to which records of the grid are added."""
    sizes: range = range(MOST + 1)
    """Numbers of records for which every data set is tried."""


@dataclass(frozen=True)
class Case:
    """Mechanism with its parameters, and the grid on which it is tried."""

    mechanism: Mechanism
    parameters: Mapping[str, float]
    family: Family
    grid: Grid
    _columns: dict[Reference | None, dict[int, Array]] = field(default_factory=dict, repr=False)
    """Log-likelihoods (S,) of records by their position in ``_records``, for each reference."""
    _ranges: dict[object, Array] = field(default_factory=dict, repr=False)
    """Log probabilities (S,) of ranges, by place and ends of the range, and the reference."""

    @cached_property
    def _records(self) -> Records:
        """Records of the grid, and after them those of the large data set."""
        return self.grid.records if self.grid.large is None else joined(self.grid.records, self.grid.large)

    def output(self, data: DataSet) -> Output:
        """Distribution of the output on one data set."""
        places = np.array(data, dtype=int)
        records = self._records.take(places)
        # the noise of a first stage is never drawn: all its outputs are declared, and the first of them is 0
        with noise_replaced(None) if self.mechanism.staged else contextlib.nullcontext():
            made = self._made(records)
        if not isinstance(made, Form):
            chosen = made.selection if isinstance(made, DirectRelease) else None
            return Output(counts=made.counts, selection=chosen)
        if made.counts is None:
            return Output(self._log_mass(made, places))
        given = [self._log_mass(made, places)]
        for noisy in first_outputs(len(made.counts.counts))[1:]:
            with noise_replaced(noisy):
                form = self._made(records)
            assert isinstance(form, Form)
            given.append(self._log_mass(form, places))
        return Output(np.array(given), made.counts)

    def _made(self, records: Records) -> Made:
        address = MechanismAddress(root=1, paper=1, scenario=1, n=1, replicate=0)
        return self.mechanism.apply(Context(self.family, records, address), self.parameters)

    def _log_mass(self, made: Form, places: Index) -> Array:
        """Log probabilities (S,) up to a constant."""
        kept = np.flatnonzero(made.weights)  # other records do not enter the likelihood, which may be undefined for them
        values, known = made.weights[kept] * self._log_likelihood(made.sensitive, places[kept].tolist()), np.zeros(1)
        if made.sensitive.known is not None and made.sensitive.range_weights is not None:
            known = self._log_gamma(made.sensitive.known.take(kept), places[kept]) * made.sensitive.range_weights[kept]
            values = values - known
        return np.asarray((np.maximum(known, LEAST) + made.sensitive.clipped(values)).sum(axis=1))

    def _log_likelihood(self, sensitive: Sensitive, places: list[int]) -> Array:
        """Log-likelihood (S, n) of the records at some places; that of each record is computed once for each reference."""
        known = self._columns.setdefault(sensitive.reference, {})
        if fresh := [at for at in dict.fromkeys(places) if at not in known]:
            values = log_likelihood(sensitive.of(self.family), self._records.take(np.array(fresh)), self.grid.thetas)
            known.update(zip(fresh, np.ascontiguousarray(values.T), strict=True))
        return np.array([known[at] for at in places]).reshape(len(places), count(self.grid.thetas)).T

    def _log_gamma(self, ranges: Range, places: Index) -> Array:
        """Log probability (S, n) of the ranges of the records at some places; that of each range is computed once."""
        keys = list(zip(places.tolist(), ranges.low.tolist(), ranges.high.tolist(), strict=True))
        fresh = [k for k, key in enumerate(keys) if (key, ranges.reference) not in self._ranges]
        if fresh:
            values = ranges.take(np.array(fresh)).log_gamma(self.family, self._records.take(places[fresh]), self.grid.thetas)
            self._ranges.update(zip([(keys[k], ranges.reference) for k in fresh], values.T.copy(), strict=True))
        chosen = [self._ranges[key, ranges.reference] for key in keys]
        return np.array(chosen).reshape(len(keys), count(self.grid.thetas)).T

    def ratios(self) -> Iterator[tuple[Neighbours, Array]]:
        """Yield each relation with the largest log ratios of pairs of neighbours, each for both directions at once."""
        data_sets, pairs = neighbours(len(self.grid.records), self.grid.sizes, self._places)
        outputs = [self.output(data) for data in data_sets]
        for relation, (first, second) in pairs.items():
            yield relation, largest_ratios(outputs, first, second)
        if self.grid.large is not None:
            yield from self._large_ratios(len(self.grid.large))

    @cached_property
    def _places(self) -> tuple[int, ...]:
        """Place of each record of the grid, between which no record moves: predictors, declared range, and inside it or not."""
        records = self.grid.records
        if not set(RANGE) <= set(records.inputs):
            return ()
        low, high = (records.inputs[name] for name in RANGE)
        inside = (low <= records.x) & (records.x <= high)
        places = np.unique(np.column_stack([records.design, low, high, inside]), axis=0, return_inverse=True)[1]
        return tuple(places.ravel().tolist())

    def _large_ratios(self, n: int) -> Iterator[tuple[Neighbours, Array]]:
        m = len(self.grid.records)
        large = tuple(range(m, m + n))
        outputs = [self.output(large), *(self.output((*large, k)) for k in range(m))]
        sides = np.arange(1, m + 1)
        yield "add_remove", largest_ratios(outputs, np.zeros(m, dtype=int), sides)
        pairs = list(itertools.combinations(sides.tolist(), 2))
        moves = [pair for pair in pairs if self._places and self._places[pair[0] - 1] == self._places[pair[1] - 1]]
        chosen: dict[Neighbours, list[tuple[int, int]]] = {"replace": pairs, "move": moves}
        for relation in (relation for relation, some in chosen.items() if some):
            yield relation, largest_ratios(outputs, *np.array(chosen[relation]).T)


@dataclass(frozen=True)
class Output:
    """Distribution of an output: noisy counts, log probabilities over a grid of parameters, or both; or a selection."""

    log_mass: Array | None = None
    """Log probabilities (S,) up to a constant, or (K, S) given each of K outputs of a first stage."""
    counts: Counts | None = None
    selection: Selection | None = None

    @property
    def kind(self) -> tuple[object, ...]:
        """Shapes and scale of the noise: two outputs that differ in them have no finite ratio."""
        mass = None if self.log_mass is None else self.log_mass.shape
        noise = None if self.counts is None else (self.counts.counts.shape, self.counts.scale)
        return self.selection is None, mass, noise


def largest_ratios(outputs: Sequence[Output], first: Index, second: Index) -> Array:
    """Largest absolute log ratio (pairs,) of each pair of outputs; infinite if one is impossible or undefined."""
    largest = np.full(len(first), math.inf)
    kinds = [output.kind for output in outputs]
    for kind in dict.fromkeys(kinds):
        members = np.array([other == kind for other in kinds])
        place, pairs = np.cumsum(members) - 1, np.flatnonzero(members[first] & members[second])
        if len(pairs):
            chosen = [output for output, is_member in zip(outputs, members, strict=True) if is_member]
            largest[pairs] = _of_one_kind(chosen, place[first[pairs]], place[second[pairs]])
    return np.where(np.isnan(largest), math.inf, largest)


def _of_one_kind(outputs: Sequence[Output], first: Index, second: Index) -> Array:
    """Largest absolute log ratio (pairs,) of each pair of outputs of one kind; NaN if it is undefined."""
    selections = [output.selection for output in outputs if output.selection is not None]
    if selections:
        return np.array([log_ratio(selections[i], selections[j]) for i, j in zip(first, second, strict=True)])
    masses = [output.log_mass for output in outputs if output.log_mass is not None]
    noises = [output.counts for output in outputs if output.counts is not None]
    if not masses and not noises:
        return np.full(len(first), math.inf)
    largest = np.zeros(len(first))
    if noises:
        counts = np.array([noise.counts for noise in noises])
        largest += np.abs(counts[first] - counts[second]).sum(axis=1) / noises[0].scale
    if masses:
        log_probability = _normalized(np.array(masses)).reshape(len(masses), -1)
        for part in blocks(len(first), log_probability.shape[1]):
            largest[part] += np.abs(log_probability[first[part]] - log_probability[second[part]]).max(axis=1)
    return largest


def _normalized(log_mass: Array) -> Array:
    """Log probabilities (..., S) from those up to a constant."""
    relative = log_mass - log_mass.max(axis=-1, keepdims=True)  # ten times as fast as SciPy's logsumexp
    return np.asarray(relative - np.log(np.exp(relative).sum(axis=-1, keepdims=True)))


def first_outputs(cells: int) -> list[Array]:
    """Noisy counts (cells,) of a first stage to try: none, increasing, decreasing, and all records in the first or last cell."""
    rising = np.arange(cells, dtype=float)
    ends = [np.where(rising == at, 1000.0, 0.0) for at in (0, cells - 1)]
    return [np.zeros(cells), rising, rising[::-1], *ends]


def every_data_set(values: int, sizes: Iterable[int]) -> Iterator[DataSet]:
    """Yield every multiset of the values with these sizes."""
    for size in sizes:
        yield from itertools.combinations_with_replacement(range(values), size)


@lru_cache(maxsize=8)
def neighbours(values: int, sizes: range, places: tuple[int, ...] = ()) -> tuple[list[DataSet], dict[Neighbours, Index]]:
    """Find all pairs of neighbours of which the first, or both if one record is replaced, has one of these sizes.

    Args:
        values: number of records on the grid.
        sizes: numbers of records.
        places: place of each record of the grid, inside which a record may move; empty if none moves.

    Returns:
        data_sets: all data sets of these pairs.
        pairs: positions (2, pairs) among them of each pair, by relation; relations without pairs are left out.
    """
    data_sets = list(every_data_set(values, sorted({*sizes, *(size + 1 for size in sizes)})))
    at = {data: k for k, data in enumerate(data_sets)}
    pairs: dict[Neighbours, list[tuple[int, int]]] = {"add_remove": [], "replace": [], "move": []}
    for data in every_data_set(values, sizes):
        pairs["add_remove"] += [(at[data], at[with_record(data, new)]) for new in range(values)]
        for old in dict.fromkeys(data):
            rest = without_record(data, old)
            others = [(new, (at[data], at[with_record(rest, new)])) for new in range(old + 1, values)]
            pairs["replace"] += [pair for _, pair in others]
            pairs["move"] += [pair for new, pair in others if places and places[old] == places[new]]
    return data_sets, {relation: np.array(positions).T for relation, positions in pairs.items() if positions}


def with_record(data: DataSet, new: int) -> DataSet:
    """Add one record to a data set."""
    return tuple(sorted((*data, new)))


def without_record(data: DataSet, old: int) -> DataSet:
    """Drop one record from a data set."""
    at = data.index(old)
    return data[:at] + data[at + 1 :]


@dataclass(frozen=True)
class Finding:
    """Largest log ratio of a mechanism for one neighbour relation."""

    mechanism: str
    family: str
    relation: Neighbours
    pairs: int
    largest: float
    claim: float

    @property
    def holds(self) -> bool:
        """True if no ratio exceeds the claim."""
        return self.largest <= self.claim + ROUNDING


def exact_test(case: Case, family: str = "") -> list[Finding]:
    """Largest log ratio for each neighbour relation that the mechanism claims.

    Args:
        case: the mechanism, its parameters and the grid.
        family: name of the family, to be stored in the findings.
    """
    largest: dict[Neighbours, list[float]] = {}
    for relation, ratios in case.ratios():
        largest.setdefault(relation, []).extend(ratios.tolist())
    claims = {relation: case.mechanism.claim(case.parameters, relation) for relation in largest}
    return [
        Finding(case.mechanism.name, family, relation, len(largest[relation]), max(largest[relation]), claim)
        for relation, claim in claims.items()
        if claim is not None and (relation != "move" or relation in case.mechanism.strict)
    ]


@cache
def shares_grid() -> Grid:
    """Shares at and near the ends of (0, 1), with parameters of a Beta distribution."""
    x = np.array([0.0, 1e-300, 0.02, 0.5, 1 - 1e-16])
    phi, precision = (axis.ravel() for axis in np.meshgrid(np.linspace(0.01, 0.99, 15), np.geomspace(0.11, 3000, 15)))
    large = np.random.default_rng(1).beta(0.5, 3, LARGE)
    records, many = (Records(values, np.ones((len(values), 1))) for values in (x, large))
    return Grid(SHARES.added_to(records), {"phi": phi, "lambda": precision}, SHARES.added_to(many))


@cache
def share_regression_grid() -> Grid:
    """Shares with a predictor, some far outside any declared bounds, and parameters of a Beta regression."""
    x, z = (axis.ravel() for axis in np.meshgrid([0.0, 0.3, 1.0], [-1e9, 0.5, 1e9]))
    axes = np.meshgrid(np.linspace(-12, 12, 7), np.linspace(-0.5, 0.5, 7), np.geomspace(0.11, 3000, 7))
    intercept, slope, precision = (axis.ravel() for axis in axes)
    generator = np.random.default_rng(2)
    large = Records(generator.beta(0.5, 3, LARGE), np.column_stack([np.ones(LARGE), generator.standard_normal(LARGE)]))
    records = Records(x, np.column_stack([np.ones(len(x)), z]))
    return Grid(records, {"coefficient": np.column_stack([intercept, slope]), "lambda": precision}, large)


@cache
def amounts_grid() -> Grid:
    """Amounts of very different sizes, with parameters of a lognormal distribution."""
    return _grid_of([1e-200, 0.02, 1.0, 50.0, 1e200], ("beta", np.linspace(-30, 30, 15)), ("sigma", np.geomspace(0.01, 300, 15)))


@cache
def gamma_grid() -> Grid:
    """Amounts as in :func:`amounts_grid`, with parameters of a gamma distribution."""
    return _grid_of([1e-200, 0.02, 1.0, 50.0, 1e200], ("beta", np.linspace(-30, 30, 15)), ("shape", np.geomspace(0.01, 300, 15)))


@cache
def counts_grid() -> Grid:
    """Small and large counts, with means of a Poisson distribution."""
    return _grid_of([0.0, 1.0, 5.0, 300.0, 1e6], ("mu", np.geomspace(1e-6, 1e7, 225)))


@cache
def dispersed_counts_grid() -> Grid:
    """Small and large counts, with parameters of a negative binomial distribution."""
    return _grid_of([0.0, 1.0, 5.0, 300.0, 1e5], ("mu", np.geomspace(1e-6, 1e7, 15)), ("phi", np.geomspace(1e-4, 1e6, 15)))


def _grid_of(x: Sequence[float], *axes: tuple[str, Array]) -> Grid:
    """Grid of outcomes without predictors and of parameters; the large data set repeats the middle outcomes."""
    names, points = zip(*axes, strict=True)
    thetas = dict(zip(names, (axis.ravel() for axis in np.meshgrid(*points)), strict=True))
    if "beta" in thetas:
        thetas["beta"] = thetas["beta"][:, None]
    records, large = (Records(values, np.ones((len(values), 1))) for values in (np.array(x), np.resize(x[1:4], LARGE)))
    return Grid(BRACKETS.added_to(records), thetas, BRACKETS.added_to(large))


@cache
def numbers_grid() -> Grid:
    """Numbers with a predictor, some far away, and parameters of a normal regression."""
    x, z = (axis.ravel() for axis in np.meshgrid([-1e6, 0.0, 1.0], [-1e3, 0.5, 1e3]))
    intercept, slope, sigma = (
        axis.ravel() for axis in np.meshgrid(np.linspace(-9, 9, 7), np.linspace(-2, 2, 7), np.geomspace(0.01, 1e4, 7))
    )
    generator = np.random.default_rng(3)
    large = Records(generator.standard_normal(LARGE), np.column_stack([np.ones(LARGE), generator.standard_normal(LARGE)]))
    thetas = {"beta": np.column_stack([intercept, slope]), "sigma": sigma}
    return Grid(BRACKETS.added_to(Records(x, np.column_stack([np.ones(len(x)), z]))), thetas, BRACKETS.added_to(large))


GRIDS: Mapping[str, Callable[[], Grid]] = {
    "beta": shares_grid,
    "beta_regression": share_regression_grid,
    "lognormal": amounts_grid,
    "gamma_regression": gamma_grid,
    "poisson": counts_grid,
    "negative_binomial": dispersed_counts_grid,
    "normal": numbers_grid,
}
"""Grids by family, for the families that a proof card can name."""


def case_of(mechanism: Mechanism, family: str, parameters: Mapping[str, float]) -> Case:
    """Build the case of a mechanism on the grid of a family."""
    return Case(mechanism, parameters, FAMILIES[family], GRIDS[family]())


def main() -> int:
    """Print the largest log ratio of every shipped mechanism with a strict guarantee; return 1 if one exceeds its claim."""
    for register in (MECHANISMS, FAMILIES):
        register.find()
    wrong = False
    for mechanism in MECHANISMS.values():
        faults = card_faults(mechanism)
        tried = trials(mechanism) if mechanism.strict and not faults else []
        if mechanism.strict and not (faults or tried):
            faults = ["has a proof card without families and parameters for the exact test"]
        for fault in faults:
            print(f"{mechanism.name}: {fault}")
            wrong = True
        for family, parameters in tried:
            for finding in exact_test(case_of(mechanism, family, parameters), family):
                verdict = "holds" if finding.holds else "EXCEEDED"
                print(
                    f"{finding.mechanism:22} {family:16} {finding.relation:10} {finding.pairs:6} pairs   "
                    f"largest log ratio {finding.largest:.12g}   claim {finding.claim:g}   {verdict}"
                )
                wrong |= not finding.holds
    return int(wrong)


if __name__ == "__main__":
    sys.exit(main())
