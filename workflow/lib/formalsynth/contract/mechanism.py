"""The contract of a mechanism, checked on one data set and draws from its posterior."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from formalsynth.core.arrays import Array, Draws, Index, Records
from formalsynth.core.bounds import Sensitive, record_bounds
from formalsynth.core.family import Family
from formalsynth.core.mechanism import Context, DirectRelease, Form, Mechanism, Parent
from formalsynth.core.streams import Address

MOVED = 1e-9
"""Difference of weights that is rounding."""


@dataclass(frozen=True)
class Watched(Address):
    """An address that remembers which random streams were taken there."""

    taken: list[str] = field(default_factory=list, compare=False)

    def generator(self, stage: str, words: Sequence[int] = ()) -> np.random.Generator:
        """A generator for one stage, which is noted."""
        self.taken.append(stage)
        return super().generator(stage, words)


def check_mechanism(
    mechanism: Mechanism, parameters: Mapping[str, float], family: Family, records: Records, draws: Draws
) -> list[str]:
    """What a mechanism does not keep to, a sentence for each; none where all is well.

    Args:
        mechanism: the mechanism.
        parameters: with which it is called.
        family: the family of the data.
        records: the data.
        draws: from the posterior with all weights 1, which stands for that of every parent.
    """
    plain = Sensitive(np.ones(len(records)))
    risk = record_bounds(family, records, draws, [plain])[0].by_record
    context = _context(mechanism, family, records, draws, risk)
    try:
        form = mechanism.function(context, **parameters)
        if isinstance(form, DirectRelease):
            return [] if np.isfinite(form.epsilon) and form.epsilon > 0 else [f"gives epsilon {form.epsilon:g}"]
        problems = list(_of_form(form, len(records)))
        return problems or list(_of_use(mechanism, parameters, context, form, risk))
    except Exception as error:  # whatever the user's own code stumbles over
        return [f"stops with {type(error).__name__}: {' '.join(str(error).split())}"]


def _context(mechanism: Mechanism, family: Family, records: Records, draws: Draws, risk: Array) -> Context:
    parents = [Parent(draws, risk, np.ones(len(records)), shared={}) for _ in range(mechanism.parents)]
    return Context(family, records, Watched(1, 1, 1, len(records), 0), parents)


def _of_form(form: object, n: int) -> Iterator[str]:
    """What is wrong with a form by itself."""
    if not isinstance(form, Form):
        yield f"returns {type(form).__name__}: it has to return a Form or a DirectRelease"
        return
    for what, values in (("weights", form.weights), ("sensitive weights", form.sensitive.weights)):
        values = np.asarray(values)
        if values.shape != (n,):
            yield f"gives {what} of shape {values.shape}: there has to be one for each of the {n} records"
        elif not np.isfinite(values).all():
            yield f"gives {what} that are not finite: a record of infinite risk gets weight 0"
        elif values.min() < 0 or values.max() > 1:
            yield f"gives {what} from {values.min():.3g} to {values.max():.3g}: they have to be from 0 to 1"


def _of_use(mechanism: Mechanism, parameters: Mapping[str, float], context: Context, form: Form, risk: Array) -> Iterator[str]:
    """What is wrong when it is called again, or for the same records in another order."""
    parent, records = context.parents[0] if context.parents else None, context.records
    draws: Draws = parent.draws if parent else {}
    again = mechanism.function(_context(mechanism, context.family, records, draws, risk), **parameters)
    if not isinstance(again, Form) or _moved(again.weights, form.weights):
        yield "gives other weights when it is called again: take random numbers from context.address.generator alone"
        return
    assert isinstance(context.address, Watched)
    if context.address.taken:  # random numbers belong to places, so that weights move with them
        return
    order: Index = np.random.default_rng(1).permutation(len(records))
    other = _context(mechanism, context.family, records.take(order), draws, risk[order])
    shuffled = mechanism.function(replace(other), **parameters)
    if not isinstance(shuffled, Form) or _moved(shuffled.weights, form.weights[order]):
        yield "gives records other weights when they come in another order: a weight may not depend on the place of a record"


def _moved(one: Array, other: Array) -> bool:
    return not np.allclose(one, other, rtol=MOVED, atol=MOVED)
