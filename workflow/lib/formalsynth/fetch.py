"""Download the real data files that have a public address: ``python -m formalsynth.fetch FOLDER``."""

from __future__ import annotations

import sys

import formalsynth.studies  # noqa: F401 - registers the files that studies read
from formalsynth.datasets import DATASETS, TABLES, DataError, fetch


def main() -> int:
    """Fetch every registered file; 1 when one of them failed."""
    failed = False
    for name in DATASETS | TABLES:
        try:
            print(fetch(name, sys.argv[1]))
        except DataError as error:
            print(error)
            failed = True
    return int(failed)


if __name__ == "__main__":
    sys.exit(main())
