"""Tests of what a registered mechanism may claim."""

import math

import numpy as np
import pytest

from formalsynth.core.arrays import intercept_only
from formalsynth.core.bounds import Sensitive
from formalsynth.core.constraints import PositiveNumber
from formalsynth.core.family import FAMILIES
from formalsynth.core.mechanism import (
    ASYMPTOTIC,
    MECHANISMS,
    SENSITIVITY,
    BrokenContract,
    Context,
    Form,
    is_strict,
    mechanism,
)
from formalsynth.core.streams import Address

MECHANISMS.find()
FAMILIES.find()
BOTH = {"add_remove": 1.0, "replace": 2.0}


def made_up(context, *, epsilon: PositiveNumber) -> Form:
    """A mechanism with a declared epsilon."""


def without_epsilon(context) -> Form:
    """A mechanism without one."""


def test_exactly_the_mechanisms_with_a_strict_kind_have_a_strict_claim():
    kinds = {entry.guarantee for entry in MECHANISMS.values() if entry.strict}
    assert kinds == {"DP", "DP (add/remove)", "DP (replace-one)", "DP (moves) | R"}
    assert not kinds & {entry.guarantee for entry in MECHANISMS.values() if not entry.strict}


def test_a_strict_posterior_names_exact_draws_in_its_kind():
    posteriors = {"censored_unweighted", "censored_centred", "censored_two_stage", "reference_censored"}
    moves = "bracket_clipped"
    kinds = {name: entry.kind for name, entry in MECHANISMS.items() if entry.strict}
    assert {name for name, kind in kinds.items() if kind.endswith(" | exact draws")} == posteriors | {moves}
    assert {kinds[name] for name in posteriors} == {"DP (add/remove) | exact draws"}
    assert kinds[moves] == "DP (moves) | R | exact draws"
    assert all(is_strict(kind) for kind in kinds.values())
    assert not any(is_strict(entry.kind) for entry in MECHANISMS.values() if not entry.strict)


@pytest.mark.parametrize(
    ("function", "kind", "strict", "problem"),
    [
        (made_up, "DP", None, "'DP' needs strict="),
        (made_up, "DP (add/remove)", None, "needs strict="),
        (made_up, "DP (replace-one)", None, "needs strict="),
        (made_up, "DP (replace-one)", {"add_remove": 1.0}, r'needs strict=\{"replace": 1.0\}'),
        (made_up, "DP", {"add_remove": 1.0}, r'needs strict=\{"replace": 1.0\}'),
        (made_up, "DP (by household)", None, "is not a strict kind"),
        (made_up, "DP (by household)", BOTH, "is not a strict kind"),
        (made_up, "zCDP", None, "is not a strict kind"),
        (made_up, "(eps, delta)-DP (add/remove)", None, "is not a strict kind"),
        (made_up, ASYMPTOTIC, BOTH, "is not a strict kind"),
        (made_up, "DP | exact draws", None, "leave it out"),
        (made_up, "DP | fixed weights", BOTH, "is not a strict kind"),
        (without_epsilon, "DP", BOTH, "needs a parameter called epsilon"),
        (made_up, "DP", {**BOTH, "edges": 1.0}, "given 'edges'"),
        (made_up, "DP", {"add_remove": 0.0, "replace": 1.0}, "given 0.0; allowed: a positive number"),
        (made_up, "DP", {"add_remove": math.nan, "replace": 1.0}, "given nan"),
    ],
)  # fmt: skip
def test_a_kind_of_guarantee_and_a_strict_claim_that_contradict_each_other_are_refused(function, kind, strict, problem):
    with MECHANISMS.trial():
        with pytest.raises(ValueError, match=problem):
            mechanism(kind, strict=strict)(function)
        assert function.__name__ not in MECHANISMS


@pytest.mark.parametrize(
    ("kind", "strict", "claim"),
    [
        ("DP", BOTH, 6.0),
        ("DP (add/remove)", {"add_remove": 1.0}, 3.0),
        ("DP (replace-one)", {"replace": 1.5}, 4.5),
        ("DP | fixed weights", None, None),
        ("none", None, None),
        (ASYMPTOTIC, None, None),
    ],
)
def test_kinds_that_agree_with_their_claim_are_registered(kind, strict, claim):
    with MECHANISMS.trial():
        mechanism(kind, strict=strict)(made_up)
        assert MECHANISMS["made_up"].claim({"epsilon": 3.0}) == claim


def applied(weights, share):
    """Output of a strict mechanism with given weights and a threshold of a share of epsilon 0.7, checked against its contract."""

    def clipped(context, *, epsilon: PositiveNumber) -> Form:
        """A fixed threshold."""
        return Form(weights, Sensitive(weights, threshold=share * epsilon))

    context = Context(FAMILIES["lognormal"], intercept_only(np.ones(len(weights))), Address(1, 1, 1, 3, 0))
    with MECHANISMS.trial():
        mechanism("DP (add/remove)", strict=BOTH, censors=True)(clipped)
        return MECHANISMS["clipped"].apply(context, {"epsilon": 0.7})


@pytest.mark.parametrize("share", [0.1, 0.49, 0.5])
def test_a_threshold_of_up_to_half_of_a_strict_claim_keeps_it(share):
    assert applied(np.ones(3), share).sensitive.threshold == share * 0.7


@pytest.mark.parametrize("share", [0.5 + 1e-6, 0.51, 1.0])
def test_a_threshold_above_half_of_a_strict_claim_is_refused(share):
    with pytest.raises(BrokenContract, match=r"claims epsilon 0\.7 for add_remove"):
        applied(np.ones(3), share)


@pytest.mark.parametrize("weights", [[-0.1, 0.5], [0.5, 1.1], [-0.1, 1.1]])
def test_weights_below_0_or_above_1_are_refused(weights):
    with pytest.raises(BrokenContract, match="from 0 to 1"):
        applied(np.array(weights), 0.5)


def test_sensitivity_of_counts():
    """An added record changes one count by 1, a replaced or moved record two."""
    assert SENSITIVITY == {"add_remove": 1.0, "replace": 2.0, "move": 2.0}


def test_a_move_costs_at_most_what_a_replacement_costs():
    claims = [MECHANISMS["censored_unweighted"].claim({"epsilon": 1.5}, relation) for relation in ("replace", "move")]
    assert claims == [3.0, 3.0]
    claims = [MECHANISMS["bracket_clipped"].claim({"epsilon": 1.5}, relation) for relation in ("add_remove", "replace", "move")]
    assert claims == [None, None, 1.5]
