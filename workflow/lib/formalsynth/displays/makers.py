"""Modules that draw or compute a kind, found from the module of its fields."""

from __future__ import annotations

from formalsynth.core.registry import is_own


def maker(module: str) -> str:
    """Name of the module that draws a kind of figure or computes a kind of table: in show, at the same place.

    Args:
        module: the module of its fields; a file of own code has both.
    """
    return module if is_own(module) else module.replace("formalsynth.displays.", "formalsynth.show.", 1)
