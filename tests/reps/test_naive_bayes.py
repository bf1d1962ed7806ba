import numpy as np
import pandas as pd
import pytest

from formalsynth.reps.learners.naive_bayes import contributions, fit_naive_bayes, release_sums, weighted_sums

LEVELS = (3, 2)
CLIP = 4.0


def records(generator, n=40, p=3):
    z = generator.normal(scale=3, size=(n, p))
    categories = np.column_stack([generator.integers(k, size=n) for k in LEVELS])
    return z, categories, generator.integers(2, size=n)


def without(parts, i):
    return tuple(np.delete(part, i, axis=0) for part in parts)


def test_sensitivity_by_removing_every_record(generator):
    """Neighbours are add/remove (the null record contributes zero), with weights fixed in [0, 1]."""
    for _ in range(20):
        parts = records(generator)
        weights = generator.random(len(parts[0]))
        whole = contributions(*parts, LEVELS, clip=CLIP)
        for i in range(len(weights)):
            less = contributions(*without(parts, i), LEVELS, clip=CLIP)
            moved = (weighted_sums(whole, weights) - weighted_sums(less, np.delete(weights, i))) / whole.bounds
            norm = np.linalg.norm(moved)
            assert norm == pytest.approx(weights[i] * whole.influence[i])
            assert np.linalg.norm(whole.block_norms(moved * whole.bounds), axis=0) == pytest.approx(weights[i] * whole.norms[i])
            assert (whole.norms <= 1 + 1e-9).all()
            assert norm <= weights[i] * whole.sensitivity * (1 + 1e-9)


def test_sensitivity_is_attained():
    z = np.array([[CLIP, -CLIP], [9.0, 9.0], [0.0, 0.0]])
    result = contributions(z, np.zeros((3, 2), dtype=int), np.array([0, 1, 1]), LEVELS, clip=CLIP)
    assert result.sensitivity == 2.0
    assert result.influence == pytest.approx([2.0, 2.0, np.sqrt(2)])


@pytest.mark.parametrize(("p", "levels", "blocks"), [(2, (), 3), (0, (3,), 2), (2, (3,), 4)])
def test_absent_blocks_cost_nothing(generator, p, levels, blocks):
    categories = np.zeros((5, len(levels)), dtype=int)
    result = contributions(generator.normal(size=(5, p)), categories, np.array([0, 1, 0, 1, 1]), levels, clip=CLIP)
    assert result.sensitivity == np.sqrt(blocks)


def test_a_shuffled_weight_can_move_more_than_one_record(generator):
    """Why random downweighting is labelled: without record i its weight goes to another record."""
    z = np.full((2, 1), CLIP)
    parts = (z, np.zeros((2, 0), dtype=int), np.array([0, 0]))
    whole, less = contributions(*parts, (), clip=CLIP), contributions(*without(parts, 0), (), clip=CLIP)
    moved = (weighted_sums(whole, np.array([1.0, 1.0])) - weighted_sums(less, np.array([0.0]))) / whole.bounds
    assert np.linalg.norm(moved) == pytest.approx(2 * whole.sensitivity)


def test_sums_are_grouped_sums(generator):
    z, categories, label = records(generator)
    weights = generator.random(len(label))
    result = weighted_sums(contributions(z, categories, label, LEVELS, clip=CLIP), weights)
    frame = (
        pd.DataFrame(np.clip(z, -CLIP, CLIP)).add_prefix("z").assign(y=label, w=weights, a=categories[:, 0], b=categories[:, 1])
    )
    for y, part in frame.groupby("y"):
        expected = [part.w.sum()]
        expected += [part.w[part[name] == k].sum() for name, size in zip("ab", LEVELS, strict=True) for k in range(size)]
        expected += [(part.w * part[f"z{j}"] ** power).sum() for power in (1, 2) for j in range(3)]
        assert result[y] == pytest.approx(expected)


def test_weights_zero_and_one_are_removal(generator):
    parts = records(generator)
    kept = generator.random(40) < 0.5
    whole = contributions(*parts, LEVELS, clip=CLIP)
    part = contributions(*(values[kept] for values in parts), LEVELS, clip=CLIP)
    assert np.allclose(weighted_sums(whole, kept.astype(float)), weighted_sums(part, np.ones(kept.sum())))


def test_noise_is_proportional_to_each_block_bound(generator):
    result = contributions(*records(generator), LEVELS, clip=CLIP)
    exact = weighted_sums(result, np.ones(40))
    draws = 4000
    noise = np.array([(release_sums(result, np.ones(40), 1.7, generator) - exact) / result.bounds for _ in range(draws)])
    # 24 variance estimates of 4,000 normal draws each, five standard errors.
    assert np.abs(noise.var(axis=0) / 1.7**2 - 1).max() < 5 * np.sqrt(2 / draws)
    assert np.abs(noise.mean(axis=0)).max() < 5 * 1.7 / np.sqrt(draws)


@pytest.mark.parametrize("bad", [-0.1, 1.1, np.nan])
def test_weights_outside_the_unit_interval_are_refused(generator, bad):
    result = contributions(*records(generator), LEVELS, clip=CLIP)
    with pytest.raises(ValueError, match=r"\[0, 1\]"):
        release_sums(result, np.full(40, bad), 1.0, generator)


def test_without_noise_the_model_has_the_class_conditional_moments(generator):
    n = 500
    label = (generator.random(n) < 0.3).astype(int)
    z = np.clip(generator.normal(size=(n, 2)) + label[:, None], -CLIP, CLIP)
    categories = np.column_stack([generator.choice(3, size=n, p=[0.5, 0.3, 0.2]), (generator.random(n) < 0.2 + 0.5 * label)])
    result = contributions(z, categories, label, LEVELS, clip=CLIP)
    model = fit_naive_bayes(release_sums(result, np.ones(n), 0.0, generator), LEVELS, clip=CLIP)
    assert model.prior == pytest.approx(label.mean())
    for y in (0, 1):
        assert model.mean[y] == pytest.approx(z[label == y].mean(axis=0))
        assert model.sd[y] == pytest.approx(z[label == y].std(axis=0))
        for j, size in enumerate(LEVELS):
            shares = np.bincount(categories[label == y, j], minlength=size) / (label == y).sum()
            assert model.probabilities[j][y] == pytest.approx(shares)


def test_samples_follow_the_model(generator):
    sums = np.array([[300.0, 150, 90, 60, 240, 60, 150, -60, 375, 120], [100, 10, 20, 70, 50, 50, 0, 50, 90, 45]])
    model = fit_naive_bayes(sums, LEVELS, clip=CLIP)
    n = 200_000
    drawn = model.sample(generator, n)
    z, categories, label = drawn.z, drawn.categories, drawn.label
    assert abs(label.mean() - 0.25) < 5 * np.sqrt(0.25 * 0.75 / n)
    for y in (0, 1):
        here, count = label == y, (label == y).sum()
        assert np.abs((z[here].mean(axis=0) - model.mean[y]) / model.sd[y]).max() < 5 / np.sqrt(count)
        # The clip is at least three standard deviations away: it takes off less than 0.5 % of a variance.
        assert np.abs(z[here].var(axis=0) / model.sd[y] ** 2 - 1).max() < 5 * np.sqrt(2 / count) + 5e-3
        for j, size in enumerate(LEVELS):
            p = model.probabilities[j][y]
            shares = np.bincount(categories[here, j], minlength=size) / count
            assert np.abs(shares - p).max() < 5 * np.sqrt(0.25 / count)
    # Within a class, features are independent.
    within = (z[label == 0] - model.mean[0]) / model.sd[0]
    assert abs(np.mean(within[:, 0] * within[:, 1])) < 5 / np.sqrt((label == 0).sum())


@pytest.mark.parametrize("scale", [1e1, 1e6])
def test_any_noise_gives_a_proper_model_inside_the_clip(generator, scale):
    for _ in range(50):
        model = fit_naive_bayes(scale * generator.standard_normal((2, 12)), LEVELS, clip=CLIP)
        assert 0.01 <= model.prior <= 0.99
        assert all(np.allclose(p.sum(axis=1), 1) and (p >= 0).all() for p in model.probabilities)
        drawn = model.sample(generator, 100)
        z, categories, label = drawn.z, drawn.categories, drawn.label
        assert np.abs(z).max() <= CLIP and (categories < LEVELS).all() and set(label) <= {0, 1}


def test_proposition_2_bounds_the_bias_of_weights_and_of_norms_that_bind(generator):
    """Both terms: the means of 1 - w times the bound, and of the norms beyond the bound."""
    for _ in range(20):
        parts, weights = records(generator), generator.random(40)
        free, bound = (contributions(*parts, LEVELS, clip=CLIP, norm_share=share) for share in (1.0, 0.4))
        block = slice(bound.starts[2], bound.starts[3])
        norms, limit = np.linalg.norm(free.rows[:, block], axis=1), bound.bounds[block][0]
        weighting, clipping = (1 - weights).mean() * limit, np.maximum(norms - limit, 0).mean()
        moved = np.linalg.norm(weights @ bound.rows[:, block] / 40 - free.rows[:, block].mean(axis=0))
        assert clipping > 0 and moved <= weighting + clipping
        only_clipped = np.linalg.norm(bound.rows[:, block].mean(axis=0) - free.rows[:, block].mean(axis=0))
        assert only_clipped <= clipping
