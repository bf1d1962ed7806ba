"""CmdStan's command line: one request in a process of its own, through files.

It is the fall-back of :mod:`formalsynth.stan.served`, gives the same values, and reports why a request failed. cmdstanpy runs the
same command line, but does not pass on the signal that ended it, which decides whether the posterior or the machine is the cause.
"""

from __future__ import annotations

import errno
import json
import os
import re
import signal
import subprocess
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np

from formalsynth.core.arrays import Array
from formalsynth.core.family import StanData
from formalsynth.stan.served import by_variable, last_elements

SAMPLER = ("lp__", "accept_stat__", "stepsize__", "treedepth__", "n_leapfrog__", "divergent__", "energy__")
"""Columns before the parameters in a file of draws."""
ITS_OWN = (signal.SIGABRT, signal.SIGFPE, signal.SIGILL, signal.SIGSEGV)
"""Signals that a program causes itself; all others come from outside and do not depend on the posterior."""
QUESTIONS = {
    signal.SIGBUS: "is the disk full, or was a file replaced?",
    signal.SIGKILL: "is there enough memory?",
    signal.SIGXCPU: "is processor time limited (ulimit -t)?",
}
"""Questions for the user after a signal from outside."""
PROBE = 2**16
"""Number of bytes that are written as a test after a failure; if they do not fit on the disk, the disk is the cause."""
NO_MEMORY = b"bad_alloc"
"""Message of CmdStan when memory is short. CmdStan may continue, rejecting the point for which memory was short."""
NOT_LOADED = re.compile(r"error while loading shared libraries: *(.*)|(Library not loaded.*)")
"""System message about a program whose libraries cannot be loaded."""
COMPLAINT = re.compile(r"(?:Exception|Error|Gradient evaluated|Log probability evaluates|Mismatch between)\b")
"""Beginning of a line of CmdStan's output that contains an error."""
LONGEST_REASON = 200


class ChainFailed(Exception):
    """Failure caused by the request itself: by its data, starting point, draws and seed."""


class EndedFromOutside(Exception):
    """End of a program by a signal from outside."""

    def __init__(self, number: int) -> None:
        """Store the message about the signal."""
        super().__init__(f"CmdStan was ended by {_signal_text(number)}")
        self.question = QUESTIONS.get(signal.Signals(number), "what sent it?")


def run(
    executable: Path,
    texts: Mapping[str, str],
    seed: int,
    options: Sequence[str],
    rows: int,
    *,
    digits: int = 17,
    draws: tuple[Sequence[str], Array] | None = None,
) -> dict[str, Array]:
    """Run a program in a temporary folder, which is then removed; return its variables, with the draws along their first axis.

    Args:
        executable: the compiled program.
        texts: its ``data`` and, optionally, a starting point, ``inits``, as JSON.
        seed: Stan's seed.
        options: method and its options.
        rows: expected number of draws.
        digits: number of digits with which it writes values.
        draws: names and values (S, elements) of parameters, for generated quantities.

    Raises:
        ChainFailed: the request itself is the cause; the message is CmdStan's.
        EndedFromOutside: it was ended by a signal from outside.
        OSError: the environment is the cause, not the posterior: the program cannot be started, memory is short, the
            disk is full, or a limit on file size is too low.
    """
    with tempfile.TemporaryDirectory(prefix="formalsynth-") as folder:
        try:
            for name, text in texts.items():
                Path(folder, f"{name}.json").write_text(text, encoding="utf-8")
            command = [str(executable.absolute()), "id=1", "random", f"seed={seed}", "data", f"file={folder}/data.json"]
            command += [f"init={folder}/inits.json"] if "inits" in texts else []
            command += ["output", f"file={folder}/output.csv", "refresh=0", f"sig_figs={digits}", *options]
            if draws is not None:
                _write_draws(Path(folder, "draws.csv"), *draws)
                command.append(f"fitted_params={folder}/draws.csv")
            ran = started(command, folder)
            if ran.returncode:
                raise ChainFailed(_reason(ran))
            output = Path(folder, "output.csv")
            try:
                return read_csv(output.read_text(encoding="latin-1") if output.exists() else "", rows)
            except ValueError as error:
                raise ChainFailed(complaint(ran) or str(error)) from error
        except (ChainFailed, OSError) as error:
            _require_room(folder)
            if isinstance(error, OSError) and error.errno == errno.EFBIG:
                raise _limited(folder) from error
            raise


def started(command: Sequence[str], folder: str) -> subprocess.CompletedProcess[bytes]:
    """Run a program to its end in a working folder.

    Raises:
        EndedFromOutside, OSError: the environment ended it; see :func:`run`.
    """
    try:
        ran = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, check=False, cwd=folder)
    except PermissionError as error:
        remedy = "is its folder on a file system mounted with noexec? Work in another folder, and run again"
        raise OSError(error.errno, f"{command[0]} cannot be started ({error.strerror}): {remedy}") from error
    status = ran.returncode
    if NO_MEMORY in ran.stderr or NO_MEMORY in ran.stdout:
        remedy = "raise the limit (ulimit -v, or mem_mb on a cluster), or run fewer jobs at once (--cores), and run again"
        raise OSError(errno.ENOMEM, f"CmdStan did not have enough memory, which does not depend on the posterior: {remedy}")
    if status and (not_loaded := NOT_LOADED.search(ran.stderr.decode(errors="replace"))):
        remedy = "set CmdStan up again (make setup), or raise the limit on memory (ulimit -v), and run again"
        raise OSError(errno.ENOEXEC, f"{command[0]} cannot be started ({not_loaded[1] or not_loaded[2]}): {remedy}")
    if -status == signal.SIGXFSZ:
        raise _limited(folder)
    if status < 0 and -status not in ITS_OWN:
        raise EndedFromOutside(-status)
    return ran


def _reason(ran: subprocess.CompletedProcess[bytes]) -> str:
    """Reason why a program failed."""
    if ran.returncode < 0:
        return _tidy(": ".join([_signal_text(-ran.returncode), *_lines(ran.stderr)[-1:]]))
    return complaint(ran) or f"exit status {ran.returncode}"


def complaint(ran: subprocess.CompletedProcess[bytes]) -> str:
    """Last error in a program's messages, or an empty string; errors in its output may have been temporary."""
    lines = _lines(ran.stderr)
    others = [line for line in lines if line != "Initialization failed."]
    reasons = _errors(lines) or others or _errors(_lines(ran.stdout)) or lines
    return _tidy(reasons[-1]) if reasons else ""


def _errors(lines: Sequence[str]) -> list[str]:
    return [line for line in lines if COMPLAINT.match(line)]


def read_csv(text: str, rows: int) -> dict[str, Array]:
    """Read the variables in CmdStan's CSV, with the draws along their first axis.

    Args:
        text: the file.
        rows: expected number of draws.

    Raises:
        ValueError: draws are missing.
    """
    # A line without a line break may be cut short.
    lines = [line for line in text.split("\n")[:-1] if line and line[0] != "#"]
    if len(lines) != rows + 1:
        raise ValueError(f"it wrote {max(0, len(lines) - 1)} of {rows} draws")
    values = np.loadtxt(lines[1:], delimiter=",", ndmin=2)
    return by_variable(last_elements(lines[0].split(",")), values)


def _write_draws(path: Path, names: Sequence[str], values: Array) -> None:
    """Write draws as CmdStan does, with all digits."""
    values = np.hstack([np.zeros((len(values), len(SAMPLER))), values])
    np.savetxt(path, values, fmt="%.17g", delimiter=",", header=",".join([*SAMPLER, *names]), comments="")


def as_json(values: StanData, finite: bool = True) -> str:
    """Format values as JSON.

    Args:
        values: the values.
        finite: False to allow values that are not finite.

    Raises:
        ValueError: a value is not finite.
    """
    plain = {key: value.tolist() if isinstance(value, np.ndarray | np.generic) else value for key, value in values.items()}
    return json.dumps(plain, allow_nan=not finite)


def _require_room(folder: str) -> None:
    """Check that the disk has room: CmdStan does not notice that its draws were cut short."""
    try:
        Path(folder, "probe").write_bytes(bytes(PROBE))
    except OSError as error:
        remedy = "make room, or set TMPDIR to another folder, and run again"
        raise OSError(error.errno, f"CmdStan could not write to {folder} ({error.strerror}): {remedy}") from error


def _limited(folder: str) -> OSError:
    """Error for a limit on file size that is too low for the files of a chain."""
    reason = f"CmdStan could not write to {folder} ({os.strerror(errno.EFBIG)}): raise the limit (ulimit -f), and run again"
    return OSError(errno.EFBIG, reason)


def _lines(text: bytes) -> list[str]:
    return [line.strip() for line in text.decode(errors="replace").splitlines() if line.strip()]


def _tidy(words: str) -> str:
    """Join a message into one line, without the folder in which a program was compiled."""
    return " ".join(re.sub(r"'[^']*/([^'/]+\.stan)'", r"'\1'", words).split())[:LONGEST_REASON]


def _signal_text(number: int) -> str:
    return f"signal {number} ({signal.strsignal(number)})"
