"""Progress of commands that take minutes: lines on standard error for a waiting user. Jobs have logs instead.

No line contains a value from a file.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator, Sequence
from types import SimpleNamespace
from typing import TypeVar

from formalsynth.runtime.terminal import drop, in_words

SELDOM = 10.0
"""Smallest number of seconds between two lines of one task."""
PROGRESS = SimpleNamespace(shown=False)
T = TypeVar("T")


def show_progress() -> None:
    """Make :func:`tell` and :func:`in_turn` write to standard error from now on; without this they are silent."""
    PROGRESS.shown = True


def tell(line: str) -> None:
    """Report the current step."""
    if PROGRESS.shown:
        try:
            print(line, file=sys.stderr, flush=True)
        except OSError:  # a closed terminal does not end the command
            drop(sys.stderr)


def in_turn(things: Sequence[T], task: str) -> Iterator[T]:
    """Yield items one by one; at the first, and then every few seconds, report the number of the current one and the time left.

    Args:
        things: items to work on.
        task: start of the line, such as ``Fitting candidate``.
    """
    start = time.monotonic()
    next_line, now = start, start
    for done, thing in enumerate(things):
        if now >= next_line:
            left = f", about {in_words((now - start) / done * (len(things) - done))} left" if done else ""
            tell(f"{task} {done + 1} of {len(things)}{left}")
            next_line = now + SELDOM
        yield thing
        now = time.monotonic()
