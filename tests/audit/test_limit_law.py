"""The law of a bound over data sets, against simulated risks."""

from types import SimpleNamespace

import numpy as np
import pytest

from formalsynth.audit.limit_law import law, min_max_bound


def test_the_law_for_exponential_risks_is_that_of_simulated_data_sets():
    n, generator = 1000, np.random.default_rng(6)
    computed = law(SimpleNamespace(quantile=lambda log_above: -log_above), n)
    risks = generator.exponential(size=(4000, n))
    delta = min_max_bound(risks.min(axis=1), risks.max(axis=1))
    assert computed.median == pytest.approx(np.median(delta), rel=0.02)
    assert computed.sd == pytest.approx(delta.std(), rel=0.1)
