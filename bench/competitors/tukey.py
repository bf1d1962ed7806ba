"""TukeyEM (Amin, Joseph, Ribero and Vassilvitskii 2022): a draw by approximate Tukey depth among fits to disjoint parts.

The mechanism is (epsilon, delta)-DP for adding or removing a record, without bounds on the data. The number and size of the parts
are declared, and their records are drawn without replacement, so a neighbour changes one fit. A preliminary test gives no result
if the volumes of the regions of some depths are not safe. No library implements it. In the authors' code (google-research,
``dp_regression/tukey.py``) the noise of the test has the scale epsilon / 2, but the theorem needs 2 / epsilon, as here.
"""

from __future__ import annotations

import math

import numpy as np
from scipy.stats import chi2

from formalsynth.core.arrays import Array, Draws, Records

from .tasks import Task

DELTA = 1e-5
"""Delta of the guarantee."""
BEYOND = 1
"""Number of records in a part in addition to the number of coefficients; larger parts would be too few for the test."""
JITTER = 1e-10
"""Width of noise that breaks ties between fits."""


def parts(task: Task, records: Records, generator: np.random.Generator) -> Array:
    """Fits (parts, p + 1) to random parts: coefficients and the logarithm of the standard deviation of the errors.

    The number and size of the parts are declared. A part that is not full or has no fit gets a fit that does not depend on data.
    """
    size = records.design.shape[1] + BEYOND
    number = task.size // size
    order = generator.permutation(len(records))
    fits = generator.standard_normal((number, size))
    with np.errstate(divide="ignore", invalid="ignore"):
        outcome = np.nan_to_num(task.scaled(records.x), posinf=0, neginf=0)
    full = min(number, len(records) // size)
    part = order[: full * size].reshape(full, size)
    design, y = records.design[part], outcome[part][..., None]
    coefficient = np.linalg.pinv(design) @ y
    squares = ((y - design @ coefficient) ** 2).sum(axis=(1, 2))
    spread = 0.5 * np.log(np.maximum(squares / chi2.median(BEYOND), 1e-12))
    ranked = np.linalg.matrix_rank(design) == design.shape[2]
    fits[:full][ranked] = np.column_stack([coefficient[..., 0], spread])[ranked]
    return fits


def log_volumes(ordered: Array) -> Array:
    """Logarithm of the volume of the points of depth at least i + 1, for all i below half the number of fits.

    Args:
        ordered: (d, m) coordinates of the fits, each row in ascending order.
    """
    m = ordered.shape[1]
    half = m // 2
    return np.asarray(np.log(ordered[:, : m - half - 1 : -1] - ordered[:, :half]).sum(axis=0))


def safe_distance(volumes: Array, epsilon: float, delta: float, depth: int) -> int:
    """Count the records that can change before the exponential mechanism is unsafe (their Lemma 3.8); -1 if it is unsafe already.

    Args:
        volumes: logarithms from :func:`log_volumes`.
        epsilon: epsilon of the exponential mechanism.
        delta: delta of the whole mechanism.
        depth: restricting depth t.
    """
    threshold = math.log(delta / 8) - epsilon
    for k in range(depth - 1):
        deeper = volumes[depth + k + 1 : -1]
        excess = volumes[depth - k - 2] - deeper - epsilon / 2 * np.arange(1, len(deeper) + 1)
        if not len(deeper) or excess.min() > threshold:
            return k - 1
    return depth - 2


def tukey_draw(fits: Array, epsilon: float, generator: np.random.Generator) -> Array | None:
    """Draw (d,) from the exponential mechanism with approximate Tukey depth; None if the test fails.

    Half of epsilon is used for the test, half for the draw. A neighbour replaces one fit, which changes a depth by at most 1.

    Args:
        fits: (m, d) fits; a neighbour changes one of them.
        epsilon: epsilon of the test plus that of the draw.
        generator: source of randomness.
    """
    half = epsilon / 2
    ordered = np.sort((fits + JITTER * generator.random(fits.shape)).T, axis=1)
    volumes, start = log_volumes(ordered), len(fits) // 4
    noisy = safe_distance(volumes, half, DELTA, start) + generator.laplace(scale=1 / half)
    if noisy <= math.log(1 / (2 * DELTA)) / half:
        return None
    kept = volumes[start - 1 :]
    shell = kept + np.log(-np.expm1(np.append(np.diff(kept), -np.inf)))
    score = shell + half / 2 * np.arange(start, start + len(kept))
    depth = start + int(np.argmax(score + generator.gumbel(size=len(score))))
    return _uniform(ordered, depth, generator)


def _uniform(ordered: Array, depth: int, generator: np.random.Generator) -> Array:
    """Draw uniformly from the points of exactly this depth: inside the box of this depth, outside the next one."""
    low, high = ordered[:, depth - 1], ordered[:, -depth]
    inner_low, inner_high = ordered[:, depth], ordered[:, -depth - 1]
    while True:
        points = generator.uniform(low, high, (1000, len(low)))
        outside = ((points < inner_low) | (points > inner_high)).any(axis=1)
        if outside.any() or depth >= ordered.shape[1] // 2:
            return np.asarray(points[int(outside.argmax())])


def tukey_em(task: Task, records: Records, epsilon: float, generator: np.random.Generator) -> Draws:
    """Fit a regression by TukeyEM.

    Raises:
        ValueError: the test fails.
    """
    drawn = tukey_draw(parts(task, records, generator), epsilon, generator)
    if drawn is None:
        raise ValueError("the test of TukeyEM fails")
    return task.tabled.of(drawn[None, :-1], np.exp(drawn[-1:]))
