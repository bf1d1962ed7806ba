"""Family that consists of a user's own Stan program.

The program declares data ``n``, ``x``, ``weights`` and, if it has predictors, ``p`` and ``design`` (n, p; the constant is the
first column); it may declare further columns of the records, each as an array of length ``n``. It adds ``weights[i]`` times the
log-likelihood of each record to the target, and generates ``log_lik``, unweighted, and ``x_rep``, a predictive value for each
record. All other declared data are fixed numbers that config sets.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np

from formalsynth.core.arrays import Array, Draws, Integers, Records, count
from formalsynth.core.constraints import Allowed
from formalsynth.core.family import FAMILIES, Evaluate, StanData, program_name
from formalsynth.core.registry import OwnCodeError

CONTRACT = ("n", "x", "weights", "p", "design", "threshold", "offset")
"""Data taken from the records, and those with which a program clips their log-likelihoods."""
UNCLIPPED = 1e300
"""Threshold at which a program clips nothing."""
GENERATED = ("log_lik", "x_rep")
"""Generated quantities, one value for each record."""
COLUMN = re.compile(r"vector\s*(<.*>)?\s*\[\s*n\s*\]|array\s*\[\s*n\s*\]\s*(int|real)\b\s*(<.*>)?\s*", re.DOTALL)
"""Type of a further column of the records."""
BLOCKS = ("data", "parameters", "generated quantities")


@dataclass
class OwnProgram:
    """Family of one program; :meth:`bind` sets its compiled program before it is used on draws."""

    program: str
    parameters: tuple[str, ...]
    data: tuple[str, ...]
    """Names of its declared data."""
    integers: tuple[str, ...] = ()
    """Names of those data that are integers."""
    inputs: tuple[str, ...] = ()
    """Names of those data that are further columns of the records."""
    priors: Mapping[str, float] = field(default_factory=dict)
    """Fixed numbers, as passed to :meth:`bind`."""
    evaluate: Evaluate | None = None
    start: Callable[[StanData], StanData] | None = None
    """Function that chooses a starting point; None lets Stan choose it in each chain."""

    distribution: bool = False
    """True if it generates ``log_cdf``, the logarithm of the distribution function of each record's outcome."""

    @property
    def censors(self) -> bool:
        """True if it declares a threshold at which it clips each record's weighted log-likelihood."""
        return "threshold" in self.data

    @property
    def whole(self) -> bool:
        """True if its outcomes are integers."""
        return "x" in self.integers

    @property
    def outcomes(self) -> Allowed:
        """Finite numbers or integers; a study declares their bounds."""
        if self.whole:
            return Allowed("whole numbers", lambda x: bool((np.isfinite(x) & (x == np.floor(x))).all()))
        return Allowed("finite numbers", lambda x: bool(np.isfinite(x).all()))

    @property
    def numbers(self) -> list[str]:
        """Names of the constants that config must set."""
        return [name for name in self.data if name not in (*CONTRACT, *self.inputs)]

    def bind(self, evaluate: Evaluate, priors: Mapping[str, float], start: Callable[[StanData], StanData] | None = None) -> None:
        """Set the functions that run the compiled program, and its fixed numbers."""
        self.evaluate, self.priors, self.start = evaluate, dict(priors), start

    def stan_data(
        self, records: Records, weights: Array, priors: Mapping[str, float], threshold: float | None = None
    ) -> StanData:
        """Collect records and weights under the contract's names, further columns under their own names, and the fixed numbers.

        Raises:
            ValueError: the records lack a column, or the program does not clip.
        """
        if absent := [name for name in self.inputs if name not in records.inputs]:
            raise ValueError(f"the records have no column {absent[0]}, which the Stan program {self.program} declares")
        if threshold is not None and not self.censors:
            raise ValueError(f"the Stan program {self.program} declares no threshold, at which it would clip")
        columns = {"x": records.x} | {name: records.inputs[name] for name in self.inputs}
        values: dict[str, int | float | Array | Integers] = {"n": len(records), "weights": weights, "p": records.design.shape[1]}
        values |= {"threshold": UNCLIPPED if threshold is None else threshold, "offset": np.zeros(len(records))}
        values |= {name: column.astype(int) if name in self.integers else column for name, column in columns.items()}
        values |= {name: int(value) if name in self.integers else value for name, value in priors.items()}
        return {name: (values | {"design": records.design})[name] for name in self.data}

    def inits(self, stan_data: StanData) -> StanData:
        """Choose a starting point, if a function is set for it; otherwise Stan chooses."""
        return self.start(stan_data) if self.start else {}

    def log_likelihood(self, records: Records, draws: Draws) -> Array:
        """Log-likelihood (S, n) of the records under the draws, from ``log_lik``."""
        return self._generated("log_lik", records, draws, 1)

    def predict(self, generator: np.random.Generator, records: Records, draws: Draws) -> Array:
        """Predictive values (S, n), from ``x_rep``."""
        return self._generated("x_rep", records, draws, int(generator.integers(1, 2**31 - 1)))

    def factors(self, records: Records, draws: Draws) -> tuple[Array, Array]:
        """Raise an error: the program provides only the complete log-likelihood."""
        raise ValueError(f"the Stan program {self.program} provides no factors of its log-likelihood, which this mechanism needs")

    def log_interval_probability(self, records: Records, draws: Draws, lower: Array, upper: Array) -> Array:
        """Log probability (S, n) of closed intervals, from ``log_cdf``; its differences are not accurate far in the upper tail.

        Raises:
            ValueError: the program does not generate ``log_cdf``.
        """
        if self.distribution:
            below = self._upto(records, draws, lower - 1 if self.whole else lower)
            with np.errstate(divide="ignore"):
                result: Array = np.log(np.maximum(self._upto(records, draws, upper) - below, 0))
            return result
        raise ValueError(f"the Stan program {self.program} provides no interval probabilities, which this mechanism needs")

    def _upto(self, records: Records, draws: Draws, ends: Array) -> Array:
        """Probabilities (S, n) of outcomes up to the ends (n,)."""
        finite = np.isfinite(ends)
        upto = np.broadcast_to(np.where(ends > 0, 1.0, 0.0), (count(draws), len(ends))).copy()
        if finite.any():
            at = replace(records.take(finite), x=ends[finite])
            upto[:, finite] = np.exp(self._generated("log_cdf", at, draws, 1))
        return upto

    def _generated(self, name: str, records: Records, draws: Draws, seed: int) -> Array:
        if self.evaluate is None:
            raise ValueError(f"the Stan program {self.program} is not compiled yet")
        data = self.stan_data(records, np.ones(len(records)), self.priors)
        return self.evaluate(data, {parameter: draws[parameter] for parameter in self.parameters}, seed)[name]


def register(path: Path) -> None:
    """Register the family of a program under :func:`program_name`, unless it is registered.

    Raises:
        OwnCodeError: the file does not meet the contract.
    """
    text = path.read_text(encoding="utf-8")
    if program_name(path) not in FAMILIES:
        FAMILIES.add(program_name(path), _family(program_name(path), text), str(path))


def _family(name: str, text: str) -> OwnProgram:
    blocks = {block: _declared(text, block) for block in BLOCKS}
    data, parameters, generated = (blocks[block] for block in BLOCKS)
    problems = [f"data {required} are not declared: add them" for required in ("n", "x", "weights") if required not in data]
    problems += [
        f"generated quantity {required} is missing: declare vector[n] {required}"
        for required in GENERATED
        if required not in generated
    ]
    problems += [] if parameters else ["it has no parameters"]
    problems += ["#include is not allowed: put everything into one file"] if re.search(r"^\s*#include", text, re.M) else []
    problems += [] if not ({"design", "p"} & set(data)) or {"design", "p"} <= set(data) else ["declare both p and design"]
    own = {variable: kind for variable, kind in data.items() if variable not in CONTRACT}
    inputs = tuple(variable for variable, kind in own.items() if COLUMN.fullmatch(kind))
    others = [name for name, kind in own.items() if name not in inputs and not re.match(r"(int|real)\b(?!.*\[)", kind)]
    problems += ["declare real threshold, which an offset needs"] if "offset" in data and "threshold" not in data else []
    problems += [f"data {name} must be a single number or a column of n values such as vector[n] {name}" for name in others]
    if problems:
        raise OwnCodeError("; ".join(problems))
    integers = tuple(variable for variable, kind in data.items() if re.search(r"\bint\b", kind))
    return OwnProgram(name, tuple(parameters), tuple(data), integers, inputs, distribution="log_cdf" in generated)


def _declared(text: str, block: str) -> dict[str, str]:
    """Variables that a block declares at its top level, each with its type."""
    text = re.sub(r"//[^\n]*|/\*.*?\*/|\"[^\"\n]*\"", " ", text, flags=re.S)
    while (flatter := re.sub(r"\{([^{}]*)\{[^{}]*\}", r"{\1;", text)) != text:  # an inner block ends its statement
        text = flatter
    body = re.search(rf"(?<!transformed )(?<!\w)\b{block.replace(' ', chr(92) + 's+')}\s*\{{([^{{}}]*)", text)
    declared: dict[str, str] = {}
    for statement in body[1].split(";")[:-1] if body else []:
        match = re.match(
            r"\s*((?:array\s*\[[^\]]*\]\s*)?(?:int|real|vector|row_vector|matrix|simplex|ordered|positive_ordered|unit_vector|"
            r"cov_matrix|corr_matrix|cholesky_factor_cov|cholesky_factor_corr)\b\s*(?:<[^;]*?>)?\s*(?:\[[^\]]*\])?)\s*(\w+)",
            statement,
        )
        if match:
            declared[match[2]] = match[1]
    return declared
