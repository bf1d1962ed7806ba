"""Comparison of the installed packages with the lock file: a different version may give different numbers.

``python -m formalsynth_workflow.jobs.locked`` checks only an environment that ``make`` made: users who install packages
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
"""Files in an environment that ``make`` made: the first exists once it is finished; the second names the folder it is for."""
PINNED = re.compile(r"^(?P<name>[\w.-]+)==(?P<version>[^\s;\\]+)(?![^\s;\\]| *;)", re.MULTILINE)
"""Package with its version in the lock file; packages that only some machines need do not match."""


def other_versions(environment: Path) -> Iterator[str]:
    """Yield a sentence about each package whose version differs from the lock file.

    Args:
        environment: ``sys.prefix`` of a Python; nothing is checked if ``make`` did not make it, or did not finish.
    """
    if (environment / STAMP).exists():
        lock = Path((environment / WHERE).read_text(encoding="utf-8").rstrip("\n"), LOCK_FILE)
        for pin in PINNED.finditer(lock.read_text(encoding="utf-8") if lock.exists() else ""):
            try:
                installed = version(pin["name"])
            except PackageNotFoundError:
                installed = "not installed"
            if installed != pin["version"]:
                yield f"{pin['name']} is {installed}, but {pin['version']} in {LOCK_FILE}"


if __name__ == "__main__":
    sys.exit("\n".join(other_versions(Path(sys.prefix))) or None)
