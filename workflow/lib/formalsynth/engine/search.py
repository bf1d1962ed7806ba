"""Search for the parameter at which a mechanism has a target epsilon."""

from __future__ import annotations

from formalsynth.core.synthesizer import Search


class Walk:
    """Sequence of values to try, by bisection or downwards in even steps."""

    def __init__(self, search: Search, target: float) -> None:
        """Start at the upper end.

        Args:
            search: settings of the search.
            target: epsilon to reach.
        """
        self.value = search.high
        """Next value to try."""
        self._search, self._target = search, target
        self._low, self._high, self._first = search.low, search.high, True

    def ends(self, epsilon: float) -> bool:
        """Return True if the search may end at the value with this epsilon; otherwise, move on to the next value."""
        search, target = self._search, self._target
        below = epsilon <= target and (self._first or search.lower_by is not None)
        near = abs(epsilon - target) <= search.tolerance * target and search.lower_by is None
        if below or near:
            return True
        self._first = False
        if search.lower_by is not None:
            self.value = max(self._low, self.value - search.lower_by)
            return False
        self._low, self._high = (self.value, self._high) if epsilon < target else (self._low, self.value)
        self.value = (self._low + self._high) / 2
        return False

    def missed(self, epsilon: float) -> str:
        """Return the message for a search that used up its steps; ``epsilon`` is that of the last step."""
        return f"epsilon {epsilon:.3f} is not within reach of {self._target:.3f}"
