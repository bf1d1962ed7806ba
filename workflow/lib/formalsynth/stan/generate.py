"""CmdStan: evaluate a program without sampling: its log density at a point, and its generated quantities for draws."""

from __future__ import annotations

import re
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from formalsynth.core.arrays import Array, Draws
from formalsynth.core.family import StanData
from formalsynth.stan.command import ChainFailed, EndedFromOutside, as_json, complaint, run, started
from formalsynth.stan.served import DrawRequest, ask

STANDSTILL = "1e-12"
"""Step size so small that the point does not move; the sampler then reports the log density at its starting point.

``main.cpp`` uses it, too."""


@dataclass(frozen=True)
class Point:
    """Values of a program at one point."""

    log_density: float
    """``lp__``, with the Jacobian of constrained parameters."""
    values: Mapping[str, Array]
    """Parameters, transformed parameters and generated quantities."""


def evaluate(executable: Path, data: StanData, at: StanData, seed: int = 1) -> Point:
    """Compute the log density of a program at a point, and everything else that the program computes there.

    Args:
        executable: the compiled program.
        data: its data.
        at: values of all parameters.
        seed: Stan's seed.

    Raises:
        ChainFailed: the program rejects the data or the point; the message is the program's.
    """
    return _standing(executable, {"data": _json(data), "inits": _json(at)}, seed)


def start(executable: Path, data: StanData, parameters: Sequence[str], seed: int) -> dict[str, Array]:
    """Let Stan choose the starting point of a chain; return it by parameter.

    Args:
        executable: the compiled program.
        data: its data.
        parameters: names of all its parameters.
        seed: Stan's seed.

    Raises:
        ChainFailed: the program rejects the data or finds no starting point; the message is the program's.
    """
    values = _standing(executable, {"data": _json(data)}, seed).values
    return {name: values[name] for name in parameters}


def _standing(executable: Path, texts: Mapping[str, str], seed: int) -> Point:
    """Point at which a chain starts, obtained from one step that does not move."""
    request = DrawRequest("point", seed, 1, (), texts["data"], texts.get("inits", "{}").encode())
    options = [
        "method=sample", "num_samples=1", "num_warmup=0", "save_warmup=0", "adapt", "engaged=0",
        "algorithm=hmc", "engine=static", f"int_time={STANDSTILL}", f"stepsize={STANDSTILL}",
    ]  # fmt: skip
    values_of = ask(executable, request) or _run(executable, texts, seed, options, 1)
    return Point(float(values_of["lp__"][0]), {name: values[0] for name, values in values_of.items() if not name.endswith("__")})


def generate(executable: Path, data: StanData, draws: Draws, seed: int) -> dict[str, Array]:
    """Compute the generated quantities of a program for S draws of its parameters, with the draws along their first axis.

    Args:
        executable: the compiled program.
        data: its data, which may differ from the data of the fit that produced the draws.
        draws: all parameters, in the order in which the program declares them.
        seed: Stan's seed.

    Raises:
        ChainFailed: the program rejects the data or the draws; the message is the program's.
        OSError: the environment is the cause: memory or disk space is short, or the program was ended from outside.
    """
    texts, (names, values) = {"data": _json(data)}, _columns(draws)
    request = DrawRequest("generate", seed, len(values), names, texts["data"], values.tobytes(order="F"))
    options = ["method=generate_quantities"]
    return ask(executable, request) or _run(executable, texts, seed, options, len(values), (names, values))


def visited(executable: Path, data: StanData, inits: StanData, seed: int, number: int) -> list[Point]:
    """Sample points of the posterior with a short chain.

    Raises:
        ChainFailed: the chain did not finish; the message is the program's.
    """
    options = ["method=sample", f"num_samples={number}", "num_warmup=300", "save_warmup=0"]
    values_of = _run(executable, {"data": _json(data), "inits": _json(inits)}, seed, options, number)
    names = [name for name in values_of if not name.endswith("__")]
    return [Point(float(values_of["lp__"][k]), {name: values_of[name][k] for name in names}) for k in range(number)]


def gradient_error(executable: Path, data: StanData, at: StanData) -> float:
    """Largest difference between a program's gradient and finite differences at a point; relative if the gradient exceeds 1.

    Raises:
        ChainFailed: the program does not report its gradient.
    """
    with tempfile.TemporaryDirectory(prefix="formalsynth-") as folder:
        for name, values in {"data": data, "inits": at}.items():
            Path(folder, f"{name}.json").write_text(_json(values), encoding="utf-8")
        command = [str(executable.absolute()), "data", f"file={folder}/data.json", f"init={folder}/inits.json", "method=diagnose"]
        ran = started(command, folder)
    rows = re.findall(r"^\s*\d+\s+(\S+)\s+(\S+)\s+(\S+)\s+(\S+)\s*$", ran.stdout.decode(errors="replace"), re.M)
    if not rows:
        raise ChainFailed(complaint(ran) or "it did not finish and reported no reason")
    return max(abs(float(error)) / max(1.0, abs(float(model))) for _, model, _, error in rows)


def _run(
    executable: Path, texts: Mapping[str, str], seed: int, options: Sequence[str], rows: int,
    draws: tuple[Sequence[str], Array] | None = None,
) -> dict[str, Array]:  # fmt: skip
    try:
        return run(executable, texts, seed, options, rows, draws=draws)
    except EndedFromOutside as error:
        raise OSError(f"{error}, which does not depend on the program: {error.question} Run again") from None


def _json(values: StanData) -> str:
    return as_json(values, finite=False)


def _columns(draws: Draws) -> tuple[list[str], Array]:
    """Names of all elements of parameters, and their values (S, elements)."""
    names, columns = [], []
    for name, values in draws.items():
        # the first index runs fastest
        places = [place[::-1] for place in np.ndindex(values.shape[:0:-1])]
        names += [".".join([name, *(str(index + 1) for index in place)]) for place in places]
        columns.append(values.reshape(len(values), -1, order="F"))
    return names, np.hstack(columns, dtype=float)
