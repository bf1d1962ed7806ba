"""Utility of synthetic data and quality of outlier scores.

Utility is the AUROC on real records of a classifier trained on synthetic ones (TSTR; REPS paper, Section 7.5).
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass

import numpy as np
from scipy.sparse import csr_array
from scipy.stats import spearmanr
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression

from formalsynth.core.arrays import Array, Integers
from formalsynth_workflow.papers.reps.tables import Encoded


@dataclass(frozen=True)
class Classifier:
    """A logistic regression trained on synthetic records."""

    model: LogisticRegression | None = None
    """None if all synthetic records have the same label."""

    @classmethod
    def trained(cls, synthetic: Encoded, label: Integers) -> Classifier:
        """Train a classifier on synthetic records (m, d) with labels (m,)."""
        if len(np.unique(label)) < 2:
            return cls()
        # Cholesky steps on a d x d Hessian need far fewer passes over the records than a first-order solver.
        model = LogisticRegression(solver="newton-cholesky", max_iter=100)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            # Most columns are one-hot: a sparse matrix halves the cost of the Hessian.
            return cls(model.fit(csr_array(synthetic, dtype=np.float64), label))

    def scores(self, real: Encoded) -> Array:
        """Scores (n,) of real records (n, d); all scores are 0 without a model."""
        if self.model is None:
            return np.zeros(len(real))
        return np.asarray(self.model.decision_function(real.astype(np.float64)))


def auroc(label: Integers, scores: Array) -> float:
    """AUROC of scores (n,) for labels (n,) 0 or 1, both of which must occur; ties count half."""
    positive = scores[label == 1]
    negative = scores[label != 1]
    return float(_beaten(positive, negative).sum() / (len(positive) * len(negative)))


def auroc_without_each(scores: Array, label: Integers) -> Array:
    """AUROC (n,) of the scores when each record is left out in turn; ties count half.

    Args:
        scores: (n,).
        label: (n,) 0 or 1, at least two of each.
    """
    positive = label == 1
    p, n = positive.sum(), (~positive).sum()
    won = np.where(positive, _beaten(scores, scores[~positive]), p - _beaten(scores, scores[positive]))
    pairs = np.where(positive, (p - 1) * n, p * (n - 1))
    return np.asarray((won[positive].sum() - won) / pairs)


def _beaten(scores: Array, others: Array) -> Array:
    """Count the other scores that are lower than each score; ties count half."""
    ordered = np.sort(others)
    return (np.searchsorted(ordered, scores, "left") + np.searchsorted(ordered, scores, "right")) / 2


def scorer_quality(scores: Array, outlierness: Array, share: float = 0.1) -> dict[str, float]:
    """Quality of the scores as measures of outlierness.

    Args:
        scores: (n,) released scores.
        outlierness: (n,) mean nearest-neighbour distances of the same records.
        share: share of the records that count as the top.

    Returns:
        ``spearman``, the correlation of both, and ``recall``, the share of the most outlying records that also have the highest
        scores (REPS paper, Appendix B.2).
    """
    top = max(1, round(share * len(scores)))
    highest, outlying = (np.argsort(values, kind="stable")[-top:] for values in (scores, outlierness))
    correlation = float(spearmanr(scores, outlierness).statistic)
    return {"spearman": correlation, "recall": len(np.intersect1d(highest, outlying)) / top}
