"""Commit of the code that makes a file."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path


def commit(folder: Path) -> str:
    """Short hash of the checkout at ``folder``, with a note if tracked files were changed; ``unknown`` without a checkout."""
    # Git hooks set variables such as GIT_DIR, which would point to another repository.
    environment = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}

    def git(*arguments: str) -> str:
        command = ["git", "-C", str(folder), *arguments]
        return subprocess.run(command, capture_output=True, text=True, check=True, env=environment).stdout.strip()

    try:
        # The files may have been unpacked inside an unrelated repository.
        if git("rev-parse", "--show-prefix"):
            return "unknown"
        head = git("rev-parse", "--short", "HEAD")
        return f"{head}, with uncommitted changes" if git("status", "--porcelain", "--untracked-files=no") else head
    except (OSError, subprocess.CalledProcessError):
        return "unknown"
