"""Utility of synthetic data and quality of outlier scores."""

from __future__ import annotations

import warnings

import numpy as np
from scipy.stats import spearmanr
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import roc_auc_score

from formalsynth.reps.tables import Array, Codes


def tstr_auroc(synthetic: np.ndarray, synthetic_label: Codes, real: np.ndarray, real_label: Codes) -> float:
    """AUROC on real records of a logistic regression trained on synthetic ones (REPS paper, Section 7.5).

    Args:
        synthetic: (m, d) encoded synthetic records.
        synthetic_label: (m,).
        real: (n, d) encoded real records.
        real_label: (n,), both labels present.

    Returns:
        0.5 when the synthetic records have one label only: there is nothing to learn.
    """
    if len(np.unique(synthetic_label)) < 2:
        return 0.5
    # Cholesky steps on a d x d Hessian: far fewer passes over the records than a first-order solver needs.
    model = LogisticRegression(solver="newton-cholesky", max_iter=100)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        model.fit(synthetic.astype(np.float64), synthetic_label)
    return float(roc_auc_score(real_label, model.decision_function(real.astype(np.float64))))


def scorer_quality(scores: Array, outlierness: Array, share: float = 0.1) -> dict[str, float]:
    """Spearman correlation of the scores with non-private outlierness, and recall of its top share (Appendix B.2).

    Args:
        scores: (n,) released scores.
        outlierness: (n,) mean nearest-neighbour distances of the same records.
        share: share of the records that is the top.
    """
    top = max(1, round(share * len(scores)))
    highest, outlying = (np.argsort(values, kind="stable")[-top:] for values in (scores, outlierness))
    correlation = float(spearmanr(scores, outlierness).statistic)
    return {"spearman": correlation, "recall": len(np.intersect1d(highest, outlying)) / top}
