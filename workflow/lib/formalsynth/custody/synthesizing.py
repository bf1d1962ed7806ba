"""From a fitted candidate to synthetic outcomes."""

from __future__ import annotations

import numpy as np

from formalsynth.core.arrays import Array, Records, count, take
from formalsynth.custody.candidates import Candidate
from formalsynth.custody.records import finished
from formalsynth.custody.schema import Schema


def synthetic_outcomes(schema: Schema, candidate: Candidate, designs: list[Array], generator: np.random.Generator) -> Array:
    """Synthetic outcomes (m, n), as they are released.

    Args:
        schema: bounds and decimal places.
        candidate: a candidate with draws.
        designs: (n, p) of each of the m sets.
        generator: source of randomness.

    Returns:
        Each set from a posterior draw of its own, or all from the one noisy table that the candidate has.
    """
    draws = count(candidate.draws)
    chosen = generator.permutation(draws)[: len(designs)] if draws > 1 else np.zeros(len(designs), dtype=int)
    if len(chosen) < len(designs):
        raise ValueError(f"{len(designs)} sets need as many draws; there are {draws}")
    sets = []
    for index, design in zip(chosen, designs, strict=True):
        # the outcomes of the file are not among what the predictions are made from; a program may ask for values within bounds
        records = Records(np.full(len(design), np.rint(sum(schema.target.ends) / 2)), design)
        sets.append(candidate.predictor.predict(generator, records, take(candidate.draws, [index]))[0])
    return finished(schema, np.stack(sets))
