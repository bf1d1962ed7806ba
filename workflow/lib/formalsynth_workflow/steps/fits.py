"""Fits: the result of one synthesizer on each replicate of a batch, and the file that measurements and children read."""

from __future__ import annotations

import base64
import functools
import io
import operator
import pickle
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from types import FunctionType
from typing import Any

import numpy as np

from formalsynth.core.arrays import Array, Draws
from formalsynth.core.bounds import Bounds, Sensitive
from formalsynth.core.centring import Reference
from formalsynth.core.family import Predictor
from formalsynth.core.mechanism import DirectRelease, FitCache, Form, Parent
from formalsynth.core.private import PrivateFit
from formalsynth.core.registry import is_own
from formalsynth.engine.chain import WeightedPosterior
from formalsynth.runtime.files import read_arrays, write_arrays
from formalsynth.stan.fit import DIAGNOSTICS, Fit

DRAW, CENTRE, DIAGNOSTIC = "draw:", "centre:", "diagnostic:"
"""Prefixes of names in a file, followed by a parameter or a diagnostic."""
TEXTS = ("status", "reason", "predictor")
"""Arrays of text in a file."""
ARRAYS = ("weights", "sensitive", "by_record", "outside_share")
NUMBERS = ("threshold", "delta", "delta_mcse", "epsilon", "affected", "searched", "search_steps", "fit_p")


@dataclass(frozen=True)
class Fitted:
    """Result of a synthesizer on one data set of n records, with S draws."""

    status: str
    """``ok`` or ``failed``."""
    reason: str = ""
    """Reason for the failure."""
    diagnostics: Mapping[str, float] = field(default_factory=dict)
    """Values of :data:`formalsynth.stan.fit.DIAGNOSTICS`."""
    draws: Draws = field(default_factory=dict)
    """S draws of each parameter; empty after a failure."""
    weights: Array | None = None
    """(n,) exponents of the likelihood in the fit."""
    sensitive: Array | None = None
    """(n,) sensitive weights."""
    by_record: Array | None = None
    """(n,) Lipschitz bounds."""
    outside_share: Array | None = None
    """(n,) probability that a predicted value is outside the record's sensitive range."""
    centre: Draws = field(default_factory=dict)
    """Reference of a clipped log-likelihood, as a single draw; empty without one."""
    threshold: float | None = None
    """Censoring threshold."""
    delta: float | None = None
    """Largest Lipschitz bound."""
    delta_mcse: float | None = None
    epsilon: float | None = None
    """Claim of a strict mechanism; otherwise twice ``delta``."""
    affected: float | None = None
    """Number of records that are cut or censored."""
    searched: float | None = None
    """Value of the searched parameter."""
    search_steps: float | None = None
    """Number of refits of the search."""
    fit_p: float | None = None
    """P value of the test of fit to noisy tables."""
    predictor: str = ""
    """Converter of draws to values, as text; empty if it is the family."""

    @property
    def ok(self) -> bool:
        """True if it has draws."""
        return self.status == "ok"

    def with_form(self, form: Form, bounds: Bounds, claim: float | None) -> Fitted:
        """Add a weighted posterior with its bounds. Epsilon is the claim if there is one, which the bounds may not reach."""
        reference = form.sensitive.reference
        return replace(
            self, weights=form.weights, sensitive=form.sensitive.weights, by_record=bounds.by_record,
            centre=reference.draws if reference else {}, threshold=form.sensitive.threshold, delta=bounds.delta,
            delta_mcse=bounds.delta_mcse, epsilon=bounds.epsilon if claim is None else claim,
            affected=form.affected if bounds.beyond is None else bounds.beyond,
        )  # fmt: skip

    def with_release(self, release: DirectRelease | PrivateFit, family: Predictor) -> Fitted:
        """Add a release without record bounds."""
        predictor = getattr(release, "predictor", family)
        return replace(self, epsilon=release.epsilon, predictor="" if predictor is family else _as_text(predictor))

    def parent(self) -> Parent:
        """Return the input of the children."""
        assert self.by_record is not None and self.sensitive is not None
        return Parent(self.draws, self.by_record, self.sensitive)

    def owner(self) -> WeightedPosterior[Fit]:
        """Return the fit that another synthesizer shares."""
        assert self.weights is not None and self.sensitive is not None
        reference = Reference.of(self.centre) if self.centre else None
        sensitive = Sensitive(self.sensitive, threshold=self.threshold, reference=reference)
        fit = Fit(self.status, self.reason, dict(self.draws), **self.diagnostics)  # type: ignore[arg-type]
        return WeightedPosterior(Form(self.weights, sensitive), fit, FitCache(), self.draws)

    def predicts_with(self, family: Predictor) -> Predictor:
        """Return the converter of draws to synthetic values."""
        if not self.predictor:
            return family
        predictor: Predictor = pickle.loads(base64.b64decode(self.predictor))
        return predictor


class _Pickler(pickle.Pickler):
    """Pickler of objects whose classes and functions may be in a file of own code, a module that cannot be imported by name."""

    def reducer_override(self, value: object) -> Any:
        if isinstance(value, type | FunctionType) and is_own(value.__module__) and "<" not in value.__qualname__:
            return _of_own_code, (value.__module__, value.__qualname__)
        return NotImplemented


def _of_own_code(module: str, name: str) -> object:
    """Return a class or function of a file of own code, which :func:`formalsynth.core.registry.load` has run."""
    return operator.attrgetter(name)(sys.modules[module])


def _as_text(predictor: Predictor) -> str:
    """Return the predictor of a direct release as text.

    Raises:
        TypeError: it cannot be stored.
    """
    file = io.BytesIO()
    try:
        _Pickler(file).dump(predictor)
    except (pickle.PicklingError, AttributeError, TypeError) as error:
        remedy = "define its class at the top level of the file, without lambda functions"
        raise TypeError(f"the predictor of a direct release cannot be stored ({error}): {remedy}") from error
    return base64.b64encode(file.getvalue()).decode()


def of_fit(fit: Fit) -> Fitted:
    """Return the result of a fit without a weighted posterior, or of a failed one."""
    diagnostics = {name: getattr(fit, name) for name in DIAGNOSTICS}
    return Fitted(fit.status, fit.reason, diagnostics, fit.draws, fit_p=fit.fit_p)


def write_fits(path: str | Path, fits: Sequence[Fitted]) -> None:
    """Write the results of R replicates as arrays with the replicates along the first axis; NaN replaces missing values."""
    replicates = [_arrays(fit) for fit in fits]
    names = dict.fromkeys(name for replicate in replicates for name in replicate)
    write_arrays(path, {name: _stacked([replicate.get(name) for replicate in replicates]) for name in names})


def read_fits(path: str | Path) -> list[Fitted]:
    """Read the results of each replicate from a file written by :func:`write_fits`."""
    file = read_arrays(path)
    return [_fitted(file, k) for k in range(len(file["status"]))]


def _arrays(fit: Fitted) -> dict[str, object]:
    """Return the values of a result by their names in a file, without missing ones."""
    values = {name: getattr(fit, name) for name in (*TEXTS, *ARRAYS, *NUMBERS)}
    values |= {f"{DIAGNOSTIC}{name}": value for name, value in fit.diagnostics.items()}
    values |= {f"{DRAW}{name}": value for name, value in fit.draws.items()}
    values |= {f"{CENTRE}{name}": value for name, value in fit.centre.items()}
    return {name: value for name, value in values.items() if value is not None}


def _stacked(values: Sequence[object]) -> np.ndarray:
    """Stack the values of the replicates; missing ones are NaN."""
    known = next(value for value in values if value is not None)
    if isinstance(known, str) or all(isinstance(value, int) for value in values):
        return np.array(values)
    missing = np.full(np.shape(np.asarray(known)), np.nan)
    return np.stack([missing if value is None else np.asarray(value, dtype=float) for value in values])


def _fitted(file: Mapping[str, np.ndarray], k: int) -> Fitted:
    """Return the result of the k-th replicate."""
    taken = functools.partial(_taken, file, k)
    values = {name: file[name][k] if file[name].ndim > 1 else file[name][k].item() for name in file if _given(file[name][k])}
    diagnostics = {name: file[f"{DIAGNOSTIC}{name}"][k].item() for name in DIAGNOSTICS if f"{DIAGNOSTIC}{name}" in file}
    plain = {name: values[name] for name in (*TEXTS, *ARRAYS, *NUMBERS) if name in values}
    return Fitted(diagnostics=diagnostics, draws=taken(DRAW), centre=taken(CENTRE), **plain)


def _taken(file: Mapping[str, np.ndarray], k: int, head: str) -> Draws:
    """Return the k-th value of the arrays whose names start with ``head``, by the rest of their names."""
    named = {name: values[k] for name, values in file.items() if name.startswith(head)}
    return {name.removeprefix(head): values for name, values in named.items() if _given(values)}


def _given(values: np.ndarray) -> bool:
    """Return True unless all values are NaN, as for a missing one; an array without values is not missing."""
    return values.dtype.kind != "f" or values.size == 0 or not np.isnan(values).all()
