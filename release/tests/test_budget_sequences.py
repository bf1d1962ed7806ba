"""Sequences of commands on some studies and files: whatever was done before, the same rows never cost more than their budget."""

import contextlib
import functools
from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from formalsynth.core.text import DataError
from formalsynth_release.budget import change_budget, read_ledger, record_comparison, spent, start
from formalsynth_release.hash_chain import LedgerEntry
from formalsynth_release.same_rows import content_of

STEPS = 40
STUDIES = ("one", "two", "three")
BUDGETS, EPSILONS = (1.0, 50.0), (0.25, 20.0)


@functools.cache
def content(rows, copy, right):
    """One of two files with some rows: copies differ in their bytes, and a wrong format has other rows with the same bytes."""
    read = f"{rows}" if right else f"{rows} {copy} wrong"
    return replace(content_of(pd.DataFrame({"a": [f"{read} {k}" for k in range(30)]})), file=f"{rows} {copy}")


@dataclass
class Sequence:
    """Commands that were accepted."""

    folder: Path
    generator: np.random.Generator
    files: dict = field(default_factory=dict)
    declared: dict = field(default_factory=dict)
    """Budget of the first release from some rows, or from a file of some bytes."""
    recorded: float = 0.0
    """Largest budget that was recorded as a change."""
    costs: dict = field(default_factory=dict)

    def chosen(self, *values):
        return values[self.generator.integers(len(values))]

    def file_of(self, study):
        return self.files.setdefault(study, (0, 0, True))

    def change_file(self, study):
        self.files[study] = (self.chosen(0, 1), self.chosen(0, 1), self.chosen(True, True, False))

    def compare(self, study):
        record_comparison(self.folder / study, ["tables"], content(*self.file_of(study)))

    def change(self, study):
        budget = self.chosen(*BUDGETS)
        change_budget(self.folder / study, budget, "a wave")
        self.recorded = max(self.recorded, budget)

    def release(self, study):
        rows, copy, right = self.file_of(study)
        epsilon, budget = self.chosen(*EPSILONS), self.chosen(*BUDGETS)
        entry = LedgerEntry(
            date="2026-01-02",
            synthesizer="tables",
            guarantee="DP",
            neighbours="replace",
            sets=5,
            epsilon=epsilon,
            outcome="started",
        )
        start(self.folder / study, entry, budget, content(rows, copy, right))
        for what in [(rows, copy), *([rows] if right else [])]:  # bytes in any format, and rows
            self.declared.setdefault(what, budget)
            self.costs[what] = self.costs.get(what, 0.0) + epsilon

    def step(self, changes):
        """Run a command, which may be refused."""
        commands = [self.change_file, self.change_file, self.compare, *[self.release] * 3, *[self.change] * changes]
        with contextlib.suppress(DataError):
            self.chosen(*commands)(self.chosen(*STUDIES))


@pytest.mark.parametrize("seed", range(60))
def test_no_sequence_of_commands_costs_more_than_a_declared_budget(tmp_path, monkeypatch, seed):
    (tmp_path / "ledgers").mkdir(parents=True, exist_ok=True)
    monkeypatch.setenv("FORMALSYNTH_LEDGERS", str(tmp_path / "ledgers"))
    sequence = Sequence(tmp_path, np.random.default_rng(seed))
    for _ in range(STEPS):
        sequence.step(changes=seed % 3 == 0)
        for what, cost in sequence.costs.items():
            assert cost <= max(sequence.declared[what], sequence.recorded) + 1e-9, what
    entries = [entry for study in STUDIES for entry in read_ledger(tmp_path / study)]
    assert spent(entries) == pytest.approx(sum(cost for what, cost in sequence.costs.items() if isinstance(what, tuple)))
