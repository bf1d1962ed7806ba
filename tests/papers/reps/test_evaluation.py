import numpy as np
import pytest
from sklearn.metrics import roc_auc_score

from formalsynth_workflow.papers.reps.evaluation import Classifier, auroc, scorer_quality


def test_tstr_of_a_single_class_is_a_coin(generator):
    x = generator.normal(size=(20, 2))
    assert auroc(np.arange(20) % 2, Classifier.trained(x, np.ones(20, dtype=int)).scores(x)) == 0.5


def test_auroc_agrees_with_scikit_learn(generator):
    label = generator.integers(2, size=200)
    scores = np.round(generator.normal(size=200) + label, 1)  # with ties
    assert auroc(label, scores) == pytest.approx(roc_auc_score(label, scores), rel=1e-12)


def test_scorer_quality_of_known_scores():
    outlierness = np.arange(100.0)
    assert scorer_quality(outlierness**2, outlierness) == pytest.approx({"spearman": 1.0, "recall": 1.0})
    assert scorer_quality(-outlierness, outlierness) == pytest.approx({"spearman": -1.0, "recall": 0.0})
