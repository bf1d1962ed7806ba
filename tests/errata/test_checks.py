"""Tests of the errata: each finding holds, and is listed in config/errata.yaml with its texts."""

import subprocess
import sys

import numpy as np
import pytest
import yaml
from check import Interval, Row, at_most, find_checks, holds, near

from formalsynth_workflow.ledger.errata import ErrataConfig

CHECKS = find_checks()


@pytest.mark.parametrize("name", CHECKS)
def test_the_derived_formula_agrees_with_the_references_and_the_printed_one_does_not(name):
    rows = CHECKS[name].rows()
    assert holds(rows), [row for row in rows if not row.agrees(row.derived)]


def test_the_printed_advantage_is_compared_with_an_attack_without_the_records():
    """Both ends can fail: the guarantee allows an advantage of 0.39, and the attack does not reach 0.85."""
    row = CHECKS["E13"].rows()[-1]
    assert [row._replace(reference=advantage).agrees(row.derived) for advantage in (0.39, 0.667, 0.85)] == [False, True, False]


def test_every_erratum_has_a_check_under_every_number_of_it(repository):
    config = ErrataConfig(**yaml.safe_load((repository / "config" / "errata.yaml").read_text(encoding="utf-8")))
    assert {erratum.id: erratum.also for erratum in config.errata} == {name: list(check.also) for name, check in CHECKS.items()}
    for erratum in config.errata:
        assert all((erratum.printed, erratum.derived, erratum.check, erratum.matters)), erratum.id


@pytest.mark.parametrize(
    ("value", "reference", "agrees"),
    [
        (1.1, near(1.0, 0.1), True),
        (1.2, near(1.0, 0.1), False),
        (at_most(2.0), Interval(2.0, 3.0), True),
        (at_most(2.0), 2.1, False),
        (np.inf, np.inf, True),
        (np.inf, 7.0, False),
    ],
)
def test_a_value_agrees_where_it_shares_a_number_with_the_reference(value, reference, agrees):
    assert Row("", value, value, reference, "").agrees(value) == agrees


@pytest.mark.parametrize(
    ("printed", "derived", "expected"), [((4, 2), (4, 4), True), ((4, 4), (4, 4), False), ((2, 2), (4, 3), False)]
)
def test_a_finding_holds_if_the_derived_values_are_right_and_a_printed_one_is_wrong(printed, derived, expected):
    assert holds([Row("2 + 2", *values, 4, "count") for values in zip(printed, derived, strict=True)]) == expected


def test_the_command_checks_the_errata_that_it_is_given(repository):
    command = [sys.executable, repository / "tests" / "errata"]
    run = subprocess.run([*command, "E15", "E31"], capture_output=True, text=True)
    assert (run.returncode, "E15 holds" in run.stdout, "E31 holds" in run.stdout) == (0, True, True), run.stdout + run.stderr
    wrong = subprocess.run([*command, "E1000"], capture_output=True, text=True)
    assert (wrong.returncode, wrong.stderr.partition(", E2")[0]) == (1, "unknown erratum: given E1000; allowed: E1")
