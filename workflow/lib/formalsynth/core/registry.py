"""Registers of names in config: mechanisms, families, populations, studies, kinds of figures and so on.

A register has patterns for the package's files that define its entries. The plan imports them all; a job imports only the
modules that its scenario names, so nothing else can rerun it. A user's own file can be in any folder: its absolute path is used
as the module's name, and :func:`load` runs it.
"""

from __future__ import annotations

import contextlib
import importlib
import sys
import weakref
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from types import ModuleType
from typing import Any, Generic, TypeVar, cast

PACKAGE = Path(__file__).parents[1]
Entry = TypeVar("Entry")
Registered = TypeVar("Registered", bound=Callable[..., Any])


class DuplicateError(ValueError):
    """Error for two entries with the same name or number; the message names the places of both."""


class OwnCodeError(ValueError):
    """Error for an invalid file of a user's own code; the message names the line and the reason."""


class Registry(Mapping[str, Entry], Generic[Entry]):
    """Entries by name, ordered by the files that define them, not by import."""

    def __init__(self, what: str, *files: str, package: Path = PACKAGE) -> None:
        """Make an empty register.

        Args:
            what: noun for an entry in messages.
            files: patterns of the files with entries, relative to the package.
            package: folder of the package.
        """
        self.what = what
        self._files = [(package, pattern) for pattern in files]
        self._entries: dict[str, Entry] = {}
        self._modules: dict[str, str] = {}
        _EVERY.add(self)

    def add(self, name: str, entry: Entry, module: str) -> None:
        """Register an entry.

        Args:
            name: name in config.
            entry: entry to add.
            module: dotted name of the module that defines it.

        Raises:
            DuplicateError: the name is taken.
        """
        if name in self._entries:
            raise DuplicateError(f"two {self.what} entries have the name {name!r}: {self._modules[name]} and {module}")
        self._entries[name] = entry
        self._modules[name] = module

    def register(self, name: str) -> Callable[[Registered], Registered]:
        """Return a decorator that adds a class or function under a name.

        Raises:
            DuplicateError: the name is taken.
        """

        def add(entry: Registered) -> Registered:
            self.add(name, cast("Entry", entry), entry.__module__)
            return entry

        return add

    def module(self, name: str) -> str:
        """Return the dotted name of the module that defines an entry."""
        return self._modules[name]

    def find(self, *more: tuple[Path, str]) -> None:
        """Import every module that may define entries.

        Args:
            more: folders of other packages, each with a pattern of files.
        """
        places = [*self._files, *more]
        load(module_name(path, package) for package, pattern in places for path in sorted(package.glob(pattern)))

    def modules(self) -> set[str]:
        """Return the modules that define its entries."""
        return set(self._modules.values())

    def of(self, module: str) -> list[str]:
        """Return the names of the entries that a module defines."""
        return [name for name, defined_in in self._modules.items() if defined_in == module]

    def forget(self, module: str) -> None:
        """Forget the entries that a module defines."""
        for name in self.of(module):
            del self._entries[name], self._modules[name]

    @contextlib.contextmanager
    def trial(self) -> Iterator[None]:
        """Remove the entries registered inside the block when it ends."""
        entries, modules = dict(self._entries), dict(self._modules)
        try:
            yield
        finally:
            self._entries, self._modules = entries, modules

    # Registers are compared by identity, not by their present entries.
    __eq__ = object.__eq__
    __hash__ = object.__hash__

    def __getitem__(self, name: str) -> Entry:
        return self._entries[name]

    def __iter__(self) -> Iterator[str]:
        return iter(sorted(self._entries, key=self._modules.__getitem__))

    def __len__(self) -> int:
        return len(self._entries)


READERS = {".stan": "formalsynth.families.own_program"}
"""Modules whose ``register`` reads own files that are not Python, by file suffix."""
_EVERY: weakref.WeakSet[Registry[Any]] = weakref.WeakSet()
"""All registers."""


def load(modules: Iterable[str]) -> None:
    """Import modules by name and run files of own code by path, which registers their entries.

    Raises:
        OwnCodeError: a file of own code cannot be run.
        DuplicateError: it registers a name that already exists.
    """
    for module in modules:
        if is_own(module) and Path(module).suffix in READERS:
            _read(Path(module))
        elif is_own(module):
            _run(Path(module))
        else:
            importlib.import_module(module)


def is_own(module: str) -> bool:
    """Return True if the name of a module is the path of a user's own file."""
    return module.startswith("/")  # a Path of each module takes a hundred times as long


def forget_own() -> None:
    """Forget all own code and its entries."""
    defining = {module for register in _EVERY for module in register.modules()}
    for module in [module for module in {*sys.modules, *defining} if is_own(module)]:
        _forget(module)


def _read(path: Path) -> None:
    """Register a file of another language."""
    try:
        importlib.import_module(READERS[path.suffix]).register(path)
    except (OSError, UnicodeDecodeError) as error:
        raise OwnCodeError(f"cannot be read: {error}") from error


def _run(path: Path) -> None:
    """Run a file of own code once, as a module named by its path; its entries refer to that name."""
    name = str(path)
    if name in sys.modules:
        return
    module = ModuleType(name)
    module.__file__ = name
    sys.modules[name] = module
    try:
        # Python's own loader would write compiled code next to the file, and could run an older version
        exec(compile(path.read_text(encoding="utf-8"), name, "exec", dont_inherit=True), module.__dict__)
    except DuplicateError:
        _forget(name)
        raise
    except KeyboardInterrupt:
        _forget(name)
        raise
    except BaseException as error:  # also SystemExit, which would make the run appear successful
        _forget(name)
        raise OwnCodeError(_complaint(path, error)) from error


def _forget(module: str) -> None:
    """Forget a file of own code and its entries."""
    sys.modules.pop(module, None)
    for register in _EVERY:
        register.forget(module)


def _complaint(path: Path, error: BaseException) -> str:
    """Return the reason why a file could not be run, with the last line reached."""
    lines = [error.lineno] if isinstance(error, SyntaxError) and error.filename == str(path) else []
    step = error.__traceback__
    while step is not None:
        if step.tb_frame.f_code.co_filename == str(path):
            lines.append(step.tb_lineno)
        step = step.tb_next
    where = f"line {lines[-1]}: " if lines else ""
    try:
        words = " ".join(str(error).split())
    except Exception:  # the message comes from own code
        words = "its message cannot be shown"
    reason = f"{where}{type(error).__name__}: {words}"
    sibling = path.parent / f"{getattr(error, 'name', None)}.py"
    if isinstance(error, ModuleNotFoundError) and sibling.is_file():
        reason += f"; own code cannot import {sibling.name} from the same folder: put both into one file"
    return reason


def module_name(path: Path, package: Path = PACKAGE) -> str:
    """Return the dotted name of a module of a package."""
    parts = path.relative_to(package.parent).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)
