"""cmdstanpy, which compiles Stan programs."""

from __future__ import annotations

import logging
from types import ModuleType


def cmdstanpy() -> ModuleType:
    """The package: imported late because it is slow to load, and silent."""
    # With a handler in place cmdstanpy adds none of its own.
    if not logging.getLogger("cmdstanpy").handlers:
        logging.getLogger("cmdstanpy").addHandler(logging.NullHandler())
    import cmdstanpy as package

    return package
