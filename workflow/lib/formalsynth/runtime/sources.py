"""Which source files a job depends on, so that the workflow reruns it when, and only when, its code changes."""

from __future__ import annotations

import ast
import functools
import hashlib
from collections.abc import Iterable, Iterator
from pathlib import Path

PACKAGE = Path(__file__).parents[1]
NEEDED = {".stan": ("formalsynth.families.own_program", "formalsynth.stan.generate")}
"""Modules behind own files that are not Python, by their endings."""


def sources(*modules: str) -> list[Path]:
    """Files of the package that any of the modules imports, directly or not, the modules themselves included.

    Late imports count, and so does the ``__init__.py`` of every package above a module: Python runs it, too. What is
    imported through a register does not: a job names those modules itself. A process reads each file once.

    Args:
        modules: dotted names inside the package, or absolute paths of files of own code.

    Returns:
        The files, sorted.

    Raises:
        ModuleNotFoundError: the package has no such module.
    """
    for module in modules:
        source_of(module)
    return list(_reached(modules, PACKAGE))


def source_of(module: str) -> Path:
    """The file of a module of the package, or of own code.

    Raises:
        ModuleNotFoundError: the package has no such module.
    """
    path = _file(module, PACKAGE)
    if path is None:
        raise ModuleNotFoundError(f"there is no module {module} in the package", name=module)
    return path


def code_digest(paths: Iterable[str | Path]) -> str:
    """The sha256 of what source files say, whenever they were written. A process reads each file once."""
    return hashlib.sha256("\n".join(_digest(Path(path)) for path in paths).encode()).hexdigest()


def check_code(paths: Iterable[str | Path], planned: str) -> None:
    """Check that source files say what they said when the run was planned; to be called before a job makes anything.

    A job runs the code that it finds, and its files would be labelled with that of the plan.

    Args:
        paths: the source files that the job depends on.
        planned: what :func:`code_digest` said of them.

    Raises:
        RuntimeError: one of them was edited, or the repository is at another commit.
    """
    if code_digest(paths) != planned:
        raise RuntimeError("the source files of this job were changed after the run had begun: give the same command again")


@functools.cache
def _digest(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


@functools.cache
def _reached(modules: tuple[str, ...], package: Path) -> tuple[Path, ...]:
    """The files of the modules and of all that they import, sorted."""
    found: dict[str, Path] = {}
    waiting = list(modules)
    while waiting:
        name = waiting.pop()
        path = _file(name, package)
        if path is not None and name not in found:
            found[name] = path
            waiting += _needed(name, path, package)
    return tuple(sorted(found.values()))


@functools.cache
def _needed(module: str, path: Path, package: Path) -> tuple[str, ...]:
    """The modules of the package that one of them imports, and the package that it is in."""
    if path.suffix in NEEDED:
        return NEEDED[path.suffix]
    outer = module.rpartition(".")[0]
    names = [outer, *_imported(ast.parse(path.read_text(encoding="utf-8")), module if path.name == "__init__.py" else outer)]
    return tuple(name for name in dict.fromkeys(names) if _file(name, package))


def _imported(tree: ast.Module, inside: str) -> Iterator[str]:
    """Every name that may be that of an imported module; ``inside`` is the package that relative imports start from."""
    for node in _statements(tree.body):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            above = inside.rsplit(".", node.level - 1)[:1] if node.level else []
            start = ".".join([*above, *([node.module] if node.module else [])])
            yield start
            # Each of these is a module or something inside one.
            yield from (f"{start}.{alias.name}" for alias in node.names)


def _statements(body: Iterable[ast.AST]) -> Iterator[ast.AST]:
    """Statements and those inside them; expressions, the larger part of a tree, hold no import."""
    for node in body:
        yield node
        for field in ("body", "orelse", "finalbody", "handlers", "cases"):
            inner = getattr(node, field, None)
            if isinstance(inner, list):
                yield from _statements(inner)


@functools.cache
def _file(module: str, package: Path) -> Path | None:
    """The file of a module, or None for what is neither a module of the package nor a file of own code."""
    if Path(module).is_absolute():
        return Path(module) if Path(module).suffix in (".py", *NEEDED) and Path(module).is_file() else None
    head, *rest = module.split(".")
    if head != "formalsynth":
        return None
    path = package.joinpath(*rest)
    candidates = [path / "__init__.py", *([path.with_name(f"{path.name}.py")] if rest else [])]
    return next((file for file in candidates if file.is_file()), None)
