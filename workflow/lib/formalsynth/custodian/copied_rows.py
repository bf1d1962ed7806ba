"""Detection of synthetic rows that agree with confidential ones more often than by chance.

Chance is measured around each value: a smooth synthesizer hits a confidential outcome as often as the one some steps of the last
decimal place away from it. Where outcomes are few whole numbers, every value is hit and this test has no power. There only
a whole set that repeats the file is detected, unless outcomes drawn from the file in any order repeat it about as well.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy import stats

from formalsynth.core.arrays import Array, Integers
from formalsynth.custodian.schema import Schema

NEAR = range(-2, 3)
"""Tested steps from a confidential outcome: a leak may be rounded, or moved a little."""
AROUND = [*range(-60, -9), *range(10, 61)]
"""Steps from a confidential outcome at which chance is measured."""
REACH = max(AROUND)
LEAST_OUTCOMES = 10
SMOOTH = 400
"""Steps between the quartiles of the outcomes above which they count as smooth."""
BLOCK = 20_000
"""Synthetic outcomes compared at a time: each may have ``2 * REACH + 1`` confidential ones near it."""
RARELY = 1e-8
"""Probability below which chance is no explanation."""
TAIL = 0.02
REPEATED = 0.99
"""Share of a set's rows from which on it may repeat the file."""
RESAMPLED = 100
"""Sets with outcomes drawn from those of the file, which show how many rows differ by chance."""
FEWER, DIFFERENT = 4, 10
"""A repeated file differs in fewer rows than any of those sets, by this factor, and each of those in more rows than this."""


def copied(schema: Schema, table: pd.DataFrame, sets: Sequence[pd.DataFrame]) -> Iterator[str]:
    """List copies of confidential rows in synthetic sets beyond chance, in sentences without a value.

    Args:
        schema: declared columns.
        table: the confidential rows (n, columns).
        sets: synthetic sets, with the same columns.
    """
    for k, synthetic in enumerate(sets):
        if _repeats(schema, table, synthetic):
            yield f"set {k + 1} repeats the rows of the file"
    everything = pd.concat(sets, ignore_index=True)
    groups, of_sets = _groups(schema, table, everything)
    (ours, inside), (theirs, inside_too) = _steps(schema, table), _steps(schema, everything)
    ours, groups, theirs, of_sets = ours[inside], groups[inside], theirs[inside_too], of_sets[inside_too]
    if len(ours) < LEAST_OUTCOMES or np.subtract(*np.quantile(ours, [0.75, 0.25])) < SMOOTH:
        return
    low, high = np.quantile(ours, [TAIL, 1 - TAIL])
    for what, chosen in (("extreme outcomes", (ours < low) | (ours > high)), ("outcomes", np.ones(len(ours), dtype=bool))):
        if _beyond(hits_by_step(ours[chosen], theirs)):
            yield f"{what} of the file occur more often than chance gives"
        far = int(max(ours.max(), theirs.max()) - min(ours.min(), theirs.min())) + 4 * REACH  # no step leads to another group
        if _beyond(hits_by_step(groups[chosen] * far + ours[chosen], of_sets * far + theirs)):
            yield f"rows of the file with {what} occur more often than chance gives"


def hits_by_step(ours: Integers, theirs: Integers) -> Integers:
    """Count synthetic outcomes at each step, from ``-REACH`` to ``REACH``, from a confidential one; blocks need less memory."""
    known, total = np.unique(ours), np.zeros(2 * REACH + 1, dtype=np.int64)
    for start in range(0, len(theirs), BLOCK):
        block = theirs[start : start + BLOCK]
        first, last = np.searchsorted(known, block - REACH), np.searchsorted(known, block + REACH, side="right")
        counts = last - first
        within = np.arange(counts.sum()) - np.repeat(np.cumsum(counts) - counts, counts)
        steps = np.repeat(block, counts) - known[np.repeat(first, counts) + within]
        total += np.bincount(steps + REACH, minlength=len(total))
    return total


def _beyond(hits: Integers) -> bool:
    """Return True if a near step has more hits than by chance, measured at the steps around."""
    around = int(sum(hits[step + REACH] for step in AROUND))
    near = np.array([hits[step + REACH] for step in NEAR])
    tail = np.asarray(stats.binom.sf(near - 1, near + around, 1 / (1 + len(AROUND))))
    return bool((tail[near > 0] < RARELY).any())


def _steps(schema: Schema, table: pd.DataFrame) -> tuple[Integers, NDArray[np.bool_]]:
    """Outcomes in steps of their last decimal place, and which are inside the declared bounds, where clipped ones heap."""
    low, high = schema.target.ends
    values: Array = table[schema.outcome].to_numpy(dtype=float)
    return np.round(values * 10.0**schema.target.places).astype(np.int64), (values > low) & (values < high)


def _groups(schema: Schema, table: pd.DataFrame, everything: pd.DataFrame) -> tuple[Integers, Integers]:
    """Assign a number to each combination of predictors, in the file and in the synthetic sets."""
    names = list(schema.predictors)
    if not names:
        return np.zeros(len(table), dtype=np.int64), np.zeros(len(everything), dtype=np.int64)
    both = pd.concat([table[names], everything[names]], ignore_index=True)
    numbers: Integers = np.asarray(both.groupby(names, sort=False).ngroup(), dtype=np.int64)
    return numbers[: len(table)], numbers[len(table) :]


def _repeats(schema: Schema, table: pd.DataFrame, synthetic: pd.DataFrame) -> bool:
    """Return True if nearly all rows of a set are those of the file, with their counts, and many more than by chance."""
    groups, of_set = _groups(schema, table, synthetic)
    outcomes = np.concatenate([table[schema.outcome], synthetic[schema.outcome]])
    values, codes = np.unique(outcomes, return_inverse=True)
    ours, theirs = codes[: len(table)], codes[len(table) :]

    def different(drawn: Integers) -> int:
        return _different(groups * len(values) + ours, of_set * len(values) + drawn)

    differing = different(theirs)
    if differing > (1 - REPEATED) * min(len(table), len(synthetic)):
        return False
    generator = np.random.default_rng(0)
    by_chance = (different(generator.choice(ours, len(synthetic))) for _ in range(RESAMPLED))
    return all(number > max(FEWER * differing, DIFFERENT) for number in by_chance)


def _different(ours: Integers, theirs: Integers) -> int:
    """Count entries of the shorter of two lists that the other lacks, or has less often."""
    _, places = np.unique(np.concatenate([ours, theirs]), return_inverse=True)
    counts = [np.bincount(part, minlength=places.max() + 1) for part in np.split(places, [len(ours)])]
    return min(len(ours), len(theirs)) - int(np.minimum(*counts).sum())
