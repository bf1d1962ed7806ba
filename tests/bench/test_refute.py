"""Attempts to refute noisy tables: they run, find what is planted, and their populations have the truth that they state."""

from dataclasses import replace
from importlib import import_module

import numpy as np
import pytest

refute = import_module("bench.refute")
POPULATIONS, PRIVACY, Outcomes = refute.POPULATIONS, refute.PRIVACY, refute.Outcomes


def outcomes_of(attempt, simulations):
    outcomes = Outcomes()
    for number in range(simulations):
        refute.simulated(attempt, number, outcomes)
    return outcomes


@pytest.mark.parametrize("name", POPULATIONS)
def test_the_truth_of_a_population_is_that_of_many_records(name):
    """Six standard errors of the usual estimate, from 20 data sets; t2 errors have no variance."""
    attempt = POPULATIONS[name]
    values = [refute.usual(attempt.family, attempt.draw(np.random.default_rng(k), 4000)) for k in range(20)]
    assert abs(np.mean(values) - attempt.truth) < 6 * np.std(values) / np.sqrt(20) + 1e-9


def test_a_truth_that_is_wrong_is_refuted():
    wrong = replace(POPULATIONS["family"], truth=0.3)
    assert outcomes_of(wrong, 12).cells()[-1] == "refuted"
    assert outcomes_of(POPULATIONS["family"], 12).cells()[-1] == "covers"


def test_a_predictor_of_two_values_has_no_interval():
    outcomes = outcomes_of(POPULATIONS["two"], 5)
    assert (outcomes.refused, outcomes.covered) == (5, [])
    assert outcomes.cells()[-1] == "no interval"


def test_attempts_at_privacy_hold():
    assert all(row[-1].endswith("holds") for row in refute.rows(PRIVACY, 40))


def test_an_unknown_name_is_refused(capsys):
    assert refute.main(["5", "nothing"]) == 2
    assert "given nothing; allowed: family, edge" in capsys.readouterr().out


def test_records_alone_have_the_constant():
    assert refute.alone(np.array([0.2, 0.4])).design.tolist() == [[1.0], [1.0]]


def test_written_attempts_are_a_table_of_a_document(capsys, monkeypatch):
    written = []
    monkeypatch.setattr(refute, "write_table", lambda *table: written.append(table))
    assert refute.main(["--write", "12", "family", "extreme"]) == 0
    ((name, head, rows),) = written
    assert (name, len(head)) == ("attempts", 6)
    assert [row[1:] for row in rows] == [
        ["`family`", "100 %", rows[0][3], rows[0][4], "covers"],
        ["`extreme`", "", "", "", "shows ε = 0.700, claimed 0.7: holds"],
    ]
