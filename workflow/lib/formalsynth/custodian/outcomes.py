"""Synthetic outcomes of a fitted candidate."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np

from formalsynth.core.arrays import Array, Draws, Records, count, take
from formalsynth.core.mechanism import SENSITIVITY
from formalsynth.custodian.candidates import Candidate
from formalsynth.custodian.noise import noisy_counts, shares
from formalsynth.custodian.records import cells, finished, from_unit, names_of
from formalsynth.custodian.schema import Column, Schema

PROBES = 1000
"""Number of synthetic outcomes for the test of uses_predictors."""


@dataclass(frozen=True)
class ScaledBins:
    """Synthetic values from bin probabilities, uniform inside each bin on the declared scale."""

    column: Column

    def predict(self, generator: np.random.Generator, records: Records, draws: Draws) -> Array:
        """One synthetic data set (n,) for each row of ``probability`` (S, bins)."""
        n, rows = len(records.x), draws["probability"]
        places = [(generator.choice(len(row), n, p=row) + generator.random(n)) / len(row) for row in rows]
        return from_unit(self.column, np.stack(places))


def released_histogram(schema: Schema, outcomes: Array, rows: int, candidate: Candidate) -> Candidate:
    """Make the histogram of a release, with new noise that is safe in floating point; the noise of its mechanism is for studies.

    Bins are equally wide on the declared scale, and noisy counts below the scale of the noise times the log of the number of
    bins count as 0: clamped at 0 alone, the noise of empty bins would add values, most of them far above the others.

    Args:
        schema: neighbours, and the declared bounds and scale of the outcome.
        outcomes: (n,) confidential outcomes.
        rows: number of synthetic rows, whose square root is the number of bins where none is declared.
        candidate: the histogram.
    """
    bins = int(candidate.synthesizer.parameters.get("bins", 0)) or math.isqrt(rows)
    counts = np.bincount(cells(schema.target, outcomes, bins), minlength=bins)
    sensitivity = SENSITIVITY[schema.neighbours]
    noisy = noisy_counts([int(number) for number in counts], candidate.epsilon, sensitivity)
    probability = shares(noisy, sensitivity / candidate.epsilon * math.log(bins))
    return replace(candidate, draws={"probability": probability[None]}, predictor=ScaledBins(schema.target))


def uses_predictors(schema: Schema, candidate: Candidate) -> bool:
    """Compare synthetic outcomes for two values of the predictors, drawn with the same random numbers."""
    columns, rows = len(names_of(schema)), np.arange(PROBES)
    if columns == 1:
        return False
    designs = np.zeros((2, PROBES, columns))
    designs[:, :, 0] = 1
    designs[1, rows, 1 + rows % (columns - 1)] = 1  # one predictor at its other end in each row: no unlikely combinations
    first, second = (
        synthetic_outcomes(schema, replace(candidate, draws=take(candidate.draws, [0])), [design], np.random.default_rng(0))
        for design in designs
    )
    return not np.array_equal(first, second)


def synthetic_outcomes(schema: Schema, candidate: Candidate, designs: list[Array], generator: np.random.Generator) -> Array:
    """Synthetic outcomes (m, n), as they are released.

    Args:
        schema: bounds and decimal places.
        candidate: a candidate with draws.
        designs: (n, p) of each of the m sets.
        generator: source of randomness.

    Returns:
        Outcomes of each set, from a posterior draw of its own or all from the one noisy table of the candidate.
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
