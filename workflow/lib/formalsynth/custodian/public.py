"""Public side of a release: computes the whole folder from a crossing, in a separate process that can open nothing else."""

from __future__ import annotations

import ctypes
import functools
import os
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Sequence
from importlib import metadata
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from formalsynth import __version__
from formalsynth.core.family import FAMILIES, Predictor, program, program_name
from formalsynth.core.progress import show_progress, tell
from formalsynth.core.registry import PACKAGE, REPOSITORY, load
from formalsynth.core.text import DataError, Sentence
from formalsynth.custodian.crossing import AS_IS, CROSSING, REHEARSED, Crossing, Declarations, names, read_crossing
from formalsynth.custodian.expected_parts import check_parts
from formalsynth.custodian.intervals import TASK
from formalsynth.custodian.release_folder import seal, unique_rows, write
from formalsynth.custodian.sandbox import confine, modules
from formalsynth.custodian.synthetic_sets import MadeUpOutcomes
from formalsynth.plan.model import find_all
from formalsynth.stan.compile import CmdStanError, build
from formalsynth.stan.generate import generate
from formalsynth.stan.install import ensure

if TYPE_CHECKING:
    import pandas as pd

LIBRARIES = ("numpy", "scipy", "pandas", "matplotlib", "opendp")
"""Libraries that affect the bytes of a release, including the one that draws the noise."""
START = (
    "import sys; sys.path.insert(0, sys.argv.pop()); from formalsynth.custodian.public import main; sys.exit(main(*sys.argv[1:]))"
)
version = functools.cache(metadata.version)
"""Version of an installed library."""
PARENT_DEATH_SIGNAL = 1
"""Option of Linux's ``prctl`` that sets the signal sent when the parent dies."""
THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")
KERNEL = "Nehalem"
"""OpenBLAS kernels that run on every x86-64 processor that numpy supports; other kernels order sums differently."""


def software() -> dict[str, str]:
    """Return the versions of the software that affects the bytes of a release."""
    python = ".".join(map(str, sys.version_info[:3]))
    return {"formalsynth": __version__, "python": python} | {name: version(name) for name in LIBRARIES}


def arithmetic() -> dict[str, str]:
    """Return the environment in which numpy gives the same numbers on all processors of a kind: it uses only common features."""
    extensions: dict[str, list[str]] = np.show_config(mode="dicts")["SIMD Extensions"]  # type: ignore[assignment]
    beyond = [name for kind in ("found", "not found") for name in extensions.get(kind, [])]
    library = "glibc.cpu.hwcaps=-AVX2,-FMA,-FMA4"  # the C library has other logarithms for processors with these
    return {"OPENBLAS_CORETYPE": KERNEL, "NPY_DISABLE_CPU_FEATURES": " ".join(beyond), "GLIBC_TUNABLES": library}


def compute_release(crossing: Path, to: Path) -> None:
    """Compute a release from a folder with a crossing, in a separate process.

    Args:
        crossing: folder with the files of the crossing; other files in it are not used.
        to: the folder to fill; it exists and is empty.

    Raises:
        DataError: the crossing is damaged, or the process failed.
    """
    with tempfile.TemporaryDirectory(prefix="formalsynth-public-") as scratch:
        tools = _compile(crossing, Path(scratch))
        environment = dict.fromkeys(THREADS, "1") | arithmetic() | {
            "PATH": os.environ.get("PATH", os.defpath), "HOME": scratch, "TMPDIR": scratch, "MPLCONFIGDIR": scratch,
            "LC_ALL": "C.UTF-8", "PYTHONHASHSEED": "0",
        }  # fmt: skip
        command = [sys.executable, "-I", "-c", START, str(crossing.resolve()), str(to.resolve()), *tools, str(PACKAGE.parent)]
        none, pipe = subprocess.DEVNULL, subprocess.PIPE
        with subprocess.Popen(command, env=environment, cwd=scratch, stdin=none, stdout=none, stderr=pipe, text=True) as ran:
            try:
                message = _last_line(ran.stderr or ())
            except BaseException:
                ran.kill()
                raise
    if ran.returncode:
        raise DataError(message)


def _last_line(lines: Iterable[str]) -> str:
    """Report the progress in lines as they come, and return the last other line: the message, if there is an error."""
    last = ""
    for line in map(str.strip, lines):
        if line.startswith(TASK):
            tell(line)
        elif line:
            last = line
    return last or "the public side ended without a message"


def _compile(crossing: Path, to: Path) -> list[str]:
    """Compile a crossing's Stan program, which is public; compilers read many system files, so the process is not confined yet.

    Returns:
        Folders with libraries that the program needs.

    Raises:
        DataError: there is no CmdStan, or the program does not compile.
    """
    for path in sorted(crossing.glob("*.stan")):
        try:
            cmdstan = ensure(REPOSITORY / ".cmdstan")
            build(path, to / path.stem, cmdstan)
        except (CmdStanError, RuntimeError) as error:
            raise DataError(str(error)) from error
        return [str(cmdstan.resolve())]
    return []


def main(crossing: str, to: str, *tools: str) -> int:
    """Fill a folder from the crossing in another folder; apart from software, the process can open nothing else."""
    os.umask(0o077)
    _end_with_parent()
    show_progress()
    try:
        write_release(Path(crossing), Path(to), [Path(tool) for tool in tools])
    except Exception as error:
        text = str(error) if isinstance(error, Sentence) else f"the public side: {type(error).__name__}: {error}"
        print(" ".join(text.split()), file=sys.stderr)
        return 1
    return 0


def _end_with_parent() -> None:
    """Ask the system to end this process if its parent is killed."""
    if sys.platform == "linux":
        ctypes.CDLL(None, use_errno=True).prctl(PARENT_DEATH_SIGNAL, signal.SIGKILL)


def write_release(folder: Path, to: Path, tools: Sequence[Path]) -> None:
    """Confine this process to a crossing, and write the release.

    Args:
        folder: folder with the crossing.
        to: the folder to fill.
        tools: folders with further software.

    Raises:
        DataError: the crossing is damaged.
    """
    confine([folder, *tools, *modules()], [to, Path(tempfile.gettempdir())])
    fill(folder, to)


def fill(folder: Path, to: Path) -> None:
    """Write all files of a release: its data sets, texts and picture, the crossing itself, and their checksums.

    Raises:
        DataError: the crossing is damaged.
    """
    crossing, declarations = read_crossing(folder)
    check_parts(crossing, declarations)
    if set(crossing.software) != set(software()):
        raise DataError(f"{CROSSING}: software: names {', '.join(crossing.software)}; allowed: {', '.join(software())}")
    write(to, crossing, declarations, _predictor(folder, declarations), as_is(folder, crossing, declarations))
    for name in names(crossing):
        shutil.copyfile(folder / name, to / name)
    seal(to)


def _predictor(folder: Path, declarations: Declarations) -> Predictor | None:
    """Return the family of the posterior draws, from the user's own code if they wrote it; None for tables alone."""
    if declarations.family == REHEARSED:
        return MadeUpOutcomes(declarations.schema_.target)
    if declarations.family is None:
        return None
    find_all()
    own = declarations.own
    if own is None:
        return FAMILIES[declarations.family]
    path = (folder / own.file).resolve()
    load([str(path)])
    if path.suffix == ".py":
        return FAMILIES[declarations.family]
    family = FAMILIES[program_name(path)]
    compiled = program(family)
    assert compiled is not None
    compiled.bind(functools.partial(generate, Path(tempfile.gettempdir()) / path.stem), own.data)
    return family


def as_is(folder: Path, crossing: Crossing, declarations: Declarations) -> pd.DataFrame | None:
    """Return the columns that are released as they are; None if there are none.

    Raises:
        DataError: they do not match their description in the crossing.
    """
    import pandas as pd

    if crossing.unchanged is None:
        return None
    columns = declarations.schema_.columns
    frame = pd.read_csv(folder / AS_IS, dtype=str, keep_default_na=False, encoding="utf-8")
    if list(frame) != list(crossing.unchanged.columns) or len(frame) != crossing.unchanged.rows:
        raise DataError(f"{folder / CROSSING}: unchanged: {AS_IS} has different columns or a different number of rows")
    if unique_rows(frame) != crossing.unchanged.unique:
        raise DataError(f"{folder / CROSSING}: unchanged: unique: is not the number of rows of {AS_IS} that no other row equals")
    numbers = {name: float for name in frame if columns[str(name)].type != "category"}
    return frame.astype(numbers)
