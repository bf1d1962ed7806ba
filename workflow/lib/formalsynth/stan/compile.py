"""CmdStan: compile a program once for each user, with the main function in ``main.cpp``, which serves fits in one process."""

from __future__ import annotations

import contextlib
import hashlib
import io
import json
import logging
import os
import platform
import re
import shutil
import subprocess
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path

from formalsynth.core.progress import tell
from formalsynth.runtime.cache import cached_file, keep
from formalsynth.runtime.compiler import compiler
from formalsynth.runtime.files import atomic_write

MAIN = Path(__file__).with_name("main.cpp")
HEADER = Path(__file__).with_name("sampled_model.hpp")
"""Header with the base class of programs, which compiles only what sampling needs."""
KIND = "stan"
"""Kind of the files in the user's cache."""
CUT_SHORT = re.compile(
    r".*(?:out of memory|memory exhausted|bad_alloc|Cannot allocate memory|No space left|Disk quota exceeded|signal \w+ program"
    r"|File size limit exceeded|Killed|failed to map segment).*"
)
"""Message of a compiler that was ended from outside or ran out of memory or disk space; independent of the program."""
OF_MAKE = ("GNUMAKEFLAGS", "MAKEOVERRIDES", "MAKEFLAGS", "MAKELEVEL", "MFLAGS")
"""Variables that a process inherits from the make that started it: flags and a job server, meant only for its own targets."""


class CmdStanError(RuntimeError):
    """Absence of a working CmdStan, with the reason and the remedy."""


def build(source: Path, executable: Path, cmdstan: Path) -> None:
    """Compile a program and print one line about it for a waiting user; for arguments and errors see :func:`compile_program`."""
    tell(f"Compiling {source.name} (about half a minute, unless it was compiled before)")
    with contextlib.redirect_stdout(io.StringIO()):
        compile_program(source, executable, cmdstan)


def compile_program(source: Path, executable: Path, cmdstan: Path, native: bool = True) -> str:
    """Compile a Stan program outside the repository and move the executable into place when it is complete.

    A program that includes a function of ``stan/portable`` is compiled with the C++ form in ``stan/native`` if that form
    compiles, and otherwise with the portable form. Both have the same posterior; the native form has a closed-form gradient.
    A program that the user has already compiled from the same sources is taken from the cache.

    Args:
        source: the program.
        executable: path of the executable to write.
        cmdstan: folder of CmdStan.
        native: True to try the C++ form.

    Returns:
        ``native``, ``portable``, or ``plain`` for a program without such a function.

    Raises:
        OSError: memory or disk space is short, or the compiler was ended from outside. The portable form is not used instead,
            because it would give different draws of the same posterior.
        RuntimeError: the program does not compile, with the compiler's message.
    """
    functions = re.findall(r"#include (\w+)\.stan", source.read_text(encoding="utf-8"))
    forms = (["native"] if native else []) + ["portable"] if functions else ["plain"]
    complaints: list[str] = []
    for form in forms:
        endings = {"native": (".stan", ".hpp"), "portable": (".stan",), "plain": ()}[form]
        parts = [source.parent / form / f"{name}{ending}" for name in functions for ending in endings]
        name = f"{source.stem}-{fingerprint([Path(__file__), MAIN, HEADER, source, *parts], cmdstan, form)}"
        if cached := cached_file(KIND, name):
            _copy(cached, executable)
            print(f"{source.name}: compiled before, {form} form", *complaints, sep="\n")
            return form
        with tempfile.TemporaryDirectory(prefix="formalsynth-") as folder:
            try:
                built = compile_form(source, Path(folder), form, functions, cmdstan)
            except (ValueError, RuntimeError) as error:
                if cut_short := CUT_SHORT.search(str(error)):
                    remedy = (
                        "make room, raise the limit on memory (ulimit -v), or run fewer jobs at once (--cores), and run again"
                    )
                    raise OSError(f"{source.name} could not be compiled ({cut_short[0].strip()}): {remedy}") from error
                complaints.append(f"{form}: {error}")
                continue
            _copy(built, executable)
            _cache(built, name)
        print(f"{source.name}: compiled, {form} form", *complaints, sep="\n")
        return form
    raise RuntimeError(f"{source} does not compile with CmdStan at {cmdstan}:\n" + "\n".join(complaints))


def compile_form(source: Path, folder: Path, form: str, functions: Sequence[str], cmdstan: Path) -> Path:
    """Compile a form of a program in a scratch folder.

    Args:
        source: the program.
        folder: the scratch folder.
        form: ``native``, ``portable`` or ``plain``.
        functions: names of the function files that it includes.
        cmdstan: folder of CmdStan.

    Raises:
        ValueError, RuntimeError: it does not compile, with the compiler's message.
    """
    # If a handler is already in place, cmdstanpy adds none. Its import is deferred because it is slow.
    if not logging.getLogger("cmdstanpy").handlers:
        logging.getLogger("cmdstanpy").addHandler(logging.NullHandler())
    import cmdstanpy

    cmdstanpy.set_cmdstan_path(str(cmdstan))
    copy = shutil.copyfile(source, folder / source.name)
    # The compiler uses a precompiled header, such as Stan's, only if it comes first.
    header_flags = f"-include stan/model/model_header.hpp -include {shutil.copy(HEADER, folder)}"
    options: dict[str, bool | list[str]] = {}
    header = None
    if form != "plain":
        options["include-paths"] = [str((source.parent / form).absolute())]
    if form == "native":
        options["allow-undefined"] = True
        header = folder / "user_header.hpp"
        parts = [(source.parent / "native" / f"{name}.hpp").read_text(encoding="utf-8") for name in functions]
        header.write_text("\n".join(parts).replace("MODEL_NAMESPACE", f"{source.stem}_model_namespace"), encoding="utf-8")
    variables = place_main(folder, cmdstan) | {"CXXFLAGS_OPTIM": header_flags}
    with outside_make():
        built = cmdstanpy.CmdStanModel(stan_file=copy, stanc_options=options, cpp_options=variables, user_header=header)
    return Path(str(built.exe_file))


def place_main(folder: Path, cmdstan: Path) -> dict[str, str]:
    """Put ``main.cpp`` and its object into the folder where a program is compiled; return the make variables that link it.

    The object is taken from the user's cache if it is there. No variables are returned if it does not compile with this CmdStan:
    programs then use CmdStan's main, in one process per fit.

    Raises:
        CmdStanError: the compiler was ended from outside, or memory or disk space is short.
    """
    source = folder / MAIN.name
    shutil.copyfile(MAIN, source)
    # The source must be older than its object, or make would rebuild the object.
    os.utime(source, (0, 0))
    name = f"main-{fingerprint([MAIN], cmdstan, 'main')}"
    variable = f"CMDSTAN_MAIN={source}"
    try:
        # The name of the object depends on options of the user's CmdStan.
        printed = make(cmdstan, variable, "--eval", "print-main: ; @echo $(CMDSTAN_MAIN_O)", "print-main").strip()
        if not printed:
            raise CmdStanError(f"the makefile of {cmdstan} does not name the object of a main function")
        object_file = cmdstan / printed
        # CmdStan requires this list of the object's dependencies, which otherwise takes seconds to write.
        object_file.with_suffix(".d").touch()
        if cached := cached_file(KIND, name):
            shutil.copy2(cached, object_file)
        else:
            make(cmdstan, variable, str(object_file))
            _cache(object_file, name)
    except CmdStanError as error:
        if CUT_SHORT.search(str(error)):
            raise
        print(f"Using one process for each fit, because {MAIN.name} does not compile with CmdStan at {cmdstan}:\n{error}")
        return {}
    return {"CMDSTAN_MAIN": str(source)}


def fingerprint(sources: Sequence[Path], cmdstan: Path, form: str) -> str:
    """Compute a checksum of everything that determines a compiled program.

    Args:
        sources: the program, the files that it includes, and the code that compiles it.
        cmdstan: folder of CmdStan, which is compiled into programs so that they find its libraries.
        form: ``native``, ``portable``, ``plain`` or ``main``.
    """
    local = cmdstan / "make" / "local"
    try:
        version = subprocess.run([compiler(), "--version"], capture_output=True, text=True, check=False).stdout
    except OSError:
        version = ""
    made_from = [
        *([path.name, hashlib.sha256(path.read_bytes()).hexdigest()] for path in sources),
        [str(cmdstan), version_of(cmdstan), local.read_text(encoding="utf-8") if local.exists() else ""],
        [form, platform.system(), platform.machine(), version],
        [os.environ.get(name, "") for name in ("CXX", "CXXFLAGS", "CPPFLAGS", "LDFLAGS", "STAN_THREADS")],
    ]
    return hashlib.sha256(json.dumps(made_from).encode()).hexdigest()


def _copy(built: Path, executable: Path) -> None:
    with atomic_write(executable) as partial:
        shutil.copy2(built, partial)


def _cache(built: Path, name: str) -> None:
    keep(KIND, name, lambda path: shutil.copy2(built, path))


def make(folder: Path, *targets: str) -> str:
    """Run make in a folder, as if no other make had started this process, and return its output.

    Raises:
        CmdStanError: make failed.
    """
    with outside_make():
        command = ["make", "-s", f"-j{cores()}", *targets]
        run = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    if run.returncode:
        last_lines = "\n".join((run.stderr.strip() or run.stdout).splitlines()[-5:])
        raise CmdStanError(f"make {' '.join(targets)} failed in {folder}:\n{last_lines}")
    return run.stdout


@contextlib.contextmanager
def outside_make() -> Iterator[None]:
    """Hide any make that started this process from the make that it starts: after ``make -B``, it would rebuild CmdStan."""
    inherited = {name: os.environ.pop(name) for name in OF_MAKE if name in os.environ}
    try:
        yield
    finally:
        os.environ.update(inherited)


def cores() -> int:
    """Count the processor cores that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def version_of(cmdstan: Path) -> str:
    """Version in the tree's makefile, or ``unknown``."""
    with contextlib.suppress(OSError):
        if version := re.search(r"^CMDSTAN_VERSION\s*:?=\s*(\S+)", (cmdstan / "makefile").read_text(), re.M):
            return version[1]
    return "unknown"


def read_record(file: Path) -> Path:
    """Read the folder of CmdStan from the set-up record.

    Raises:
        CmdStanError: the file is damaged.
    """
    try:
        return Path(json.loads(file.read_text())["path"])
    except (ValueError, KeyError, TypeError) as error:
        raise CmdStanError(f"{file} is damaged ({error}): delete it and run again") from error
