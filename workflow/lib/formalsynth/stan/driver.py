"""cmdstanpy, which compiles Stan programs."""

from __future__ import annotations

import contextlib
import logging
import os
from collections.abc import Iterator
from types import ModuleType

from formalsynth.stan.toolchain import OF_MAKE


def cmdstanpy() -> ModuleType:
    """Return the package: imported late because it is slow to load, and silent."""
    # With a handler in place cmdstanpy adds none of its own.
    if not logging.getLogger("cmdstanpy").handlers:
        logging.getLogger("cmdstanpy").addHandler(logging.NullHandler())
    import cmdstanpy as package

    return package


@contextlib.contextmanager
def outside_make() -> Iterator[None]:
    """Let cmdstanpy call make as if no other make had started this process: ``make -B`` would build CmdStan again."""
    kept = {name: os.environ.pop(name) for name in OF_MAKE if name in os.environ}
    try:
        yield
    finally:
        os.environ.update(kept)
