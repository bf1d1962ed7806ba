"""Output to a terminal: durations in words, and streams that can no longer be written."""

from __future__ import annotations

import os
from typing import TextIO


def in_words(seconds: float) -> str:
    """Return a duration in the unit that suits it."""
    if seconds < 90:
        return f"{max(seconds, 1):.0f} s"
    return f"{seconds / 60:.0f} minutes" if seconds < 5400 else f"{seconds / 3600:.1f} hours"


def drop(stream: TextIO) -> None:
    """Redirect a stream that can no longer be written to the null device: Python's last flush would exit with status 120."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())
