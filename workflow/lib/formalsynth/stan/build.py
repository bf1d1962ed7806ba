"""Compilation of a Stan program for a waiting user."""

from __future__ import annotations

import contextlib
import io
from pathlib import Path

from formalsynth.core.progress import tell
from formalsynth.stan.compile import compile_program


def build(source: Path, executable: Path, cmdstan: Path) -> None:
    """Compile a program and print one line about it.

    Args:
        source: the program.
        executable: path of the executable to write.
        cmdstan: folder of CmdStan.

    Raises:
        OSError: memory or disk space is short.
        RuntimeError: the program does not compile, with the compiler's message.
    """
    tell(f"Compiling {source.name} (about half a minute, unless it was compiled before)")
    with contextlib.redirect_stdout(io.StringIO()):
        compile_program(source, executable, cmdstan)
