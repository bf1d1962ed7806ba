"""The mechanisms of the reweight paper, given draws."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from formalsynth.core.arrays import Records
from formalsynth.core.bounds import Sensitive, record_bounds
from formalsynth.core.family import FAMILIES
from formalsynth.core.mechanism import MECHANISMS, Context, Parent
from formalsynth.core.streams import Address
from formalsynth.core.weights import lipschitz_weights

for register in (FAMILIES, MECHANISMS):
    register.find()
FAMILY = FAMILIES["normal"]


def parent_of(records, draws, weights):
    bounds = record_bounds(FAMILY, records, draws, [Sensitive(weights)])[0]
    return Parent(draws, bounds.by_record, weights)


def made(name, parents, records, **parameters):
    context = Context(FAMILY, records, Address(1, 1, 1, 5, 0), parents)
    return MECHANISMS[name].function(context, **parameters)


def sample(seed, n=40):
    generator = np.random.default_rng(seed)
    records = Records(generator.standard_t(3, n), np.ones((n, 1)))
    draws = {"beta": generator.normal(0, 0.1, (30, 1)), "sigma": generator.uniform(0.9, 1.4, 30)}
    risk = record_bounds(FAMILY, records, draws, [Sensitive(np.ones(n))])[0].by_record
    return records, draws, lipschitz_weights(risk), risk


@given(st.integers(0, 2**32 - 1), st.floats(0.05, 1.0))
def test_equation_3_1_and_its_limit(seed, k):
    records, draws, alpha, risk = sample(seed)
    parent = parent_of(records, draws, alpha)
    form = made("reweighted", [parent], records, k=k)
    positive = alpha > 0
    printed = k * alpha[positive] * parent.by_record.max() / parent.by_record[positive]
    np.testing.assert_allclose(form.weights[positive], np.minimum(printed, 1), rtol=1e-9)
    # The record of weight 0 gets the limit of the printed form.
    np.testing.assert_allclose(form.weights[~positive], np.minimum(k * parent.by_record.max() / risk[~positive], 1), rtol=1e-9)
    assert ((form.weights >= 0) & (form.weights <= 1)).all()
    assert form.affected == (k * parent.by_record.max() / risk > 1).sum()


@given(st.integers(0, 2**32 - 1), st.floats(0.05, 1))
def test_the_quantile_of_supplement_1_replaces_the_largest_bound(seed, thresh):
    """The script's row maxima and R's default quantile, by hand from scipy's densities."""
    records, draws, alpha, risk = sample(seed)
    form = made("reweighted", [parent_of(records, draws, alpha)], records, k=0.9, thresh=thresh)
    ratios = alpha * np.abs(stats.norm.logpdf(records.x, draws["beta"], draws["sigma"][:, None]))
    largest, at = np.sort(ratios.max(axis=1)), thresh * 29
    below, above = int(np.floor(at)), int(np.ceil(at))
    quantile = largest[below] + (at - below) * (largest[above] - largest[below])
    np.testing.assert_allclose(form.weights, np.minimum(0.9 * quantile / risk, 1), rtol=1e-9)


@given(st.integers(0, 2**32 - 1), st.floats(0.5, 1.0))
def test_given_the_same_draws_unclipped_bounds_meet_at_k_delta(seed, k):
    records, draws, alpha, _ = sample(seed)
    parent = parent_of(records, draws, alpha)
    form = made("reweighted", [parent], records, k=k)
    bounds = record_bounds(FAMILY, records, draws, [form.sensitive])[0].by_record
    unclipped = form.weights < 1
    np.testing.assert_allclose(bounds[unclipped], k * parent.by_record.max(), rtol=1e-9)
    assert (bounds <= k * parent.by_record.max() * (1 + 1e-9)).all()


def test_scalar_weight_is_the_ratio_of_the_bounds():
    records, draws, alpha, risk = sample(3)
    parents = [parent_of(records, draws, alpha), parent_of(records, draws, np.ones_like(alpha))]
    form = made("scalar_weighted", parents, records)
    np.testing.assert_allclose(form.weights, parents[0].by_record.max() / risk.max())
    assert len(set(form.weights)) == 1
