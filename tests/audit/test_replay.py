"""Mechanisms run again on neighbours: what is computed again, and what stays the same."""

import numpy as np
import pytest
from scipy import special, stats
from small_audit import CENSORED, CENSORED_LW, CENTRED, FINAL, LW, PLAIN, SCALED, N, linear, shares, synthesizer

from formalsynth.audit.audit import audit
from formalsynth.audit.exact import exact_posteriors
from formalsynth.audit.neighbours import added, additions, moved, moves, pull, removed, replaced, to_remove
from formalsynth.audit.replay import Replay
from formalsynth.audit.sampled import SampledPosteriors
from formalsynth.core import arrays
from formalsynth.core.arrays import Records, intercept_only, joined
from formalsynth.core.bounds import Sensitive, record_bounds
from formalsynth.core.centring import Centred
from formalsynth.core.family import FAMILIES
from formalsynth.core.inputs import Ranges
from formalsynth.core.streams import Address
from formalsynth.core.synthesizer import AuditSearch
from formalsynth.core.weights import lipschitz_weights

ALL = np.arange(N)


def test_weights_come_from_the_draws_of_the_same_data_set():
    replay = linear()
    for index in (ALL, ALL[1:], np.append(ALL, N + 5)):
        outcomes, records = replay.outcomes_on(index), replay.universe.take(index)
        risk = record_bounds(replay.family, records, outcomes["plain"].draws, [Sensitive(np.ones(len(index)))])[0].by_record
        np.testing.assert_allclose(outcomes["lw"].weights[index], lipschitz_weights(risk))
        assert (np.delete(outcomes["lw"].weights, index) == 0).all()
        np.testing.assert_allclose(outcomes["scaled"].weights[index], np.clip(1 - risk / 20, 0, 1))


def test_neighbours_share_their_random_numbers_and_streams_do_not():
    replay = linear()
    base, near, again = (replay.outcomes_on(index) for index in (ALL, ALL[1:], ALL))
    other = replay.outcomes_on(ALL, stream=1)
    np.testing.assert_array_equal(again["lw"].weights, base["lw"].weights)
    ours, theirs, apart = (run["plain"].draws["sigma"] for run in (base, near, other))
    assert np.corrcoef(ours, theirs)[0, 1] > 0.999
    assert abs(np.corrcoef(ours, apart)[0, 1]) < 0.35
    # LW weights move with the seed, weights at a declared reference do not
    assert not np.array_equal(other["lw"].weights, base["lw"].weights)
    np.testing.assert_array_equal(other["fixed"].weights, base["fixed"].weights)


def test_an_outlier_moves_everybodys_lw_weight_and_nobodys_fixed_one():
    replay = linear()
    base, near = replay.outcomes_on(ALL), replay.outcomes_on(np.append(ALL, N + 5))
    shift = {id: np.abs(near[id].weights[:N] - base[id].weights[:N]).mean() for id in base}
    assert shift["lw"] > 0.1
    assert shift["fixed"] < 1e-9
    loss = {id: replay.losses([base[id]], [near[id]]).epsilon(1e-3) for id in base}
    assert loss["lw"] > 1.5 * loss["fixed"]


@pytest.mark.parametrize("epsilon", [0.5, 2.0])
def test_weights_at_a_declared_reference_are_strict_when_censored_and_lw_weights_are_not(epsilon):
    """At most epsilon for any record more or less; erratum E6 for weights that are computed again."""
    censored = [
        child.model_copy(update={"parameters": child.parameters | {"epsilon": epsilon}})
        for child in (CENSORED, CENTRED, CENSORED_LW)
    ]
    replay = shares([PLAIN, LW, *censored])
    base = replay.outcomes_on(ALL)
    worst = {"censored": 0.0, "centred": 0.0, "censored_lw": 0.0}
    for k in range(N, len(replay.universe)):
        near = replay.outcomes_on(np.append(ALL, k))
        for id in worst:
            worst[id] = max(worst[id], replay.losses([base[id]], [near[id]]).epsilon(0))
    assert worst["censored"] <= epsilon + 1e-9
    assert 0.5 * epsilon < worst["centred"] <= epsilon + 1e-9
    assert worst["censored_lw"] > epsilon


def test_outcomes_around_different_references_are_not_compared():
    """Their densities are on different lattices, each with the differences from its own reference."""
    other = CENTRED.model_copy(update={"id": "other", "parameters": CENTRED.parameters | {"theta1": 0.3}})
    outcomes = shares([CENTRED, other.model_copy(update={"fit": "other"})]).outcomes_on(ALL)
    replay = shares([CENTRED, PLAIN])
    for compare in (lambda a, b: replay.losses([a], [b]), replay.divergence):
        with pytest.raises(ValueError, match="different references"):
            compare(outcomes["centred"], outcomes["other"])


def test_a_centred_posterior_is_the_product_of_clipped_ratios_of_densities():
    """On the points of its lattice, against scipy's densities; the references of two synthesizers are kept apart."""
    other = CENTRED.model_copy(update={"id": "other", "fit": "other", "parameters": CENTRED.parameters | {"theta2": 9.0}})
    replay = shares([CENTRED, other])
    for id, precision in (("centred", 3.0), ("other", 9.0)):
        outcome = replay.outcomes_on(ALL)[id]
        x = replay.universe.x[ALL, None]
        lattice = outcome.posterior.lattice
        points = _points(lattice)[::500]
        at = {"phi": special.expit(points[:, 0]), "lambda": 0.1 + np.exp(points[:, 1])}
        density = stats.beta.logpdf(x, at["lambda"] * at["phi"], at["lambda"] * (1 - at["phi"]))
        expected = np.clip(density - stats.beta.logpdf(x, precision * 0.2, precision * 0.8), -0.5, 0.5).sum(axis=0)
        np.testing.assert_allclose((outcome.posterior.log_mass - lattice.log_prior)[::500], expected, atol=1e-8)


def test_losses_around_a_reference_are_those_of_draws_from_a_sampler():
    """A sampler that draws from the exact posterior of the data that it gets, around their centre."""
    exact = shares([CENTRED])

    def sampler(data, seed):
        np.testing.assert_allclose(data["centre"][:2], [-0.4, 1.4])
        kept = np.isin(exact.universe.x, data["x"]).astype(float)
        source = exact_posteriors(Centred(exact.family, reference), exact.universe, exact.family.priors)
        uniforms = np.random.default_rng(seed).random((4000, 2))
        return source.draws(source.posterior(kept, data["threshold"]), uniforms), 4000.0

    sampled = SampledPosteriors(exact.family, exact.universe, exact.family.priors, sampler, 3)
    replay = Replay(exact.family, exact.family.priors, exact.universe, [CENTRED], Address(1, 2, 4, N, 1), 200, sampled)
    near = np.append(ALL, N)
    base, other = (exact.outcomes_on(index)["centred"] for index in (ALL, near))
    reference = base.sensitive.reference
    ours = replay.losses([replay.outcomes_on(ALL)["centred"]], [replay.outcomes_on(near)["centred"]])
    theirs = exact.losses([base], [other])
    assert theirs.epsilon(0.01) > 0.6
    assert ours.epsilon(0.01) == pytest.approx(theirs.epsilon(0.01), abs=0.1)


def _points(lattice):
    """Unconstrained points (G, 2) of a lattice."""
    points = np.stack([axis.ravel() for axis in np.meshgrid(*lattice.axes, indexing="ij")], axis=1)
    return lattice.centre + points @ lattice.root.T


def test_a_searched_parameter_is_searched_again():
    replay = linear((PLAIN, LW, FINAL))
    for index in (ALL, np.append(ALL, N + 5)):
        outcomes = replay.outcomes_on(index, bounds=True)
        assert outcomes["final"].bounds.epsilon <= outcomes["lw"].bounds.epsilon


def test_parents_have_to_come_first_and_direct_releases_have_no_outcome():
    with pytest.raises(ValueError, match="its parent plain failed"):
        linear((LW, PLAIN)).outcomes_on(ALL)
    failed = {}
    assert set(linear((LW, PLAIN)).outcomes_on(ALL, failed=failed)) == {"plain"}
    assert failed == {"lw": "its parent plain failed"}
    histogram = synthesizer("ph", "perturbed_histogram", epsilon=1.0, low=0.0, high=1.0)
    assert set(shares((PLAIN, histogram)).outcomes_on(ALL)) == {"plain"}


def test_a_child_sees_the_sensitive_weights_of_its_parent():
    """They are not the likelihood weights where a record's range is partly known."""
    averaged = synthesizer("averaged", "range_averaged", ("plain",), a=0.4, b=1.8)
    cut = synthesizer("cut", "weighted_e", ("averaged", "plain"), epsilon=1e3)
    outcomes = linear((PLAIN, averaged, cut)).outcomes_on(ALL)
    np.testing.assert_array_equal(outcomes["cut"].weights[ALL], outcomes["averaged"].sensitive.weights)
    assert (outcomes["cut"].weights[ALL] < outcomes["averaged"].weights[ALL]).any()


def test_ranges_share_the_predicted_values_and_a_first_look_may_keep_them():
    ranges = [synthesizer(f"r{k}", "range_averaged", ("plain",), a=a, b=2.0) for k, a in enumerate((0.2, 0.6))]
    replay = linear((PLAIN, *ranges))
    base, alone = replay.outcomes_on(ALL), replay.outcomes_on(ALL, only=["r1"])
    np.testing.assert_array_equal(alone["r1"].weights, base["r1"].weights)
    assert (base["r0"].known <= base["r1"].known).all()
    known = replay.known(base, N)
    near = np.append(ALL[1:], N + 1)
    there = replay.outcomes_on(near, known=known)
    for id in ("r0", "r1"):
        assert len(known[id]) == len(replay.universe)
        np.testing.assert_array_equal(there[id].known, known[id][near])
        # the far record that joins is predicted by hardly any draw
        assert known[id][N + 5] > 0.99


def test_who_shares_a_fit_has_its_posterior():
    shared = LW.model_copy(
        update={"id": "truncated", "mechanism": "range_truncated", "parameters": {"a": 0.5, "b": 2.0}, "fit": "lw"}
    )
    outcomes = linear((PLAIN, LW, shared)).outcomes_on(ALL, bounds=True)
    assert outcomes["truncated"].posterior is outcomes["lw"].posterior
    assert outcomes["truncated"].bounds.epsilon < outcomes["lw"].bounds.epsilon


def test_neighbours_are_the_data_but_for_their_records():
    universe = 10
    assert [neighbour.index.tolist() for neighbour in added(3, 5)] == [[0, 1, 2, 3], [0, 1, 2, 4]]
    chosen = removed(4, {"largest risk": [2, 0], "random": [2, 3]})
    assert [(neighbour.candidate, neighbour.removed, neighbour.index.tolist()) for neighbour in chosen] == [
        ("largest risk", 2, [0, 1, 3]), ("largest risk", 0, [1, 2, 3]), ("random", 3, [0, 1, 2]),
    ]  # fmt: skip
    change = replaced(4, 1, universe - 1)
    assert change.index.tolist() == [0, 2, 3, universe - 1]


def test_additions_are_a_grid_over_what_varies():
    records = Records(np.array([1.0, 2.0]), np.array([[1.0, 5.0, 0.0], [1.0, 6.0, 1.0]]))
    more = additions(records, np.array([0.0, 9.0]), [np.array([4.0, 7.0]), np.array([0.5])])
    assert more.x.tolist() == [0, 0, 9, 9]
    assert more.design.tolist() == [[1, 4, 0.5], [1, 7, 0.5]] * 2
    assert len(joined(records, more)) == 6
    with pytest.raises(ValueError, match="2 columns of the design vary"):
        additions(records, np.array([0.0]))


def test_additions_have_further_columns_that_bound_the_outcome_where_declared():
    records = Records(np.array([1.0, 2.0]), np.ones((2, 1)), {"dose": np.array([0.1, 0.2]), "trials": np.array([2.0, 3.0])})
    values = {"trials": np.array([1.0, 4.0]), "dose": np.array([0.5])}
    more = additions(records, np.array([0.0, 4.0]), (), values)
    assert list(zip(more.x, more.inputs["trials"], strict=True)) == [(0, 1), (0, 4), (4, 1), (4, 4)]
    possible = additions(records, np.array([0.0, 4.0]), (), values, "trials")
    assert list(zip(possible.x, possible.inputs["trials"], strict=True)) == [(0, 1), (0, 4), (4, 4)]
    universe = joined(records, possible)
    assert universe.inputs["dose"].tolist() == [0.1, 0.2, 0.5, 0.5, 0.5]
    assert universe.take(removed(2, {"random": [0]})[0].index).inputs["trials"].tolist() == [3]
    assert joined(records, additions(records, np.array([0.0]))).inputs == {}


def test_what_is_removed_has_the_largest_risk_bound_weight_or_pull():
    replay = linear((PLAIN, LW))
    base, records = replay.outcomes_on(ALL, bounds=True), replay.universe.take(ALL)
    chosen = to_remove(replay.family, records, base, 2, 3, np.random.default_rng(1))
    risk = base["plain"].bounds.by_record
    assert chosen["largest risk"] == np.argsort(-risk)[:2].tolist()
    assert chosen["smallest risk"] == [int(risk.argmin())]
    assert int(base["lw"].bounds.by_record.argmax()) in chosen["largest bound"]
    assert len(chosen["random"]) == 3
    left, right = replay.family.factors(records, base["plain"].draws)
    np.testing.assert_allclose(pull(replay.family, records, base["plain"].draws), (left @ right.T).std(axis=0), rtol=1e-6)


def test_the_pull_of_records_in_many_groups_is_that_of_few(generator, monkeypatch):
    family, records = FAMILIES["gamma_regression"], Records(np.array([1.0, 2.0, 5.0]), np.array([[1.0, 0.2], [1, 0.4], [1, 0.2]]))
    draws = {"beta": generator.normal(size=(20, 2)), "shape": generator.gamma(5.0, size=20)}
    expected = pull(family, records, draws)
    monkeypatch.setattr(arrays, "LARGEST_DENSE", 0)
    np.testing.assert_allclose(pull(family, records, draws), expected, rtol=1e-12)


def test_the_pull_of_records_is_defined_next_to_one_of_overwhelming_size(generator):
    design = np.column_stack([np.ones(50), np.append(generator.normal(size=49), -800)])
    records = Records(generator.gamma(3, 1, 50), design)
    draws = {"beta": generator.normal([0.0, 0.5], 0.01, (30, 2)), "shape": generator.gamma(5.0, size=30)}
    left, right = FAMILIES["gamma_regression"].factors(records, draws)
    spread = pull(FAMILIES["gamma_regression"], records, draws)
    np.testing.assert_allclose(spread[:-1], (left @ right[:-1].T).std(axis=0), rtol=1e-6)
    assert spread.argmax() == 49


def test_a_record_moves_to_multiples_of_its_outcome_and_stops_at_the_end_of_its_declared_range():
    records = intercept_only(np.array([1.0, 4.0, 30.0]))
    assert moves(records, (0.5, 3.0)).x.tolist() == [0.5, 2.0, 15.0, 3.0, 12.0, 90.0]
    declared = Ranges(edges=(0.8, 5.0, 20.0)).added_to(records)  # the last record is outside all brackets
    copies = moves(declared, (0.5, 3.0))
    assert copies.x.tolist() == [0.8, 2.0, 30.0, 3.0, 5.0, 30.0]
    assert copies.inputs["range_high"].tolist() == [5.0, 5.0, 20.0] * 2
    neighbours = moved(3, 4, 10, {"largest risk": [2], "random": [0, 2]})
    assert [(move.removed, move.added, move.index.tolist()) for move in neighbours] == [
        (2, 6, [0, 1, 6]), (2, 9, [0, 1, 9]), (0, 4, [1, 2, 4]), (0, 7, [1, 2, 7]),
    ]  # fmt: skip


def test_moves_are_audited_with_a_bound_that_is_the_oscillation_of_the_difference_of_the_log_likelihoods():
    plain = linear()
    records, multiples = plain.universe.take(ALL), (0.4, 1.8)
    universe = joined(plain.universe, moves(records, multiples))
    replay = Replay(plain.family, plain.family.priors, universe, (PLAIN, LW, SCALED), Address(1, 2, 3, N, 1), 200)
    settings = AuditSearch(deltas=(1e-3,), kinds=("move",), moves=multiples, each=1, random=1, refined=1, releases=1)
    rows = {row.synthesizer: row for row in audit(replay, N, ("plain", "lw", "scaled"), settings, 1)}
    assert {row.neighbour for row in rows.values()} == {"move"}
    for id, row in rows.items():
        place = int(np.flatnonzero(universe.x == row.value)[0])
        left = (place - len(plain.universe)) % N
        base, there = (replay.outcomes_on(index, bounds=True)[id] for index in (ALL, np.append(np.delete(ALL, left), place)))
        h = []
        for draws in (base.draws, there.draws):
            mean = draws["beta"] @ universe.design.T
            density = stats.lognorm.logpdf(universe.x, draws["sigma"][:, None], scale=np.exp(mean))
            h.append(density @ (base.weights - there.weights))
        assert row.oscillation == pytest.approx(np.ptp(h))
        assert 0 < row.audited < row.oscillation
        assert row.claimed == base.bounds.epsilon
        weights = base.weights.copy()
        weights[[place, left]] = weights[left], 0
        kept = replay.fixed(base, weights)
        assert row.held == pytest.approx(replay.losses([base], [kept]).epsilon(1e-3))
        assert (row.held == pytest.approx(row.audited)) == (id == "plain")
    assert rows["lw"].audited > 1.5 * rows["scaled"].audited
