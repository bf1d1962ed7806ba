"""Folders that a process has for itself: gone when it has ended, or swept away by a later one when it was killed."""

from __future__ import annotations

import atexit
import contextlib
import glob
import os
import re
import shutil
import socket
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

STALE_SECONDS = 24 * 3600
"""Age at which a folder counts as left behind although its process, on another machine, cannot be asked."""


@contextlib.contextmanager
def scratch_folder(parent: Path, stem: str) -> Iterator[Path]:
    """A hidden folder in ``parent`` that no other process takes; those of the same stem that were left behind go first.

    Args:
        parent: made when it is absent.
        stem: what the folder is for.
    """
    parent.mkdir(parents=True, exist_ok=True)
    sweep(parent, stem)
    folder = parent / f".{stem}.{socket.gethostname()}-{os.getpid()}-{time.monotonic_ns()}"
    folder.mkdir(mode=0o700)
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def sweep(parent: Path, stem: str) -> list[Path]:
    """Remove the scratch folders whose stems begin like this and whose processes are gone; return what was removed."""
    ours = re.compile(rf"\..+\.{re.escape(socket.gethostname())}-(?P<process>\d+)-\d+")
    removed = []
    for folder in parent.glob(f".{glob.escape(stem)}*.*-[0-9]*-[0-9]*"):
        name = ours.fullmatch(folder.name)
        with contextlib.suppress(FileNotFoundError):  # its owner has just removed it
            old = time.time() - folder.stat().st_mtime > STALE_SECONDS
            if old or (name and not _alive(int(name["process"]))):
                shutil.rmtree(folder, ignore_errors=True)
                removed.append(folder)
    return removed


def own_temporary_folder() -> None:
    """Let the temporary files of this process and its children stand in a scratch folder, which goes when the process ends.

    It is below TMPDIR, or below ``/tmp`` where the name of TMPDIR has spaces, which make and CmdStan cannot work with.
    """
    given = tempfile.gettempdir()
    stack = contextlib.ExitStack()
    folder = stack.enter_context(scratch_folder(Path("/tmp" if re.search(r"[\s~]", given) else given), "formalsynth"))
    atexit.register(stack.close)
    os.environ["TMPDIR"] = tempfile.tempdir = str(folder)


def _alive(process: int) -> bool:
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True
