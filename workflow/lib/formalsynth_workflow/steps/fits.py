"""Fits: the result of one synthesizer on each replicate of a batch, and the file that measurements and children read."""

from __future__ import annotations

import base64
import io
import json
import operator
import pickle
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from pathlib import Path
from types import FunctionType
from typing import Any

import numpy as np

from formalsynth.core.arrays import Array, Draws
from formalsynth.core.bounds import Sensitive
from formalsynth.core.centring import Reference
from formalsynth.core.family import Predictor
from formalsynth.core.mechanism import DirectRelease, FitCache, Form, Parent
from formalsynth.core.private import PrivateFit
from formalsynth.core.registry import is_own
from formalsynth.engine.chain import WeightedPosterior
from formalsynth.runtime.files import read_arrays, write_arrays
from formalsynth.stan.fit import DIAGNOSTICS, Fit

DRAWS, CENTRE = "draws", "centre"
"""Results with an array for each parameter, whose name follows a colon in a file."""
ARRAYS = ("weights", "sensitive", "by_record", "outside_share")
REST = "rest"
"""Name in a file of all other results of each replicate, as JSON."""


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

    def with_weighted(self, result: WeightedPosterior[Fit], claim: float | None) -> Fitted:
        """Add a weighted posterior with its bounds. Epsilon is the claim if there is one, which the bounds may not reach."""
        form, bounds, cache, reference = result.form, result.bounds, result.cache, result.form.sensitive.reference
        assert bounds is not None
        return replace(
            self, weights=form.weights, sensitive=form.sensitive.weights, by_record=bounds.by_record,
            centre=reference.draws if reference else {}, threshold=form.sensitive.threshold, delta=bounds.delta,
            delta_mcse=bounds.delta_mcse, epsilon=bounds.epsilon if claim is None else claim,
            affected=form.affected if bounds.beyond is None else bounds.beyond, outside_share=cache.outside_share,
            searched=cache.searched, search_steps=cache.search_steps,
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
    """Write the results of R replicates: arrays with the replicates along the first axis, and the rest as JSON."""
    replicates = [_arrays(fit) for fit in fits]
    shapes = {name: values.shape for arrays in replicates for name, values in arrays.items()}
    stacked = {
        name: np.stack([arrays.get(name, np.full(shape, np.nan)) for arrays in replicates]) for name, shape in shapes.items()
    }
    rest = [_rest(fit) | {"arrays": list(arrays)} for fit, arrays in zip(fits, replicates, strict=True)]
    write_arrays(path, {**stacked, REST: np.array([json.dumps(values, default=float) for values in rest])})


def read_fits(path: str | Path) -> list[Fitted]:
    """Read the results of each replicate from a file written by :func:`write_fits`."""
    file = read_arrays(path)
    return [_fitted(file, k, **json.loads(rest)) for k, rest in enumerate(file.pop(REST))]


def _arrays(fit: Fitted) -> dict[str, Array]:
    """Return the arrays of a result by their names in a file."""
    values = {name: getattr(fit, name) for name in ARRAYS}
    values |= {f"{head}:{name}": value for head in (DRAWS, CENTRE) for name, value in getattr(fit, head).items()}
    return {name: np.asarray(value, dtype=float) for name, value in values.items() if value is not None}


def _rest(fit: Fitted) -> dict[str, Any]:
    """Return the results that are not arrays."""
    return {field.name: getattr(fit, field.name) for field in fields(fit) if field.name not in (*ARRAYS, DRAWS, CENTRE)}


def _fitted(file: Mapping[str, np.ndarray], k: int, arrays: Sequence[str], **rest: Any) -> Fitted:
    """Return the result of the k-th replicate, which has these arrays."""
    by_parameter: dict[str, Any] = {DRAWS: {}, CENTRE: {}}
    for head, parameter in (name.split(":") for name in arrays if name not in ARRAYS):
        by_parameter[head][parameter] = file[f"{head}:{parameter}"][k]
    return Fitted(**rest, **by_parameter, **{name: file[name][k] for name in ARRAYS if name in arrays})
