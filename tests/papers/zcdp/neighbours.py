"""Neighbouring data sets, written out."""

import numpy as np


def worst_pair(setting):
    """Neighbours at the largest distance of their means: one record moves from -d to d among records at 0."""
    base = np.zeros(setting.n)
    base[0] = -setting.d
    other = base.copy()
    other[0] = setting.d
    return base, other


def extreme_pair(n, d, low_share):
    """Neighbours at the ends of the interval: one more record at -d. Mean and variance both move almost their sensitivity."""
    base = np.where(np.arange(n) < round(low_share * n), -d, d)
    other = base.copy()
    other[-1] = -d
    return base, other
