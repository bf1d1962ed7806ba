"""Reading back, with their types, the data that a family has made for Stan."""

from __future__ import annotations

import numpy as np

from formalsynth.core.arrays import Array
from formalsynth.core.family import StanData


def array(stan_data: StanData, name: str) -> Array:
    """Array of the data."""
    return np.asarray(stan_data[name])


def number(stan_data: StanData, name: str) -> float:
    """Number of the data, whole or not."""
    value = stan_data[name]
    assert not isinstance(value, np.ndarray)
    return value
