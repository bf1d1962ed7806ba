"""Findings at the start of captions."""

import made_up_report
import pytest
from formalsynth.ledger.judge import LedgerRow
from formalsynth.ledger.verdicts import VERDICTS
from formalsynth.plan.model import find_all
from formalsynth.report.captions import SPELLED, finding, with_finding
from formalsynth.report.findings import FINDINGS, JUDGED
from formalsynth.show.captions import caption
from formalsynth.show.painter import PAINTERS

find_all()
PAINTERS.find()
PAPERS = ("range", "censor", "reweight", "zcdp", "reps", "cost")
WITHOUT = {
    "range": {"16"},
    "censor": {"25"},
    "reweight": {"17"},
    "reps": {"6", "8", "9", "10", "11"},
    "cost": {"5", "11", "13"},
}
"""Figures about which no claim is made."""


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
def test_every_shipped_figure_with_claims_begins_with_them(plan_of, key):
    paper = plan_of(key).papers[key]
    without = set()
    for number in paper.figures:
        original = getattr(paper.figures[number], "same_as", number)
        claims = [claim for claim in paper.claims if claim.shows in (f"figure {number}", f"figure {original}")]
        named = [claim for claim in paper.claims if claim.id in paper.seen.get(number, ())]
        assert not (claims and named), "a figure with claims of its own begins with them"
        claims = claims or named
        text = with_finding(caption(paper.figure(number, "paper")), [row(claim.claim, kind=claim.kind) for claim in claims])
        first = text.removeprefix(f"Figure {number}. ")
        if claims:
            assert any(first.startswith(f"{claim.claim.rstrip('.')}: reproduced") for claim in claims), (key, number)
            assert first.partition(": reproduced")[2].count("; ") or len(claims) <= SPELLED
        else:
            without.add(number)
    assert without == WITHOUT.get(key, set()) & set(paper.figures)
