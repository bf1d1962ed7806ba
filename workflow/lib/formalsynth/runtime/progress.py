"""What a command that takes minutes is at: lines on standard error, for somebody who waits. Jobs have logs instead.

No line holds a value of a file.
"""

from __future__ import annotations

import contextlib
import logging
import sys
import time
from collections.abc import Iterator, Sequence
from typing import TypeVar

SELDOM = 10.0
"""Seconds between two lines of one task, at least."""
T = TypeVar("T")

log = logging.getLogger("formalsynth")


class _ToStandardError(logging.Handler):
    """Writes to what is standard error when a line comes."""

    def emit(self, record: logging.LogRecord) -> None:
        with contextlib.suppress(OSError):  # nobody reads them any more, which is no reason to end
            print(self.format(record), file=sys.stderr, flush=True)


def show_progress() -> None:
    """Have :func:`tell` and :func:`in_turn` write to standard error from now on; without this they are silent."""
    log.setLevel(logging.INFO)
    log.propagate = False
    log.handlers = [_ToStandardError()]


def tell(line: str) -> None:
    """Say what is done now."""
    log.info(line)


def in_turn(things: Sequence[T], task: str) -> Iterator[T]:
    """The things one after the other; at the first, and then every few seconds, a line says which of them it is.

    Args:
        things: what is to be done.
        task: what the line begins with, such as ``Fitting candidate``.
    """
    next_line = -float("inf")
    for place, thing in enumerate(things, 1):
        if (now := time.monotonic()) >= next_line:
            tell(f"{task} {place} of {len(things)}")
            next_line = now + SELDOM
        yield thing
