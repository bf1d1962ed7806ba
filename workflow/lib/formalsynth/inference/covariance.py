"""Covariance of the counts in several tables of the same records."""

from __future__ import annotations

import itertools

import numpy as np
from scipy import sparse

from formalsynth.core.arrays import Array, Integers
from formalsynth.inference.density import TablesDensity, find_mode

RECORDS = 100_000
"""Number of simulated records from which the covariance is computed."""
SEED = 1
"""Seed of these records, a constant, so the records depend on public tables only."""


def whitening(density: TablesDensity, start: Array) -> Array:
    """Compute the inverse Cholesky factor (cells, cells) of the noisy counts' covariance, at the mode of the density.

    Within one table, counts are independent if the number of records has a Poisson distribution. Several tables count the same
    records, so a likelihood with independent tables would use the information on the outcome's margin several times.

    Args:
        density: density with independent tables.
        start: starting point (d,) of the search for its mode.
    """
    mode = find_mode(density, start)
    cells = simulated_cells(density, mode, np.random.default_rng(SEED))
    total = float(density.parts(mode[None]).total[0])
    member = sparse.csr_array(
        (np.ones(cells.size), cells.ravel(), np.arange(0, cells.size + 1, cells.shape[1])), (len(cells), density.cells)
    )
    covariance = (member.T @ member).toarray() * total / len(cells) + max(density.noise_variance, 0.01) * np.eye(density.cells)
    return np.linalg.inv(np.linalg.cholesky(covariance)).astype(float)


def simulated_cells(density: TablesDensity, point: Array, generator: np.random.Generator) -> Integers:
    """Draw records of a normal family at a point, and return their cell in each table (RECORDS, tables)."""
    parts, q = density.parts(point[None]), density.predictors
    normal = generator.standard_normal((RECORDS, q + 1))
    x = parts.x_mean[0] + parts.x_sd[0] * (normal[:, :q] @ np.linalg.cholesky(parts.correlation[0]).T)
    outcome = parts.theta[0, 0] + x @ parts.theta[0, 1:] + parts.spread[0] * normal[:, q]
    column = np.searchsorted(density.edges, outcome, side="right")
    rows = np.searchsorted(density.x_edges, x, side="right")
    height, width = len(density.x_edges) + 1, len(density.edges) + 1
    of_tables = [column * height + rows[:, t] for t in range(q)]
    of_pairs = [rows[:, k] * height + rows[:, j] for j, k in itertools.combinations(range(q), 2)]
    sizes = [height * width] * q + [height * height] * len(of_pairs)
    starts = np.cumsum([0, *sizes[:-1]])
    return np.column_stack([table + start for table, start in zip(of_tables + of_pairs, starts, strict=True)])
