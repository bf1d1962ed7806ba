"""What the accounting leaves outside the budget, measured: what a single record does through it (erratum E8).

The accounting of the REPS paper holds the standardisation, the threshold tau and lam fixed, but each is computed from
confidential records. Here one record joins or leaves and they are computed again, without any noise; the distance that the
released sums move is then held against the one that the noise was made for.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np

from formalsynth.core.arrays import Array, Integers
from formalsynth.papers.reps.evaluation import auroc_without_each
from formalsynth.papers.reps.synthesis import CLASSES, Contributions, weighted_sums
from formalsynth.papers.reps.tables import Mask, Table
from formalsynth.papers.reps.weighting import choose_strength


def joining_distance(train: Table, contributions_of: Callable[[Table], Contributions]) -> float:
    """How far the unweighted sums move when a record at the declared upper bounds joins, relative to their sensitivity.

    Beyond 1 the noise is too small for this pair of neighbours.

    Args:
        train: the training records.
        contributions_of: standardises a table and encodes it.
    """
    before, schema = contributions_of(train), train.schema
    sums, rows = weighted_sums(before, np.ones(len(train))), []
    for label in range(CLASSES):
        numbers = np.vstack([train.continuous, [column.high for column in schema.continuous]])
        categories = np.vstack([train.categories, np.zeros((1, len(schema.categorical)), dtype=np.int64)])
        after = contributions_of(Table(schema, numbers, categories, np.append(train.label, label)))
        rows.append(_distance(weighted_sums(after, np.ones(len(train) + 1)), sums, before))
    return max(rows) / before.sensitivity


def leaving_distance(records: Contributions, weights: Array, record: int, weights_without: Array) -> float:
    """How far the weighted sums move when a record leaves and the others' weights change with it.

    Args:
        records: the training records' contributions.
        weights: (n,) with everyone.
        record: position of the one that leaves.
        weights_without: (n,) of the others; that of the record itself is not used.
    """
    without = np.where(np.arange(len(weights)) == record, 0.0, weights_without)
    return _distance(weighted_sums(records, without), weighted_sums(records, weights), records)


def swaying_records(candidates: Mapping[float, Array], uniform: Array, label: Integers, slack: float, chosen: float) -> Mask:
    """Which validation records (n,) change the choice of lam by not being there.

    Args:
        candidates: validation scores (n,) by lam.
        uniform: validation scores (n,) of uniform weights.
        label: (n,) validation labels.
        slack: how far below uniform the AUROC of a candidate may be.
        chosen: lam with every record.
    """
    by_strength = {strength: auroc_without_each(scores, label) for strength, scores in candidates.items()}
    reference = auroc_without_each(uniform, label)
    choices = (
        choose_strength({strength: values[k] for strength, values in by_strength.items()}, reference[k], slack)
        for k in range(len(label))
    )
    swayed: Mask = np.fromiter(choices, float, len(label)) != chosen
    return swayed


def _distance(sums: Array, others: Array, records: Contributions) -> float:
    return float(np.linalg.norm((sums - others) / records.bounds))
