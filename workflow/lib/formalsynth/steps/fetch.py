"""Download the real data files that have a public address: ``python -m formalsynth.steps.fetch FOLDER``."""

from __future__ import annotations

import hashlib
import sys
import urllib.request
from pathlib import Path

from formalsynth.core.data_files import FILES, find
from formalsynth.core.text import DataError
from formalsynth.runtime.files import whole


def fetch(name: str, folder: str | Path) -> str:
    """Download a data file into ``folder`` unless it exists; return the result as a sentence.

    Raises:
        DataError: the download fails or is not the published file.
    """
    dataset = FILES[name]
    if find(name, folder):
        return f"{dataset.file}: already there"
    if not dataset.url:
        return f"{dataset.file}: has to be downloaded by hand ({dataset.source}); put it into {folder}"
    try:
        with urllib.request.urlopen(dataset.url, timeout=60) as response:
            content = response.read()
    except OSError as error:
        raise DataError(f"{dataset.file}: {dataset.url} cannot be read ({error}); put the file into {folder} by hand") from error
    sha256 = hashlib.sha256(content).hexdigest()
    if sha256 != dataset.sha256:
        raise DataError(f"{dataset.file}: sha256 of the download is {sha256}, the published file has {dataset.sha256}")
    with whole(Path(folder) / dataset.file) as partial:
        partial.write_bytes(content)
    return f"{dataset.file}: downloaded"


def main() -> int:
    """Download every registered file; return 1 if a download failed."""
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
