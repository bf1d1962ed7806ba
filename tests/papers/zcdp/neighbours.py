"""Neighbouring data sets, written out."""

import numpy as np


def worst_pair(setting):
    """Neighbours at the largest distance of their means: one record moves from -d to d among records at 0."""
    one = np.zeros(setting.n)
    one[0] = -setting.d
    other = one.copy()
    other[0] = setting.d
    return one, other


def extreme_pair(n, d, low_share):
    """Neighbours at the ends of the interval: one more record at -d. Mean and variance both move almost their sensitivity."""
    one = np.where(np.arange(n) < round(low_share * n), -d, d)
    other = one.copy()
    other[-1] = -d
    return one, other
