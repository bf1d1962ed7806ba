"""Findings at the start of captions."""

import made_up_report
import pytest

from formalsynth_workflow.ledger.judge import LedgerRow
from formalsynth_workflow.ledger.verdicts import VERDICTS
from formalsynth_workflow.plan.model import find_all
from formalsynth_workflow.report.captions import SPELLED, finding, with_finding
from formalsynth_workflow.report.findings import FINDINGS, JUDGED
from formalsynth_workflow.show.captions import caption

find_all()
PAPERS = ("range", "censor", "reweight", "zcdp", "reps", "cost")


def row(claim="Averaging lowers the bound.", verdict="reproduced", **fields):
    """A row of the ledger."""
    plain = {"replicates": 2, "claim": claim, "erratum": "", "kind": "test"}
    return LedgerRow(**made_up_report.claim(0, verdict) | plain | fields)


def test_the_finding_is_the_first_sentence_of_a_caption():
    text = with_finding("Figure 3b. Bounds of six. Somebody (2026).", [row()])
    assert text == "Figure 3b. Averaging lowers the bound: reproduced. Bounds of six. Somebody (2026)."
    assert with_finding("Table 1. Means.", [row()]).startswith("Table 1. Averaging lowers the bound: reproduced. Means")
    assert with_finding("Bounds. More.", [row()]) == "Averaging lowers the bound: reproduced. Bounds. More."


def test_a_caption_without_claims_is_as_it_was_and_a_withheld_one_stays_empty():
    assert with_finding("Figure 1. Bounds.", []) == "Figure 1. Bounds."
    assert with_finding("", [row()]) == ""


def test_tests_come_first_and_further_claims_are_counted():
    rows = [row("Of ours.", kind="ours"), row("First."), row("Second.", "undetermined"), row("Implied.", kind="implied by x")]
    assert finding(rows) == "First: reproduced; Second: undetermined; 2 more claims: 2 reproduced."
    assert finding(rows[:1]) == "Of ours: reproduced (ours)."
    assert finding(rows[1:]) == "First: reproduced; Second: undetermined; 1 more claim: 1 reproduced."


@pytest.mark.parametrize("verdict", VERDICTS)
def test_a_finding_has_the_verdict_and_only_judged_claims_count_as_judged(verdict):
    text = finding([row(verdict=verdict, erratum="E3" * (verdict in FINDINGS))])
    assert verdict in text
    assert ("not judged" in text) == (verdict not in (*JUDGED, *FINDINGS))
    assert ("(E3)" in text) == (verdict in FINDINGS)


@pytest.mark.parametrize("key", PAPERS)
def test_every_shipped_figure_begins_with_its_claims(plan_of, key):
    paper = plan_of(key).papers[key]
    for number in paper.figures:
        original = getattr(paper.figures[number], "same_as", number)
        firsts = [claim for claim in paper.claims if not claim.reading_of]
        claims = [claim for claim in firsts if claim.shows in (f"figure {number}", f"figure {original}")]
        named = [claim for claim in paper.claims if claim.id in paper.seen.get(number, ())]
        assert not (claims and named), "a figure with claims of its own begins with them"
        claims = claims or named
        text = with_finding(caption(paper.figure(number, "paper")), [row(claim.claim, kind=claim.kind) for claim in claims])
        first = text.removeprefix(f"Figure {number}. ")
        assert any(first.startswith(f"{claim.claim.rstrip('.')}: reproduced") for claim in claims), (key, number)
        assert first.partition(": reproduced")[2].count("; ") or len(claims) <= SPELLED
