"""The way of a search for the parameter at which a mechanism has a target epsilon."""

from __future__ import annotations

from formalsynth.core.job import Search


class Walk:
    """Values to try, one after the other: by bisection, or from above in even steps."""

    def __init__(self, search: Search, target: float) -> None:
        """Start at the upper end.

        Args:
            search: its settings.
            target: the epsilon to reach.
        """
        self.value = search.high
        """The next value to try."""
        self._search, self._target = search, target
        self._low, self._high, self._first = search.low, search.high, True

    def ends(self, epsilon: float) -> bool:
        """Whether the search may end at the value, which has this epsilon; where it may not, the value moves on."""
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
        """What to say when all steps are done and the last one had this epsilon."""
        return f"epsilon {epsilon:.3f} is not within reach of {self._target:.3f}"
