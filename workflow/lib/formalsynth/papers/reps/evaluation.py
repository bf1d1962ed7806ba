"""Utility of synthetic data and quality of outlier scores."""

from __future__ import annotations

import warnings
from dataclasses import dataclass

import numpy as np
from scipy.stats import spearmanr
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import roc_auc_score

from formalsynth.core.arrays import Array, Integers
from formalsynth.papers.reps.tables import Encoded


def tstr_auroc(synthetic: Encoded, synthetic_label: Integers, real: Encoded, real_label: Integers) -> float:
    """AUROC on real records of a logistic regression trained on synthetic ones (REPS paper, Section 7.5).

    Arguments as in :func:`tstr_scores`; ``real_label`` is (n,), both labels present.
    """
    return float(roc_auc_score(real_label, tstr_scores(synthetic, synthetic_label, real)))


def tstr_scores(synthetic: Encoded, synthetic_label: Integers, real: Encoded) -> Array:
    """Scores (n,) of real records by a logistic regression trained on synthetic ones.

    Args:
        synthetic: (m, d) encoded synthetic records.
        synthetic_label: (m,).
        real: (n, d) encoded real records.

    Returns:
        All 0 when the synthetic records have one label only: there is nothing to learn.
    """
    if len(np.unique(synthetic_label)) < 2:
        return np.zeros(len(real))
    # Cholesky steps on a d x d Hessian: far fewer passes over the records than a first-order solver needs.
    model = LogisticRegression(solver="newton-cholesky", max_iter=100)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        model.fit(synthetic.astype(np.float64), synthetic_label)
    scores: Array = model.decision_function(real.astype(np.float64))
    return scores


def auroc_without_each(scores: Array, label: Integers) -> Array:
    """AUROC (n,) of the scores with each record left out in turn; ties count half.

    Args:
        scores: (n,).
        label: (n,) 0 or 1, at least two of each.
    """
    positive = label == 1
    p, n = positive.sum(), (~positive).sum()
    won = np.where(positive, _beaten(scores, scores[~positive]), p - _beaten(scores, scores[positive]))
    left = np.where(positive, (p - 1) * n, p * (n - 1))
    auroc: Array = (won[positive].sum() - won) / left
    return auroc


def _beaten(scores: Array, others: Array) -> Array:
    """How many of the others each score beats; ties count half."""
    ordered = np.sort(others)
    return (np.searchsorted(ordered, scores, "left") + np.searchsorted(ordered, scores, "right")) / 2


@dataclass(frozen=True)
class ScorerQuality:
    """How well released scores find outliers (Appendix B.2)."""

    spearman: float
    """Correlation of the scores with non-private outlierness."""
    recall: float
    """Part of the most outlying records that is also among the highest scores."""


def scorer_quality(scores: Array, outlierness: Array, share: float = 0.1) -> ScorerQuality:
    """How well the scores find outliers.

    Args:
        scores: (n,) released scores.
        outlierness: (n,) mean nearest-neighbour distances of the same records.
        share: share of the records that is the top.
    """
    top = max(1, round(share * len(scores)))
    highest, outlying = (np.argsort(values, kind="stable")[-top:] for values in (scores, outlierness))
    correlation = float(spearmanr(scores, outlierness).statistic)
    return ScorerQuality(correlation, len(np.intersect1d(highest, outlying)) / top)
