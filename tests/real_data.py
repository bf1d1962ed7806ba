"""Real data files that a test needs."""

import os
from pathlib import Path

import pytest


def needs(*files: str) -> pytest.MarkDecorator:
    """Mark a test that is left out, with the names of the files, if they are not here."""
    folder = os.environ.get("FORMALSYNTH_DATA", "resources")
    absent = [file for file in files if not (Path(folder) / file).is_file()]
    return pytest.mark.skipif(bool(absent), reason=f"{', '.join(absent)} not in {folder} (FORMALSYNTH_DATA)")
