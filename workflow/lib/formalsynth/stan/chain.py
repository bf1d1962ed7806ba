"""CmdStan: run one chain and read its output."""

from __future__ import annotations

import errno
import json
import os
import re
import signal
import subprocess
import tempfile
from collections.abc import Container, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from formalsynth.core.arrays import Array
from formalsynth.core.family import StanData
from formalsynth.stan.columns import by_variable, last_elements, variable_of
from formalsynth.stan.served import Request, ask

TREE_DEPTH = 10
OF_SAMPLER = ("treedepth__", "divergent__")
"""Sampler columns that are read."""
ITS_OWN = (signal.SIGABRT, signal.SIGFPE, signal.SIGILL, signal.SIGSEGV)
"""Signals that a program causes itself; all others come from outside and do not depend on the posterior."""
QUESTIONS = {
    signal.SIGBUS: "is the disk full, or was a file replaced?",
    signal.SIGKILL: "is there enough memory?",
    signal.SIGXCPU: "is processor time limited (ulimit -t)?",
}
"""Questions for the user after a signal from outside."""
PROBE = 2**16
"""Number of bytes that are written as a test after a failed chain; if they do not fit on the disk, the disk is the cause."""
NO_MEMORY = b"bad_alloc"
"""Message of CmdStan when memory is short. CmdStan may continue, rejecting the point for which memory was short."""
NOT_LOADED = re.compile(r"error while loading shared libraries: *(.*)|(Library not loaded.*)")
"""System message about a program whose libraries cannot be loaded."""
COMPLAINT = re.compile(r"^\s*((?:Exception|Error|Gradient evaluated|Log probability evaluates)\b.*)$", re.MULTILINE)
"""Lines of CmdStan's output that contain an error."""
LONGEST_REASON = 200


class ChainFailed(Exception):
    """Failure caused by the chain itself: by its data, starting point and seed."""


class EndedFromOutside(Exception):
    """End of a chain by a signal from outside."""

    def __init__(self, number: int) -> None:
        """Store the message about the signal."""
        super().__init__(f"CmdStan was ended by {_signal_text(number)}")
        self.question = QUESTIONS.get(signal.Signals(number), "what sent it?")


@dataclass(frozen=True)
class Lengths:
    """Length and adaptation of a chain."""

    warmup: int
    draws: int
    """Number of draws kept after thinning, out of ``draws * thin``."""
    thin: int
    adapt_delta: float


@dataclass(frozen=True)
class Chain:
    """Draws of a chain."""

    draws: dict[str, Array]
    """Mapping from a parameter to its S draws, along the first axis."""
    divergences: int
    treedepth_hits: int


def run_chain(
    executable: Path, data: StanData, inits: StanData, parameters: Sequence[str], seed: int, lengths: Lengths
) -> Chain:  # fmt: skip
    """Run one chain, in the process that serves the program's fits or in a separate process; the draws are the same.

    The separate process is used if the serving process is not available, died or did not sample; it reports the reason.

    Args:
        executable: the compiled program.
        data: its data.
        inits: starting point.
        parameters: Stan variables to keep.
        seed: Stan's seed.
        lengths: length and adaptation of the chain.

    Raises:
        ChainFailed: the chain itself is the cause; the message is CmdStan's.
        EndedFromOutside: it was ended by a signal from outside.
        OSError: the environment is the cause, not the posterior: the program cannot be started, memory is short, the
            disk is full, or a limit on file size is too low.
    """
    try:
        texts = {"data": as_json(data), "inits": as_json(inits)}
    except ValueError as error:
        raise ChainFailed(str(error)) from error
    names, settings = (*OF_SAMPLER, *parameters), (lengths.warmup, lengths.thin, TREE_DEPTH, lengths.adapt_delta)
    served = ask(executable, Request("fit", seed, lengths.draws, names, texts["data"], texts["inits"].encode(), settings))
    if served is not None and not _lost(served, parameters):
        return _chain(served, parameters)
    return _in_own_process(executable, texts, parameters, seed, lengths)


def _in_own_process(
    executable: Path, texts: Mapping[str, str], parameters: Sequence[str], seed: int, lengths: Lengths
) -> Chain:  # fmt: skip
    """Run one chain in a temporary folder, which is then removed; for arguments and errors see :func:`run_chain`."""
    with tempfile.TemporaryDirectory(prefix="formalsynth-") as folder:
        try:
            files = {name: Path(folder, f"{name}.json") for name in texts}
            for name, text in texts.items():
                files[name].write_text(text, encoding="utf-8")
            output = Path(folder, "output.csv")
            command = [
                str(executable.absolute()), "id=1", "random", f"seed={seed}",
                "data", f"file={files['data']}", f"init={files['inits']}",
                "output", f"file={output}", "refresh=0", "sig_figs=14",
                "method=sample", f"num_samples={lengths.draws * lengths.thin}", f"num_warmup={lengths.warmup}",
                "save_warmup=0", f"thin={lengths.thin}", "algorithm=hmc", "engine=nuts", f"max_depth={TREE_DEPTH}",
                "metric=dense_e", "adapt", "engaged=1", f"delta={lengths.adapt_delta}",
            ]  # fmt: skip
            ran = started(command)
            check_environment(ran, executable, folder)
            _check(ran)
            return read_chain(output.read_text(encoding="latin-1") if output.exists() else "", parameters, lengths.draws)
        except (ChainFailed, OSError, ValueError) as error:
            require_room(folder)
            if isinstance(error, OSError) and error.errno == errno.EFBIG:
                raise limited(folder) from error
            if isinstance(error, ValueError):
                raise ChainFailed(str(error)) from error
            raise


def started(command: Sequence[str], folder: str | None = None) -> subprocess.CompletedProcess[bytes]:
    """Run a program to its end, in the given working folder if any.

    Raises:
        OSError: it cannot be started.
    """
    try:
        return subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, check=False, cwd=folder)
    except PermissionError as error:
        remedy = "is its folder on a file system mounted with noexec? Work in another folder, and run again"
        raise OSError(error.errno, f"{command[0]} cannot be started ({error.strerror}): {remedy}") from error


def read_chain(text: str, parameters: Sequence[str], draws: int) -> Chain:
    """Read CmdStan's CSV.

    Args:
        text: the file.
        parameters: Stan variables to keep.
        draws: expected number S of draws.

    Raises:
        ValueError: draws or a variable are missing.
    """
    # A line without a line break may be cut short.
    lines = [line for line in text.split("\n")[:-1] if line and line[0] != "#"]
    if len(lines) != draws + 1:
        raise ValueError(f"it wrote {max(0, len(lines) - 1)} of {draws} draws")
    names = lines[0].split(",")
    if lost := _lost(set(map(variable_of, names)), parameters):
        raise ValueError(f"it has no variable {lost[0]}")
    kept = [place for place, name in enumerate(names) if variable_of(name) in {*OF_SAMPLER, *parameters}]
    values = np.loadtxt(lines[1:], delimiter=",", usecols=kept, ndmin=2)
    return _chain(by_variable(last_elements([names[place] for place in kept]), values), parameters)


def _lost(variables: Container[str], parameters: Sequence[str]) -> list[str]:
    """Parameters that are not among these variables."""
    return [name for name in parameters if name not in variables]


def _chain(values_of: Mapping[str, Array], parameters: Sequence[str]) -> Chain:
    """Build a chain from the values of variables."""
    depth, divergent = (values_of[name] for name in OF_SAMPLER)
    return Chain({name: values_of[name] for name in parameters}, int(divergent.sum()), int((depth >= TREE_DEPTH).sum()))


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


def require_room(folder: str) -> None:
    """Check that the disk has room: CmdStan does not notice that its draws were cut short."""
    try:
        Path(folder, "probe").write_bytes(bytes(PROBE))
    except OSError as error:
        remedy = "make room, or set TMPDIR to another folder, and run again"
        raise OSError(error.errno, f"CmdStan could not write to {folder} ({error.strerror}): {remedy}") from error


def limited(folder: str) -> OSError:
    """Error for a limit on file size that is too low for the files of a chain."""
    reason = f"CmdStan could not write to {folder} ({os.strerror(errno.EFBIG)}): raise the limit (ulimit -f), and run again"
    return OSError(errno.EFBIG, reason)


def check_environment(ran: subprocess.CompletedProcess[bytes], executable: Path, folder: str) -> None:
    """Check that the environment did not end a program of CmdStan.

    Args:
        ran: the finished program.
        executable: its file.
        folder: its working folder.

    Raises:
        EndedFromOutside: it was ended by a signal from outside.
        OSError: memory is short, its libraries cannot be loaded, or a limit on file size is too low.
    """
    if NO_MEMORY in ran.stderr or NO_MEMORY in ran.stdout:
        remedy = "raise the limit (ulimit -v, or mem_mb on a cluster), or run fewer jobs at once (--cores), and run again"
        raise OSError(errno.ENOMEM, f"CmdStan did not have enough memory, which does not depend on the posterior: {remedy}")
    if ran.returncode and (not_loaded := NOT_LOADED.search(ran.stderr.decode(errors="replace"))):
        remedy = "set CmdStan up again (make setup), or raise the limit on memory (ulimit -v), and run again"
        raise OSError(errno.ENOEXEC, f"{executable} cannot be started ({not_loaded[1] or not_loaded[2]}): {remedy}")
    if -ran.returncode == signal.SIGXFSZ:
        raise limited(folder)
    if ran.returncode < 0 and -ran.returncode not in ITS_OWN:
        raise EndedFromOutside(-ran.returncode)


def _check(ran: subprocess.CompletedProcess[bytes]) -> None:
    """Raise an error with the reason if the chain itself failed."""
    errors, status = ran.stderr.decode(errors="replace"), ran.returncode
    if status < 0:
        raise ChainFailed(_tidy(": ".join([_signal_text(-status), *_lines(errors)[-1:]])))
    if status:
        raise ChainFailed(_tidy(_words(errors, ran.stdout.decode(errors="replace")) or f"exit status {status}"))


def _words(errors: str, output: str) -> str:
    """Last error in CmdStan's messages; those in its output may have been temporary."""
    others = [line for line in _lines(errors) if line != "Initialization failed."]
    lines = COMPLAINT.findall(errors) or others or COMPLAINT.findall(output) or _lines(errors)
    return lines[-1] if lines else ""


def _lines(text: str) -> list[str]:
    return [line.strip() for line in text.splitlines() if line.strip()]


def _tidy(words: str) -> str:
    """Join a message into one line, without the folder in which a program was compiled."""
    return " ".join(re.sub(r"'[^']*/([^'/]+\.stan)'", r"'\1'", words).split())[:LONGEST_REASON]


def _signal_text(number: int) -> str:
    return f"signal {number} ({signal.strsignal(number)})"
