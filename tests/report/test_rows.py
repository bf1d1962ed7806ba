"""A row of the ledger in words: no list of numbers without names, in any row of the reference run."""

import re

import made_up_report
import pytest

from dev.reference import LEDGER
from formalsynth_workflow.ledger.judge import LedgerRow
from formalsynth_workflow.report.contents import read_ledger
from formalsynth_workflow.report.rows import ours, printed

UNNAMED = re.compile(r"(?<![\w.])[-−]?\d[\d.e+-]*%?\s/\s[-−]?\d")
"""Two numbers with nothing but a slash between them."""
PRINTED_NAMES = {"Censor_w", "Censor_uw", "T_s", "T_f", "T_PPD", "n_syn", "w_i"}
QUOTIENT = "0.95 / 1.05"
"""Numbers in a note."""


def row(**fields):
    return LedgerRow(**made_up_report.claim(0, "reproduced") | {"replicates": 2, "note": ""} | fields)


@pytest.fixture(scope="module")
def reference(repository):
    return read_ledger(repository / LEDGER)


def test_no_row_prints_a_list_of_numbers_without_names(reference):
    assert len(reference) > 300
    several = [row_ for row_ in reference if row_.estimate and "/" in row_.estimate]
    assert len(several) > 200
    for row_ in reference:
        for text in (ours(row_), printed(row_), row_.note):
            assert not UNNAMED.search(text.replace(QUOTIENT, "")), (row_.id, text)
        if row_.estimate:
            assert len(row_.cells.split(" | ")) == len(row_.estimate.split(" / ")), row_.id


def test_no_row_has_a_name_of_the_code(reference):
    """Names with an underscore are those that the papers print, and no text names another claim by its id."""
    ids = {row_.id for row_ in reference}
    for row_ in reference:
        text = " ".join([row_.claim, ours(row_), printed(row_), row_.note])
        assert set(re.findall(r"\b[A-Za-z]+_\w+", text)) <= PRINTED_NAMES, row_.id
        assert ids.isdisjoint(re.findall(r"[a-z0-9]+(?:-[a-z0-9]+)+", text)), row_.id
        assert not re.search(r"\bepsilon \d|\bn syn\b", text), row_.id


def test_cells_of_one_claim_have_different_names(reference):
    for row_ in reference:
        names = row_.cells.split(" | ")
        assert len(set(names)) == len(names), (row_.id, names)


def test_an_order_shows_which_way_each_step_goes():
    columns = {"estimate": "3 / 2.5 / 2.5 / 4", "mcse": "0.1 / 0.2 / 0.3 / 0.4", "cells": "A | B | C | D"}
    assert ours(row(**columns)) == "A 3 ± 0.1 > B 2.5 ± 0.2 ≈ C 2.5 ± 0.3 < D 4 ± 0.4"
    assert ours(row(**columns, test="value")) == "A 3 ± 0.1; B 2.5 ± 0.2; C 2.5 ± 0.3; D 4 ± 0.4"
    assert ours(row(estimate="1 / 2", mcse="", cells="A | B")) == "A 1 < B 2"
    assert ours(row(estimate="1 / 1", mcse="0 / 0.1", cells="A | B")) == "A 1 ≈ B 1 ± 0.1"
    assert ours(row(estimate="5", mcse="0.1", cells="A", test="value")) == "A 5 ± 0.1"
    assert ours(row(estimate="", mcse="", cells="")) == ""
    assert ours(row(estimate="2 / 2", mcse="0 / 0", cells="A | B")) == "A 2 = B 2"


def test_a_ledger_of_an_older_version_numbers_its_cells():
    assert ours(row(estimate="1 / 2", mcse="", cells="", test="value")) == "(1) 1; (2) 2"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("0.760 / 0.728", "A 0.760; B 0.728"),
        ("57771, 15616", "A 57771; B 15616"),
        ("[70.0, 75.0], [70.0, 74.3]", "A [70.0, 75.0]; B [70.0, 74.3]"),
        ("1.2", "1.2"),
        ("m n_syn 4d² / (2 n²)", "m n_syn 4d² / (2 n²)"),
        ("roughly, ε", "roughly, ε"),
    ],
)
def test_a_printed_number_for_each_cell_is_named(text, expected):
    assert printed(row(printed=text, cells="A | B")) == expected
