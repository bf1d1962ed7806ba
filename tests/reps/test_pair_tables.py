import itertools

import numpy as np
import pytest

from formalsynth.reps.pair_tables import Tree, pair_counts, pair_frequencies

SIZES = (2, 3, 2, 2)


@pytest.fixture
def chain(generator):
    """Records of a chain 1 - 0 - 2 - 3, in which neighbours agree in seven tenths of the cases."""
    first = generator.integers(2, size=20_000)
    columns = [first, np.where(generator.random(20_000) < 0.7, first, 2), first, first]
    for k in (2, 3):
        columns[k] = np.where(generator.random(20_000) < 0.8, columns[k - 1 if k == 3 else 0], generator.integers(2, size=20_000))
    return np.column_stack(columns)


def test_the_tree_has_the_pairs_with_most_information_and_a_proper_distribution(chain, generator):
    tables = pair_frequencies(pair_counts(chain, SIZES, np.ones(len(chain))), SIZES, 0.0)
    tree = Tree.of(tables, 4)
    assert {frozenset((parent, child)) for parent, child, _ in tree.edges} == {frozenset(e) for e in ((0, 1), (0, 2), (2, 3))}
    every = np.array(list(itertools.product(*map(range, SIZES))))
    probabilities = np.exp(tree.log_probability(every))
    assert probabilities.sum() == pytest.approx(1)
    drawn = tree.draw(generator, 100_000)
    shares = np.array([(drawn == row).all(axis=1).mean() for row in every])
    assert np.abs(shares - probabilities).max() < 5 * np.sqrt(0.25 / 100_000)
    assert np.abs(probabilities - [(chain == row).all(axis=1).mean() for row in every]).max() < 0.02


def test_weighted_counts_and_empty_tables(chain):
    weights = np.linspace(0, 1, len(chain))
    counts = pair_counts(chain, SIZES, weights)
    assert counts[:6].sum() == pytest.approx(weights.sum())
    assert counts[1] == pytest.approx(weights[(chain[:, 0] == 0) & (chain[:, 1] == 1)].sum())
    empty = pair_frequencies(-np.ones(len(counts)), SIZES, 0.0)
    assert np.allclose(empty[0, 1], 1 / 6) and np.isfinite(Tree.of(empty, 4).log_probability(chain[:3])).all()
