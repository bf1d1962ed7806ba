"""Sentences of the report: alternative texts, findings in captions, the headline, rows of the ledger, numbers and times."""

import math
import re

import made_up_report
import pandas as pd
import pytest
from made_up_report import claim_row

from dev.reference import LEDGER
from formalsynth_workflow.ledger.steadiness import steadiness
from formalsynth_workflow.ledger.verdicts import VERDICTS
from formalsynth_workflow.plan.model import find_all
from formalsynth_workflow.report.alt_text import alt_text
from formalsynth_workflow.report.captions import SPELLED, finding, with_finding
from formalsynth_workflow.report.contents import read_ledger
from formalsynth_workflow.report.findings import FINDINGS, JUDGED, findings
from formalsynth_workflow.report.formats import by_number, duration, number
from formalsynth_workflow.report.listings import key_lines
from formalsynth_workflow.report.rows import ours, printed
from formalsynth_workflow.report.unsteady import headline_error, unsteady
from formalsynth_workflow.show.captions import caption

find_all()
PANELS = {"label": ["A"] * 5, "value": [1.0, 2.0, 3.0, 4.0, 5.0], "panel": [f"eps {k}" for k in range(5)]}


@pytest.mark.parametrize(
    ("columns", "text"),
    [
        ({"label": ["A", "A", "A", "B", "B", "C"], "value": [1.0, 2.0, 99.0, 5.0, 7.0, None]}, "B 6, A 2."),
        (PANELS, "eps 0: A 1; eps 1: A 2; eps 2: A 3; 2 more frames."),
        (
            {"label": ["A"] * 2, "value": [1.0, 2.0], "part": ["a", "b"], "panel": ["mean", "median"]},
            "a, mean: A 1; b, median: A 2.",
        ),
        ({"label": ["A"] * 3, "value": [1.0, 9.0, 4.0], "x": [10, 20, 30]}, "A 1 to 4."),
        ({"label": ["A"] * 2, "value": [1.0, 3.0], "x": [10, 20], "at": [1, 2]}, "A 2."),
        ({"label": ["A"], "value": [None]}, None),
        ({"statistic": ["mean"]}, None),
    ],
)
def test_an_alternative_text_lists_medians_by_frame_and_lines_by_their_ends(tmp_path, columns, text):
    pd.DataFrame(columns).to_csv(tmp_path / "fig01.csv", index=False)
    assert alt_text(tmp_path / "fig01.csv") == (f"Medians, the largest first: {text}" if text else "")


FOUND = "Averaging lowers the bound: reproduced."
LOWERS = claim_row(claim="Averaging lowers the bound.")


@pytest.mark.parametrize(
    ("text", "rows", "expected"),
    [
        ("Figure 3b. Bounds. Somebody.", [LOWERS], f"Figure 3b. {FOUND} Bounds. Somebody."),
        ("Table 1. Means.", [LOWERS], f"Table 1. {FOUND} Means."),
        ("Bounds. More.", [LOWERS], f"{FOUND} Bounds. More."),
        ("Figure 1. Bounds.", [], "Figure 1. Bounds."),
        ("", [LOWERS], ""),
    ],
)
def test_the_finding_is_the_first_sentence_of_a_caption(text, rows, expected):
    assert with_finding(text, rows) == expected


def test_tests_come_first_and_further_claims_are_counted():
    rows = [
        claim_row(claim=text, verdict=verdict, kind=kind)
        for text, verdict, kind in (
            ("Of ours.", "reproduced", "ours"), ("First.", "reproduced", "test"), ("Second.", "undetermined", "test"),
            ("Implied.", "reproduced", "implied by x"),
        )
    ]  # fmt: skip
    assert finding(rows) == "First: reproduced; Second: undetermined; 2 more claims: 2 reproduced."
    assert finding(rows[:1]) == "Of ours: reproduced (ours)."
    assert finding(rows[1:]) == "First: reproduced; Second: undetermined; 1 more claim: 1 reproduced."


@pytest.mark.parametrize("verdict", VERDICTS)
def test_a_finding_has_the_verdict_and_only_judged_claims_count_as_judged(verdict):
    text = finding([claim_row(verdict=verdict, erratum="E3" * (verdict in FINDINGS))])
    assert verdict in text
    assert ("not judged" in text) == (verdict not in (*JUDGED, *FINDINGS))
    assert ("(E3)" in text) == (verdict in FINDINGS)


@pytest.mark.parametrize("key", ["range", "censor", "reweight", "zcdp", "reps", "cost"])
def test_every_shipped_figure_begins_with_its_claims(plan_of, key):
    paper = plan_of(key).papers[key]
    for printed_number, figure in paper.figures.items():
        original = getattr(figure, "same_as", printed_number)
        firsts = [claim for claim in paper.claims if not claim.reading_of]
        claims = [claim for claim in firsts if claim.shows in (f"figure {printed_number}", f"figure {original}")]
        named = [claim for claim in paper.claims if claim.id in paper.seen.get(printed_number, ())]
        assert not (claims and named), "a figure with claims of its own begins with them"
        claims = claims or named
        rows = [claim_row(claim=claim.claim, kind=claim.kind) for claim in claims]
        first = with_finding(caption(paper.figure(printed_number, "paper")), rows).removeprefix(f"Figure {printed_number}. ")
        assert any(first.startswith(f"{claim.claim.rstrip('.')}: reproduced") for claim in claims), (key, printed_number)
        assert first.partition(": reproduced")[2].count("; ") or len(claims) <= SPELLED


READ = [
    claim_row(id=id, verdict=verdict, kind=kind, shows="figure 1")
    for id, verdict, kind in (
        ("same", "reproduced", "test"),
        ("same-other", "reproduced", "another reading of same"),
        ("turned", "not reproduced", "test"),
        ("turned-other", "reproduced", "another reading of turned"),
        ("turned-third", "undetermined", "another reading of turned"),
        ("chosen", "misprint", "recovered"),
        ("chosen-other", "reproduced", "another reading of chosen"),
        ("slip", "refuted", "test"),
    )
]


def test_the_headline_counts_claims_once_and_the_verdicts_that_depend_on_a_reading():
    assert findings(READ, ()).headline() == (
        "Of 2 claims of the papers that this run judged: 1 (50%) reproduced, 0 direction only, 0 undetermined, 1 not reproduced. "
        "Not counted: 1 refuted. 1 verdict would differ under another reading of the paper."
    )
    assert "reading" not in findings(READ[:2], ()).headline()
    apart = [(group.kind, group.claims, group.reproduced) for group in findings(READ, ()).apart]
    assert sorted(apart) == [("another reading", 4, 3), ("recovered", 1, 0)]
    assert "3 more claims" not in finding(READ)  # a caption begins with the first reading only
    assert finding(READ).endswith("2 more claims: 1 refuted, 1 misprint.")


YES, NO = "reproduced", "not reproduced"
DRAWN = steadiness(
    pd.DataFrame(
        {0: [YES, YES, NO, YES], 1: [YES, NO, NO, NO], 2: [YES, YES, YES, NO], 3: [YES, YES, YES, NO]},
        index=["firm", "range-contraction-weighted", "other", "not-counted"],
    )
)
"""Steadiness in the run and three redrawn runs, in which 1, 3 and 3 of the first three claims are reproduced."""
UNSTEADY = [
    claim_row(verdict=verdict, id=id, kind=kind, paper="range")
    for id, verdict, kind in zip(DRAWN["id"], [YES, YES, NO, YES], ["test", "test", "test", "recovered"], strict=True)
]


def test_the_number_of_reproduced_claims_has_its_error_over_the_drawings():
    assert DRAWN["reproduced"].tolist() == ["yyy", "nyy", "nyy", "nnn"]
    assert headline_error(UNSTEADY, DRAWN) == pytest.approx(math.sqrt(4 / 3))
    text = findings(UNSTEADY, []).headline(headline_error(UNSTEADY, DRAWN))
    assert "2 ± 1 (67%) reproduced" in text and "over redrawn replicates" in text
    assert math.isnan(headline_error(UNSTEADY, DRAWN.drop(columns="reproduced")))
    assert "2 (67%) reproduced" in findings(UNSTEADY, []).headline()


def test_the_share_of_an_unsteady_verdict_is_that_of_the_verdict_of_the_reference_run():
    shares = {key: round(share, 2) for key, share in unsteady(DRAWN).items()}
    assert shares == {("range-contraction-weighted", YES): 0.67, ("other", NO): 0.33, ("not-counted", YES): 0.0}


UNNAMED = re.compile(r"(?<![\w.])[-−]?\d[\d.e+-]*%?\s/\s[-−]?\d")
"""Two numbers with nothing but a slash between them."""
PRINTED_NAMES = {"Censor_w", "Censor_uw", "T_s", "T_f", "T_PPD", "n_syn", "w_i"}
QUOTIENT = "0.95 / 1.05"
"""Numbers in a note."""


def test_rows_of_the_reference_run_name_each_number_and_nothing_of_the_code(repository):
    """Names with an underscore are those that the papers print, and no text names another claim by its id."""
    reference = read_ledger(repository / LEDGER)
    assert len(reference) > 300
    assert len([row for row in reference if row.estimate and "/" in row.estimate]) > 200
    ids = {row.id for row in reference}
    for row in reference:
        texts = [row.claim, ours(row), printed(row), row.note]
        for text in texts[1:]:
            assert not UNNAMED.search(text.replace(QUOTIENT, "")), (row.id, text)
        names = row.cells.split(" | ")
        assert len(set(names)) == len(names), (row.id, names)
        assert not row.estimate or len(names) == len(row.estimate.split(" / ")), row.id
        assert set(re.findall(r"\b[A-Za-z]+_\w+", " ".join(texts))) <= PRINTED_NAMES, row.id
        assert ids.isdisjoint(re.findall(r"[a-z0-9]+(?:-[a-z0-9]+)+", " ".join(texts))), row.id
        assert not re.search(r"\bepsilon \d|\bn syn\b", " ".join(texts)), row.id


FOUR = ("3 / 2.5 / 2.5 / 4", "0.1 / 0.2 / 0.3 / 0.4", "A | B | C | D")


@pytest.mark.parametrize(
    ("estimate", "mcse", "cells", "test", "text"),
    [
        (
            "3 / 2.5 / 2.5 / 4",
            "0.1 / 0.2 / 0.3 / 0.4",
            "A | B | C | D",
            "order",
            "A 3 ± 0.1 > B 2.5 ± 0.2 ≈ C 2.5 ± 0.3 < D 4 ± 0.4",
        ),
        (
            "3 / 2.5 / 2.5 / 4",
            "0.1 / 0.2 / 0.3 / 0.4",
            "A | B | C | D",
            "value",
            "A 3 ± 0.1; B 2.5 ± 0.2; C 2.5 ± 0.3; D 4 ± 0.4",
        ),
        ("1 / 2", "", "A | B", "order", "A 1 < B 2"),
        ("1 / 1", "0 / 0.1", "A | B", "order", "A 1 ≈ B 1 ± 0.1"),
        ("5", "0.1", "A", "value", "A 5 ± 0.1"),
        ("", "", "", "order", ""),
        ("2 / 2", "0 / 0", "A | B", "order", "A 2 = B 2"),
        ("1 / 2", "", "", "value", "(1) 1; (2) 2"),  # a ledger of an older version
    ],
)
def test_a_row_has_its_numbers_with_names_and_an_order_which_way_each_step_goes(estimate, mcse, cells, test, text):
    assert ours(claim_row(estimate=estimate, mcse=mcse, cells=cells, test=test)) == text


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
    assert printed(claim_row(printed=text, cells="A | B")) == expected


@pytest.mark.parametrize(
    ("write", "value", "shown"),
    [
        (number, float("nan"), "–"), (number, float("inf"), "∞"), (number, -0.5, "−0.5"), (number, 57771.2, "57771"),
        (number, 1234.5, "1234"), (number, 1e-7, "1e−07"), (number, 3, "3"),
        (duration, 0.25, "0.25 s"), (duration, 12.4, "12 s"), (duration, 59.6, "1 min 0 s"), (duration, 83, "1 min 23 s"),
        (duration, 3725, "1 h 2 min"),
    ],
)  # fmt: skip
def test_numbers_and_durations(write, value, shown):
    assert write(value) == shown


def test_names_are_sorted_by_their_numbers():
    names = ["table 1", "figure 10", "figure 2", "figure 2a"]
    assert sorted(names, key=by_number) == ["figure 2", "figure 2a", "figure 10", "table 1"]


@pytest.mark.parametrize("key", ["range", "reps"])
def test_lines_of_the_config(repository, plan_of, key):
    path = repository / "config" / "papers" / f"{key}.yaml"
    lines, lines_of, config = path.read_text(encoding="utf-8").splitlines(), key_lines(path), plan_of(key).papers[key].config
    for section in ("figures", "tables"):
        for entry in getattr(config, section):
            assert re.match(rf" +[\"']?{entry}[\"']?:", lines[lines_of[f"{section}.{entry}"] - 1])


def test_lines_of_claims(tmp_path):
    text = "# first\nclaims:\n  - id: a-b\n    place: x\n  - place: y\n    id: c\nx: 1\n"
    path = made_up_report.write(tmp_path / "claims.yaml", text)
    assert key_lines(path) == {"claims": 2, "claims.a-b": 3, "claims.c": 5, "x": 7}
