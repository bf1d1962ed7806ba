"""Compiled programs kept for the user, over all working folders: compiling one takes a quarter of a minute.

They are in ``formalsynth/stan`` of the user's cache folder (``XDG_CACHE_HOME``, by default ``~/.cache``). The name of each is a
checksum of everything that it was made from, so that none can be out of date; the folder may be deleted at any time.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import platform
import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path

from formalsynth.runtime.files import sealed, unbroken
from formalsynth.stan.install import compiler, version_of


def kept_folder() -> Path | None:
    """The folder of kept programs, the user's own; None where the user has no home, or others may write there."""
    try:
        cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
        folder = cache / "formalsynth" / "stan"
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        found = folder.stat()
    except (OSError, RuntimeError):
        return None
    # What is in it is run: a folder that somebody else can write to is no place for it.
    mine = found.st_uid == os.getuid() and not found.st_mode & 0o022
    return folder if cache.is_absolute() and mine and os.access(folder, os.W_OK) else None


def fingerprint(sources: Sequence[Path], cmdstan: Path, form: str) -> str:
    """A checksum of what a program is made from.

    Args:
        sources: the program, and the files of functions that it includes.
        cmdstan: folder of CmdStan, which programs keep to find its libraries.
        form: ``native``, ``portable`` or ``plain``.
    """
    local = cmdstan / "make" / "local"
    made_from = [
        *([path.name, hashlib.sha256(path.read_bytes()).hexdigest()] for path in sources),
        [str(cmdstan), version_of(cmdstan), local.read_text(encoding="utf-8") if local.exists() else ""],
        [form, platform.system(), platform.machine(), _compiler_version()],
        [os.environ.get(name, "") for name in ("CXX", "CXXFLAGS", "CPPFLAGS", "LDFLAGS", "STAN_THREADS")],
    ]
    return hashlib.sha256(json.dumps(made_from).encode()).hexdigest()


def _compiler_version() -> str:
    try:
        return subprocess.run([compiler(), "--version"], capture_output=True, text=True, check=False).stdout
    except OSError:
        return ""


def take(name: str, executable: Path) -> bool:
    """Copy a kept program, where there is one that is whole."""
    folder = kept_folder()
    if folder is None:
        return False
    try:
        if not (folder / f".{name}.sha256").exists():
            return False
        put(unbroken(folder / name), executable)
    except OSError:
        return False
    return True


def put(built: Path, executable: Path) -> None:
    """Copy a program to where it is run from, whole or not at all."""
    partial = executable.with_name(f".{executable.name}.partial")
    shutil.copy2(built, partial)
    partial.replace(executable)


def keep(name: str, executable: Path) -> None:
    """Keep a copy of a program; where that cannot be done, the next working folder compiles it once more."""
    folder = kept_folder()
    if folder is None:
        return
    with contextlib.suppress(OSError), sealed(folder / name) as partial:
        shutil.copy2(executable, partial)
