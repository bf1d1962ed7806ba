"""Source files that a job depends on: the workflow reruns the job if, and only if, the code in one of them changes."""

from __future__ import annotations

import ast
import contextlib
import functools
import hashlib
import io
import re
import sys
import tokenize
from collections.abc import Iterable, Iterator
from pathlib import Path

PACKAGE = Path(__file__).parents[1]
NEEDED = {".stan": ("formalsynth.families.own_program", "formalsynth.stan.generate")}
"""Modules that own files in languages other than Python need, by file extension."""
STAN_COMMENT = re.compile(r'(?P<string>"[^"\n]*")|//[^\n]*|/\*.*?\*/', re.DOTALL)
"""Comment of a Stan program, or a string, which may contain the characters that start a comment."""


def sources(*modules: str) -> list[Path]:
    """List the files of the package that any of the modules imports, directly or indirectly, including the modules themselves.

    Late imports count, and so does the ``__init__.py`` of every package above a module, because Python runs it too. Modules
    imported by a register do not count: a job names those itself. A process reads each file once.

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
    """Return the file of a module of the package, or of own code.

    Raises:
        ModuleNotFoundError: the package has no such module.
    """
    path = _file(module, PACKAGE)
    if path is None:
        raise ModuleNotFoundError(f"there is no module {module} in the package", name=module)
    return path


def code_digest(paths: Iterable[str | Path]) -> str:
    """Compute the sha256 of source files, ignoring comments in Python and Stan. A process reads each file once."""
    return hashlib.sha256("\n".join(_digest(Path(path)) for path in paths).encode()).hexdigest()


def read_loaded_modules() -> None:
    """Read the files of all modules of the package that are loaded, so that forks of this process need not."""
    code_digest(sources(*(name for name in list(sys.modules) if _file(name, PACKAGE))))


def look_again() -> None:
    """Search for files again, and read those again that were written since: a fork that becomes a job calls this."""
    for cached in (_file, _reached, _version):
        cached.cache_clear()


@functools.cache
def _version(path: Path) -> tuple[int, int, int]:
    """Return what becomes different when a file is written."""
    status = path.stat()
    return status.st_mtime_ns, status.st_size, status.st_ino


def _digest(path: Path) -> str:
    return _digest_of(path, _version(path))


@functools.cache
def _digest_of(path: Path, version: tuple[int, int, int]) -> str:
    content = path.read_bytes()
    with contextlib.suppress(SyntaxError, UnicodeDecodeError, tokenize.TokenError):
        if path.suffix == ".stan":
            content = _stan_without_comments(content.decode()).encode()
        elif path.suffix == ".py" and b"#" in content:
            content = _python_without_comments(content.decode()).encode()
    return hashlib.sha256(content).hexdigest()


def _stan_without_comments(text: str) -> str:
    """Drop Stan comments, empty lines, and spaces at the end of lines."""
    code = STAN_COMMENT.sub(lambda match: match["string"] or " ", text)
    return "\n".join(line.rstrip() for line in code.splitlines() if line.strip())


def _python_without_comments(text: str) -> str:
    """Drop Python comments, and lines that contain nothing else; by tokens, since a line of a string may look like a comment."""
    lines = io.StringIO(text).readlines()
    for token in tokenize.generate_tokens(iter(lines).__next__):
        if token.type == tokenize.COMMENT:
            row, column = token.start[0] - 1, token.start[1]
            code = lines[row][:column].rstrip()
            lines[row] = f"{code}\n" if code else ""
    return "".join(lines)


@functools.cache
def _reached(modules: tuple[str, ...], package: Path) -> tuple[Path, ...]:
    """Return the files of the modules and of everything that they import, sorted; C++ code of a module has the module's name."""
    reached: dict[str, Path] = {}
    waiting = list(modules)
    while waiting:
        name = waiting.pop()
        path = _file(name, package)
        if path is not None and name not in reached:
            reached[name] = path
            waiting += _needed(name, path, _version(path))
    compiled = (path.with_suffix(".cpp") for path in reached.values())
    return tuple(sorted([*reached.values(), *(path for path in compiled if path.is_file())]))


@functools.cache
def _needed(module: str, path: Path, version: tuple[int, int, int]) -> tuple[str, ...]:
    """Return every possible name of a module that a module imports, and the package that contains it."""
    if path.suffix in NEEDED:
        return NEEDED[path.suffix]
    outer = module.rpartition(".")[0]
    names = [outer, *_imported(ast.parse(path.read_text(encoding="utf-8")), module if path.name == "__init__.py" else outer)]
    return tuple(dict.fromkeys(names))


def _imported(tree: ast.Module, inside: str) -> Iterator[str]:
    """Yield every possible name of an imported module; relative imports start from the package ``inside``."""
    for node in _statements(tree.body):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            above = inside.rsplit(".", node.level - 1)[:1] if node.level else []
            start = ".".join([*above, *([node.module] if node.module else [])])
            yield start
            # A module, or a name inside one.
            yield from (f"{start}.{alias.name}" for alias in node.names)


def _statements(body: Iterable[ast.AST]) -> Iterator[ast.AST]:
    """Yield statements and those inside them; expressions, the larger part of a tree, contain no imports."""
    for node in body:
        yield node
        for field in ("body", "orelse", "finalbody", "handlers", "cases"):
            inner = getattr(node, field, None)
            if isinstance(inner, list):
                yield from _statements(inner)


@functools.cache
def _file(module: str, package: Path) -> Path | None:
    """Return the file of a module; None for a name that is neither a module of the package nor a file of own code."""
    if Path(module).is_absolute():
        return Path(module) if Path(module).suffix in (".py", *NEEDED) and Path(module).is_file() else None
    head, *rest = module.split(".")
    if head != "formalsynth":
        return None
    path = package.joinpath(*rest)
    candidates = [path / "__init__.py", *([path.with_name(f"{path.name}.py")] if rest else [])]
    return next((file for file in candidates if file.is_file()), None)
