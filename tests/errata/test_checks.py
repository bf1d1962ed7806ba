"""Each erratum's numbers bear out what was derived, and not what is printed."""

from dataclasses import replace

import pytest
from formalsynth.errata.__main__ import main
from formalsynth.errata.check import CHECKS
from formalsynth.plan.load import load_yaml

CHECKS.find()
LONG = "contraction"
"""A simulation of many sizes."""
QUICK = [name for name in CHECKS if name != LONG]


@pytest.mark.parametrize("name", QUICK)
def test_what_was_derived_agrees_with_the_numbers_and_what_is_printed_does_not(name):
    evidence = CHECKS[name].run()
    assert [each.what for each in evidence.derived if not each.agrees] == []
    assert not all(each.agrees for each in evidence.printed)
    assert evidence.holds


@pytest.mark.slow
def test_the_law_of_the_bounds_holds_in_a_simulation():
    assert CHECKS[LONG].run().holds


@pytest.mark.parametrize("name", QUICK)
def test_a_check_fails_when_the_printed_formula_stands_in_for_the_derived_one(name):
    check = CHECKS[name]
    assert not replace(check, derived=check.printed).run().holds


def test_there_is_a_check_for_every_erratum(repository):
    errata = load_yaml(repository / "config" / "errata.yaml")["errata"]
    assert {each["id"] for each in errata} == set(CHECKS) - {LONG}


def test_the_command_prints_both_readings_and_knows_merged_numbers(capsys):
    assert main(["E11", "E15"]) == 0
    told = capsys.readouterr().out
    assert "E4:" in told
    assert "printed: best median: averaged (0.6, 1.2)" in told
    assert "2 of 2 hold" in told
    assert main(["E99"]) == 2
