"""Private selection among declared candidates: the exponential mechanism on integer scores, in one or more stages.

Source: McSherry and Talwar 2007 (doi:10.1109/FOCS.2007.66).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy.special import logsumexp

from formalsynth.core.arrays import Array, Integers, read_only

EVERY = 100
"""Largest number of candidates for which later stages are compared after each one; with more, only after the two extremes."""


@dataclass(frozen=True)
class Selection:
    """Selection of one of the candidates: P(candidate j) is proportional to exp(-rate * score of j)."""

    candidates: Array
    """Declared candidates (m, d), which depend only on earlier stages."""
    scores: Integers
    """Integer scores (m,); smaller is better."""
    rate: float
    """Half of this stage's epsilon, divided by the sensitivity of the scores."""
    following: Callable[[int], Selection] | None = None
    """Function from the selected candidate to the next stage; None in the last stage."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "candidates", read_only(self.candidates))
        object.__setattr__(self, "scores", read_only(self.scores))

    @cached_property
    def log_probability(self) -> Array:
        """Log probabilities (m,)."""
        log_mass = -self.rate * self.scores
        return np.asarray(log_mass - logsumexp(log_mass))

    def drawn(self, generator: np.random.Generator) -> int:
        """Draw the position of a candidate."""
        return int(generator.choice(len(self.scores), p=np.exp(self.log_probability)))

    def selected(self, generator: np.random.Generator) -> Array:
        """Draw a candidate (d,) of the last stage."""
        stage, at = self, self.drawn(generator)
        while stage.following is not None:
            stage = stage.following(at)
            at = stage.drawn(generator)
        return np.asarray(stage.candidates[at])


def log_ratio(ours: Selection, theirs: Selection) -> float:
    """Compute the largest absolute log ratio of the probabilities of the stages' selections; infinite if undefined.

    It is exact if every stage except the last has at most :data:`EVERY` candidates. Otherwise it is the ratio at outputs found
    stage by stage, which is a lower bound.
    """
    least, most = _extremes(ours, theirs)
    largest = max(-least, most)
    return np.inf if np.isnan(least) or np.isnan(most) else largest


def _extremes(ours: Selection, theirs: Selection) -> tuple[float, float]:
    """Compute the smallest and largest log ratio."""
    same = np.array_equal(ours.candidates, theirs.candidates) and (ours.following is None) == (theirs.following is None)
    if not same or not len(ours.candidates):
        return -np.inf, np.inf
    more = ours.log_probability - theirs.log_probability
    if ours.following is None or theirs.following is None or np.isnan(more).any():
        return float(more.min()), float(more.max())
    tried = range(len(more)) if len(more) <= EVERY else {int(more.argmin()), int(more.argmax())}
    later = {at: _extremes(ours.following(at), theirs.following(at)) for at in tried}
    ends = [(more[at] + least, more[at] + most) for at, (least, most) in later.items()]
    return float(np.min([least for least, _ in ends])), float(np.max([most for _, most in ends]))
