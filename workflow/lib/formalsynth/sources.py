"""Which source files a module depends on, so that the workflow reruns a step when, and only when, its code changes."""

from __future__ import annotations

import ast
from collections.abc import Collection
from pathlib import Path

PACKAGE = Path(__file__).parent


def sources(module: str, leave_out: Collection[str] = ("formalsynth.design",)) -> list[Path]:
    """Files of the package that ``module`` imports, directly or not, itself included.

    Args:
        module: dotted name inside the package.
        leave_out: modules not followed. The design is one: what a job needs of it reaches the job as parameters.
    """
    found: dict[str, Path] = {}
    waiting = [module]
    while waiting:
        name = waiting.pop()
        path = _file(name)
        if path is None or name in found or name in leave_out:
            continue
        found[name] = path
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.ImportFrom) and node.module:
                waiting += [node.module, *(f"{node.module}.{alias.name}" for alias in node.names)]
            elif isinstance(node, ast.Import):
                waiting += [alias.name for alias in node.names]
    return sorted(found.values())


def _file(name: str) -> Path | None:
    head, *rest = name.split(".")
    if head != "formalsynth":
        return None
    path = PACKAGE.joinpath(*rest)
    return next((one for one in (path.with_suffix(".py"), path / "__init__.py") if rest and one.is_file()), None)
