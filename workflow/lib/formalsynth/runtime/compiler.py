"""The C++ compiler."""

from __future__ import annotations

import os
import shlex
import sys


def compiler() -> str:
    """C++ compiler that CmdStan's makefiles call, without flags."""
    return command()[0]


def command() -> list[str]:
    """Command of this compiler, such as ``ccache g++``."""
    default = "clang++" if sys.platform == "darwin" else "g++"
    return shlex.split(os.environ.get("CXX", "")) or [default]
