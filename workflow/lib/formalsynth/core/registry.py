"""Registers of what can be named in config: mechanisms, families, populations, studies, kinds of figures and so on.

A register knows in which files of the package its entries are written. The plan imports them all; a job imports only the
modules that its scenario names, so that nothing else can make it run again.
"""

from __future__ import annotations

import contextlib
import importlib
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Generic, TypeVar

PACKAGE = Path(__file__).parents[1]
Entry = TypeVar("Entry")


class DuplicateError(ValueError):
    """Two things were registered under one name or number; the message says where both are."""


class Registry(Mapping[str, Entry], Generic[Entry]):
    """Entries by name, in the order of the files that define them, whatever was imported first."""

    def __init__(self, what: str, *files: str) -> None:
        """Make an empty register.

        Args:
            what: what an entry is, for messages.
            files: patterns of the files that hold entries, relative to the package.
        """
        self.what = what
        self._files = files
        self._entries: dict[str, Entry] = {}
        self._modules: dict[str, str] = {}

    def add(self, name: str, entry: Entry, module: str) -> None:
        """Register an entry.

        Args:
            name: what config calls it.
            entry: the entry.
            module: dotted name of the module that defines it.

        Raises:
            DuplicateError: the name is taken.
        """
        if name in self._entries:
            raise DuplicateError(f"two {self.what} entries have the name {name!r}: {self._modules[name]} and {module}")
        self._entries[name] = entry
        self._modules[name] = module

    def module(self, name: str) -> str:
        """Dotted name of the module that defines an entry."""
        return self._modules[name]

    def find(self) -> None:
        """Import every module of the package that may hold entries."""
        load(module_name(path) for pattern in self._files for path in sorted(PACKAGE.glob(pattern)))

    @contextlib.contextmanager
    def trial(self) -> Iterator[None]:
        """Forget at the end of the block what was registered inside it."""
        entries, modules = dict(self._entries), dict(self._modules)
        try:
            yield
        finally:
            self._entries, self._modules = entries, modules

    # A register is itself and no other, whatever it holds at the moment.
    __eq__ = object.__eq__
    __hash__ = object.__hash__

    def __getitem__(self, name: str) -> Entry:
        return self._entries[name]

    def __iter__(self) -> Iterator[str]:
        return iter(sorted(self._entries, key=self._modules.__getitem__))

    def __len__(self) -> int:
        return len(self._entries)


def load(modules: Iterable[str]) -> None:
    """Import modules by name, which registers what they define."""
    for module in modules:
        importlib.import_module(module)


def module_name(path: Path) -> str:
    """Dotted name of a module of the package."""
    parts = path.relative_to(PACKAGE.parent).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)
