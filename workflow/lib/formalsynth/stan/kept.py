"""User's cache of compiled programs, shared by all working folders; compiling a program takes a quarter of a minute."""

from __future__ import annotations

import hashlib
import json
import os
import platform
import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path

from formalsynth.runtime.cache import keep, kept
from formalsynth.runtime.compiler import compiler
from formalsynth.stan.toolchain import version_of

KIND = "stan"
"""Kind of the files in the user's cache."""


def fingerprint(sources: Sequence[Path], cmdstan: Path, form: str) -> str:
    """Compute a checksum of everything that determines a compiled program.

    Args:
        sources: the program and the function files that it includes.
        cmdstan: folder of CmdStan, which is compiled into programs so that they find its libraries.
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
    """Copy a cached program; return False if there is no complete one."""
    cached = kept(KIND, name)
    if cached is None:
        return False
    try:
        put(cached, executable)
    except OSError:
        return False
    return True


def put(built: Path, executable: Path) -> None:
    """Copy a program to the place from which it is run, completely or not at all."""
    partial = executable.with_name(f".{executable.name}.partial")
    shutil.copy2(built, partial)
    partial.replace(executable)


def keep_program(name: str, executable: Path) -> None:
    """Cache a copy of a program; if that fails, the next working folder compiles the program again."""
    keep(KIND, name, lambda path: shutil.copy2(executable, path))
