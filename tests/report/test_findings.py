"""The headline: one sentence with numbers of claims only, and the verdicts that depend on a reading of a paper."""

import made_up_report

from formalsynth_workflow.ledger.judge import LedgerRow
from formalsynth_workflow.report.captions import finding
from formalsynth_workflow.report.findings import findings


def rows(*given):
    """Rows of a ledger, given their ids, verdicts and kinds."""
    return [
        LedgerRow(**made_up_report.claim(k, verdict) | {"id": id, "kind": kind, "replicates": 2, "shows": "figure 1"})
        for k, (id, verdict, kind) in enumerate(given)
    ]


READ = rows(
    ("same", "reproduced", "test"),
    ("same-other", "reproduced", "another reading of same"),
    ("turned", "not reproduced", "test"),
    ("turned-other", "reproduced", "another reading of turned"),
    ("turned-third", "undetermined", "another reading of turned"),
    ("chosen", "misprint", "recovered"),
    ("chosen-other", "reproduced", "another reading of chosen"),
    ("slip", "refuted", "test"),
)


def test_the_headline_counts_claims_once_and_the_verdicts_that_depend_on_a_reading():
    assert findings(READ, ()).headline() == (
        "Of 2 claims of the papers that this run could judge, 1 (50%) are reproduced, 0 in direction only, 0 undetermined and 1 "
        "not; not among them: 1 refuted. 1 of the verdicts depends on the reading of the paper."
    )
    assert "reading" not in findings(READ[:2], ()).headline()
    apart = [(group.kind, group.claims, group.reproduced) for group in findings(READ, ()).apart]
    assert sorted(apart) == [("another reading", 4, 3), ("recovered", 1, 0)]


def test_a_caption_begins_with_the_first_reading_only():
    assert "3 more claims" not in finding(READ)
    assert finding(READ).endswith("2 more claims: 1 refuted, 1 misprint.")
