"""CmdStan: compile a program once."""

from __future__ import annotations

import re
import shutil
import tempfile
from collections.abc import Sequence
from pathlib import Path

from formalsynth.stan.driver import cmdstanpy, outside_make
from formalsynth.stan.kept import fingerprint, keep_program, put, take
from formalsynth.stan.main import CUT_SHORT, SOURCE, place_main

HEADER = Path(__file__).with_name("sampled_model.hpp")
"""Header with the base class of programs, which compiles only what sampling needs."""


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
    cmdstanpy().set_cmdstan_path(str(cmdstan))
    functions = re.findall(r"#include (\w+)\.stan", source.read_text(encoding="utf-8"))
    forms = (["native"] if native else []) + ["portable"] if functions else ["plain"]
    complaints: list[str] = []
    executable.parent.mkdir(parents=True, exist_ok=True)
    for form in forms:
        name = f"{source.stem}-{fingerprint(_made_from(source, form, functions), cmdstan, form)}"
        if take(name, executable):
            print(f"{source.name}: compiled before, {form} form", *complaints, sep="\n")
            return form
        with tempfile.TemporaryDirectory(prefix="formalsynth-") as folder, outside_make():
            try:
                built = _compile(source, Path(folder), form, functions)
            except (ValueError, RuntimeError) as error:
                if cut_short := CUT_SHORT.search(str(error)):
                    remedy = (
                        "make room, raise the limit on memory (ulimit -v), or run fewer jobs at once (--cores), and run again"
                    )
                    raise OSError(f"{source.name} could not be compiled ({cut_short[0].strip()}): {remedy}") from error
                complaints.append(f"{form}: {error}")
                continue
            put(Path(built), executable)
            keep_program(name, executable)
            print(f"{source.name}: compiled, {form} form", *complaints, sep="\n")
            return form
    raise RuntimeError(f"{source} does not compile with CmdStan at {cmdstan}:\n" + "\n".join(complaints))


def _made_from(source: Path, form: str, functions: Sequence[str]) -> list[Path]:
    """Files that a form of a program is made from, including this module, which defines the options."""
    endings = {"native": (".stan", ".hpp"), "portable": (".stan",), "plain": ()}[form]
    return [
        Path(__file__),
        SOURCE,
        HEADER,
        source,
        *(source.parent / form / f"{name}{ending}" for name in functions for ending in endings),
    ]


def _compile(source: Path, folder: Path, form: str, functions: Sequence[str]) -> str:
    copy = folder / source.name
    shutil.copyfile(source, copy)
    options: dict[str, bool | list[str]] = {}
    variables = place_main(folder, Path(cmdstanpy().cmdstan_path()))
    # The compiler uses a precompiled header, such as Stan's, only if it comes first.
    variables["CXXFLAGS_OPTIM"] = f"-include stan/model/model_header.hpp -include {shutil.copy(HEADER, folder)}"
    if form != "plain":
        options["include-paths"] = [str((source.parent / form).absolute())]
    if form != "native":
        built = cmdstanpy().CmdStanModel(stan_file=copy, stanc_options=options, cpp_options=variables)
        return str(built.exe_file)
    header = folder / "user_header.hpp"
    parts = [(source.parent / "native" / f"{name}.hpp").read_text(encoding="utf-8") for name in functions]
    header.write_text("\n".join(parts).replace("MODEL_NAMESPACE", f"{source.stem}_model_namespace"), encoding="utf-8")
    options["allow-undefined"] = True
    built = cmdstanpy().CmdStanModel(stan_file=copy, stanc_options=options, cpp_options=variables, user_header=header)
    return str(built.exe_file)
