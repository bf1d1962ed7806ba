"""The search for a parameter at which a mechanism has a target epsilon, on one data set.

It takes the steps of the search that fits with a sampler (``steps/fit.py``), whose settings it shares.
"""

from __future__ import annotations

from collections.abc import Callable

from formalsynth.core.job import Search


def searched_value(search: Search, target: float, epsilon_at: Callable[[float], float]) -> float:
    """The value of the searched parameter.

    Args:
        search: its settings.
        target: the epsilon to reach.
        epsilon_at: epsilon at a value of the parameter.

    Raises:
        ValueError: the target is not within reach in as many steps as are allowed.
    """
    low, high, value = search.low, search.high, search.high
    for step in range(1, search.steps + 1):
        epsilon = epsilon_at(value)
        if search.lower_by is not None:
            if epsilon <= target:
                return value
            value = max(low, value - search.lower_by)
            continue
        if abs(epsilon - target) <= search.tolerance * target or (step == 1 and epsilon <= target):
            return value
        low, high = (value, high) if epsilon < target else (low, value)
        value = (low + high) / 2
    raise ValueError(f"epsilon {epsilon:.3f} is not within reach of {target:.3f} after {search.steps} steps")
