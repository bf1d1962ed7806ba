"""Comparison of the installed packages with the lock file: another version may give other numbers.

``python -m formalsynth.runtime.locked`` checks the environment that ``make`` made, and no other: users who install packages
themselves have chosen their versions. The report lists the versions in any case.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

LOCK_FILE = "requirements.txt"
STAMP, WHERE = "complete", "where"
"""Files in an environment that ``make`` made: the first when it was finished; the second names the folder it is for."""
PINNED = re.compile(r"^(?P<name>[\w.-]+)==(?P<version>[^\s;\\]+)(?![^\s;\\]| *;)", re.MULTILINE)
"""Package with its version in the lock file; one that only some machines need does not match."""


def other_versions(environment: Path) -> Iterator[str]:
    """Yield a sentence about each package of another version than in the lock file.

    Args:
        environment: ``sys.prefix`` of a Python; nothing is checked where ``make`` did not make it, or did not finish.
    """
    if (environment / STAMP).exists():
        lock = Path((environment / WHERE).read_text(encoding="utf-8").rstrip("\n"), LOCK_FILE)
        for pin in PINNED.finditer(lock.read_text(encoding="utf-8") if lock.exists() else ""):
            try:
                installed = version(pin["name"])
            except PackageNotFoundError:
                installed = "not installed"
            if installed != pin["version"]:
                yield f"{pin['name']} is {installed}, and {pin['version']} in {LOCK_FILE}"


if __name__ == "__main__":
    sys.exit("\n".join(other_versions(Path(sys.prefix))) or None)
