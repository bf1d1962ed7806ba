"""Import of cmdstanpy, which compiles Stan programs."""

from __future__ import annotations

import contextlib
import logging
import os
from collections.abc import Iterator
from types import ModuleType

from formalsynth.stan.toolchain import OF_MAKE


def cmdstanpy() -> ModuleType:
    """Import and return the package, silenced; the import is deferred because it is slow."""
    # If a handler is already in place, cmdstanpy adds none.
    if not logging.getLogger("cmdstanpy").handlers:
        logging.getLogger("cmdstanpy").addHandler(logging.NullHandler())
    import cmdstanpy as package

    return package


@contextlib.contextmanager
def outside_make() -> Iterator[None]:
    """Hide any make that started this process from the make that cmdstanpy calls: after ``make -B``, it would rebuild CmdStan."""
    kept = {name: os.environ.pop(name) for name in OF_MAKE if name in os.environ}
    try:
        yield
    finally:
        os.environ.update(kept)
