"""CmdStan: run one fit, diagnose it, and refit longer when the diagnosis is bad."""

from __future__ import annotations

import errno
import functools
import json
import os
import re
import signal
import subprocess
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np

from formalsynth.core.arrays import Array
from formalsynth.core.family import StanData
from formalsynth.core.job import SamplerSettings
from formalsynth.stan.driver import cmdstanpy
from formalsynth.stan.fit import Fit

TREE_DEPTH = 10
CAREFUL = 0.95
"""Acceptance that refits aim at: shorter steps follow a posterior that the first fit lost its way in."""
ITS_OWN = (signal.SIGABRT, signal.SIGFPE, signal.SIGILL, signal.SIGSEGV)
"""Signals that a program brings on itself; all others come from outside and say nothing of the posterior."""
QUESTIONS = {
    signal.SIGBUS: "is the disk full, or was a file replaced?",
    signal.SIGKILL: "is there enough memory?",
    signal.SIGXCPU: "is processor time limited (ulimit -t)?",
}
"""What to look for after a signal from outside."""
TRIES = 3
"""How often a chain may be ended from outside before the job is given up."""
PROBE = 2**16
"""Bytes that have to fit on the disk after a chain has failed, or the disk is to blame."""


class _EndedFromOutside(Exception):
    """A chain was ended by a signal that its program did not bring on itself."""

    def __init__(self, number: int) -> None:
        """Keep what is to be said of the signal."""
        super().__init__(f"CmdStan was ended by {_told(number)}")
        self.question = QUESTIONS.get(signal.Signals(number), "what sent it?")


def sample(
    executable: Path, data: StanData, inits: StanData, parameters: tuple[str, ...],
    seed: int, settings: SamplerSettings,
) -> Fit:  # fmt: skip
    """Sample one pseudo posterior, gate it on its diagnostics, refit longer where the gate stays shut.

    Args:
        executable: the compiled program.
        data: its data.
        inits: starting point.
        parameters: Stan variables to keep.
        seed: Stan seed of the first attempt; refits use the following integers.
        settings: lengths and gate.

    Raises:
        OSError: the environment is to blame, which says nothing of the posterior: the program cannot be started, the disk is
            full, files may not grow as large, or the chain was ended from outside :data:`TRIES` times.
    """
    start = time.perf_counter()
    fit, refits, ended = Fit("failed", "not run"), 0, 0
    while refits < settings.attempts:
        try:
            fit = _attempt(executable, data, inits, parameters, seed + refits, settings, settings.lengthen**refits)
        except _EndedFromOutside as error:
            ended += 1
            if ended == TRIES:
                raise OSError(f"{error} {TRIES} times, which says nothing of the posterior: {error.question} Run again") from None
            continue
        refits += 1
        fit.attempts = refits + ended
        if fit.status == "ok":
            break
    fit.seconds = time.perf_counter() - start
    if fit.status != "ok":
        fit.draws = {}
    return fit


def _attempt(
    executable: Path, data: StanData, inits: StanData, parameters: tuple[str, ...],
    seed: int, settings: SamplerSettings, thin: int,
) -> Fit:  # fmt: skip
    model = _model(executable)
    with tempfile.TemporaryDirectory(prefix="formalsynth-") as folder:
        try:
            result = model.sample(
                data=_json(folder, "data", data), inits=_json(folder, "inits", inits), seed=seed, chains=1,
                output_dir=folder, sig_figs=14,
                iter_warmup=settings.warmup * thin, iter_sampling=settings.draws * thin, thin=thin,
                metric="dense", adapt_delta=settings.adapt_delta if thin == 1 else CAREFUL, max_treedepth=TREE_DEPTH,
                show_progress=False, show_console=False,
            )  # fmt: skip
            draws = {name: np.ascontiguousarray(result.stan_variable(name)) for name in parameters}
            depth, divergent = (result.method_variables()[name] for name in ("treedepth__", "divergent__"))
        except (RuntimeError, ValueError, OSError) as error:
            _require_room(folder)
            if isinstance(error, OSError) and error.errno == errno.EFBIG:
                raise _limited(folder) from error
            if isinstance(error, OSError) and not isinstance(error, FileNotFoundError):
                raise
            return Fit("failed", f"CmdStan stopped: {_cause(error, executable, folder)}", seed=seed)
    return _gated(draws, int(divergent.sum()), int((depth >= TREE_DEPTH).sum()), seed, settings)


@functools.lru_cache
def _model(executable: Path) -> Any:
    """The program as cmdstanpy drives it, asked only once how it was built: cmdstanpy would start it for that at every fit."""
    model = cmdstanpy().CmdStanModel(exe_file=executable)
    model.exe_info = functools.cache(model.exe_info)
    return model


def _json(folder: str, name: str, values: StanData) -> str:
    """Path of a JSON file with the values, which cmdstanpy would take ten times as long to write.

    Raises:
        ValueError: a value is not finite.
    """
    plain = {key: value.tolist() if isinstance(value, np.ndarray | np.generic) else value for key, value in values.items()}
    path = Path(folder, f"{name}.json")
    path.write_text(json.dumps(plain, allow_nan=False), encoding="utf-8")
    return str(path)


def _require_room(folder: str) -> None:
    """Refuse to blame a chain for a full disk: CmdStan does not notice that its draws were cut short."""
    try:
        Path(folder, "probe").write_bytes(bytes(PROBE))
    except OSError as error:
        remedy = "make room, or let TMPDIR name another folder, and run again"
        raise OSError(error.errno, f"CmdStan could not write to {folder} ({error.strerror}): {remedy}") from error


def _limited(folder: str) -> OSError:
    """What is said where the user's files may not become as large as a chain's."""
    reason = f"CmdStan could not write to {folder} ({os.strerror(errno.EFBIG)}): raise the limit (ulimit -f), and run again"
    return OSError(errno.EFBIG, reason)


def _cause(error: Exception, executable: Path, folder: str) -> str:
    """Why a chain failed.

    CmdStan's own first words are preferred, without the headings that cmdstanpy sets around them.

    Raises:
        OSError: the program cannot be started, or its files may not grow as large.
        _EndedFromOutside: a signal ended it that it did not bring on itself.
    """
    words, _, files = str(error).partition("Command and output files:")
    status = int(found[1]) if (found := re.search(r"retcodes=\[(-?\d+)\]", files)) else 0
    if status == -1:  # also what cmdstanpy has for a program that did not start
        subprocess.run([executable], capture_output=True, check=False)
    if -status == signal.SIGXFSZ:
        raise _limited(folder) from error
    if status < 0 and -status not in ITS_OWN:
        raise _EndedFromOutside(-status) from error
    if status < 0:
        return _told(-status)
    lines = [line.strip() for line in words.removeprefix("Error during sampling:").splitlines() if line.strip()]
    return (lines[0] if lines else f"exit status {status}")[:200]


def _told(number: int) -> str:
    return f"signal {number} ({signal.strsignal(number)})"


def _gated(draws: dict[str, Array], divergences: int, treedepth_hits: int, seed: int, settings: SamplerSettings) -> Fit:
    matrix = np.column_stack([values.reshape(len(values), -1) for values in draws.values()])
    rhat, bulk, tail = diagnose(matrix)
    fit = Fit("ok", "", draws, seed, rhat, bulk, tail, divergences, treedepth_hits)
    complaints = {
        f"R-hat {rhat:.3f} above {settings.rhat_max}": not rhat <= settings.rhat_max,
        f"effective draws {min(bulk, tail):.0f} below {settings.ess_min}": not min(bulk, tail) >= settings.ess_min,
        f"{divergences} divergences": divergences > settings.divergences_max,
    }
    reasons = [text for text, bad in complaints.items() if bad]
    if reasons:
        fit.status, fit.reason = "failed", "gate: " + ", ".join(reasons)
    return fit


def diagnose(draws: Array) -> tuple[float, float, float]:
    """Largest R-hat, least bulk and least tail effective sample size of one chain (S, k), by ArviZ.

    ArviZ gives no R-hat for a single chain: its two halves are passed as chains, and ArviZ splits them once more.
    """
    from arviz_stats.base import array_stats

    chain = draws[None]
    halves = draws[: len(draws) // 2 * 2].reshape(2, len(draws) // 2, -1)
    rhat = array_stats.rhat(halves, chain_axis=0, draw_axis=1)
    bulk = array_stats.ess(chain, chain_axis=0, draw_axis=1, method="bulk")
    tail = array_stats.ess(chain, chain_axis=0, draw_axis=1, method="tail", prob=(0.05, 0.95))
    return float(np.max(rhat)), float(np.min(bulk)), float(np.min(tail))
