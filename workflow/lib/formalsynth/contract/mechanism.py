"""Contract of a mechanism, checked on one data set and draws from its posterior."""

from __future__ import annotations

import contextlib
import itertools
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from formalsynth.contract.exact_test import Case, Grid, exact_test, first_outputs
from formalsynth.contract.noise import calls_fault, noise_replaced
from formalsynth.contract.proof import card_faults
from formalsynth.core.arrays import Array, Draws, Index, Records, joined
from formalsynth.core.bounds import Sensitive, record_bounds
from formalsynth.core.family import Family
from formalsynth.core.mechanism import MECHANISMS, BrokenContract, Context, DirectRelease, Form, Made, Mechanism, Parent
from formalsynth.core.neighbours import Neighbours
from formalsynth.core.private import PrivateFit, Tables
from formalsynth.core.registry import is_own
from formalsynth.core.selection import Selection, log_ratio
from formalsynth.core.streams import MechanismAddress

MOVED = 1e-9
"""Difference of weights that counts as rounding."""
MANY = 2000
"""Number of records in the large test data set of a mechanism."""
COPIES = 300
"""Largest number of equal records on which counts are compared."""
OWN = "compute each weight from its own record and declared numbers only, or register the mechanism as ASYMPTOTIC"
FAR = (-1e9, 0.0, 1e-9, 1 - 1e-9, 1e9)
"""Outliers among outcomes and predictors; those that the family accepts are tried."""
FEW = 5
"""Number of records from which small data sets are made."""
MIXED = "returns a Form for some data and a DirectRelease for others"


@dataclass(frozen=True)
class Watched(MechanismAddress):
    """Address that records which random streams were used."""

    taken: list[tuple[str, tuple[int, ...]]] = field(default_factory=list, compare=False)

    def sequence(self, stage: str, words: Sequence[int] = ()) -> np.random.SeedSequence:
        """Return the seed sequence of one stage, and record its use."""
        self.taken.append((stage, tuple(words)))
        return super().sequence(stage, words)


def check_mechanism(
    mechanism: Mechanism, parameters: Mapping[str, float], family: Family, records: Records, draws: Draws
) -> list[str]:
    """List the faults of a mechanism, each as a sentence.

    Args:
        mechanism: mechanism to check.
        parameters: parameters of its calls.
        family: family of the data.
        records: data.
        draws: draws from the posterior with all weights 1, used as the draws of every parent.
    """
    plain = Sensitive(np.ones(len(records)))
    risk = record_bounds(family, records, draws, [plain])[0].by_record
    trial = _Trial(mechanism, parameters, family, records, draws, risk, np.ones(len(records)))
    try:
        made = trial.made()
        if isinstance(made, Form):
            of_claim = _of_claim if made.counts is None else _of_stages
            faults = list(_of_use(trial, made)) or list(of_claim(trial, made))
        else:
            faults = list(_of_release(trial, made))
        is_shipped = not is_own(MECHANISMS.module(mechanism.name))  # the cards of shipped mechanisms are checked by tests
        return faults or list(_of_small_data(trial)) or ([] if is_shipped else card_faults(mechanism))
    except BrokenContract as error:
        return [error.problem]
    except Exception as error:  # any error in the user's own code
        return [f"stops with {type(error).__name__}: {' '.join(str(error).split())}"]


@dataclass(frozen=True)
class _Trial:
    """Mechanism with the inputs of its calls."""

    mechanism: Mechanism
    parameters: Mapping[str, float]
    family: Family
    records: Records
    draws: Draws
    """Draws of its parents."""
    risk: Array
    """(n,) bounds of its parents."""
    weights: Array
    """(n,) weights of its parents."""
    address: Watched = field(default_factory=lambda: Watched(1, 1, 1, 1, 0))

    def made(self, index: Index | None = None) -> Made:
        """Call the mechanism on the records at ``index``.

        Raises:
            BrokenContract: the mechanism writes into its input, or its result breaks the contract.
        """
        index = np.arange(len(self.records)) if index is None else index
        draws, records, risk, weights = self.draws, self.records.take(index), self.risk[index], self.weights[index]
        # copies, because a mechanism that writes into its input must not affect its other calls
        inputs = {name: column.copy() for name, column in records.inputs.items()}
        copies = Records(records.x.copy(), records.design.copy(), inputs)
        parents = [
            Parent({name: values.copy() for name, values in draws.items()}, risk.copy(), weights.copy())
            for _ in range(self.mechanism.parents)
        ]
        context = Context(self.family, copies, self.address, parents)
        made = self.mechanism.apply(context, self.parameters)
        same = _equal(copies.x, records.x) and _equal(copies.design, records.design)
        for parent in parents:
            same = same and _equal(parent.by_record, risk) and _equal(parent.weights, weights)
            same = same and set(parent.draws) == set(draws) and all(_equal(parent.draws[name], draws[name]) for name in draws)
        if not same:
            raise BrokenContract(self.mechanism.name, "changes its input, which other synthesizers also use: work on a copy")
        return made

    def form(self, index: Index | None = None) -> Form:
        """Call :meth:`made` for a mechanism that returns a form.

        Raises:
            BrokenContract: as :meth:`made`, or the result is not a form.
        """
        made = self.made(index)
        if not isinstance(made, Form):
            raise BrokenContract(self.mechanism.name, MIXED)
        return made

    def release(self, index: Index | None = None) -> DirectRelease | PrivateFit:
        """Call :meth:`made` for a mechanism that returns a direct release or a private fit.

        Raises:
            BrokenContract: as :meth:`made`, or the result is not a release.
        """
        made = self.made(index)
        if isinstance(made, Form):
            raise BrokenContract(self.mechanism.name, MIXED)
        return made


def _of_use(trial: _Trial, form: Form) -> Iterator[str]:
    """Faults of repeated calls: on more records, or on the same records in another order."""
    n = len(trial.records)
    trial.form(np.arange(1, n))
    trial.form(np.arange(MANY) % n)
    replace(trial, weights=1 / (1 + trial.risk)).form()
    if _moved(trial.form(), form):
        yield "returns different weights when it is called again: draw random numbers only from context.address.generator"
    elif not trial.address.taken:  # random numbers belong to positions, not to records
        order: Index = np.random.default_rng(1).permutation(n)
        if _moved(trial.form(order), form, order):
            yield "returns different weights when the records are reordered: a weight must not depend on a record's position"


def _of_claim(trial: _Trial, form: Form) -> Iterator[str]:
    """Faults of a guarantee for every data set: each weight must be a fixed function of its own record."""
    if not trial.mechanism.strict:
        return
    n, kind = len(trial.records), trial.mechanism.guarantee
    if _moved(replace(trial, address=Watched(1, 1, 1, 1, 1)).form(), form):
        yield f"claims {kind!r} but has random weights: each weight must be a fixed function of its own record"
        return
    other_draws = {name: np.repeat(values[:1], len(values), axis=0) for name, values in trial.draws.items()}
    if _moved(replace(trial, draws=other_draws, risk=1 + 2 * trial.risk, weights=1 / (1 + trial.risk)).form(), form):
        yield f"claims {kind!r} but its weights depend on its parents, which depend on all records: register it with parents=0"
        return
    if trial.mechanism.parents:
        yield f"claims {kind!r} but is built on parents, which depend on all records: register it with parents=0"
        return
    far = _with_far_records(trial)
    ends = _extremes(trial, far)
    for i in range(n):
        others = [np.where(np.arange(n) == i, i, end) for end in ends]
        alone = _moved(trial.form(np.array([i])), form, [i])
        if alone or any(_moved(far.form(index), form, [i], [i]) for index in others):
            yield f"claims {kind!r} but gives a record a different weight when other records change: {OWN}"
            return
    if _moved(trial.form(np.minimum(np.arange(MANY), n - 1)), form, place=range(n)):
        yield f"claims {kind!r} but gives a record a different weight among {MANY} records than among {n}: {OWN}"


def _of_stages(trial: _Trial, form: Form) -> Iterator[str]:
    """Faults of a form with a private first stage: given the noisy counts, it must meet the conditions for a form without one."""
    assert form.counts is not None
    outputs = first_outputs(len(form.counts.counts))
    for noisy in outputs:
        with noise_replaced(noisy) as calls:
            given = trial.form()
        if fault := calls_fault(calls, given.counts):
            yield fault
            return
        with noise_replaced(noisy):
            faults = list(_of_claim(trial, given))
        if faults:
            yield f"given its noisy counts, {faults[0]}"
            return
    fewer = None, np.arange(1, len(trial.records)), np.array([0, 0])
    if len({str(_stream_of(trial, index, outputs[0])) for index in fewer}) > 1:
        yield "uses different random numbers for different records: leave words of the records out of its stream"


def _stream_of(trial: _Trial, index: Index | None, noisy: Array) -> tuple[list[tuple[str, tuple[int, ...]]], str]:
    """Random streams that a form uses, and the state of the generator when its noise is drawn."""
    address = Watched(1, 1, 1, 1, 0)
    with noise_replaced(noisy) as calls:
        replace(trial, address=address).form(index)
    return address.taken, calls[0].state


def _of_small_data(trial: _Trial) -> Iterator[str]:
    """Faults of a strict guarantee on all data sets of a few records, from exact probabilities."""
    if not trial.mechanism.strict:
        return
    far = _with_far_records(trial).records
    order = np.argsort(trial.records.x)
    chosen = [order[0], order[len(order) // 2], order[-1], *range(len(trial.records), len(far))][:FEW]
    grid = far.take(np.array(chosen))
    case = Case(trial.mechanism, trial.parameters, trial.family, Grid(grid, trial.draws, trial.records, range(1, FEW)))
    for finding in exact_test(case):
        if not finding.holds:
            yield (
                f"claims epsilon {finding.claim:g} for {finding.relation}, but the probabilities of an output differ by a "
                f"factor of exp({finding.largest:.4g}) between neighbouring data sets of a few records"
            )
            return


def _with_far_records(trial: _Trial) -> _Trial:
    """Trial with outliers appended to its records, in the outcome and in predictors, if there are any."""
    records, draws = trial.records, {name: values[:1] for name, values in trial.draws.items()}
    outcomes = [value for value in FAR if trial.family.outcomes.holds(np.array([value]))]
    far = records.repeated(np.array(outcomes))
    if records.design.shape[1] > 1:
        design = np.column_stack([np.ones(2), np.outer([FAR[0], FAR[-1]], np.ones(records.design.shape[1] - 1))])
        far = joined(far, replace(records.take([0, 0]), design=design))
    together = joined(records, far)
    ones = np.ones(len(together))
    return replace(trial, records=together, draws=draws, risk=ones, weights=ones)


def _extremes(trial: _Trial, far: _Trial) -> list[int]:
    """Return the places of the smallest and the largest outcome, and of the outliers that :func:`_with_far_records` appended."""
    return [int(np.argmin(trial.records.x)), int(np.argmax(trial.records.x)), *range(len(trial.records), len(far.records))]


def _among_far(trial: _Trial) -> _Trial:
    """Trial with outliers among its records, and the same draws of parents."""
    return replace(_with_far_records(trial), draws=trial.draws)


def _of_release(trial: _Trial, release: DirectRelease | PrivateFit) -> Iterator[str]:
    """Faults of a mechanism with a direct release or a private fit."""
    kind, chosen = trial.mechanism.guarantee, _selection_of(release)
    if not all(np.isfinite(values).all() for values in _published(release).values()):
        yield "returns draws that are not finite"
        return
    if not _same_draws(trial.release(), release):
        yield "returns different draws when it is called again: draw random numbers only from context.address.generator"
        return
    if _same_draws(replace(trial, address=Watched(1, 1, 1, 1, 1)).release(), release):
        yield "returns the same draws for another random stream: add the noise with context.address.generator"
        return
    if isinstance(release, DirectRelease) and (faults := list(_predictor_faults(trial, release))):
        yield from faults
    elif release.counts is None and chosen is None and trial.mechanism.strict:
        yield (
            f"claims {kind!r} but returns no counts to check that claim: pass its LaplaceCounts to DirectRelease, or "
            "register a kind that names its condition after a bar"
        )
    elif release.counts is not None or chosen is not None:
        faults, fault_of = list(_of_counts(trial, release)), _noise_fault if chosen is None else _selection_fault
        if not faults and trial.mechanism.strict and (fault := fault_of(trial, release)):
            faults = [f"claims {kind!r} but {fault}"]
        yield from faults


def _predictor_faults(trial: _Trial, release: DirectRelease) -> Iterator[str]:
    """Check that the same draws give the same values whatever the records are; a family uses only the predictors."""
    if release.predictor is trial.family:
        return
    n, far = len(trial.records), _with_far_records(trial)
    shape = len(next(iter(release.draws.values()))), n

    def predicted(source: DirectRelease, records: Records) -> Array:
        return np.asarray(source.predictor.predict(np.random.default_rng(1), records, release.draws))

    many = np.arange(MANY) % n
    before, among_many = predicted(release, trial.records), predicted(release, trial.records.take(many))
    if before.shape != shape or not np.isfinite(before).all():
        yield f"predicts an array {before.shape} for {shape[0]} draws and {n} records: return {shape}, with finite numbers"
        return
    for end in _extremes(trial, far):
        all_of_it = np.full(n, end)
        other = far.release(all_of_it)
        assert isinstance(other, DirectRelease)
        records = far.records.take(all_of_it)
        same = all(_equal(before, predicted(*given)) for given in ((release, records), (other, records), (other, trial.records)))
        if not same or not _equal(among_many, predicted(release, far.records.take(np.full(MANY, end)))):
            yield "predicts different values from the same draws when the records change: use only draws and declared numbers"
            return


def _selection_of(release: DirectRelease | PrivateFit) -> Selection | None:
    return release.selection if isinstance(release, DirectRelease) else None


def _selection_fault(trial: _Trial, release: DirectRelease | PrivateFit) -> str:
    """Fault of draws that depend on more than the selection, as the end of a sentence; empty if there is none.

    The positions of the selected candidates are replaced by declared ones: the draws must then be the same for all records.
    """
    outputs, fewer = [], np.arange(1, len(trial.records))
    for last, source, index in (
        (False, trial, None),
        (False, trial, fewer),
        (False, _among_far(trial), None),
        (True, trial, None),
    ):
        with selection_replaced(last) as calls:
            made = source.release(index)
        stage, stages = _selection_of(made), 0
        while stage is not None:
            stages += 1
            if stages > len(calls) or not _equal(calls[stages - 1].log_probability, stage.log_probability):
                return "selects with probabilities that differ from those it states"
            stage = stage.following(len(stage.scores) - 1 if last else 0) if stage.following else None
        if len(calls) != stages:
            return f"selects {len(calls)} times in {stages} stages: call selection.selected(generator) once"
        outputs.append(made)
    if not all(_same_draws(outputs[0], more) for more in outputs[1:3]):
        return "uses the records as well as the selected candidate: make the draws from selection.selected(generator) only"
    return "" if not _same_draws(outputs[0], outputs[3]) else "returns draws that do not depend on the selected candidate"


@contextlib.contextmanager
def selection_replaced(last: bool) -> Iterator[list[Selection]]:
    """Make all selections return the first or the last candidate inside the block; the list collects the stages."""
    calls: list[Selection] = []

    def replaced(self: Selection, generator: np.random.Generator) -> int:
        calls.append(self)
        return len(self.scores) - 1 if last else 0

    original = Selection.drawn
    type.__setattr__(Selection, "drawn", replaced)
    try:
        yield calls
    finally:
        type.__setattr__(Selection, "drawn", original)


def _noise_fault(trial: _Trial, release: DirectRelease | PrivateFit) -> str:
    """Fault of draws that depend on more than the stated noisy counts, as the end of a sentence; empty if there is none.

    The noisy counts are replaced by declared ones, small and large, the same for few and for many records, and with records far
    from all others. The draws, and everything else that is published or passed to a fit, must then also be the same. If adding
    or removing a record has no guarantee, the number of records is public, and all data sets have the same.
    """
    assert release.counts is not None
    size, n = len(release.counts.counts), len(trial.records)
    small, large = np.arange(size, dtype=float), MANY * (1 + np.arange(size, dtype=float))
    many, outputs, streams = np.resize(np.arange(n), MANY), [], []
    far = _among_far(trial)
    trials = [(small, trial, None), (small[::-1], trial, None), (small, trial, np.arange(1, n)), (small, trial, np.array([0, 0]))]
    trials += [(small, trial, many), (small, far, None), (large, trial, None), (large, trial, many), (large, far, None)]
    public_size = trial.mechanism.claim(trial.parameters, "add_remove") is None
    for values, source, index in trials:
        address = Watched(1, 1, 1, 1, 0)
        if public_size:
            index = np.arange(len(source.records))[-n:] if index is None else np.resize(index, n)
        with noise_replaced(values) as calls:
            made = replace(source, address=address).release(index)
        if fault := calls_fault(calls, made.counts):
            return fault
        outputs.append(made)
        streams.append((address.taken, calls[0].state))
    if any(stream != streams[0] for stream in streams):
        return "uses different random numbers for different records: leave words of the records out of its stream"
    alike = (outputs[0], *outputs[2:6]), outputs[6:]
    if any(not _same_draws(few, more) or not _same_fits(trial, few, [more]) for few, *others in alike for more in others):
        return "uses the records as well as its noisy counts: make the draws from counts.noisy(generator, 1) only"
    with noise_replaced(small):
        elsewhere = replace(trial, address=Watched(1, 1, 1, 1, 1)).release()
    if not _same_draws(outputs[0], elsewhere):
        return "uses random numbers, which may repeat the noise, as well as its counts: make the draws from the noisy counts only"
    return "" if size == 1 or not _same_draws(outputs[0], outputs[1]) else "returns draws that do not depend on its noisy counts"


def _fit_input(trial: _Trial, made: DirectRelease | PrivateFit, noisy: Tables) -> tuple[object, dict[str, Array]]:
    """Collect a private fit's declarations and program, with given noisy tables, and its data with the starting point."""
    if not isinstance(made, PrivateFit):
        return None, {}
    data = made.model.stan_data(made.public, trial.family.priors)
    start = {f"start of {name}": value for name, value in made.model.inits(made.public, data).items()}
    declared = replace(made.public, noisy=noisy), made.model.program, made.model.parameters
    return declared, {name: np.asarray(value) for name, value in {**data, **start}.items()}


def _same_fits(trial: _Trial, base: DirectRelease | PrivateFit, others: Sequence[DirectRelease | PrivateFit]) -> bool:
    """Check that private fits have equal models, declarations, programs, data and starting points; each is built once."""
    if not isinstance(base, PrivateFit):
        return True
    if any(not isinstance(other, PrivateFit) or not _same_state(base.model, other.model) for other in others):
        return False
    declared, ours = _fit_input(trial, base, base.public.noisy)
    for other in others:
        its_declared, theirs = _fit_input(trial, other, base.public.noisy)
        if its_declared != declared or set(ours) != set(theirs) or any(not _equal(ours[name], theirs[name]) for name in ours):
            return False
    return True


def _of_counts(trial: _Trial, release: DirectRelease | PrivateFit) -> Iterator[str]:
    """Check that no neighbour changes the counts by more than the noise allows."""
    n, kind = len(trial.records), trial.mechanism.guarantee
    removed = [np.delete(np.arange(n), i) for i in range(n)]
    order = np.argsort(trial.records.x)
    near = itertools.pairwise(order)  # often in the same bin
    pairs = [*itertools.product(range(n), (0, n - 1)), *near]
    replaced = [np.where(np.arange(n) == i, j, np.arange(n)) for i, j in pairs]
    neighbours: Mapping[Neighbours, list[Index]] = {"add_remove": removed, "replace": replaced}
    yield from _of_copies(trial)
    for relation, others in neighbours.items():
        claim = trial.mechanism.claim(trial.parameters, relation)
        if claim is None:
            continue
        for index in others:
            other = trial.release(index)
            loss = _loss(release, other)
            if not loss <= claim * (1 + MOVED):
                yield f"claims epsilon {claim:g} for {relation}, but a record costs {loss:.3g}: too little noise for its counts"
                return
            if loss == 0 and not _same_draws(release, other):
                yield f"claims {kind!r} but returns different draws for the same counts and noise: use noisy counts only"
                return


def _of_copies(trial: _Trial) -> Iterator[str]:
    """Check that no additional copy of one record, from the first to hundreds, has a larger loss than claimed."""
    claim = trial.mechanism.claim(trial.parameters, "add_remove")
    if claim is None:
        return
    releases = (trial.release(np.zeros(copies, dtype=int)) for copies in range(COPIES))
    for copies, (fewer, more) in enumerate(itertools.pairwise(releases)):
        if not _loss(fewer, more) <= claim * (1 + MOVED):
            yield f"claims epsilon {claim:g} for add_remove, but copy {copies + 1} of a record costs {_loss(fewer, more):.3g}"
            return


def _loss(base: DirectRelease | PrivateFit, other: DirectRelease | PrivateFit) -> float:
    """Epsilon between the distributions of noisy counts, or of selections, on two data sets."""
    ours, theirs = _selection_of(base), _selection_of(other)
    if ours is not None and theirs is not None:
        return log_ratio(ours, theirs)
    if base.counts is None or other.counts is None or base.counts.counts.shape != other.counts.counts.shape:
        return float("inf")
    if base.counts.scale != other.counts.scale:
        return float("inf")
    return float(np.abs(base.counts.counts - other.counts.counts).sum() / base.counts.scale)


def _same_draws(base: DirectRelease | PrivateFit, other: DirectRelease | PrivateFit) -> bool:
    ours, theirs = _published(base), _published(other)
    return set(ours) == set(theirs) and all(_equal(ours[name], theirs[name]) for name in ours)


def _published(made: DirectRelease | PrivateFit) -> Mapping[str, Array]:
    """Arrays that leave the confidential side."""
    return made.draws if isinstance(made, DirectRelease) else {"noisy": made.public.noisy.flat}


def _moved(
    form: Form, other: Form, at: Index | Sequence[int] | slice = slice(None), place: Sequence[int] | slice = slice(None)
) -> bool:
    """Check if the weights of a form at ``place``, its threshold or its reference differ from those of another form at ``at``."""
    pairs = [(form.weights, other.weights), (form.sensitive.weights, other.sensitive.weights)]
    far = any(not np.allclose(mine[place], theirs[at], rtol=MOVED, atol=MOVED) for mine, theirs in pairs)
    return far or not form.sensitive.clips_like(other.sensitive)


def _same_state(model: object, other: object) -> bool:
    """Check that two models have the same class and equal attributes."""
    ours, theirs = vars(model), vars(other)
    return type(model) is type(other) and set(ours) == set(theirs) and all(np.array_equal(ours[k], theirs[k]) for k in ours)


def _equal(values: Array, other: Array) -> bool:
    return np.array_equal(values, other, equal_nan=True)
