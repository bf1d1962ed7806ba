"""Public side of a release: computes the whole folder from a crossing, in a separate process that is given nothing else."""

from __future__ import annotations

import functools
import hashlib
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterable
from importlib import metadata
from pathlib import Path

import numpy as np
import pandas as pd

import formalsynth
from formalsynth.core.progress import show_progress, tell
from formalsynth.core.text import DataError, Sentence
from formalsynth_release.crossing import CROSSING, FILES, read_crossing
from formalsynth_release.intervals import LARGEST, LARGEST_OF_HATS, SETS, TASK, Way, analysed
from formalsynth_release.model import Model
from formalsynth_release.schema import PublicSchema
from formalsynth_release.tables import check_parts
from formalsynth_release.texts import ReleaseFacts, texts_of

LIBRARIES = ("numpy", "scipy", "pandas", "opendp")
"""Libraries that affect the bytes of a release, including the one that draws the noise."""
START = (
    "import sys; sys.path[:0] = sys.argv.pop(), sys.argv.pop(); from formalsynth_release.public import main; "
    "sys.exit(main(*sys.argv[1:]))"
)
PACKAGES = Path(formalsynth.__file__).parents[1], Path(__file__).parents[1]  # folders of the library and of the release tool
version = functools.cache(metadata.version)  # version of an installed library
THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")
MANIFEST = "MANIFEST.sha256"
KERNEL = "Nehalem"
"""OpenBLAS kernels that run on every x86-64 processor that numpy supports; other kernels order sums differently."""


def software() -> dict[str, str]:
    """Return the versions of the software that affects the bytes of a release."""
    python = ".".join(map(str, sys.version_info[:3]))
    return {"formalsynth": formalsynth.__version__, "python": python} | {name: version(name) for name in LIBRARIES}


def arithmetic() -> dict[str, str]:
    """Return the environment in which numpy gives the same numbers on all processors of a kind: it uses only common features."""
    extensions: dict[str, list[str]] = np.show_config(mode="dicts")["SIMD Extensions"]  # type: ignore[assignment]
    beyond = [name for kind in ("found", "not found") for name in extensions.get(kind, [])]
    library = "glibc.cpu.hwcaps=-AVX2,-FMA,-FMA4"  # the C library has other logarithms for processors with these
    return {"OPENBLAS_CORETYPE": KERNEL, "NPY_DISABLE_CPU_FEATURES": " ".join(beyond), "GLIBC_TUNABLES": library}


def compute_release(crossing: Path, to: Path) -> None:
    """Compute a release from the crossing in a folder into another one, which is empty, in a separate process."""
    with tempfile.TemporaryDirectory(prefix="formalsynth-public-") as scratch:
        own = {"HOME": scratch, "TMPDIR": scratch, "LC_ALL": "C.UTF-8", "PYTHONHASHSEED": "0"}
        environment = {"PATH": os.environ.get("PATH", os.defpath), **own, **dict.fromkeys(THREADS, "1"), **arithmetic()}
        command = [sys.executable, "-I", "-c", START, str(crossing.resolve()), str(to.resolve()), *map(str, PACKAGES)]
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


def main(crossing: str, to: str) -> int:
    """Fill a folder from the crossing in another folder."""
    os.umask(0o077)
    show_progress()
    try:
        fill(Path(crossing), Path(to))
    except Exception as error:
        text = str(error) if isinstance(error, Sentence) else f"the public side: {type(error).__name__}: {error}"
        print(" ".join(text.split()), file=sys.stderr)
        return 1
    return 0


def fill(folder: Path, to: Path) -> None:
    """Write all files of a release: its data sets and texts, the crossing itself, and their checksums."""
    crossing, declarations = read_crossing(folder)
    check_parts(crossing, declarations)
    if set(crossing.software) != set(software()):
        raise DataError(f"{CROSSING}: software: names {', '.join(crossing.software)}; allowed: {', '.join(software())}")
    schema, release = declarations.schema_, declarations.release
    generator = np.random.default_rng(int(crossing.seed, 16))
    model = Model.of(schema, crossing.tables)
    frames = [model.rows(crossing.rows, generator) for _ in range(release.sets)]
    rows = round(model.reading.number) if schema.hides_rows else crossing.rows
    drawn, most = crossing.rows * min(release.sets, SETS), LARGEST_OF_HATS if model.knots else LARGEST
    way = Way(schema, release.analyses, release.ceiling, rows, drawn, model.knots, most)
    facts = ReleaseFacts(crossing, declarations, analysed(way, model, frames, generator))
    sets = {name: formatted(schema, frame) for name, frame in zip(facts.files, frames, strict=True)}
    for name, text in (sets | texts_of(facts)).items():
        (to / name).write_text(text, encoding="utf-8")
    for name in FILES:
        shutil.copyfile(folder / name, to / name)
    seal(to)


def sums(folder: Path) -> dict[str, str]:
    """Compute the sha256 of each file of a folder."""
    return {path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in sorted(folder.iterdir())}


def seal(folder: Path) -> None:
    """Write the checksums of all files, in the format of ``sha256sum -c``."""
    (folder / MANIFEST).write_text("".join(f"{own}  {name}\n" for name, own in sums(folder).items()), encoding="utf-8")


def formatted(schema: PublicSchema, frame: pd.DataFrame) -> str:
    """Format a data set as CSV, with numbers at their declared decimal places."""
    numbers = {name: column for name, column in schema.released.items() if column.type != "category"}
    written = {name: frame[name].map(f"{{:.{of.places}f}}".format, na_action="ignore") for name, of in numbers.items()}
    return frame.assign(**written).to_csv(index=False, lineterminator="\n")
