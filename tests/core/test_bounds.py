"""Record bounds against the naive (S, n) maximum."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from oracles import log_likelihood, posterior
from scipy import stats

from formalsynth.core import arrays as core_arrays
from formalsynth.core import bounds as core_bounds
from formalsynth.core.arrays import Records, intercept_only
from formalsynth.core.bounds import Sensitive, maximum_mcse, record_bounds
from formalsynth.core.family import FAMILIES

FAMILY = FAMILIES["lognormal_regression"]
N, N_DRAWS = 37, 101
UNIT = st.floats(0, 1)
WEIGHTS = arrays(float, N, elements=UNIT)


@pytest.fixture(scope="module")
def study():
    """Records, draws, and the log-likelihood (S, n) of each record under each draw."""
    generator = np.random.default_rng(5)
    z = generator.normal(2, 1, N)
    x = np.exp(z + 1 + generator.standard_normal(N))
    records = Records(x, np.column_stack([np.ones(N), z]))
    draws = posterior(records.design, np.log(x), np.full(N, 0.3)).draws(generator, N_DRAWS)
    return records, draws, log_likelihood(records.design, np.log(x), draws, np.log(x))


def log_gamma(records, draws, a, b):
    """Log probability (S, n) of each record's range, by scipy's lognormal distribution."""
    law = stats.lognorm(draws["sigma"][:, None], scale=np.exp(draws["beta"] @ records.design.T))
    return np.log(law.cdf(b * records.x) - law.cdf(a * records.x))


def naive(study, sensitive):
    """The sensitive log-likelihood (S, n) before the threshold."""
    records, draws, f = study
    values = sensitive.weights * f
    if sensitive.range is not None:
        values = values - sensitive.range_weights * log_gamma(records, draws, *sensitive.range)
    return values


def forms(generator):
    """Every form of the papers, with weights of zero among them."""
    alpha = generator.uniform(size=N)
    alpha[::7] = 0
    ones = np.ones(N)
    return {
        "unweighted": Sensitive(ones),
        "weighted": Sensitive(alpha),
        "untouched": Sensitive(np.zeros(N)),
        "truncated": Sensitive(alpha, (0.4, 1.8), alpha),
        "truncated narrowly": Sensitive(alpha, (0.6, 1.2), alpha),
        "truncated as printed": Sensitive(alpha, (0.4, 1.8), ones),
        "range only": Sensitive(np.zeros(N), (0.4, 1.8), ones),
        "censored": Sensitive(ones, threshold=6.0),
        "weighted and censored": Sensitive(alpha, threshold=2.0),
        "censored beyond every value": Sensitive(alpha, threshold=1e6),
        "truncated and censored": Sensitive(alpha, (0.6, 1.2), alpha, threshold=1.0),
    }


@pytest.mark.parametrize("block", [1, 3 * N, 64 * N, 1 << 17])
def test_bounds_of_every_form_are_the_naive_maxima(study, generator, monkeypatch, block):
    monkeypatch.setattr(core_arrays, "BLOCK", block)
    monkeypatch.setattr(core_bounds, "BLOCK", block)
    monkeypatch.setattr(core_arrays, "PART", 16)
    monkeypatch.setattr(core_bounds, "LEAST_WORK", np.inf if block > N else 1)
    records, draws, _ = study
    sensitive = forms(generator)
    by_name = dict(zip(sensitive, record_bounds(FAMILY, records, draws, list(sensitive.values())), strict=True))
    for name, result in by_name.items():
        values = np.abs(naive(study, sensitive[name]))
        limit = sensitive[name].threshold or np.inf
        np.testing.assert_allclose(result.by_record, np.minimum(values, limit).max(axis=0), rtol=1e-9, err_msg=name)
        np.testing.assert_allclose(result.by_draw, np.minimum(values, limit).max(axis=1), rtol=1e-9, err_msg=name)
        assert result.delta == result.by_record.max() == result.by_draw.max()
        assert result.epsilon == 2 * result.delta
        beyond = int((values > limit).any(axis=0).sum())
        assert result.beyond == (None if sensitive[name].threshold is None else beyond)
    assert 0 < by_name["censored"].beyond < N
    assert by_name["untouched"].delta == 0


@given(st.lists(st.integers(0, 5), min_size=N - 3, max_size=N - 3), arrays(float, N, elements=st.sampled_from([0.0, 0.3, 1.0])))
def test_records_that_repeat_have_the_naive_bounds(study, places, weights):
    """Equal values with equal and with other predictors and weights."""
    records, draws, _ = study
    places = np.array([0, 1, 2, *places])  # enough of them to tell two coefficients apart
    # where the place is 1: as record 0, with another predictor
    repeated = Records(np.where(places == 1, records.x[0], records.x[places]), records.design[places])
    f = log_likelihood(repeated.design, np.log(repeated.x), draws, np.log(repeated.x))
    gamma = log_gamma(repeated, draws, 0.4, 1.8)
    ones = np.ones(N)
    sensitive = [Sensitive(weights), Sensitive(ones, (0.4, 1.8), weights), Sensitive(ones, threshold=5.0)]
    values = [weights * f, f - weights * gamma, np.clip(f, -5, 5)]
    for result, expected in zip(record_bounds(FAMILY, repeated, draws, sensitive), values, strict=True):
        np.testing.assert_allclose(result.by_record, np.abs(expected).max(axis=0), rtol=1e-9)
        np.testing.assert_allclose(result.by_draw, np.abs(expected).max(axis=1), rtol=1e-9)
    assert result.beyond == (np.abs(f) > 5).any(axis=0).sum()


@pytest.mark.parametrize("kind", ["beta_regression", "gamma_regression", "negative_binomial_regression"])
@pytest.mark.parametrize("times", [1, 3])
def test_many_records_have_the_bounds_of_few(monkeypatch, kind, times):
    """Whatever the order of their predictors, in parts, and with factors without their zeros."""
    generator, n, family = np.random.default_rng(8), 399, FAMILIES[kind]
    x = (
        generator.uniform(size=n // times).repeat(times)
        if kind == "beta_regression"
        else generator.integers(1, 10**6, n).astype(float)
    )
    records = Records(x, np.column_stack([np.ones(n), generator.integers(0, 4, (n, 2))]))
    coefficient = generator.normal(0, 0.3, (20, 3))
    draws = {"coefficient": coefficient, "beta": coefficient}
    draws |= {name: generator.uniform(1, 2, 20) for name in ("lambda", "shape", "phi")}
    sensitive = [Sensitive(generator.uniform(size=n)), Sensitive(np.ones(n), threshold=2.0)]
    few = record_bounds(family, records, draws, sensitive)
    for name, value in {"BLOCK": 300, "PART": 64, "LARGEST_DENSE": 0}.items():
        monkeypatch.setattr(core_arrays, name, value)
    monkeypatch.setattr(core_bounds, "BLOCK", 300)
    for result, expected in zip(record_bounds(family, records, draws, sensitive), few, strict=True):
        np.testing.assert_allclose(result.by_record, expected.by_record, rtol=1e-12)
        assert result.beyond == expected.beyond


def test_records_that_differ_in_a_further_column_alone_have_bounds_of_their_own():
    class Exposed:
        def factors(self, records, draws):
            return -draws["mu"][:, None], records.inputs["years"][:, None]

    records = Records(np.zeros(4), np.ones((4, 1)), {"years": np.array([1.0, 2.0, 2.0, 3.0])})
    (bounds,) = record_bounds(Exposed(), records, {"mu": np.array([1.0, 2.0])}, [Sensitive(np.ones(4))])
    assert bounds.by_record.tolist() == [2, 4, 4, 6]


@given(WEIGHTS)
def test_bounds_are_monotone_in_the_weights(study, weights):
    records, draws, _ = study
    less, more = record_bounds(FAMILY, records, draws, [Sensitive(0.5 * weights), Sensitive(weights)])
    assert less.by_record == pytest.approx(0.5 * more.by_record, rel=1e-12)


@given(WEIGHTS, st.permutations(range(N)))
def test_permuting_records_permutes_bounds(study, weights, order):
    records, draws, _ = study
    permuted = records.take(order)
    forms = [Sensitive(weights), Sensitive(weights, (0.4, 1.8), weights)]
    other = [Sensitive(weights[order]), Sensitive(weights[order], (0.4, 1.8), weights[order])]
    before, after = record_bounds(FAMILY, records, draws, forms), record_bounds(FAMILY, permuted, draws, other)
    for here, there in zip(before, after, strict=True):
        assert there.by_record == pytest.approx(here.by_record[order], rel=1e-9, abs=1e-12)
        assert there.delta == pytest.approx(here.delta, rel=1e-9)


@given(WEIGHTS)
def test_truncated_bounds_are_the_weighted_ones_without_a_range(study, weights):
    records, draws, _ = study
    weighted, truncated = record_bounds(FAMILY, records, draws, [Sensitive(weights), Sensitive(weights, (0.0, np.inf), weights)])
    assert (truncated.by_record == weighted.by_record).all()
    assert (truncated.by_draw == weighted.by_draw).all()


@given(WEIGHTS, st.floats(0, 12))
def test_truncated_bounds_approach_the_weighted_ones_as_the_range_widens(study, weights, log_width):
    """They differ by at most the weighted log probability of the range, which goes to 0."""
    records, draws, _ = study
    a, b = float(np.exp(-log_width)) / 2, float(np.exp(log_width)) * 2
    weighted, truncated = record_bounds(FAMILY, records, draws, [Sensitive(weights), Sensitive(weights, (a, b), weights)])
    room = np.abs(weights * log_gamma(records, draws, a, b)).max(axis=0)
    assert (np.abs(truncated.by_record - weighted.by_record) <= room * (1 + 1e-6) + 1e-9).all()
    if log_width > 11:
        # the predictive scale of this study is below e^3: at a width of e^11 the range misses less than one part in 10^3
        assert truncated.delta == pytest.approx(weighted.delta, abs=1e-3)


def test_a_mechanism_is_measured_alone_as_among_others(study, generator):
    records, draws, _ = study
    sensitive = list(forms(generator).values())
    together = record_bounds(FAMILY, records, draws, sensitive)
    for form, expected in zip(sensitive, together, strict=True):
        alone = record_bounds(FAMILY, records, draws, [form])[0]
        assert (alone.by_record == expected.by_record).all()


class Given:
    """A family whose log-likelihood (S, n) is given."""

    def __init__(self, log_likelihood):
        self.values = np.asarray(log_likelihood, dtype=float)

    def factors(self, records, draws):
        return self.values, np.eye(self.values.shape[1])


def given_bounds(log_likelihood, **sensitive):
    n = np.shape(log_likelihood)[1]
    with np.errstate(invalid="ignore"):
        return record_bounds(
            Given(log_likelihood), intercept_only(np.arange(n)), {}, [Sensitive(**({"weights": np.ones(n)} | sensitive))]
        )[0]


@pytest.mark.parametrize("block", [1, 1 << 17])
@pytest.mark.parametrize("place", [0, 1, 2])
def test_a_log_likelihood_that_is_no_number_has_no_finite_bound(monkeypatch, block, place):
    """In whichever draw and block it occurs: a bound may be too large, never too small."""
    monkeypatch.setattr(core_arrays, "BLOCK", block)
    values = np.array([[1.0], [2.0], [3.0]])
    values[place] = np.nan
    result = given_bounds(values)
    assert result.by_record[0] == np.inf
    assert result.epsilon == np.inf


def test_an_infinite_log_likelihood_has_an_infinite_bound():
    assert given_bounds([[1.0], [-np.inf]]).delta == np.inf
    assert np.isnan(given_bounds([[1.0], [-np.inf]]).delta_mcse)


def test_a_record_of_weight_zero_has_bound_zero_whatever_its_likelihood():
    result = record_bounds(
        Columns([[1.0, -np.inf], [2.0, np.nan]]), intercept_only(np.arange(2)), {}, [Sensitive(np.array([1.0, 0.0]))]
    )[0]
    assert result.by_record.tolist() == [2.0, 0.0]


class Columns(Given):
    """As :class:`Given`, with factors whose products touch one record at a time even where values are not finite."""

    def factors(self, records, draws):
        return np.ones((len(self.values), 1)), self.values.max(axis=0)[:, None]


def test_monte_carlo_error_of_a_maximum_agrees_with_simulation():
    """Exponential draws: the maximum of S has the variance sum 1 / k^2, and the estimate has the right mean.

    The mean excess over the (m + 1)-th largest value of exponential draws is the mean of m independent exponentials, so the
    estimate's own standard error is known.
    """
    generator = np.random.default_rng(3)
    repeats, n_draws, scale = 400, 1000, 2.5
    samples = scale * generator.standard_exponential((repeats, n_draws))
    estimates = np.array([maximum_mcse(sample) for sample in samples])
    exact = scale * np.sqrt((1 / np.arange(1, n_draws + 1.0) ** 2).sum())
    limit = scale * np.pi / np.sqrt(6)
    assert exact == pytest.approx(limit, rel=1e-3)
    assert abs(estimates.mean() - limit) < 5 * limit / np.sqrt(50 * repeats)
    # the standard deviation of the simulated maxima: its relative error is at most sqrt((kurtosis - 1) / 4 repeats), kurtosis 5.4
    assert samples.max(axis=1).std() == pytest.approx(exact, rel=5 * np.sqrt(4.4 / (4 * repeats)))


@given(arrays(float, st.integers(50, 300), elements=st.floats(0, 1e6)), st.floats(0.1, 10))
def test_monte_carlo_error_scales_with_the_values(values, factor):
    assert maximum_mcse(factor * values) == pytest.approx(factor * maximum_mcse(values), rel=1e-9, abs=1e-9)
    assert maximum_mcse(values) >= 0


@pytest.mark.parametrize("values", [np.array([1.0, 2.0]), np.array([1.0, np.nan, 3.0, 4.0] * 20), np.array([np.inf] * 100)])
def test_no_monte_carlo_error_is_claimed_where_there_is_none_to_tell(values):
    assert np.isnan(maximum_mcse(values))


@pytest.mark.parametrize("given_range", [{"range": (0.4, 1.8)}, {"range_weights": np.ones(3)}])
def test_a_range_and_its_weights_come_together(given_range):
    with pytest.raises(ValueError, match="range"):
        Sensitive(np.ones(3), **given_range)
