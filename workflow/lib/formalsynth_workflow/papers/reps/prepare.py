"""Data set of one replicate: split, standardised and encoded, with the attacked records."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from formalsynth.core.arrays import Integers
from formalsynth.reps.domain import histogram_cells
from formalsynth.reps.learners.naive_bayes import Contributions, contributions
from formalsynth_workflow.papers.reps.attacks import Targets, prepare_targets
from formalsynth_workflow.papers.reps.datasets import DATASETS
from formalsynth_workflow.papers.reps.outside import joining_distance
from formalsynth_workflow.papers.reps.settings import DatasetName, ExperimentSettings
from formalsynth_workflow.papers.reps.stages import Streams
from formalsynth_workflow.papers.reps.tables import (
    Encoded,
    Split,
    Standardiser,
    Table,
    declared_standardiser,
    encode,
    split_table,
    training_standardiser,
)


@dataclass(frozen=True)
class Prepared:
    """A data set, split, standardised and encoded for release and for evaluation."""

    name: str
    split: Split
    standardiser: Standardiser
    """Standardiser used for the release."""
    space: Standardiser
    """Standardiser used for evaluation models and attacks, always computed from the training records."""
    records: Contributions = field(repr=False)
    """Contributions of the training records."""
    cells: Integers = field(repr=False)
    """(n_train, features) histogram cells of the training records."""
    sizes: tuple[int, ...]
    """Number of histogram cells of each feature."""
    validation: Encoded = field(repr=False)
    """(n_validation, d)."""
    test: Encoded = field(repr=False)
    """(n_test, d)."""
    joining: float
    """:func:`~formalsynth_workflow.papers.reps.outside.joining_distance` of the training records."""

    @property
    def n(self) -> int:
        """Number of training records."""
        return len(self.split.train)

    def delta(self, settings: ExperimentSettings) -> float:
        """Total delta."""
        return settings.delta if settings.delta is not None else 1 / self.n


def load_split(name: DatasetName, folder: str | Path, streams: Streams, size: int | None = None) -> Split:
    """Load a data set by name and split it into its three parts.

    Args:
        name: name of the data set.
        folder: folder of real data files, searched before FORMALSYNTH_DATA.
        streams: random streams; "source" and "split" are used.
        size: largest number of records, which are chosen at random with "source"; None for all.

    Raises:
        DataError: a real data file is absent or not the published one.
    """
    generator = streams("source")
    table = DATASETS[name](generator, folder)
    if size is not None and len(table) > size:
        table = table.take(generator.permutation(len(table))[:size])
    return split_table(table, streams("split"))


def prepare(name: str, split: Split, settings: ExperimentSettings) -> Prepared:
    """Standardise and encode a split data set, without randomness."""
    train = split.part("train")
    schema, space = train.schema, training_standardiser(train)

    def standardiser_of(table: Table) -> Standardiser:
        return (
            training_standardiser(table) if settings.standardise == "training" else declared_standardiser(schema, settings.clip)
        )

    def contributions_of(table: Table) -> Contributions:
        z = standardiser_of(table)(table.continuous)
        return contributions(z, table.categories, table.label, schema.levels, clip=settings.clip)

    standardiser = standardiser_of(train)
    z = standardiser(train.continuous)
    return Prepared(
        name=name,
        split=split,
        standardiser=standardiser,
        space=space,
        records=contributions_of(train),
        cells=histogram_cells(z, train.categories, settings.clip, settings.bins),
        sizes=(settings.bins,) * len(schema.continuous) + schema.levels,
        validation=encode(split.part("validation"), space),
        test=encode(split.part("test"), space),
        joining=joining_distance(train, contributions_of),
    )


def targets_of(prepared: Prepared, settings: ExperimentSettings, streams: Streams) -> Targets:
    """Attacked records of a data set, independent of method and epsilon; uses the stream "targets"."""
    split = prepared.split
    rows = np.concatenate([split.train, split.test])
    train = encode(split.part("train"), prepared.space)
    levels = split.table.schema.levels
    return prepare_targets(train, prepared.test, rows, settings.neighbours, streams("targets"), settings.queries, levels)
