"""Whether the packages that are installed are those of the lock file: another version may give other numbers.

``python -m formalsynth.runtime.locked`` asks this of the environment that ``make`` made, and of no other: who has packages from
elsewhere has chosen their versions. The report tells the versions in any case.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

LOCK_FILE = "requirements.txt"
STAMP, WHERE = "complete", "where"
"""Files in an environment that ``make`` made: that it was finished, and the folder that it is for."""
PINNED = re.compile(r"^(?P<name>[\w.-]+)==(?P<version>[^\s;\\]+)(?![^\s;\\]| *;)", re.MULTILINE)
"""A package with its version, in the lock file; one that only some machines need is passed over."""


def other_versions(environment: Path) -> Iterator[str]:
    """A sentence about each package of another version than the lock file has.

    Args:
        environment: ``sys.prefix`` of a Python; one that ``make`` did not make, or did not finish, has none.
    """
    if (environment / STAMP).exists():
        lock = Path((environment / WHERE).read_text(encoding="utf-8").rstrip("\n"), LOCK_FILE)
        pinned = PINNED.finditer(lock.read_text(encoding="utf-8")) if lock.exists() else []
        for found in pinned:
            installed = _installed(found["name"])
            if installed != found["version"]:
                yield f"{found['name']} is {installed or 'not installed'}, and {found['version']} in {LOCK_FILE}"


def _installed(name: str) -> str:
    try:
        return version(name)
    except PackageNotFoundError:
        return ""


def main() -> int:
    """Print what is of another version; 1 where something is."""
    others = list(other_versions(Path(sys.prefix)))
    print(*others, sep="\n", end="\n" if others else "")
    return int(bool(others))


if __name__ == "__main__":
    sys.exit(main())
