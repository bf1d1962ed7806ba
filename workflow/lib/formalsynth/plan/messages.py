"""What is said of config that cannot be used: which file, which key, what was given and what is allowed."""

from __future__ import annotations

import contextlib
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from difflib import get_close_matches
from pathlib import Path
from typing import Any, TypeVar

from pydantic import BaseModel, ValidationError

from formalsynth.core.kinds import UNKNOWN_KEY, allowed_keys
from formalsynth.core.model import PATTERNS
from formalsynth.core.text import FORMULA, UNSEEN, Sentence

LONGEST = 80
"""Characters of a value that a message shows."""
LONGEST_PATH = 300
"""Characters of a path of keys that a message shows."""
NEAR = 0.7
"""How like a name has to be, from 0 to 1, to be the one that was meant."""
Section = TypeVar("Section", bound=BaseModel)
Where = tuple[str, ...]


class ConfigError(Sentence):
    """Something in the config cannot be used; the message is for the person who wrote it."""


class Problems:
    """Collects what is wrong, so that all of it is told at once."""

    def __init__(self) -> None:
        """Start with none."""
        self._lines: list[str] = []

    @contextlib.contextmanager
    def catch(self) -> Iterator[None]:
        """Keep the message of a :class:`ConfigError` inside the block, and go on after it."""
        try:
            yield
        except ConfigError as error:
            self._lines += str(error).splitlines()

    def tell(self) -> None:
        """End here where anything was wrong.

        Raises:
            ConfigError: a line for each thing that is wrong.
        """
        if self._lines:
            raise ConfigError("\n".join(dict.fromkeys(self._lines)))


def blame_command_line(problems: str, file: Path, keys: Iterable[object]) -> str:
    """Messages about the run's config in which what the command line gave is blamed on ``--config``.

    Args:
        problems: a line for each problem.
        file: the run's config file.
        keys: keys that the command line gave.
    """
    given = "|".join(re.escape(str(key)) for key in keys)
    pattern = rf"^{re.escape(str(file))}: (?=(?:{given})\b)"
    return re.sub(pattern, "--config: ", problems, flags=re.MULTILINE) if given else problems


def validated(model: type[Section], values: object, file: Path, where: str = "") -> Section:
    """Values as a model.

    Args:
        model: what they have to be.
        values: contents of the file, or of a part of it.
        file: where they were given.
        where: path of keys to that part.

    Raises:
        ConfigError: a line for each thing that is wrong.
    """
    try:
        found = model.model_validate(values)
        wrong = [_Problem(path, f": given {given}", "Input should be a number") for path, given in _truth_values(values, found)]
    except ValidationError as error:
        wrong = [_problem(model, values, dict(each)) for each in error.errors(include_url=False)]
    wrong += _odd_texts(values)
    if wrong:
        raise ConfigError("\n".join(_lines(wrong, file, where)))
    return found


class _Problem:
    """One thing that is wrong."""

    def __init__(self, path: Where, given: str, allowed: str, other_kinds: bool = False) -> None:
        """Keep where it is, what was given, what is allowed, and whether values of other kinds are allowed, too."""
        self.path, self.given, self.allowed, self.other_kinds = path, given, allowed, other_kinds


def _lines(wrong: Sequence[_Problem], file: Path, where: str) -> Iterator[str]:
    found: dict[Where, dict[str, list[str]]] = {}
    paths = {problem.path for problem in wrong}
    for problem in wrong:
        # where a value may be a number or a list, what is wrong in the list says all
        path = problem.path
        if not (problem.other_kinds and any(path != other and path == other[: len(path)] for other in paths)):
            found.setdefault(path, {}).setdefault(problem.given, []).append(problem.allowed)
    for path, problems in found.items():
        key = ".".join([where, *path] if where else path) or "(whole file)"
        key = key if key.isprintable() and len(key) <= LONGEST_PATH else short(key)
        for given, allowed in problems.items():
            yield f"{file}: {key}{given}; {', or '.join(dict.fromkeys(allowed))}"


def _odd_texts(given: object, path: Where = ()) -> Iterator[_Problem]:
    """Text that would be more than text where it is shown, among values and keys."""
    if isinstance(given, str):
        if UNSEEN.search(given):
            yield _Problem(path, f": given {short(given)}", "Input should have no control characters")
        elif FORMULA.match(given):
            yield _Problem(path, f": given {short(given)}", "Input should not begin as a formula of a spreadsheet does")
    elif isinstance(given, dict):
        for key, value in given.items():
            yield from _odd_texts(key, path)
            yield from _odd_texts(value, (*path, str(key)))
    elif isinstance(given, list):
        for place, value in enumerate(given):
            yield from _odd_texts(value, (*path, str(place)))


def _truth_values(given: object, found: object, path: Where = ()) -> Iterator[tuple[Where, bool]]:
    """Where true or false were taken for a number."""
    if isinstance(given, bool) and isinstance(found, int | float) and not isinstance(found, bool):
        yield path, given
    elif isinstance(given, dict):
        for key, value in given.items():
            # a key that is a number may have become text
            inner = found.get(key, found.get(str(key))) if isinstance(found, dict) else getattr(found, str(key), None)
            yield from _truth_values(value, inner, (*path, str(key)))
    elif isinstance(given, list) and isinstance(found, list | tuple):
        for place, (value, inner) in enumerate(zip(given, found, strict=False)):
            yield from _truth_values(value, inner, (*path, str(place)))


def _problem(model: type[BaseModel], values: Any, error: Mapping[str, Any]) -> _Problem:
    """What is wrong, from what pydantic says of it."""
    location = error["loc"]
    path, here = [], values
    for place, part in enumerate(location):
        known = part in here if isinstance(here, dict) else isinstance(here, list) and part in range(len(here))
        if known:
            here = here[part]
        # other parts name the kind of value that was tried, or a key that is not there
        if known or (error["type"] == "missing" and place == len(location) - 1):
            path.append(str(part))
    given = "" if error["type"] == "missing" else f": given {short(error['input'])}"
    says = error["msg"].removeprefix("Value error, ")
    if error["type"] == "string_pattern_mismatch":
        says = f"Input should be {dict(PATTERNS.values())[error['ctx']['pattern']]}"
    if error["type"] == "extra_forbidden":
        says += f"; {allowed_keys(model, location[:-1])}"
    if error["type"] in ("extra_forbidden", UNKNOWN_KEY):
        says += meant(location[-1], says.partition("allowed keys: ")[2].split(", "))
    if error["type"] == "literal_error":
        says += meant(error["input"], re.findall(r"'([^']*)'", says))
    other_kinds = len(path) < len(location) and location[-1] != "[key]"
    return _Problem(tuple(path), given, says, other_kinds)


def short(value: object) -> str:
    """A value as it was given, cut where it is long."""
    try:
        text = repr(value)
    except ValueError:  # Python does not write integers of thousands of digits
        return "a number of thousands of digits"
    return cut(text, LONGEST)


def cut(text: object, longest: int = LONGEST_PATH) -> str:
    """The beginning of a text that is longer."""
    found = str(text)
    return found if len(found) <= longest else found[: longest - 3] + "..."


def message(file: Path, key: str, given: object, allowed: Iterable[object]) -> str:
    """The sentence about a name that is none of the allowed ones, with the one that may have been meant."""
    names = [str(name) for name in allowed]
    return f"{file}: {key}: given {short(given)}; allowed: {', '.join(names)}{meant(given, names)}"


def meant(given: object, names: Sequence[str]) -> str:
    """A question about the name that is most like a given one; empty where none is, or where it is there."""
    near = get_close_matches(given, names, 1, NEAR) if isinstance(given, str) and given not in names else []
    return f"; did you mean {near[0]}?" if near else ""


def check_unique(pairs: Iterable[tuple[int | str, str]]) -> None:
    """Check that no two sections have the same id; each is given as its id and where that stands.

    Raises:
        ConfigError: two have.
    """
    seen: dict[int | str, str] = {}
    for id, path in pairs:
        if id in seen:
            raise ConfigError(f"{path}: given {id!r}; it is already given at {seen[id]}, ids are never shared")
        seen[id] = path
