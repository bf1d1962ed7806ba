"""Download the real data files that have a public address: ``python -m formalsynth.data.fetch FOLDER``."""

from __future__ import annotations

import sys

from formalsynth.core.text import DataError
from formalsynth.data.files import FILES, fetch


def main() -> int:
    """Fetch every registered file; return 1 if one of them failed."""
    FILES.find()
    failed = False
    for name in FILES:
        try:
            print(fetch(name, sys.argv[1]))
        except DataError as error:
            print(error)
            failed = True
    return int(failed)


if __name__ == "__main__":
    sys.exit(main())
