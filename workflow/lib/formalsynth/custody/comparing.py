"""What each candidate would be worth to analysts and what it would cost, for the custodian's eyes only."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
import pandas as pd
from scipy import stats

from formalsynth.core.arrays import Array
from formalsynth.core.utility import ecdf_distances
from formalsynth.core.words import counted
from formalsynth.custody.auditing import Audited
from formalsynth.custody.candidates import Candidate
from formalsynth.custody.records import design_of, names_of
from formalsynth.custody.schema import Analyses, Regression, Schema
from formalsynth.custody.synthesizing import synthetic_outcomes

EXPOSED = 10
"""Records of the largest risk that are listed."""
LEVEL = 0.95
ROUNDING = 1e-6
ALIKE = 0.02
"""Difference of two max-ECDF below which they count as alike."""


@dataclass(frozen=True)
class Coefficient:
    """A coefficient of a regression, in the file and in the synthetic data."""

    regression: str
    name: str
    file: tuple[float, float]
    """Interval."""
    synthetic: tuple[float, float]
    overlap: float
    """Share of the intervals that they have in common: 1 where they agree, below 0 where they lie apart."""


@dataclass(frozen=True)
class Compared:
    """A candidate with what it is worth."""

    id: str
    guarantee: str
    reason: str
    epsilon: float
    """Of all sets together."""
    pure: bool
    ecdf_max: float
    quantiles: Mapping[float, tuple[float, float]]
    """At each level that of the file and the mean of those of the synthetic sets."""
    coefficients: tuple[Coefficient, ...]
    exposed: tuple[tuple[int, float], ...]
    """Rows, of those that are used, with the largest bounds."""
    audited: Audited | None = None
    """What the audit found; None where there was none."""

    @property
    def shown(self) -> float:
        """The epsilon that has to be reckoned with: what is claimed, or what was found where that is more."""
        return max(self.epsilon, self.audited.epsilon) if self.audited and self.audited.done else self.epsilon

    @property
    def refuted(self) -> bool:
        """Whether the audit found more than is claimed."""
        return self.shown > self.epsilon * (1 + ROUNDING)


@dataclass(frozen=True)
class Recommendation:
    """Which candidate, why, and what speaks against it."""

    id: str
    reason: str
    weakness: str


def compare(
    schema: Schema, table: pd.DataFrame, found: Mapping[str, Candidate], audited: Mapping[str, Audited], analyses: Analyses,
    sets: int,
) -> list[Compared]:  # fmt: skip
    """Synthetic sets of each candidate beside the file, with what the audit found of it."""
    design, generator = design_of(schema, table), np.random.default_rng()
    compared = [
        _failed(one, sets)
        if one.reason
        else _compared(schema, table, one, analyses, synthetic_outcomes(schema, one, [design] * sets, generator))
        for one in found.values()
    ]
    return [replace(one, audited=audited.get(one.id)) for one in compared]


def _failed(candidate: Candidate, sets: int) -> Compared:
    id, nothing = candidate.synthesizer.id, float("nan")
    return Compared(id, candidate.guarantee, candidate.reason, candidate.per_release(sets), False, nothing, {}, (), ())


def _compared(schema: Schema, table: pd.DataFrame, candidate: Candidate, analyses: Analyses, synthetic: Array) -> Compared:
    x = table[schema.outcome].to_numpy(dtype=float)
    levels = {
        level: (float(np.quantile(x, level)), float(np.quantile(synthetic, level, axis=1).mean())) for level in analyses.quantiles
    }
    coefficients = [one for regression in analyses.regressions for one in _coefficients(schema, table, regression, synthetic)]
    exposed: list[tuple[int, float]] = []
    if candidate.by_record is not None:
        exposed = [(int(k) + 1, float(candidate.by_record[k])) for k in np.argsort(-candidate.by_record)[:EXPOSED]]
    return Compared(
        candidate.synthesizer.id, candidate.guarantee, "", candidate.per_release(len(synthetic)), candidate.pure,
        float(np.mean([ecdf_distances(x, each)[0] for each in synthetic])), levels, tuple(coefficients), tuple(exposed),
    )  # fmt: skip


def _coefficients(schema: Schema, table: pd.DataFrame, regression: Regression, synthetic: Array) -> list[Coefficient]:
    kept = [name for name in schema.columns if name == schema.outcome or name in regression.predictors]
    part = schema.model_copy(update={"columns": {name: schema.columns[name] for name in kept}})
    design, names = design_of(part, table), names_of(part)
    outcome = table[schema.outcome].to_numpy(dtype=float)
    of_file = _fit(design, np.log(outcome) if regression.log else outcome)
    of_sets = [_fit(design, np.log(each) if regression.log else each) for each in synthetic]
    mean, variance = combined(np.stack([fit[0] for fit in of_sets]), np.stack([fit[1] for fit in of_sets]))
    ours, theirs = _interval(*of_file), _interval(mean, variance)
    label = f"{'log ' * regression.log}{schema.outcome} on {', '.join(regression.predictors)}"
    return [
        Coefficient(label, name, ours[k], theirs[k], overlap(ours[k], theirs[k])) for k, name in enumerate(names) if k
    ]  # fmt: skip


def _fit(design: Array, y: Array) -> tuple[Array, Array]:
    """Least squares: coefficients and their variances."""
    inverse = np.linalg.pinv(design.T @ design)
    coefficients = inverse @ design.T @ y
    residual = y - design @ coefficients
    return coefficients, np.diag(inverse) * float(residual @ residual) / max(len(y) - design.shape[1], 1)


def combined(estimates: Array, variances: Array) -> tuple[Array, Array]:
    """Estimates and variances (m, k) of m partially synthetic sets as one: means, and ``mean variance + between / m``.

    Source: Reiter (2003), Survey Methodology 29, 181-188.
    """
    between = estimates.var(axis=0, ddof=1) if len(estimates) > 1 else np.zeros(estimates.shape[1])
    return estimates.mean(axis=0), variances.mean(axis=0) + between / len(estimates)


def _interval(estimate: Array, variance: Array) -> list[tuple[float, float]]:
    half = stats.norm.ppf((1 + LEVEL) / 2) * np.sqrt(variance)
    return [(float(low), float(high)) for low, high in zip(estimate - half, estimate + half, strict=True)]


def overlap(first: tuple[float, float], second: tuple[float, float]) -> float:
    """Share of two intervals that they have in common, averaged over the two; below 0 where they lie apart.

    Source: Karr et al. (2006), The American Statistician 60, 224-232.
    """
    common = min(first[1], second[1]) - max(first[0], second[0])
    lengths = [max(end - start, 1e-300) for start, end in (first, second)]
    return common * sum(1 / length for length in lengths) / 2


def recommend(compared: Sequence[Compared], ceiling: float | None) -> Recommendation | None:
    """The candidate with the best utility among those that fit under the ceiling; None where there is none.

    One of which the audit shows more than is claimed is not recommended. Of candidates that are alike in utility, the one whose
    guarantee holds as it stands comes first, then that with less epsilon.
    """
    limit = math.inf if ceiling is None else ceiling
    fitting = [one for one in compared if not one.reason and one.epsilon <= limit]
    possible = [one for one in fitting if not one.refuted]
    if not possible:
        return None
    best = min(one.ecdf_max for one in possible)
    chosen = min(
        (one for one in possible if one.ecdf_max <= best + ALIKE), key=lambda one: (not one.pure, one.epsilon, one.ecdf_max)
    )
    refuted = [one for one in fitting if one.refuted]
    return Recommendation(chosen.id, _reason(chosen, possible, refuted, best, ceiling), _weakness(chosen))


def _reason(
    chosen: Compared, possible: Sequence[Compared], refuted: Sequence[Compared], best: float, ceiling: float | None
) -> str:
    limit = "" if ceiling is None else f" whose epsilon is at most {ceiling:g}"
    if len(possible) == 1:
        reason = f"It is the only candidate{limit or ' that came through'}"
        reason += f" (max-ECDF {chosen.ecdf_max:.3f})" + (", and its guarantee holds as it stands." if chosen.pure else ".")
    else:
        reason = (
            f"Of the {counted(len(possible), 'candidate')}{limit}, none is clearly nearer to the file (max-ECDF "
            f"{chosen.ecdf_max:.3f}, the best has {best:.3f}), "
        )
        reason += (
            "and its guarantee holds as it stands." if chosen.pure else f"and it needs the least epsilon, {chosen.epsilon:.3g}."
        )
    for one in refuted:
        reason += f" {one.id} is out: it claims {one.epsilon:.3g}, and the audit found at least {one.shown:.3g}."
    return reason


def _weakness(chosen: Compared) -> str:
    if chosen.pure:
        return (
            "It knows nothing of the predictors: what the outcome has to do with them is lost. "
            "Inside a bin the values are spread evenly, so details narrower than a bin are lost, too."
        )
    return (
        f"Its guarantee is of the kind {chosen.guarantee!r}: epsilon was found from this file, as a maximum over posterior "
        "draws, and holds in the limit of many records rather than as it stands. Each further synthetic set costs as much again. "
        + _audit_of(chosen)
    )


def _audit_of(chosen: Compared) -> str:
    audited = chosen.audited
    if audited is None or not audited.done:
        return "It was not audited."
    tried = counted(audited.tried, "neighbour")
    return f"The audit found at least {audited.epsilon:.3g} among {tried}: what was not tried may cost more."
