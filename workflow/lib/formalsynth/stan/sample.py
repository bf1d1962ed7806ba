"""CmdStan: run one fit, diagnose it, and refit with a longer chain if the diagnosis is bad."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from formalsynth.core.arrays import Array
from formalsynth.core.family import StanData
from formalsynth.core.synthesizer import SamplerSettings
from formalsynth.stan.command import ChainFailed, EndedFromOutside, as_json, run
from formalsynth.stan.diagnostics import diagnose
from formalsynth.stan.fit import Fit
from formalsynth.stan.served import DrawRequest, ask

TREE_DEPTH = 10
OF_SAMPLER = ("treedepth__", "divergent__")
"""Sampler columns that are read."""
DIGITS = 14
"""Number of digits of draws, with which ``main.cpp`` rounds those that are not written."""

CAREFUL = 0.95
"""Target acceptance rate of a refit after an earlier fit diverged or stopped, because shorter steps may succeed.

A refit that only needs more effective draws keeps the usual rate: with shorter steps, it would make fewer in the same time."""
TRIES = 3
"""Number of times that a chain may be ended from outside before the job fails."""


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


def sample(
    executable: Path, data: StanData, inits: StanData | Sequence[StanData], parameters: tuple[str, ...],
    seed: int, settings: SamplerSettings,
) -> Fit:  # fmt: skip
    """Sample one pseudo posterior, check its diagnostics, and refit with a longer chain if they do not pass.

    Args:
        executable: the compiled program.
        data: its data.
        inits: starting point, or several with a chain each; the draws are divided among the chains, and R-hat compares them.
        parameters: Stan variables to keep.
        seed: Stan's seed for the first attempt; refits use the following integers.
        settings: chain lengths and limits of the diagnostics.

    Raises:
        OSError: the environment is the cause, not the posterior: the program cannot be started, memory is short, the disk is
            full, a limit on file size is too low, or the chain was ended from outside :data:`TRIES` times.
    """
    start, points = time.perf_counter(), [inits] if isinstance(inits, Mapping) else inits
    fit, refits, ended, lost = Fit("failed", "not run"), 0, 0, False
    while refits < settings.attempts:
        try:
            lengths = _lengths(settings, refits, lost)
            lengths = replace(lengths, draws=lengths.draws // len(points))
            chains = [
                run_chain(executable, data, point, parameters, seed + refits + k * settings.attempts, lengths)
                for k, point in enumerate(points)
            ]
            fit = _gated(_joined(chains), settings)
        except ChainFailed as error:
            fit = Fit("failed", f"CmdStan stopped: {error}")
        except EndedFromOutside as error:
            ended += 1
            if ended == TRIES:
                raise OSError(
                    f"{error} {TRIES} times, which does not depend on the posterior: {error.question} Run again"
                ) from None
            continue
        lost = lost or fit.divergences > 0 or not fit.draws
        fit.seed = seed + refits
        refits += 1
        fit.attempts = refits
        if fit.status == "ok":
            break
    fit.seconds = time.perf_counter() - start
    if fit.status != "ok":
        fit.draws = {}
    return fit


def _joined(chains: Sequence[Chain]) -> Chain:
    """Join chains of equal lengths, one after the other."""
    draws = {name: np.concatenate([chain.draws[name] for chain in chains]) for name in chains[0].draws}
    return Chain(draws, sum(chain.divergences for chain in chains), sum(chain.treedepth_hits for chain in chains))


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
        ChainFailed, EndedFromOutside, OSError: see :func:`formalsynth.stan.command.run`.
    """
    try:
        texts = {"data": as_json(data), "inits": as_json(inits)}
    except ValueError as error:
        raise ChainFailed(str(error)) from error
    names, settings = (*OF_SAMPLER, *parameters), (lengths.warmup, lengths.thin, TREE_DEPTH, lengths.adapt_delta)
    values = ask(executable, DrawRequest("fit", seed, lengths.draws, names, texts["data"], texts["inits"].encode(), settings))
    values = values or run(executable, texts, seed, _options(lengths), lengths.draws, digits=DIGITS)
    if lost := [name for name in parameters if name not in values]:
        raise ChainFailed(f"it has no variable {lost[0]}")
    depth, divergent = (values[name] for name in OF_SAMPLER)
    return Chain({name: values[name] for name in parameters}, int(divergent.sum()), int((depth >= TREE_DEPTH).sum()))


def _options(lengths: Lengths) -> list[str]:
    return [
        "method=sample", f"num_samples={lengths.draws * lengths.thin}", f"num_warmup={lengths.warmup}",
        "save_warmup=0", f"thin={lengths.thin}", "algorithm=hmc", "engine=nuts", f"max_depth={TREE_DEPTH}",
        "metric=dense_e", "adapt", "engaged=1", f"delta={lengths.adapt_delta}",
    ]  # fmt: skip


def _lengths(settings: SamplerSettings, refits: int, lost: bool) -> Lengths:
    """Choose settings of a fit or a refit, which keeps the same number of draws; ``lost``: an earlier fit diverged or stopped."""
    thin = settings.lengthen**refits
    return Lengths(settings.warmup * thin, settings.draws, thin, CAREFUL if lost else settings.adapt_delta)


def _gated(chain: Chain, settings: SamplerSettings) -> Fit:
    columns = np.column_stack([values.reshape(len(values), -1) for values in chain.draws.values()])
    moving = (columns != columns[:1]).any(axis=0)  # an element such as the first of a Cholesky factor is fixed
    rhat, bulk, tail = diagnose(columns[:, moving] if moving.any() else columns)
    fit = Fit("ok", "", chain.draws, 0, rhat, bulk, tail, chain.divergences, chain.treedepth_hits)
    complaints = {
        f"R-hat {rhat:.3f} above {settings.rhat_max}": not rhat <= settings.rhat_max,
        f"effective draws {min(bulk, tail):.0f} below {settings.ess_min}": not min(bulk, tail) >= settings.ess_min,
        f"{chain.divergences} divergences": chain.divergences > settings.divergences_max,
    }
    reasons = [text for text, bad in complaints.items() if bad]
    if reasons:
        fit.status, fit.reason = "failed", "gate: " + ", ".join(reasons)
    return fit
