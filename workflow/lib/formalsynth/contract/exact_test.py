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

import itertools
import math
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from formalsynth.contract.noise import noise_replaced
from formalsynth.contract.proof import card_faults, trials
from formalsynth.core.arrays import Array, Draws, Records, joined
from formalsynth.core.family import FAMILIES, Family, log_likelihood
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
    _losses: dict[DataSet, Output] = field(default_factory=dict, repr=False)

    def output(self, data: DataSet) -> Output:
        """Distribution of the output on one data set; computed once."""
        if data not in self._losses:
            self._losses[data] = self._output(self.grid.records.take(np.array(data, dtype=int)))
        return self._losses[data]

    def _output(self, records: Records) -> Output:
        made = self._made(records)
        if not isinstance(made, Form):
            chosen = made.selection if isinstance(made, DirectRelease) else None
            return Output(counts=made.counts, selection=chosen)
        if made.counts is None:
            return Output(self._log_mass(made, records))
        given = []
        for noisy in first_outputs(len(made.counts.counts)):
            with noise_replaced(noisy):
                form = self._made(records)
            assert isinstance(form, Form)
            given.append(self._log_mass(form, records))
        return Output(np.array(given), made.counts)

    def _made(self, records: Records) -> Made:
        address = MechanismAddress(root=1, paper=1, scenario=1, n=1, replicate=0)
        return self.mechanism.apply(Context(self.family, records, address), self.parameters)

    def _log_mass(self, made: Form, records: Records) -> Array:
        """Log probabilities (S,) up to a constant."""
        kept = np.flatnonzero(made.weights)  # other records do not enter the likelihood, which may be undefined for them
        plain = log_likelihood(made.sensitive.of(self.family), records.take(kept), self.grid.thetas)
        return np.asarray(made.sensitive.clipped(made.weights[kept] * plain).sum(axis=1))

    def ratios(self) -> Iterator[tuple[Neighbours, float]]:
        """Yield the relation and the largest log ratio of each pair of neighbours, for both directions at once."""
        places = range(len(self.grid.records))
        for data in every_data_set(len(self.grid.records), self.grid.sizes):
            for new in places:
                yield "add_remove", self.output(data).ratio(self.output(with_record(data, new)))
            for old, new in itertools.product(dict.fromkeys(data), places):
                if new > old:
                    yield "replace", self.output(data).ratio(self.output(with_record(without_record(data, old), new)))
        if self.grid.large is not None:
            yield from self._large_ratios(self.grid.large)

    def _large_ratios(self, large: Records) -> Iterator[tuple[Neighbours, float]]:
        base = self._output(large)
        records = self.grid.records
        sides = [self._output(joined(large, records.take(np.array([k])))) for k in range(len(records))]
        for side in sides:
            yield "add_remove", base.ratio(side)
        for first, second in itertools.combinations(sides, 2):
            yield "replace", first.ratio(second)


@dataclass(frozen=True)
class Output:
    """Distribution of an output: noisy counts, log probabilities over a grid of parameters, or both; or a selection."""

    log_mass: Array | None = None
    """Log probabilities (S,) up to a constant, or (K, S) given each of K outputs of a first stage."""
    counts: Counts | None = None
    selection: Selection | None = None

    @cached_property
    def log_probability(self) -> Array | None:
        """Log probabilities (S,) or (K, S)."""
        if self.log_mass is None:
            return None
        relative = self.log_mass - self.log_mass.max(axis=-1, keepdims=True)  # ten times as fast as SciPy's logsumexp
        return np.asarray(relative - np.log(np.exp(relative).sum(axis=-1, keepdims=True)))

    def ratio(self, other: Output) -> float:
        """Largest absolute log ratio of the probabilities of an output; infinite if one is impossible or undefined."""
        if self.selection is not None and other.selection is not None:
            return log_ratio(self.selection, other.selection)
        mine, its = self.log_probability, other.log_probability
        if self.counts is None and other.counts is None and mine is not None and its is not None:
            return _largest(mine, its)
        ours, theirs = self.counts, other.counts
        if ours is None or theirs is None or ours.counts.shape != theirs.counts.shape or ours.scale != theirs.scale:
            return float("inf")
        after = 0.0 if mine is None or its is None else _largest(mine, its)
        return float(np.abs(ours.counts - theirs.counts).sum() / ours.scale) + after


def _largest(log_probability: Array, other: Array) -> float:
    """Largest absolute difference; infinite if a difference is undefined."""
    largest = float(np.abs(log_probability - other).max())
    return math.inf if math.isnan(largest) else largest


def first_outputs(cells: int) -> list[Array]:
    """Noisy counts (cells,) of a first stage to try: none, increasing, decreasing, and all records in the first or last cell."""
    rising = np.arange(cells, dtype=float)
    ends = [np.where(rising == at, 1000.0, 0.0) for at in (0, cells - 1)]
    return [np.zeros(cells), rising, rising[::-1], *ends]


def every_data_set(values: int, sizes: Iterable[int]) -> Iterator[DataSet]:
    """Yield every multiset of the values with these sizes."""
    for size in sizes:
        yield from itertools.combinations_with_replacement(range(values), size)


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
    for relation, ratio in case.ratios():
        largest.setdefault(relation, []).append(ratio)
    claims = {relation: case.mechanism.claim(case.parameters, relation) for relation in largest}
    return [
        Finding(case.mechanism.name, family, relation, len(largest[relation]), max(largest[relation]), claim)
        for relation, claim in claims.items()
        if claim is not None
    ]


def shares_grid() -> Grid:
    """Shares at and near the ends of (0, 1), with parameters of a Beta distribution."""
    x = np.array([0.0, 1e-300, 0.02, 0.5, 1 - 1e-16])
    phi, precision = (axis.ravel() for axis in np.meshgrid(np.linspace(0.01, 0.99, 15), np.geomspace(0.11, 3000, 15)))
    large = np.random.default_rng(1).beta(0.5, 3, LARGE)
    records, many = (Records(values, np.ones((len(values), 1))) for values in (x, large))
    return Grid(records, {"phi": phi, "lambda": precision}, many)


def share_regression_grid() -> Grid:
    """Shares with a predictor, some far outside any declared bounds, and parameters of a Beta regression."""
    x, z = (axis.ravel() for axis in np.meshgrid([0.0, 0.3, 1.0], [-1e9, 0.5, 1e9]))
    axes = np.meshgrid(np.linspace(-12, 12, 7), np.linspace(-0.5, 0.5, 7), np.geomspace(0.11, 3000, 7))
    intercept, slope, precision = (axis.ravel() for axis in axes)
    generator = np.random.default_rng(2)
    large = Records(generator.beta(0.5, 3, LARGE), np.column_stack([np.ones(LARGE), generator.standard_normal(LARGE)]))
    records = Records(x, np.column_stack([np.ones(len(x)), z]))
    return Grid(records, {"coefficient": np.column_stack([intercept, slope]), "lambda": precision}, large)


GRIDS: Mapping[str, Callable[[], Grid]] = {"beta": shares_grid, "beta_regression": share_regression_grid}
"""Grids by family, for the families that a proof card can name: those whose likelihoods can be clipped."""


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
