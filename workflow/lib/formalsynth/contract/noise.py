"""Replacement of a mechanism's noisy counts by declared ones, to compare everything that is computed from them."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from formalsynth.core.arrays import Array
from formalsynth.core.mechanism import Counts, LaplaceCounts
from formalsynth.core.private import DiscreteLaplaceCounts


@dataclass(frozen=True)
class NoiseCall:
    """Call that adds noise to counts."""

    counts: Counts
    runs: int
    generator: np.random.Generator

    @property
    def state(self) -> str:
        """State of the generator before the noise is drawn."""
        return str(self.generator.bit_generator.state)


def calls_fault(calls: Sequence[NoiseCall], stated: Counts | None) -> str:
    """Fault of the calls, of which there must be one for the stated counts, as the end of a sentence; empty if there is none."""
    if len(calls) != 1 or calls[0].runs != 1:
        return f"draws the noise of its counts {sum(call.runs for call in calls)} times: call counts.noisy(generator, 1) once"
    counts, generator = calls[0].counts, calls[0].generator
    same = stated is not None and np.array_equal(counts.counts, stated.counts, equal_nan=True)
    if stated is None or not same or counts.scale != stated.scale:
        return "adds noise to counts that differ from those it states, or with another scale"
    if type(generator) is not np.random.Generator:
        return "draws its noise with its own generator: pass the result of context.address.generator to counts.noisy"
    return ""


@contextlib.contextmanager
def noise_replaced(values: Array | None) -> Iterator[list[NoiseCall]]:
    """Make all counts return these noisy values (bins,), or zeros, inside the block; the list collects the calls."""
    calls: list[NoiseCall] = []

    def replaced(self: Counts, generator: np.random.Generator, runs: int) -> Array:
        calls.append(NoiseCall(self, runs, generator))
        return np.zeros((runs, len(self.counts))) if values is None else np.tile(values[: len(self.counts)], (runs, 1))

    with contextlib.ExitStack() as originals:
        for kind in (LaplaceCounts, DiscreteLaplaceCounts):
            originals.callback(type.__setattr__, kind, "noisy", kind.noisy)
            type.__setattr__(kind, "noisy", replaced)
        yield calls
