"""Command ``formalsynth``: from a confidential file to a release, with one subcommand for each step.

No output contains a value of the file; counts and warnings that depend on it are marked.
"""

from __future__ import annotations

import argparse
import os
import sys
import traceback
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TextIO

from formalsynth.core.progress import show_progress
from formalsynth.core.text import DataError, Sentence, visible
from formalsynth.runtime.private import forbid_core_dumps
from formalsynth.runtime.scratch import own_temporary_folder
from formalsynth.runtime.terminal import drop
from formalsynth_release.schema import SCHEMA

Done = tuple[Sequence[str], int]  # lines to print, and the status of the program
Command = Callable[[argparse.Namespace], Done]
OURS = {"formalsynth", "formalsynth_release"}  # folders of our code, whose places a message names
STUDIES, RELEASES = Path("studies"), Path("releases")


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command: 0 for success, 1 for an error that the user can fix, 2 for invalid arguments."""
    options = _parser().parse_args(arguments)
    os.umask(0o077)
    forbid_core_dumps()
    try:
        own_temporary_folder()
        show_progress()
        command: Command = options.command
        lines, status = command(options)
    except BaseException as error:
        _print(*_messages(error), *getattr(error, "__notes__", ()), file=sys.stderr)
        if isinstance(error, SystemExit):
            raise
        return 1
    try:  # the command is done, whoever reads what it prints
        _print(*lines)
    except OSError:
        drop(sys.stdout)
    return status


def _messages(error: BaseException) -> Sequence[object]:
    """Return the lines of an error's message; the text of an unexpected error is left out, because it may quote the file."""
    if isinstance(error, Sentence):
        return [error]
    if isinstance(error, OSError):
        return [f"{error.filename or 'formalsynth'}: {error.strerror or error}"]
    if isinstance(error, KeyboardInterrupt):
        again = "" if getattr(error, "__notes__", ()) else "; run the command again"  # notes state what that would do
        return [f"interrupted: the output was incomplete and was not written{again}"]
    return [_unexpected(error)] if isinstance(error, Exception) else []


def _print(*lines: object, file: TextIO | None = None) -> None:
    """Print lines, with control characters escaped."""
    out = file or sys.stdout
    if out is None:  # closed
        return
    code = out.encoding or "utf-8"
    for line in lines:
        print(visible(str(line)).encode(code, "backslashreplace").decode(code), file=out, flush=True)


def _unexpected(error: Exception) -> str:
    """Return the place of an unexpected error, without its message."""
    places = traceback.extract_tb(error.__traceback__)
    ours = [place for place in places if OURS & set(Path(place.filename).parts)] or list(places)
    where = f"{type(error).__name__} in {Path(ours[-1].filename).name}, line {ours[-1].lineno}"
    why = "Its message is left out, since it may contain values of the file; please report the place."
    return f"formalsynth: unexpected error: {where}. {why}"


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="formalsynth", description="Make synthetic data for release from a confidential file.")
    commands = parser.add_subparsers(required=True, metavar="command")

    def add(name: str, help: str, command: Command, study: bool = True) -> argparse.ArgumentParser:
        added = commands.add_parser(name, help=help, description=f"{help[0].upper()}{help[1:]}.")
        added.set_defaults(command=command)
        if study:
            added.add_argument("study", type=_study, help="folder of the study, such as studies/income")
        return added

    inspect = add("inspect", "create a study folder for a file, with placeholders for the declarations", _inspect, study=False)
    inspect.add_argument("csv", type=Path, help="the file")
    inspect.add_argument("--outcome", required=True, help="the main column, whose mean and quantiles are reported")
    inspect.add_argument("--to", type=Path, help="folder of the study (default: studies/<name of the file>)")
    add("check", "check the file against its schema", _check)
    add("plan", "state the errors to expect from the declarations, without opening the file", _plan)
    release = add("release", "make synthetic data, and the folder for their release", _release)
    release.add_argument("--to", type=Path, help="folder of the release (default: releases/<study>)")
    verify = add("verify", "compute a release again from its crossing, and compare every byte", _verify, study=False)
    verify.add_argument("release", type=Path, help="folder of the release")
    verify.add_argument("--study", type=_study, help="folder of its study, to compare the crossing with the ledger")
    compare = add("compare", "compare a release with the file (CONFIDENTIAL), and show its noise", _compare)
    compare.add_argument("--release", type=Path, help="folder of the release (default: releases/<study>)")
    budget = add("budget", "print the epsilon spent on the source of a study", _budget)
    budget.add_argument("--head", help="saved head of the ledger, to check that no entry up to it was changed")
    budget.add_argument("--change", type=float, metavar="BUDGET", help="record a new budget, which every later release states")
    budget.add_argument("--reason", help="reason for the change, for the ledger")
    return parser


def _study(text: str) -> Path:
    folder = Path(text)
    if not os.path.isfile(folder / SCHEMA):  # noqa: PTH113 # False also for a name that is too long
        raise argparse.ArgumentTypeError(f"{text!r} has no {SCHEMA}: give a folder that formalsynth inspect created")
    return folder


def _inspect(options: argparse.Namespace) -> Done:
    from formalsynth_release.inspect import inspect

    return inspect(options.csv, options.outcome, options.to or STUDIES / options.csv.stem), 0


def _check(options: argparse.Namespace) -> Done:
    from formalsynth_release.check import check
    from formalsynth_release.study import read_declared

    checked, lines = check(read_declared(options.study))
    return lines, int(checked.table is None)


def _plan(options: argparse.Namespace) -> Done:
    from formalsynth_release.plan import plan
    from formalsynth_release.study import read_declared

    return plan(read_declared(options.study)), 0


def _compare(options: argparse.Namespace) -> Done:
    from formalsynth_release.compare import compare
    from formalsynth_release.study import read_declared

    declared = read_declared(options.study)
    return compare(declared, options.release or RELEASES / declared.name), 0


def _release(options: argparse.Namespace) -> Done:
    from formalsynth_release.budget import spent_note
    from formalsynth_release.ledger import ReleaseEntry, read_ledger
    from formalsynth_release.publish import release
    from formalsynth_release.study import read_declared

    before = -1
    try:
        declared = read_declared(options.study)
        before = len(read_ledger(declared.schema.source).of(ReleaseEntry))
        return release(declared, options.to or RELEASES / declared.name), 0
    except BaseException as error:
        error.add_note("No epsilon is spent." if before < 0 else spent_note(declared, before))
        raise


def _verify(options: argparse.Namespace) -> Done:
    from formalsynth_release.verify import verify

    return verify(options.release, options.study), 0


def _budget(options: argparse.Namespace) -> Done:
    from formalsynth_release.budget import budget, change_budget
    from formalsynth_release.study import read_declared

    declared = read_declared(options.study)
    if (options.change is None) != (not (options.reason or "").strip()):
        raise DataError("--change and --reason: give both: the new budget, and why it changed")
    if options.change is not None:
        change_budget(declared, options.change, options.reason)
    return budget(declared, options.head), 0
