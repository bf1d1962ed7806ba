"""Distance of two output densities, by quadrature."""

import math

import numpy as np


def renyi(p, q, step, order):
    """Renyi divergence of two densities on one grid, (K,) or (K, K)."""
    keep = (p > 1e-280) & (q > 1e-280)
    log = order * np.log(p[keep]) + (1 - order) * np.log(q[keep])
    return (np.logaddexp.reduce(log) + math.log(step)) / (order - 1)


def hockey_stick(p, q, epsilon, low, high):
    """``integral max(0, p - e^epsilon q)`` of two density functions."""
    grid = np.linspace(low, high, 400_001)
    return float(np.maximum(p(grid) - np.exp(epsilon) * q(grid), 0).sum() * (grid[1] - grid[0]))


def delta_of(direction, epsilon):
    """Smallest delta at which an epsilon holds in one direction of a privacy loss, as a plain sum over its points."""
    loss, mass = direction.loss[direction.mass > 0], direction.mass[direction.mass > 0]
    return float((mass * np.maximum(0, -np.expm1(epsilon - loss))).sum())
