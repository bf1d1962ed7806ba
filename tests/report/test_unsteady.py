"""Verdicts that other replicates may change are marked on pages."""

import math

import made_up_report
import pandas as pd
import pytest

from dev.results_page import readme_part
from formalsynth_workflow.ledger.judge import LedgerRow
from formalsynth_workflow.ledger.steadiness import steadiness
from formalsynth_workflow.report.findings import findings
from formalsynth_workflow.report.unsteady import headline_error, stays_words, unsteady

YES, NO = "reproduced", "not reproduced"
VERDICTS = pd.DataFrame(
    {0: [YES, YES, NO, YES], 1: [YES, NO, NO, NO], 2: [YES, YES, YES, NO], 3: [YES, YES, YES, NO]},
    index=["firm", "range-contraction-weighted", "other", "not-counted"],
)
"""Steadiness in the run and three redrawn runs, in which 1, 3 and 3 of the first three claims are reproduced."""


def rows():
    kinds = ["test", "test", "test", "recovered"]
    return [
        LedgerRow(**made_up_report.claim(0, verdict) | {"id": id, "kind": kind, "replicates": 2, "paper": "range"})
        for (id, verdict), kind in zip(VERDICTS[0].items(), kinds, strict=True)
    ]


def test_the_number_of_reproduced_claims_has_its_error_over_the_drawings():
    steady = steadiness(VERDICTS)
    assert steady["reproduced"].tolist() == ["yyy", "nyy", "nyy", "nnn"]
    assert headline_error(rows(), steady) == pytest.approx(math.sqrt(4 / 3))
    text = findings(rows(), []).headline(headline_error(rows(), steady))
    assert "2 ± 1 (67%) are reproduced" in text
    assert "over redrawn replicates" in text


def test_a_ledger_without_drawings_has_no_error():
    assert math.isnan(headline_error(rows(), steadiness(VERDICTS).drop(columns="reproduced")))
    assert "2 (67%) are reproduced" in findings(rows(), []).headline()


def test_a_verdict_that_may_turn_is_marked_in_its_place_and_no_other_verdict_of_the_claim():
    turning = unsteady(steadiness(VERDICTS))
    words = [stays_words(row, turning) for row in rows()]
    assert words == ["", "stays in 67% of redrawn runs", "stays in 33% of redrawn runs", "stays in 0% of redrawn runs"]
    turned = LedgerRow(**made_up_report.claim(0, "undetermined") | {"id": "other", "replicates": 2})
    assert stays_words(turned, turning) == ""
    answers = {"Is it so?": [row.id for row in rows()]}
    text = readme_part(answers, rows(), [], steadiness(VERDICTS))
    assert "- *Is it so?* " in text
    assert "**Reproduced**, stays in 67% of redrawn runs" in text
