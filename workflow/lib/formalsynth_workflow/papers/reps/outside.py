"""Effects of a single record outside the budget of the accounting (erratum E8).

The accounting of the REPS paper treats the standardisation, the threshold tau and lam as fixed, but each is computed from
confidential records. Here, a record is added or removed, and they are recomputed, without noise. The distance by which the
released sums move is compared with the distance for which the noise was calibrated.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np

from formalsynth.core.arrays import Array, Integers
from formalsynth.reps.domain import CLASSES
from formalsynth.reps.influence import Mask
from formalsynth.reps.learners.naive_bayes import Contributions, weighted_sums
from formalsynth_workflow.papers.reps.evaluation import auroc_without_each
from formalsynth_workflow.papers.reps.tables import Table


def choose_strength(utility: Mapping[float, float], uniform: float, slack: float) -> float:
    """Return the largest lam whose validation utility is within ``slack`` of uniform weights; the smallest lam if none is.

    The choice uses validation records and is outside the budget. The paper does not specify the choice if no candidate is
    close enough; if utility is low, its tables print the smallest candidate.
    """
    close = [strength for strength, value in utility.items() if value >= uniform - slack]
    return max(close, default=min(utility))


def joining_distance(train: Table, contributions_of: Callable[[Table], Contributions]) -> float:
    """Distance by which adding a record at the declared upper bounds moves the unweighted sums, relative to their sensitivity.

    If it is above 1, the noise is too small for this pair of neighbours.

    Args:
        train: the training records.
        contributions_of: function that standardises and encodes a table.
    """
    before, schema = contributions_of(train), train.schema
    sums, rows = weighted_sums(before, np.ones(len(train))), []
    for label in range(CLASSES):
        numbers = np.vstack([train.continuous, [column.high for column in schema.continuous]])
        categories = np.vstack([train.categories, np.zeros((1, len(schema.categorical)), dtype=np.int64)])
        after = contributions_of(Table(schema, numbers, categories, np.append(train.label, label)))
        moved = _distances(weighted_sums(after, np.ones(len(train) + 1)), sums, before)
        rows.append(float(np.linalg.norm(moved)))
    return max(rows) / before.sensitivity


def leaving_distances(records: Contributions, weights: Array, record: int, weights_without: Array) -> Array:
    """Distances (blocks,) by which the weighted sums move when a record is removed and the weights of the others change.

    Args:
        records: contributions of the training records.
        weights: (n,) weights with all records.
        record: position of the removed record.
        weights_without: (n,) weights without the record; the entry of the record itself is not used.
    """
    without = np.where(np.arange(len(weights)) == record, 0.0, weights_without)
    return _distances(weighted_sums(records, without), weighted_sums(records, weights), records)


def swaying_records(candidates: Mapping[float, Array], uniform: Array, label: Integers, slack: float, chosen: float) -> Mask:
    """Mask (n,) of the validation records whose removal changes the choice of lam.

    Args:
        candidates: validation scores (n,) by lam.
        uniform: validation scores (n,) of uniform weights.
        label: (n,) validation labels.
        slack: largest difference by which the AUROC of a candidate may be below uniform.
        chosen: lam with all records.
    """
    by_strength = {strength: auroc_without_each(scores, label) for strength, scores in candidates.items()}
    reference = auroc_without_each(uniform, label)
    choices = (
        choose_strength({strength: values[k] for strength, values in by_strength.items()}, reference[k], slack)
        for k in range(len(label))
    )
    return np.asarray(np.fromiter(choices, float, len(label)) != chosen)


def _distances(sums: Array, others: Array, records: Contributions) -> Array:
    return np.asarray(np.linalg.norm(records.block_norms(sums - others), axis=0))
