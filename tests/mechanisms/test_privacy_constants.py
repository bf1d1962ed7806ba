"""The numbers that privacy rests on, by hand: nothing here is taken from the code under test.

Three records, 0, 1 and 3, under two draws of a normal model, N(0, 1) and N(1, 2): the largest absolute log-likelihood of a
record over both draws is its risk.
"""

from dataclasses import replace

import numpy as np
import pytest

from formalsynth.core.arrays import Records
from formalsynth.core.bounds import Bounds, Sensitive, record_bounds
from formalsynth.core.family import FAMILIES
from formalsynth.core.mechanism import MECHANISMS, PER_BOUND, Context, FitCache, Parent
from formalsynth.core.streams import Address

for register in (FAMILIES, MECHANISMS):
    register.find()

SHIPPED = [name for name in MECHANISMS if MECHANISMS.module(name).startswith("formalsynth.")]
RECORDS = Records(np.array([0.0, 1.0, 3.0]), np.ones((3, 1)))
DRAWS = {"beta": np.array([[0.0], [1.0]]), "sigma": np.array([1.0, 2.0])}
RISK = [1.7370857138, 1.6120857138, 5.4189385332]
LW = [0.9671644779, 1.0, 0.0]
"""1 - (risk - smallest) / (largest - smallest)."""
LW_BOUND = [0.9671644779 * 1.7370857138, 1.6120857138, 0.0]

UNWEIGHTED = Parent(DRAWS, np.array(RISK), np.ones(3))
WEIGHTED = Parent(DRAWS, np.array(LW_BOUND), np.array(LW))
KNOWN = [0.25, 0.5, 1.0]

FORMS = {
    # name: parents, parameters, weights of the fit, sensitive weights, weights of the range, threshold
    "unweighted": ([], {}, [1, 1, 1], [1, 1, 1], None, None),
    "weighted": ([UNWEIGHTED], {"c": 0.5, "g": 0.1}, [0.5835822389, 0.6, 0.1], [0.5835822389, 0.6, 0.1], None, None),
    "range_averaged": (
        [UNWEIGHTED], {"a": 0.4, "b": 1.8}, [0.9753733584, 1, 1], [0.7253733584, 0.5, 0], None, None,
    ),
    "range_truncated": ([UNWEIGHTED], {"a": 0.4, "b": 1.8}, LW, LW, LW, None),
    "range_truncated_printed": ([UNWEIGHTED], {"a": 0.4, "b": 1.8}, LW, LW, [1, 1, 1], None),
    "weighted_e": ([WEIGHTED, UNWEIGHTED], {"epsilon": 3.3}, [0, 1, 0], [0, 1, 0], None, None),
    "censored_unweighted": ([], {"epsilon": 3.0}, [1, 1, 1], [1, 1, 1], None, 1.5),
    "censored_weighted": ([WEIGHTED], {"epsilon": 3.0}, LW, LW, None, 1.5),
    "isolation_weighted": ([], {"r": 0.7}, [1 / 3, 1 / 3, 2 / 3], [1 / 3, 1 / 3, 2 / 3], None, None),
    "scalar_weighted": ([WEIGHTED, UNWEIGHTED], {}, [0.3100325990] * 3, [0.3100325990] * 3, None, None),
    "isolation_weighted_within": ([], {"radius": 1.0, "c": 0.9}, [0.6, 0.6, 0.3], [0.6, 0.6, 0.3], None, None),
    "exponential": ([UNWEIGHTED], {"epsilon": 3.0}, [0.2768069781] * 3, None, None, None),
    "reweighted": ([WEIGHTED], {"k": 0.5}, [0.4835822389, 0.5210788679, 0.1550162995], None, None, None),
    "capped": ([UNWEIGHTED], {"M": 2.0}, [1, 1, 0.3690759708], [1, 1, 0.3690759708], None, None),
    "declared_scale": ([UNWEIGHTED], {"scale": 4.0}, [0.5657285716, 0.5969785716, 0], None, None, None),
    "reference": (
        [], {"scale": 2.0, "theta1": 0.0, "theta2": 1.0}, [0.9086734632, 0.8155872621, 0.3462462796], None, None, None,
    ),
    "reference_censored": (
        [], {"scale": 2.0, "epsilon": 3.0, "theta1": 0.0, "theta2": 1.0},
        [0.9086734632, 0.8155872621, 0.3462462796], None, None, 1.5,
    ),
    "censored_centred": ([], {"factor": 0.25, "epsilon": 3.0, "theta1": 0.0, "theta2": 1.0}, [0.25] * 3, None, None, 1.5),
    "censored_two_stage": (
        [], {"epsilon": 1.5, "share": 0.75, "low": -4.0, "high": 6.0, "bins": 5}, [0.5] * 3, None, None, 0.1875,
    ),
}  # fmt: skip
"""Sensitive weights of None are those of the fit."""

CLAIMS = {
    # name: parameters, epsilon guaranteed where a record is added or removed, and where one is replaced
    "censored_unweighted": ({"epsilon": 3.0}, 3.0, 6.0),
    "reference_censored": ({"epsilon": 3.0, "scale": 2.0, "theta1": 0.0, "theta2": 1.0}, 3.0, 6.0),
    "censored_centred": ({"epsilon": 3.0, "factor": 0.25, "theta1": 0.0, "theta2": 1.0}, 3.0, 6.0),
    "censored_two_stage": ({"epsilon": 3.0, "share": 0.6, "low": 0.0, "high": 1.0, "bins": 7}, 3.0, 6.0),
    "perturbed_histogram": ({"epsilon": 3.0, "low": 0.0, "high": 1.0, "bins": 7}, 1.5, 3.0),
    "noisy_tables": ({"epsilon": 3.0, "low": 0.0, "high": 1.0, "bins": 7}, 3.0, 6.0),
    "minimum_distance": ({"epsilon": 3.0, "low": -2.0, "high": 2.0, "thresholds": 4}, 2.25, 3.0),
}
"""Every other mechanism guarantees nothing for every data set."""


def made(name):
    parents, parameters, *_ = FORMS[name]
    context = Context(FAMILIES["normal"], RECORDS, Address(1, 1, 1, 3, 0), parents, FitCache(outside_share=np.array(KNOWN)))
    return MECHANISMS[name].apply(context, parameters)


def test_every_strict_mechanism_has_a_claim_worked_out_by_hand():
    assert {name for name in SHIPPED if MECHANISMS[name].strict} >= set(CLAIMS)


def test_risks_are_the_largest_absolute_log_likelihoods():
    bounds = record_bounds(FAMILIES["normal"], RECORDS, DRAWS, [Sensitive(np.ones(3)), Sensitive(np.array(LW))])
    np.testing.assert_allclose(bounds[0].by_record, RISK, rtol=1e-9)
    np.testing.assert_allclose(bounds[1].by_record, LW_BOUND, rtol=1e-9)


@pytest.mark.parametrize("name", FORMS)
def test_weights_and_thresholds_are_those_worked_out_by_hand(name):
    *_, weights, sensitive, of_range, threshold = FORMS[name]
    form = made(name)
    np.testing.assert_allclose(form.weights, weights, rtol=1e-8, atol=1e-12)
    np.testing.assert_allclose(form.sensitive.weights, weights if sensitive is None else sensitive, rtol=1e-8, atol=1e-12)
    assert form.sensitive.threshold == threshold
    if of_range is None:
        assert form.sensitive.range is None
    else:
        assert form.sensitive.range == (0.4, 1.8)
        np.testing.assert_allclose(form.sensitive.range_weights, of_range, rtol=1e-8, atol=1e-12)


@pytest.mark.parametrize("name", [name for name in SHIPPED if name in CLAIMS or not MECHANISMS[name].strict])
def test_claims_for_each_neighbour_relation(name):
    parameters, add_remove, replace = CLAIMS.get(name, ({"epsilon": 3.0}, None, None))
    assert MECHANISMS[name].claim(parameters, "add_remove") == add_remove
    assert MECHANISMS[name].claim(parameters, "replace") == replace
    assert name in CLAIMS or MECHANISMS[name].claim(parameters) is None


def test_the_number_of_bins_is_public_only_where_it_is_declared():
    for bins in ({}, {"bins": 0}):
        parameters = {"epsilon": 3.0, "low": 0.0, "high": 1.0, **bins}
        assert MECHANISMS["perturbed_histogram"].claim(parameters, "replace") == 3.0
        assert MECHANISMS["perturbed_histogram"].claim(parameters, "add_remove") is None


@pytest.mark.parametrize(("epsilon", "scale"), [(0.5, 4.0), (2.0, 1.0), (4.0, 0.5)])
def test_noise_of_the_histogram_has_scale_2_over_epsilon(epsilon, scale):
    context = Context(FAMILIES["normal"], RECORDS, Address(1, 1, 1, 3, 0))
    release = MECHANISMS["perturbed_histogram"].apply(context, {"epsilon": epsilon, "low": 0.0, "high": 4.0, "bins": 4})
    assert release.epsilon == epsilon
    assert release.counts.scale == scale
    assert release.counts.counts.tolist() == [1, 1, 0, 1]
    noise = release.counts.noisy(np.random.default_rng(1), 20_000) - [1, 1, 0, 1]
    # the mean of |Laplace(b)| over 80,000 values has the standard error b / 283
    assert abs(np.abs(noise).mean() - scale) < 5 * scale / 282


def test_clipping_holds_every_log_likelihood_within_half_of_epsilon():
    """Risks 1.74, 1.61 and 5.42 at a threshold of 1.5 are all clipped, weighted ones where they exceed it."""
    forms = [made("censored_unweighted").sensitive, made("censored_weighted").sensitive]
    plain, weighted = record_bounds(FAMILIES["normal"], RECORDS, DRAWS, forms)
    assert plain.by_record.tolist() == [1.5, 1.5, 1.5]
    assert plain.beyond == 3
    assert weighted.by_record.tolist() == [1.5, 1.5, 0.0]
    assert weighted.beyond == 2


def test_differences_from_the_declared_reference_are_clipped_at_half_of_epsilon():
    """Under N(1, 2) less N(0, 1): -0.8181, -0.1931 and 3.3069, of which a quarter is clipped at 0.5."""
    context = Context(FAMILIES["normal"], RECORDS, Address(1, 1, 1, 3, 0))
    declared = {"epsilon": 1.0, "factor": 0.25, "theta1": 0.0, "theta2": 1.0}
    form = MECHANISMS["censored_centred"].function(context, **declared)
    bounds = record_bounds(FAMILIES["normal"], RECORDS, DRAWS, [form.sensitive])[0]
    np.testing.assert_allclose(bounds.by_record, [0.8181471806 / 4, 0.1931471806 / 4, 0.5], rtol=1e-9)
    assert bounds.beyond == 1


def test_epsilon_is_twice_the_largest_bound():
    assert Bounds(np.array([0.5, 1.75, 1.0]), np.array([1.75, 1.0])).epsilon == 3.5


def test_a_kind_for_both_relations_claims_nothing_where_one_of_them_has_no_guarantee():
    both = replace(MECHANISMS["perturbed_histogram"], guarantee="DP")
    assert both.claim({"epsilon": 3.0, "low": 0.0, "high": 1.0, "bins": 0}) is None
    assert both.claim({"epsilon": 3.0, "low": 0.0, "high": 1.0, "bins": 7}) == 3.0


def test_a_bound_of_1_is_an_epsilon_of_2_and_of_4_for_a_replaced_record():
    assert dict(PER_BOUND) == {"add_remove": 2.0, "replace": 4.0, "move": 4.0}
