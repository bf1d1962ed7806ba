"""What every job does first."""

from __future__ import annotations

import os
import sys
from pathlib import Path


def log_to(path: str | Path) -> None:
    """Send everything that this process and its children print, a traceback included, to a job's log file."""
    Path(path).parent.mkdir(parents=True, exist_ok=True)
    sys.stdout.flush()
    sys.stderr.flush()
    with open(path, "wb") as file:
        os.dup2(file.fileno(), 1)
        os.dup2(file.fileno(), 2)
