"""Messages about invalid config: the file, the key, the given value and the allowed ones."""

from __future__ import annotations

import contextlib
import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from difflib import get_close_matches
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

from pydantic import BaseModel, ValidationError

from formalsynth.core.kinds import UNKNOWN_KEY, allowed_keys
from formalsynth.core.model import PATTERNS
from formalsynth.core.text import FORMULA, UNSEEN, Sentence

LONGEST = 80
"""Maximum number of characters of a value shown in a message."""
LONGEST_PATH = 300
"""Maximum number of characters of a config path shown in a message."""
ALLOWED = "; allowed: "
"""Text before the list of allowed values in a message."""
NEAR = 0.7
"""Smallest similarity, from 0 to 1, at which a name is suggested."""
Config = TypeVar("Config", bound=BaseModel)
Where = tuple[str, ...]


class ConfigError(Sentence):
    """Error for config that cannot be used; the message is for the person who wrote it."""


class Problems:
    """Collector of problems, which are then reported all at once."""

    def __init__(self) -> None:
        """Start with none."""
        self._lines: list[str] = []

    @contextlib.contextmanager
    def catch(self) -> Iterator[None]:
        """Record the message of a :class:`ConfigError` raised in the block, and continue after it."""
        try:
            yield
        except ConfigError as error:
            self._lines += str(error).splitlines()

    def report(self) -> None:
        """Raise an error if there was any problem.

        Raises:
            ConfigError: with a line for each problem.
        """
        if self._lines:
            raise ConfigError("\n".join(_with_lists_once(dict.fromkeys(self._lines))))


def _with_lists_once(lines: Iterable[str]) -> Iterator[str]:
    """Yield messages in which a long list of allowed values is written out only once, and later cut short."""
    seen: set[str] = set()
    for line in lines:
        head, _, allowed = line.partition(ALLOWED)
        repeated = len(allowed) > LONGEST and allowed in seen
        seen.add(allowed)
        yield f"{head}{ALLOWED}{cut(allowed, LONGEST)} (listed above)" if repeated else line


def blame_command_line(problems: str, file: Path, keys: Iterable[object]) -> str:
    """Return messages about the run's config that name ``--config`` for values given on the command line.

    Args:
        problems: a line for each problem.
        file: the run's config file.
        keys: keys given on the command line.
    """
    given = "|".join(re.escape(str(key)) for key in keys)
    pattern = rf"^{re.escape(str(file))}: (?=(?:{given})\b)"
    return re.sub(pattern, "--config: ", problems, flags=re.MULTILINE) if given else problems


def validated(model: type[Config], values: object, file: Path, where: str = "") -> Config:
    """Validate values as a model.

    Args:
        model: the model to validate against.
        values: contents of the file, or of a part of it.
        file: the file that contains them.
        where: config path of that part.

    Raises:
        ConfigError: with a line for each problem.
    """
    try:
        settings, wrong = model.model_validate(values), list[_Problem]()
    except ValidationError as error:
        settings, wrong = None, [_problem(model, values, dict(details)) for details in error.errors(include_url=False)]
    wrong += _odd(values, settings)
    if settings is None or wrong:
        raise ConfigError("\n".join(_lines(wrong, file, where)))
    return settings


class _Problem(NamedTuple):
    """A value that cannot be used."""

    path: Where
    given: str
    allowed: str
    other_kinds: bool = False
    """True if values of other kinds are allowed, too."""


def _lines(wrong: Sequence[_Problem], file: Path, where: str) -> Iterator[str]:
    by_path: dict[Where, dict[str, list[str]]] = {}
    paths = {problem.path for problem in wrong}
    for problem in wrong:
        # if a value may be a number or a list, the problems inside the list are enough
        inner = any(problem.path != path and problem.path == path[: len(problem.path)] for path in paths)
        if not (problem.other_kinds and inner):
            by_path.setdefault(problem.path, {}).setdefault(problem.given, []).append(problem.allowed)
    for path, problems in by_path.items():
        key = ".".join([where, *path] if where else path)
        key = key if key.isprintable() and len(key) <= LONGEST_PATH else short(key)
        for given, allowed in problems.items():
            place = f"{key}{given}; " if key or given else ""  # rules about several keys name them
            yield f"{file}: {place}{', or '.join(dict.fromkeys(allowed))}"


def _odd(given: object, read: object, path: Where = ()) -> Iterator[_Problem]:
    """Yield problems for truth values read as numbers, and for text that a terminal or a spreadsheet would not treat as text."""
    if isinstance(given, str):
        wrong = "have no control characters" if UNSEEN.search(given) else "not start like a spreadsheet formula"
        if UNSEEN.search(given) or FORMULA.match(given):
            yield _Problem(path, f": given {short(given)}", f"Input should {wrong}")
    elif isinstance(given, bool) and isinstance(read, int | float) and not isinstance(read, bool):
        yield _Problem(path, f": given {given}", "Input should be a number")
    elif isinstance(given, dict):
        for key, value in given.items():
            # a numeric key may have become text
            inner = read.get(key, read.get(str(key))) if isinstance(read, dict) else getattr(read, str(key), None)
            yield from (*_odd(key, key, path), *_odd(value, inner, (*path, str(key))))
    elif isinstance(given, list):
        for place, value in enumerate(given):
            inner = read[place] if isinstance(read, list | tuple) and place < len(read) else None
            yield from _odd(value, inner, (*path, str(place)))


def _problem(model: type[BaseModel], values: Any, error: Mapping[str, Any]) -> _Problem:
    """Make a problem from a pydantic error."""
    location, kind = error["loc"], error["type"]
    path = _path(values, location, absent=kind == "missing")
    given = "" if kind == "missing" or not path else f": given {short(error['input'])}"
    other_kinds = len(path) < len(location) and location[-1] != "[key]"
    return _Problem(path, given, _allowed(model, error), other_kinds)


def _path(values: Any, location: Sequence[str | int], absent: bool) -> Where:
    """Return the keys in a location; its other parts name the kind of value that was tried, or a missing key."""
    path, here = [], values
    for place, part in enumerate(location):
        known = part in here if isinstance(here, dict) else isinstance(here, list) and part in range(len(here))
        if known:
            here = here[part]
        if known or (absent and place == len(location) - 1):
            path.append(str(part))
    return tuple(path)


def _allowed(model: type[BaseModel], error: Mapping[str, Any]) -> str:
    """Return a sentence about the allowed values, with a suggested name if one is similar."""
    location, kind = error["loc"], error["type"]
    sentence: str = error["msg"].removeprefix("Value error, ")
    if kind == "string_pattern_mismatch":
        return f"Input should be {dict(PATTERNS.values())[error['ctx']['pattern']]}"
    if kind == "literal_error":
        return sentence + meant(error["input"], re.findall(r"'([^']*)'", sentence))
    if kind == "string_type" and isinstance(error["input"], bool | int | float | date):
        sentence += ", in quotes: without them YAML reads it as another value"
    if kind == "list_type" and isinstance(error["input"], str | int | float):
        sentence += f", such as [{cut(error['input'], LONGEST)}]"
    if kind == "extra_forbidden":
        sentence += f"; {allowed_keys(model, location[:-1])}"
    if kind in ("extra_forbidden", UNKNOWN_KEY):
        sentence += meant(location[-1], sentence.partition("allowed keys: ")[2].split(", "))
    return sentence


def short(value: object) -> str:
    """Write a value as it was given, cut if it is long."""
    try:
        text = repr(value)
    except ValueError:  # Python does not print integers with thousands of digits
        return "a number with thousands of digits"
    return cut(text, LONGEST)


def cut(text: object, longest: int = LONGEST_PATH) -> str:
    """Cut a long text."""
    whole = str(text)
    return whole if len(whole) <= longest else whole[: longest - 3] + "..."


def refusal(file: Path, key: str, given: object, allowed: Iterable[object]) -> ConfigError:
    """Return an error about a value that is not allowed, with a suggested name if one is similar."""
    names = [str(name) for name in allowed]
    return ConfigError(f"{file}: {key}: given {short(given)}{ALLOWED}{', '.join(names)}{meant(given, names)}")


@dataclass(frozen=True)
class Section:
    """Section of a config file, to be checked against the registers, other sections or data."""

    file: Path
    where: str
    """Config path of the section."""

    def refuse(self, key: str, given: object, allowed: Iterable[object]) -> ConfigError:
        """Return an error about one key of the section."""
        return refusal(self.file, f"{self.where}.{key}", given, allowed)

    def check_names(self, key: str, given: Iterable[object], allowed: Collection[object], none: str = "") -> None:
        """Check that every name is allowed.

        Args:
            key: the key that contains the names.
            given: the names.
            allowed: the allowed names.
            none: text listed in the message if no name is allowed.

        Raises:
            ConfigError: a name is not allowed.
        """
        for name in given:
            if name not in allowed:
                raise self.refuse(key, name, allowed or [none])


def meant(given: object, names: Sequence[str]) -> str:
    """Return a question that suggests the most similar name; empty if none is similar, or if the given name exists."""
    near = get_close_matches(given, names, 1, NEAR) if isinstance(given, str) and given not in names else []
    return f"; did you mean {near[0]}?" if near else ""


def check_unique(pairs: Iterable[tuple[int | str, str]]) -> None:
    """Check that no two sections have the same id; each is given as its id and its place.

    Raises:
        ConfigError: two sections have the same id.
    """
    seen: dict[int | str, str] = {}
    for id, path in pairs:
        if id in seen:
            raise ConfigError(f"{path}: given {id!r}; it is already used at {seen[id]}, and ids are never shared")
        seen[id] = path
