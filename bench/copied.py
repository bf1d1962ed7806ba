"""Copy of the repository for running the workflow."""

import shutil
from pathlib import Path

ROOT = Path(__file__).parents[1]
PARTS = ("Snakefile", "config", "profiles", "resources", "stan", "workflow")
"""Files and folders that a run reads."""


def copied(folder: str) -> Path:
    """Copy all files that a run reads into a folder, without results of earlier runs."""
    copy = Path(folder, "copy")
    copy.mkdir()
    for name in PARTS:
        source = ROOT / name
        if source.is_dir():
            shutil.copytree(source, copy / name, ignore=shutil.ignore_patterns(".*", "__pycache__"))
        else:
            shutil.copy(source, copy / name)
    return copy
