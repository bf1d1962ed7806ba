import numpy as np
import pytest
from formalsynth.papers.reps.evaluation import Classifier, auroc, scorer_quality


def test_tstr_of_a_single_class_is_a_coin(generator):
    x = generator.normal(size=(20, 2))
    assert auroc(np.arange(20) % 2, Classifier.trained(x, np.ones(20, dtype=int)).scores(x)) == 0.5


def test_scorer_quality_of_known_scores():
    outlierness = np.arange(100.0)
    assert vars(scorer_quality(outlierness**2, outlierness)) == pytest.approx({"spearman": 1.0, "recall": 1.0})
    assert vars(scorer_quality(-outlierness, outlierness)) == pytest.approx({"spearman": -1.0, "recall": 0.0})
