"""CmdStan: compile once, run one fit, diagnose it, and refit longer when the diagnosis is bad."""

from __future__ import annotations

import functools
import json
import logging
import re
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np

from formalsynth.families import Array

TREE_DEPTH = 10
CAREFUL = 0.95
"""Acceptance that refits aim at: shorter steps follow a posterior that the first fit lost its way in."""
FROM_OUTSIDE = (signal.SIGHUP, signal.SIGINT, signal.SIGKILL, signal.SIGTERM)
"""Signals that say nothing of the program that they end."""
STAN_FIRST = {"CXXFLAGS_OPTIM": "-include stan/model/model_header.hpp"}
"""Has Stan's header read before ours: the compiler takes it in its compiled form only where it comes first."""
PROBE = 2**16
"""Bytes that have to fit on the disk after a chain has failed, or the disk is to blame."""
DIAGNOSTICS = (
    "seed",
    "rhat_max",
    "ess_bulk_min",
    "ess_tail_min",
    "divergences",
    "treedepth_hits",
    "attempts",
    "seconds",
)
"""What is recorded of every fit."""


@dataclass(frozen=True)
class Settings:
    """How long to sample and what a fit must show to be used."""

    warmup: int = 1000
    draws: int = 1000
    """S, the kept draws of one fit."""
    adapt_delta: float = 0.65
    """Acceptance that the first fit aims at."""
    rhat_max: float = 1.05
    ess_min: float = 400
    """Least bulk and tail effective sample size."""
    divergences_max: int = 0
    attempts: int = 3
    """Fits at most; each refit samples ``lengthen`` times longer and keeps every ``lengthen``-th draw. A chain that was
    killed is sampled again as it was: that it was killed changes no number."""
    lengthen: int = 4


@dataclass
class Fit:
    """Draws and diagnostics of one fit; ``draws`` is empty when the status is ``failed``."""

    status: str
    reason: str = ""
    draws: dict[str, Array] = field(default_factory=dict)
    seed: int = 0
    rhat_max: float = float("nan")
    ess_bulk_min: float = float("nan")
    ess_tail_min: float = float("nan")
    divergences: int = 0
    treedepth_hits: int = 0
    attempts: int = 0
    seconds: float = 0.0
    killed: bool = False
    """Whether the chain was ended from outside."""


def compile_program(source: Path, executable: Path, cmdstan: Path, native: bool = True) -> str:
    """Compile a Stan program away from the repository and put the executable in place when it is whole.

    A program that includes a function of ``stan/portable`` is compiled with the C++ form in ``stan/native`` where that
    compiles, and with the portable form otherwise: same posterior, but the native form has its gradient in closed form.

    Args:
        source: the program.
        executable: where the executable goes.
        cmdstan: folder of CmdStan.
        native: whether to try the C++ form.

    Returns:
        ``native``, ``portable``, or ``plain`` for a program without such a function.

    Raises:
        RuntimeError: the program does not compile, with the compiler's words.
    """
    _cmdstanpy().set_cmdstan_path(str(cmdstan))
    functions = re.findall(r"#include (\w+)\.stan", source.read_text(encoding="utf-8"))
    forms = (["native"] if native else []) + ["portable"] if functions else ["plain"]
    complaints = []
    for form in forms:
        with tempfile.TemporaryDirectory(prefix="formalsynth-") as folder:
            try:
                built = _compile(source, Path(folder), form, functions)
            except (ValueError, RuntimeError) as error:
                complaints.append(f"{form}: {error}")
                continue
            executable.parent.mkdir(parents=True, exist_ok=True)
            partial = executable.with_name(f".{executable.name}.partial")
            shutil.copy2(built, partial)
            partial.replace(executable)
            print(f"{source.name}: compiled, {form} form", *complaints, sep="\n")
            return form
    raise RuntimeError(f"{source} does not compile with CmdStan at {cmdstan}:\n" + "\n".join(complaints))


def _compile(source: Path, folder: Path, form: str, functions: Sequence[str]) -> str:
    copy = folder / source.name
    shutil.copyfile(source, copy)
    options: dict[str, Any] = {}
    if form != "plain":
        options["include-paths"] = [str((source.parent / form).absolute())]
    if form != "native":
        return str(_cmdstanpy().CmdStanModel(stan_file=copy, stanc_options=options).exe_file)
    header = folder / "user_header.hpp"
    parts = [(source.parent / "native" / f"{name}.hpp").read_text(encoding="utf-8") for name in functions]
    header.write_text("\n".join(parts).replace("MODEL_NAMESPACE", f"{source.stem}_model_namespace"), encoding="utf-8")
    options["allow-undefined"] = True
    built = _cmdstanpy().CmdStanModel(stan_file=copy, stanc_options=options, cpp_options=dict(STAN_FIRST), user_header=header)
    return str(built.exe_file)


def sample(
    executable: Path, data: Mapping[str, Any], inits: Mapping[str, Any], parameters: tuple[str, ...],
    seed: int, settings: Settings,
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
        OSError: the program cannot be started or the disk is full, which says nothing of the posterior.
    """
    start = time.perf_counter()
    fit, refits = Fit("failed", "not run"), 0
    for attempt in range(settings.attempts):
        fit = _attempt(executable, data, inits, parameters, seed + refits, settings, settings.lengthen**refits)
        fit.attempts = attempt + 1
        if fit.status == "ok":
            break
        refits += not fit.killed
    fit.seconds = time.perf_counter() - start
    if fit.status != "ok":
        fit.draws = {}
    return fit


def _attempt(
    executable: Path, data: Mapping[str, Any], inits: Mapping[str, Any], parameters: tuple[str, ...],
    seed: int, settings: Settings, thin: int,
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
            if isinstance(error, OSError) and not isinstance(error, FileNotFoundError):
                raise
            reason, killed = _cause(error, executable)
            return Fit("failed", f"CmdStan stopped: {reason}", seed=seed, killed=killed)
    return _gated(draws, int(divergent.sum()), int((depth >= TREE_DEPTH).sum()), seed, settings)


@functools.lru_cache
def _model(executable: Path) -> Any:
    """The program as cmdstanpy drives it, asked only once how it was built: cmdstanpy would start it for that at every fit."""
    model = _cmdstanpy().CmdStanModel(exe_file=executable)
    model.exe_info = functools.cache(model.exe_info)
    return model


def _cmdstanpy() -> ModuleType:
    """cmdstanpy, imported late because it is slow to load, and silent: it would log three lines a fit."""
    # With a handler in place cmdstanpy adds none of its own.
    if not logging.getLogger("cmdstanpy").handlers:
        logging.getLogger("cmdstanpy").addHandler(logging.NullHandler())
    import cmdstanpy

    return cmdstanpy


def _json(folder: str, name: str, values: Mapping[str, Any]) -> str:
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


def _cause(error: Exception, executable: Path) -> tuple[str, bool]:
    """Why a chain failed, and whether it was ended from outside.

    CmdStan's own first words are preferred, without the headings that cmdstanpy sets around them.

    Raises:
        OSError: the program cannot be started.
    """
    words, _, files = str(error).partition("Command and output files:")
    status = int(found[1]) if (found := re.search(r"retcodes=\[(-?\d+)\]", files)) else 0
    if status == -1:  # also what cmdstanpy has for a program that did not start
        subprocess.run([executable], capture_output=True, check=False)
    if status < 0:
        return f"signal {-status} ({signal.strsignal(-status)})", -status in FROM_OUTSIDE
    lines = [line.strip() for line in words.removeprefix("Error during sampling:").splitlines() if line.strip()]
    return (lines[0] if lines else f"exit status {status}")[:200], False


def _gated(draws: dict[str, Array], divergences: int, treedepth_hits: int, seed: int, settings: Settings) -> Fit:
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
