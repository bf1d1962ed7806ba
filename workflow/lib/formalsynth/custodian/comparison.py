"""Utility of each candidate for analysts, and its privacy cost: for the custodian only."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
import pandas as pd
from scipy.special import ndtri

from formalsynth.core.arrays import Array
from formalsynth.core.text import DataError
from formalsynth.core.utility import ecdf_distances
from formalsynth.core.words import counted, exact
from formalsynth.custodian.analyses import slopes_of
from formalsynth.custodian.candidates import Candidate
from formalsynth.custodian.cross import crossed, with_predictors
from formalsynth.custodian.guarantees import SAMPLER
from formalsynth.custodian.internal_audit import AuditResult
from formalsynth.custodian.schema import Regression, ReleaseDraft, Schema
from formalsynth.custodian.synthetic_sets import synthetic_sets
from formalsynth.inference.intervals import without_draws

EXPOSED = 10
"""Number of records with the largest risks that are listed."""
LEVEL = 0.95
ALIKE = 0.02
"""Largest difference of two max-ECDF values that count as alike, and of the level of a quantile that counts as kept."""
NEAR = 0.1
"""Largest relative difference of a coefficient that counts as kept, however many rows the file has."""


@dataclass(frozen=True)
class Coefficient:
    """Coefficient of a regression, in the file and in the synthetic data."""

    regression: str
    name: str
    file: tuple[float, float]
    """Interval."""
    synthetic: tuple[float, float]
    overlap: float
    """Overlap of the two intervals: 1 if they agree, below 0 if they are disjoint."""

    @property
    def kept(self) -> bool:
        """True if the synthetic value is in the interval of the file or near its value."""
        file, synthetic = (sum(interval) / 2 for interval in (self.file, self.synthetic))
        return self.file[0] <= synthetic <= self.file[1] or abs(synthetic - file) <= NEAR * abs(file)


@dataclass(frozen=True)
class CandidateSummary:
    """Candidate with its utility and its cost."""

    id: str
    guarantee: str
    reason: str
    epsilon: float
    """Epsilon of a release: that of all sets together, plus that of the noisy table of predictors."""
    pure: bool
    ecdf_max: float
    quantiles: Mapping[float, tuple[float, float]]
    """Quantile of the file and mean quantile of the synthetic sets, by level."""
    coefficients: tuple[Coefficient, ...]
    exposed: tuple[tuple[int, float], ...]
    """Used rows with the largest bounds: position and bound of each."""
    audited: AuditResult | None = None
    """Result of the audit; None for no audit."""
    noisy: bool = False
    """True if all its sets come from noisy counts, False for posterior draws of the rows."""
    fitted: bool = False
    """True if its sets come from a family that is fitted to noisy tables."""
    lost: tuple[str, ...] = ()
    """Declared analyses whose results from its synthetic data differ from those of the file."""
    predictors: float = 0.0
    """Part of epsilon for the noisy table of predictors, which is not audited."""

    @property
    def claim(self) -> float:
        """Part of epsilon that is audited: the claim for the outcomes."""
        return self.epsilon - self.predictors

    @property
    def shown(self) -> float:
        """Larger of the claimed and the audited epsilon."""
        if self.audited is None or not self.audited.done:
            return self.epsilon
        return self.predictors + max(self.claim, self.audited.epsilon)

    @property
    def refuted(self) -> bool:
        """True if the audit found a larger loss than the claim."""
        return self.audited is not None and self.audited.refutes(self.claim)


@dataclass(frozen=True)
class Recommendation:
    """Recommended candidate, with the reason and its weakness."""

    id: str
    reason: str
    weakness: str


def compare_candidates(
    schema: Schema, table: pd.DataFrame, candidates: Mapping[str, Candidate], audited: Mapping[str, AuditResult],
    draft: ReleaseDraft,
) -> list[CandidateSummary]:  # fmt: skip
    """Compare the file with the sets that a release of each candidate would contain, and add the candidate's audit."""
    compared = [_drawn(schema, table, candidate, draft) for candidate in candidates.values()]
    return [replace(summary, audited=audited.get(summary.id)) for summary in compared]


def _drawn(schema: Schema, table: pd.DataFrame, candidate: Candidate, draft: ReleaseDraft) -> CandidateSummary:
    if candidate.reason:
        return _failed(candidate, candidate.reason)
    try:
        sets = synthetic_sets(schema, crossed(schema, draft, table, candidate), candidate.predictor, np.random.default_rng())
    except DataError as error:
        return _failed(candidate, str(error))
    return _compared(schema, table, candidate, draft, sets)


def _failed(candidate: Candidate, reason: str) -> CandidateSummary:
    id, nothing = candidate.synthesizer.id, float("nan")
    return CandidateSummary(id, candidate.guarantee, reason, nothing, False, nothing, {}, (), ())


def _compared(
    schema: Schema, table: pd.DataFrame, candidate: Candidate, draft: ReleaseDraft, sets: Sequence[pd.DataFrame]
) -> CandidateSummary:
    analyses, epsilon = draft.analyses, with_predictors(schema, draft, candidate.per_release(len(sets)))
    synthetic = np.stack([frame[schema.outcome].to_numpy(dtype=float) for frame in sets])
    x = table[schema.outcome].to_numpy(dtype=float)
    levels = {
        level: (float(np.quantile(x, level)), float(np.quantile(synthetic, level, axis=1).mean())) for level in analyses.quantiles
    }
    coefficients = [
        coefficient
        for regression in analyses.regressions
        for coefficient in _coefficients(schema, table, regression, sets, candidate.fitted)
    ]
    lost = [coefficient.regression for coefficient in coefficients if not coefficient.kept]
    for level, (_, synthetic_quantile) in levels.items():
        low, high = np.quantile(x, [max(level - ALIKE, 0), min(level + ALIKE, 1)])
        if not low <= synthetic_quantile <= high:
            lost.append(f"the {exact(level)} quantile")
    exposed: list[tuple[int, float]] = []
    if candidate.by_record is not None:
        exposed = [(int(k) + 1, float(candidate.by_record[k])) for k in np.argsort(-candidate.by_record)[:EXPOSED]]
    return CandidateSummary(
        candidate.synthesizer.id, candidate.guarantee, "", epsilon, candidate.pure,
        float(np.mean([ecdf_distances(x, outcomes)[0] for outcomes in synthetic])), levels, tuple(coefficients), tuple(exposed),
        lost=tuple(dict.fromkeys(lost)), predictors=with_predictors(schema, draft, 0), noisy=candidate.noisy,
        fitted=candidate.fitted,
    )  # fmt: skip


def _coefficients(
    schema: Schema, table: pd.DataFrame, regression: Regression, sets: Sequence[pd.DataFrame], fitted: bool
) -> list[Coefficient]:
    of_file, *of_sets = [slopes_of(schema.columns, schema.outcome, regression, rows) for rows in (table, *sets)]
    estimates, errors = np.array([list(slopes.values()) for slopes in of_sets]).transpose(2, 0, 1)
    intervals = [without_draws(*values) for values in zip(estimates.T, errors.T**2, strict=True)] if fitted else []
    theirs = [(interval.low, interval.high) for interval in intervals if interval] or _interval(*combined(estimates, errors**2))
    label, (estimate, error) = regression.label(schema.outcome), np.array(list(of_file.values())).T
    return [
        Coefficient(label, name.removeprefix(f"{label}: "), ours, synthetic, overlap(ours, synthetic))
        for name, ours, synthetic in zip(of_file, _interval(estimate, error**2), theirs, strict=True)
    ]


def combined(estimates: Array, variances: Array) -> tuple[Array, Array]:
    """Combine estimates and variances (m, k) of m synthetic sets, each from its own posterior draw, as a release does.

    Let U be the variance of an estimate from the file. The posterior draw of a set adds U, because the posterior is as wide as
    the estimate is uncertain. Drawing the values of the set adds U again: the mean over the sets has the variance U + 2 U / m.
    The variance between the sets estimates 2 U, poorly for small m; it is smaller if predictors are those of the file, and larger
    if weights widen the posterior. It is taken as at least 2 U, so the interval is never shorter than it has to be.

    Sources: Raab, Nowok and Dibben (2016), Journal of Privacy and Confidentiality 7(3), for 1 + 2 / m; Reiter (2003), Survey
    Methodology 29, 181-188, for the variance between the sets.
    """
    m = len(estimates)
    within, between = variances.mean(axis=0), estimates.var(axis=0, ddof=1) if m > 1 else 0.0
    return estimates.mean(axis=0), within + np.maximum(between, 2 * within) / m


def _interval(estimate: Array, variance: Array) -> list[tuple[float, float]]:
    half = ndtri((1 + LEVEL) / 2) * np.sqrt(variance)
    return [(float(low), float(high)) for low, high in zip(estimate - half, estimate + half, strict=True)]


def overlap(first: tuple[float, float], second: tuple[float, float]) -> float:
    """Return the share of each interval that it has in common with the other, averaged; below 0 if they are disjoint.

    Source: Karr et al. (2006), The American Statistician 60, 224-232.
    """
    common = min(first[1], second[1]) - max(first[0], second[0])
    lengths = [max(end - start, 1e-300) for start, end in (first, second)]
    return common * sum(1 / length for length in lengths) / 2


def recommend(compared: Sequence[CandidateSummary], ceiling: float | None) -> Recommendation | None:
    """Choose the candidate with the best utility among those under the ceiling; None if there is none.

    A candidate is excluded if the audit found a larger epsilon than it claims. Of the others, those that lose the fewest declared
    analyses are considered. Among those whose utility is alike, a guarantee for every file decides, then the smaller epsilon.
    """
    limit = math.inf if ceiling is None else ceiling
    fitting = [summary for summary in compared if not summary.reason and summary.epsilon <= limit]
    possible = [summary for summary in fitting if not summary.refuted]
    if not possible:
        return None
    fewest = min(len(summary.lost) for summary in possible)
    keeping = [summary for summary in possible if len(summary.lost) == fewest]
    best = min(summary.ecdf_max for summary in keeping)
    chosen = min(
        (summary for summary in keeping if summary.ecdf_max <= best + ALIKE),
        key=lambda summary: (not summary.pure, summary.epsilon, summary.ecdf_max),
    )
    refuted = [summary for summary in fitting if summary.refuted]
    limits = "" if ceiling is None else f" whose epsilon is at most {ceiling:g}"
    limits += " with the fewest lost analyses" if len(keeping) < len(possible) else ""
    reason = _reason(chosen, keeping, refuted, best, limits) + _others(possible, keeping)
    return Recommendation(chosen.id, reason, _losses(chosen, possible) + _weakness(chosen))


def _others(possible: Sequence[CandidateSummary], keeping: Sequence[CandidateSummary]) -> str:
    """List the candidates that lose more of the declared analyses than the recommended one."""
    others = [f"{summary.id} loses {', '.join(summary.lost)}" for summary in possible if summary not in keeping]
    return f" Others lose more of the declared analyses: {'; '.join(others)}." if others else ""


def _losses(chosen: CandidateSummary, possible: Sequence[CandidateSummary]) -> str:
    """List the declared analyses that the recommended candidate loses, each with the candidates that keep it."""
    sentences = []
    for analysis in chosen.lost:
        keeping = [summary.id for summary in possible if analysis not in summary.lost]
        who = f"is kept by {', '.join(keeping)}" if keeping else "no candidate keeps"
        sentences.append(f"It loses {analysis}, which {who}. ")
    return "".join(sentences)


def _reason(
    chosen: CandidateSummary, possible: Sequence[CandidateSummary], refuted: Sequence[CandidateSummary], best: float, limit: str
) -> str:
    if len(possible) == 1:
        reason = f"It is the only candidate{limit or ' that succeeded'}"
        reason += f" (max-ECDF {chosen.ecdf_max:.3f})" + (", and its guarantee is for every file." if chosen.pure else ".")
    else:
        reason = (
            f"Of the {counted(len(possible), 'candidate')}{limit}, none is clearly closer to the file (max-ECDF "
            f"{chosen.ecdf_max:.3f}; the smallest is {best:.3f}), "
        )
        reason += (
            "and its guarantee is for every file." if chosen.pure else f"and it needs the least epsilon, {chosen.epsilon:.3g}."
        )
    for summary in refuted:
        reason += f" {summary.id} is excluded: it claims {summary.epsilon:.3g}, but the audit found at least {summary.shown:.3g}."
    return reason


def _weakness(chosen: CandidateSummary) -> str:
    if chosen.fitted:
        return (
            "It keeps what the family can describe of the outcome and its relation to the predictors; what it cannot describe is "
            "lost."
        )
    if chosen.noisy:
        return (
            "It ignores the predictors, so the outcome's relation to them is lost. "
            "Inside a bin, values are spread evenly, so details narrower than a bin are lost, too."
        )
    if chosen.pure:
        return f"{SAMPLER} Each further synthetic set adds the same epsilon again. {_audit_of(chosen)}"
    return (
        f"Its guarantee is of the kind {chosen.guarantee!r}: epsilon was computed from this file, as a maximum over posterior "
        "draws, and holds only in the limit of many records. Each further set adds the same epsilon again. " + _audit_of(chosen)
    )


def _audit_of(chosen: CandidateSummary) -> str:
    audited = chosen.audited
    if audited is None or not audited.done:
        return "It was not audited."
    tried = counted(audited.tried, "neighbour")
    return f"The audit found at least {audited.epsilon:.3g} among {tried}: other neighbours may have a larger loss."
