"""Typed access to the data that a family passes to Stan."""

from __future__ import annotations

import numpy as np

from formalsynth.core.arrays import Array
from formalsynth.core.family import StanData


def array(stan_data: StanData, name: str) -> Array:
    """Read an array of the data."""
    return np.asarray(stan_data[name])


def number(stan_data: StanData, name: str) -> float:
    """Read a number of the data, integer or not."""
    value = stan_data[name]
    assert not isinstance(value, np.ndarray)
    return value
