"""Internal report: its mark, its tables, and names that are not HTML."""

from dataclasses import replace

import pytest
from formalsynth.custodian.comparison import CandidateSummary, Recommendation
from formalsynth.custodian.internal_audit import AuditResult
from formalsynth.custodian.report import CONFIDENTIAL, MADE_UP, TrialInfo, page

TRIAL = TrialInfo("income", "person", "replace", 3000, 5, False, 12.0, 2.0, ())
SUMMARY = CandidateSummary("Histogram", "DP (replace-one)", "", 1.0, True, 0.02, {0.5: (30_000.0, 31_000.0)}, (), ())


@pytest.mark.parametrize(("made_up", "mark", "other"), [(True, MADE_UP, CONFIDENTIAL), (False, CONFIDENTIAL, MADE_UP)])
def test_a_page_is_marked_by_its_rows(made_up, mark, other):
    text = page(replace(TRIAL, made_up=made_up), [SUMMARY], None)
    assert mark in text
    assert other not in text


def test_names_are_not_html():
    text = page(replace(TRIAL, study="<script>x</script>"), [replace(SUMMARY, id="<b>")], None)
    assert "<script>" not in text
    assert "&lt;b&gt;" in text


def test_a_failed_candidate_has_its_reason_and_no_number():
    nothing = float("nan")
    failed = replace(SUMMARY, reason="no convergence", epsilon=nothing, ecdf_max=nothing, quantiles={})
    text = page(TRIAL, [failed], None)
    assert "no convergence" in text
    assert "nan" not in text


def test_the_recommendation_has_reason_and_weakness():
    text = page(TRIAL, [SUMMARY], Recommendation("Histogram", "It is near.", "It is coarse."))
    assert "Recommendation: Histogram" in text
    assert "It is near." in text
    assert "It is coarse." in text


@pytest.mark.parametrize(
    ("epsilon", "words"), [(0.9, "not refuted"), (1.5, "does not hold for this file"), (float("nan"), "not audited")]
)
def test_the_audit_is_compared_with_the_claim(epsilon, words):
    assert f"<td>{words}</td>" in page(TRIAL, [replace(SUMMARY, audited=AuditResult(epsilon, "a row is replaced", 3))], None)


def test_the_larger_epsilon_counts_for_the_bet():
    """At epsilon 2 the certainty is 1 / (1 + exp(-2)) = 0.8808."""
    audited = replace(SUMMARY, audited=AuditResult(2.0, "a row is replaced", 3))
    assert "0.8808" in page(TRIAL, [audited], None)
    assert "0.7311" in page(TRIAL, [SUMMARY], None)
