"""Tests of the model of claims: valid keys, and equality after it is passed to a job."""

import json

import pytest
from made_up_claims import claim_of
from pydantic import ValidationError

from formalsynth.core.registry import load
from formalsynth_workflow.ledger.claims import Claim, Estimate
from formalsynth_workflow.ledger.tests.base import TESTS

KINDS = {
    "correlation": {"kind": "correlation", "high": 0.3},
    "value": {"kind": "value", "printed": [1.5, 2]},
    "within": {"kind": "within", "high": 3, "share": "mostly"},
    "order": {"kind": "order", "direction": "falling", "pairs": "first", "share": 0.5, "margin": 1},
    "equal": {"kind": "equal", "tolerance": 0.1},
    "trend": {"kind": "trend", "low": -0.6, "high": -0.4},
    "at_most": {"kind": "at_most", "times": 1.1},
}


def test_every_kind_of_test_is_found_in_its_file():
    assert {name: TESTS.module(name) for name in KINDS} == {name: f"formalsynth_workflow.ledger.tests.{name}" for name in KINDS}


@pytest.mark.parametrize("kind", KINDS)
def test_a_claim_is_the_same_in_a_job(kind):
    claim = claim_of(KINDS[kind], {"over": "n", "of": [50.0, 100.0], "rows": {"m": 5, "valid": True}}, truth=0.25)
    load([TESTS.module(kind)])
    passed = Claim.of(json.loads(json.dumps(claim.plain())))
    assert passed == claim
    assert type(passed.test) is TESTS[kind]
    assert repr(passed) == repr(claim)


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"kind": "value", "printed": []}, "at least 1"),
        ({"kind": "within", "low": 2, "high": 1}, "low has to be below high"),
        ({"kind": "within", "low": 1, "share": 0}, "greater than 0"),
        ({"kind": "correlation"}, "high"),
        ({"kind": "trend"}, "trend needs one of them"),
        ({"kind": "at_most", "times": 0}, "greater than 0"),
        ({"kind": "at_most"}, "times"),
    ],
)
def test_a_test_checks_its_keys(given, words):
    """Further cases, from config files, are in ``tests/plan/refused.yaml``."""
    with pytest.raises(ValidationError, match=words):
        TESTS[given["kind"]].model_validate(given)


@pytest.mark.parametrize(
    ("kind", "cells", "wrong"),
    [
        ("value", ["A", "B"], None),
        ("value", [], None),
        ("value", ["A"], "a number for each of 1 cells"),
        ("within", ["A"], None),
        ("order", ["A", "B"], None),
        ("order", [], None),
        ("order", ["A"], "two cells or more, for order"),
        ("correlation", ["A", "B", "C"], "two cells, for correlation"),
        ("equal", [], None),
        ("equal", ["A"], "two cells or more, for equal"),
        ("trend", [50.0, 100.0], None),
        ("trend", [], "two cells or more, for trend"),
        ("trend", [50.0], "two cells or more, for trend"),
        ("trend", ["A", "B"], "numbers > 0, for trend"),
        ("trend", [0.0, 1.0], "numbers > 0, for trend"),
    ],
)
def test_a_test_checks_its_cells(kind, cells, wrong):
    assert TESTS[kind].model_validate(KINDS[kind]).check_cells(cells) == wrong


def test_an_estimate_accepts_explicit_defaults():
    estimate = Estimate(scenario="first", value=["delta"], distance=1, of_largest=False, above=None)
    assert estimate.distance == 1
