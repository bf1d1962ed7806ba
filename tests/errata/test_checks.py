"""Tests of the checks of errata: each holds, and fails with the printed formula instead of the derived one."""

from dataclasses import replace

import numpy as np
import pytest
import yaml
from formalsynth.errata.__main__ import main
from formalsynth.errata.check import (
    CHECKS,
    Comparison,
    Interval,
    NumericCheck,
    Reading,
    at_most,
    exactly,
    near,
    numeric_check,
    simulated_mean,
)
from formalsynth.ledger.errata import ErrataConfig

CHECKS.find()
LONG = {"contraction"}


@pytest.mark.parametrize("name", sorted(set(CHECKS) - LONG))
def test_a_check_holds_and_fails_with_the_printed_formula_in_place_of_the_derived_one(name):
    check = CHECKS[name]
    evidence = check.run()
    assert evidence.holds, [comparison for comparison in evidence.derived if not comparison.agrees]
    assert not replace(evidence, derived=evidence.printed).holds
    assert not replace(evidence, printed=evidence.derived).holds


def test_the_printed_advantage_is_compared_with_an_attack_without_the_records():
    """Both ends can fail: the guarantee allows an advantage of 0.39, and the attack does not reach 0.85."""
    top = CHECKS["E13"].derived.formula.top()
    assert not top.meets(exactly(0.39))
    assert top.meets(exactly(0.667))
    assert not top.meets(exactly(0.85))


def test_every_erratum_has_a_check_under_every_number_of_it(repository):
    config = ErrataConfig(**yaml.safe_load((repository / "config" / "errata.yaml").read_text(encoding="utf-8")))
    assert {erratum.id: sorted(erratum.also) for erratum in config.errata} == {
        check.name: sorted(check.also) for check in CHECKS.values() if check.name not in LONG
    }
    for erratum in config.errata:
        assert all((erratum.printed, erratum.derived, erratum.check, erratum.consequence, erratum.matters)), erratum.id
        assert erratum.command == f"python -m formalsynth.errata {erratum.id}"


def test_intervals_meet_where_they_share_a_number():
    assert near(1.0, 0.1).meets(exactly(1.1))
    assert not near(1.0, 0.1).meets(exactly(1.2))
    assert at_most(2.0).meets(Interval(2.0, 3.0))
    assert not at_most(2.0).meets(exactly(2.1))
    assert exactly(np.inf).meets(exactly(np.inf))
    assert not exactly(np.inf).meets(exactly(7.0))


def test_a_simulated_mean_has_four_standard_errors():
    values = np.random.default_rng(1).normal(3.0, 2.0, 10_000)
    interval = simulated_mean(values)
    assert (interval.high - interval.low) / 2 == pytest.approx(4 * 2 / 100, rel=0.05)
    assert interval.meets(exactly(3.0))


def with_readings(printed, derived):
    """Check of 2 + 2 with two readings."""

    def compare(formula):
        """Two and two."""
        return [Comparison("2 + 2", exactly(formula(2)), exactly(4), "count")]

    return NumericCheck("E99", (), "Two and two", Reading("printed", printed), Reading("derived", derived), compare)


@pytest.mark.parametrize(
    ("printed", "derived", "holds"),
    [
        (lambda x: x, lambda x: 2 * x, True),
        (lambda x: 2 * x, lambda x: x, False),
        (lambda x: x, lambda x: 3 * x, False),
        (lambda x: 2 * x, lambda x: x * x, False),
    ],
)
def test_a_finding_holds_if_the_derived_formula_is_right_and_the_printed_one_wrong(printed, derived, holds):
    assert with_readings(printed, derived).run().holds == holds


@pytest.fixture
def trial():
    """Register of checks that is reset after a test."""
    with CHECKS.trial():
        yield


def test_the_command_prints_both_formulas_and_its_exit_code_is_the_result(trial, capsys):
    right, wrong = Reading("twice x", lambda x: 2 * x), Reading("x", lambda x: x)
    compare = with_readings(None, None).compare
    numeric_check("E97", printed=wrong, derived=right, also=("E96",), table=lambda: ["a table"])(compare)
    numeric_check("E98", printed=right, derived=wrong)(compare)
    assert main(["E96"]) == 0
    text = capsys.readouterr().out
    for part in (
        "E97: Two and two.",
        "printed: x",
        "derived: twice x",
        "2 ✗",
        "4 ✓",
        "count",
        "a table",
        "E97 holds",
        "1 of 1 hold",
    ):
        assert part in text, part
    assert main(["E97", "E98"]) == 1
    assert "1 of 2 hold; not E98" in capsys.readouterr().out
    assert main(["E1000"]) == 2
    assert "unknown erratum: given E1000; allowed: E1" in capsys.readouterr().err
