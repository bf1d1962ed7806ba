"""Source files that a job depends on: the workflow reruns the job if, and only if, the code in one of them changes."""

from __future__ import annotations

import ast
import functools
import hashlib
import itertools
import re
from collections.abc import Iterable, Iterator
from pathlib import Path

from formalsynth.core.registry import PACKAGE as LIBRARY
from formalsynth_workflow import PACKAGE as WORKFLOW

PACKAGES = {folder.name: folder for folder in (LIBRARY, WORKFLOW)}
NEEDED = {".stan": ("formalsynth.families.own_program", "formalsynth.stan.generate")}
"""Modules that own files in languages other than Python need, by file extension."""
STAN_COMMENT = re.compile(r'(?P<string>"[^"\n]*")|//[^\n]*|/\*.*?\*/', re.DOTALL)
"""Comment of a Stan program, or a string, which may contain the characters that start a comment."""
BLOCKS = ("body", "orelse", "finalbody", "handlers", "cases")
"""Fields of a syntax tree with statements; expressions, the larger part of a tree, contain neither imports nor docstrings."""


def sources(*modules: str) -> list[Path]:
    """List the files of the package that any of the modules imports, directly or indirectly, including the modules themselves.

    Late imports count, and so does the ``__init__.py`` of every package above a module. Modules imported by a register do not
    count: a job names those itself.

    Args:
        modules: dotted names inside the package, or absolute paths of files of own code.

    Returns:
        The files, sorted.

    Raises:
        ModuleNotFoundError: the package has no such module.
    """
    reached = {module: source_of(module) for module in modules}
    waiting = list(reached.values())
    while waiting:
        path = waiting.pop()
        for name in NEEDED.get(path.suffix) or _parsed(path)[1]:
            if name not in reached and (imported := _file(name)):
                reached[name] = imported
                waiting.append(imported)
    return sorted(set(reached.values()))


def source_of(module: str) -> Path:
    """Return the file of a module of the package, or of own code.

    Raises:
        ModuleNotFoundError: the package has no such module.
    """
    path = Path(module) if Path(module).is_absolute() else _file(module)
    if path is None or not path.is_file():
        raise ModuleNotFoundError(f"there is no module {module} in the package", name=module)
    return path


def code_digest(paths: Iterable[str | Path]) -> str:
    """Compute the sha256 of files; of Python and Stan, without comments, and of Python, without docstrings and layout."""
    return hashlib.sha256("\n".join(map(_digest, map(Path, paths))).encode()).hexdigest()


def _digest(path: Path) -> str:
    if path.suffix == ".py":
        return _parsed(path)[0]
    content = path.read_bytes()
    if path.suffix == ".stan":
        code = STAN_COMMENT.sub(lambda match: match["string"] or " ", content.decode("latin-1"))
        content = "\n".join(line.rstrip() for line in code.splitlines() if line.strip()).encode()
    return hashlib.sha256(content).hexdigest()


@functools.cache
def _parsed(path: Path) -> tuple[str, tuple[str, ...]]:
    """Return the digest of a file's syntax tree without docstrings, and every possible name of a module that it imports."""
    tree = ast.parse(path.read_bytes())
    above = next(
        (path.parent.relative_to(folder.parent).parts for folder in PACKAGES.values() if path.is_relative_to(folder)), ()
    )
    names = list(itertools.accumulate(above, "{}.{}".format))
    for node in _statements(tree):
        if isinstance(node, ast.Import):
            names += [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):  # of a module, or of a name inside one
            names += [f"{node.module}", *(f"{node.module}.{alias.name}" for alias in node.names)]
    return hashlib.sha256(ast.dump(tree, annotate_fields=False).encode()).hexdigest(), tuple(dict.fromkeys(names))


def _statements(node: ast.AST) -> Iterator[ast.AST]:
    """Yield a node and the statements inside it, after removing docstrings."""
    yield node
    for field in BLOCKS:
        statements = getattr(node, field, [])
        statements[:] = [
            inner for inner in statements if not (isinstance(inner, ast.Expr) and isinstance(inner.value, ast.Constant))
        ]
        for inner in statements:
            yield from _statements(inner)


@functools.cache
def _file(module: str) -> Path | None:
    """Return the file of a module of the package; None for any other name."""
    head, *rest = module.split(".")
    path = PACKAGES.get(head, WORKFLOW).joinpath(*rest)
    candidates = (path / "__init__.py", path.with_suffix(".py")) if head in PACKAGES else ()
    return next(filter(Path.is_file, candidates), None)
