"""The search over refits, on a fit whose epsilon is known exactly."""

import numpy as np
import pytest
from formalsynth.bounds import Sensitive
from formalsynth.families import FAMILIES
from formalsynth.mechanisms import Context, Form, Parent
from formalsynth.sampler import Fit
from formalsynth.steps.fit import _search
from formalsynth.streams import Address

RECORDS = {"x": np.array([-3.0, 0.5, 2.0]), "design": np.ones((3, 1))}
DRAWS = {"beta": np.zeros((1, 1)), "sigma": np.ones(1)}
RISK = np.log(np.sqrt(2 * np.pi)) + RECORDS["x"] ** 2 / 2
SEARCH = {"parameter": "c", "target": 3.0, "low": 0.0, "high": 1.0, "tolerance": 0.01, "steps": 12, "lower_by": None}


def context():
    parent = Parent(DRAWS, 0.5 * RISK, np.full(3, 0.5))
    return Context(FAMILIES["normal"], RECORDS, Address(1, 1, 1, 3, 0), [parent])


def run(value):
    """A fit whose draws do not depend on the weights: epsilon is 2 value max(risk)."""
    weights = np.full(3, value)
    return Fit("ok", draws=DRAWS), Form(weights, Sensitive(weights))


def epsilon(value):
    return 2 * value * RISK.max()


def test_bisection_reaches_the_target():
    at = context()
    fit, _ = _search(run, at, SEARCH)
    assert fit.status == "ok"
    assert epsilon(float(at.found["searched"])) == pytest.approx(3.0, rel=0.01)
    assert 1 < at.found["search_steps"] <= 12


def test_upper_end_is_taken_when_it_is_below_the_target():
    at = context()
    _search(run, at, SEARCH | {"target": 1000.0})
    assert at.found["searched"] == 1.0
    assert at.found["search_steps"] == 1


def test_a_target_out_of_reach_is_a_failure_with_its_reason():
    fit, _ = _search(run, context(), SEARCH | {"steps": 2, "tolerance": 1e-6})
    assert fit.status == "failed"
    assert not fit.draws
    assert "after 2 refits" in fit.reason


def test_even_steps_end_at_the_first_value_below_the_parent():
    at = context()
    _search(run, at, SEARCH | {"target": "parent", "high": 0.55, "lower_by": 0.02})
    # 0.55, 0.53, 0.51, 0.49: the parent's weight is 0.5
    assert float(at.found["searched"]) == pytest.approx(0.49)
    assert at.found["search_steps"] == 4
