"""Minimum distance: selection of a family's parameters among declared candidates by a Kolmogorov score.

Proof and exact test: ``docs/proofs/minimum_distance.md``. Sources: McSherry and Talwar 2007
(doi:10.1109/FOCS.2007.66) for the exponential mechanism; Bun, Kamath, Steinke and Wu 2019 (arXiv:1905.13229) for private
hypothesis selection. The score and the stages are ours.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from functools import lru_cache

import numpy as np

from formalsynth.core.arrays import Array, Draws, Records
from formalsynth.core.constraints import Count, CountOfTwo, Finite, NonNegative, PositiveNumber
from formalsynth.core.family import FAMILIES, Family
from formalsynth.core.mechanism import MECHANISMS, Context, DirectRelease, mechanism
from formalsynth.core.private import Bins
from formalsynth.core.selection import Selection, log_ratio
from formalsynth.core.tables import POISSON, tabled
from formalsynth.inference.distance import Axes, Distance

NARROWER = 1 / 2
"""Width of a stage's box, relative to that of the previous stage."""
MOST_CANDIDATES = 50_000
"""Largest number of candidates in a stage."""


def _without_last_threshold(parameters: Mapping[str, float]) -> float:
    """Return the factor of epsilon for an added or removed record: the largest threshold."""
    return 1 - 1 / parameters["thresholds"]


@mechanism("DP", parents=0, selects=True, strict={"replace": 1.0, "add_remove": _without_last_threshold})
def minimum_distance(
    context: Context, *, epsilon: PositiveNumber, low: Finite, high: Finite, spread_low: PositiveNumber = 0.1,
    spread_high: PositiveNumber = 10.0, slope: NonNegative = 1.0, points: CountOfTwo = 13, stages: Count = 4,
    thresholds: CountOfTwo = 20, x_low: Finite = -1.0, x_high: Finite = 1.0, x_bins: CountOfTwo = 8,
) -> DirectRelease:  # fmt: skip
    """Exponential mechanism on a declared box of the family's parameters, by the largest difference of distribution functions.

    In the box, the linear predictor at the middle of the predictors' bounds ranges from ``low`` to ``high``, each slope from
    ``-slope`` to ``slope``, and the spread from ``spread_low`` to ``spread_high``. Each axis has ``points`` equally spaced
    values; for the spread, they are equally spaced on the log scale. The spread is a standard deviation (normal errors), a
    precision (Beta), a shape (gamma) or 1 / phi (negative binomial). Each further stage has a box half as wide, around the
    previous candidate. The first and the last stage have twice the epsilon of each other stage: candidates excluded by the first
    are lost to the later ones, and the last has the finest lattice. Five stages suit data with a slope; three or four suit data
    without predictors, or a small epsilon.

    Raises:
        ValueError: the family has no distribution function here, or the box does not suit it.
    """
    settings = {
        "epsilon": epsilon, "low": low, "high": high, "spread_low": spread_low, "spread_high": spread_high, "slope": slope,
        "points": points, "stages": stages, "thresholds": thresholds, "x_low": x_low, "x_high": x_high, "x_bins": x_bins,
    }  # fmt: skip
    chosen = selection(context.family, context.records, settings)
    draws = draws_of(context.family, chosen.selected(context.address.generator("mechanism")), settings)
    return DirectRelease(draws, context.family, epsilon, selection=chosen)


def selection(family: Family, records: Records, given: Mapping[str, float]) -> Selection:
    """Return the first stage of the selection.

    Args:
        family: the family.
        records: the records.
        given: all parameters of the mechanism.

    Raises:
        ValueError: the family has no distribution function here, or the box does not suit it.
    """
    predictors = (Bins(given["x_low"], given["x_high"], int(given["x_bins"])),) * (records.design.shape[1] - 1)
    axes = _axes(family, len(predictors), given)
    declared = tabled(family)
    assert declared is not None
    wide = given["slope"] * len(predictors) * (given["x_high"] - given["x_low"]) / 2
    reach = given["low"] - wide, given["high"] + wide
    distance = Distance(declared.kind, records, predictors, int(given["thresholds"]), declared.log, reach)
    stages = int(given["stages"])
    parts = [2 if k in (0, stages - 1) else 1 for k in range(stages)]
    return _stage(distance, axes, [given["epsilon"] * part / sum(parts) / (2 * distance.unit) for part in parts])


def _stage(distance: Distance, axes: Axes, rates: list[float]) -> Selection:
    """Make the selection with the rates of this and the later stages."""
    candidates = axes.candidates()

    @lru_cache(maxsize=128)
    def following(at: int) -> Selection:
        return _stage(distance, axes.narrowed(candidates[at], NARROWER), rates[1:])

    return Selection(candidates, distance.scores(axes), rates[0], following if rates[1:] else None)


def _axes(family: Family, predictors: int, given: Mapping[str, float]) -> Axes:
    """Return the axes of the first stage.

    Raises:
        ValueError: the family has no distribution function here, or the box does not suit it.
    """
    declared = tabled(family)
    if declared is None:
        raise ValueError("this family has no distribution function for minimum distance")
    if declared.predictors == 0 and predictors:
        raise ValueError(f"this family has no predictors, but the design has {predictors}")
    if not given["low"] < given["high"] or not given["spread_low"] <= given["spread_high"]:
        raise ValueError("the box of candidates needs low below high, and spread_low not above spread_high")
    points = int(given["points"])
    spreads = 1 if declared.kind == POISSON or given["spread_low"] == given["spread_high"] else points
    if (size := points ** (1 + predictors) * spreads) > MOST_CANDIDATES:
        raise ValueError(f"{points} points on each axis give {size} candidates; allowed: up to {MOST_CANDIDATES}")
    ends = [math.log(given[name]) for name in ("spread_low", "spread_high")]
    slopes: tuple[Array, ...] = (np.linspace(-given["slope"], given["slope"], points),) * predictors
    return Axes((np.linspace(given["low"], given["high"], points), *slopes), np.linspace(ends[0], ends[1], spreads))


def draws_of(family: Family, candidate: Array, given: Mapping[str, float]) -> Draws:
    """Return a candidate (q + 2,) as one draw of the family's parameters."""
    declared = tabled(family)
    assert declared is not None
    middle = (given["x_low"] + given["x_high"]) / 2
    coefficient = candidate[None, :-1].copy()
    coefficient[:, 0] -= coefficient[:, 1:].sum(axis=1) * middle
    return declared.of(coefficient, np.exp(candidate[-1:]))


def ratio(parameters: Mapping[str, float], records: Records, neighbour: Records, family: str = "beta") -> float:
    """Compute the largest log ratio of the probabilities of any output, between two data sets with the same declared columns.

    Args:
        parameters: parameters of the mechanism.
        records: one data set, possibly without records.
        neighbour: the other one.
        family: name of the family.

    Raises:
        ValueError: the family or the box is rejected.
    """
    given = MECHANISMS["minimum_distance"].settings(parameters)
    ours, theirs = (selection(FAMILIES[family], data, given) for data in (records, neighbour))
    return log_ratio(ours, theirs)
