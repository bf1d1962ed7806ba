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
from formalsynth_workflow.report.captions import finding
from formalsynth_workflow.report.contents import read_grid, read_ledger
from formalsynth_workflow.report.findings import FINDINGS, JUDGED, findings
from formalsynth_workflow.report.formats import by_number, duration, for_people, number, with_error
from formalsynth_workflow.report.listings import key_lines
from formalsynth_workflow.report.rows import needed, ours, printed
from formalsynth_workflow.report.unsteady import headline_error, unsteady

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


def test_tests_come_first_and_further_claims_are_counted():
    rows = [
        claim_row(claim=text, verdict=verdict, kind=kind)
        for text, verdict, kind in (
            ("Of ours.", "reproduced", "ours"), ("First.", "reproduced", "test"), ("Second.", "undetermined", "test"),
            ("Implied.", "reproduced", "implied by x"),
        )
    ]  # fmt: skip
    assert finding(rows) == "First: reproduced. Second: undetermined. The report has 2 more claims."
    assert finding(rows[:1]) == "Of ours: reproduced."
    assert finding(rows[1:]) == "First: reproduced. Second: undetermined. The report has 1 more claim."


@pytest.mark.parametrize("verdict", VERDICTS)
def test_a_finding_has_the_verdict_and_only_judged_claims_count_as_judged(verdict):
    text = finding([claim_row(verdict=verdict, erratum="E3" * (verdict in FINDINGS))])
    assert verdict in text
    assert ("not judged" in text) == (verdict not in (*JUDGED, *FINDINGS))


@pytest.mark.parametrize("key", ["range", "censor", "reweight", "zcdp", "reps", "cost"])
def test_every_shipped_figure_has_claims(plan_of, key):
    paper = plan_of(key).papers[key]
    shown = {claim.shows for claim in paper.claims}
    for name, figure in paper.figures.items():
        own = {f"figure {name}", f"figure {getattr(figure, 'same_as', name)}"} & shown
        assert bool(own) != bool(paper.seen.get(name)), f"figure {name} needs claims of its own, or claims that it names"


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
    assert finding(READ).endswith("The report has 2 more claims.")  # those under the first reading only


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


@pytest.mark.parametrize(
    ("fields", "text"),
    [
        (
            {"estimate": "1.44 / 1.12", "mcse": "0.14 / 0.11", "cells": "LW | LW final", "statistic": "spread"},
            "Spread: LW 1.44 (0.14), LW final 1.12 (0.11)",
        ),
        (
            {"estimate": "15616 / 4.2e-06", "cells": "(0.4, 1.8) avg | n = 5", "quantity": "max-ECDF", "statistic": "median"},
            "Max-ECDF, median: (0.4, 1.8) avg 15,616; n = 5: 4.2 × 10⁻⁶",
        ),
        ({"estimate": "1 / -1.5", "mcse": "0 / 0.1", "cells": "A | B"}, "A 1, B −1.5 (0.1)"),
        ({"estimate": "5", "mcse": "0.1", "cells": "A"}, "A 5 (0.1)"),
        ({"estimate": "3.99998247208058322 / 2.0", "mcse": "0.00000000000000056 / 0.11", "cells": "A | B"}, "A 4, B 2.0 (0.11)"),
        ({"estimate": "", "mcse": "", "cells": "", "quantity": "Mean"}, ""),
        ({"estimate": "1 / 2", "mcse": "", "cells": ""}, "(1) 1, (2) 2"),  # a ledger of an older version
    ],
)
def test_a_row_has_its_numbers_with_names_and_what_they_are(fields, text):
    assert ours(claim_row(**{"mcse": ""} | fields)) == text


def test_a_row_names_what_the_claim_needs_if_it_has_numbers():
    assert needed(claim_row(needs="LW above CW")) == "the claim needs LW above CW"
    assert needed(claim_row(needs="LW above CW", estimate="")) == needed(claim_row()) == ""


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("0.760 / 0.728", "A 0.760; B 0.728"),
        ("57771, 15616", "A 57,771; B 15,616"),
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
        (number, float("nan"), "–"), (number, float("inf"), "∞"), (number, -0.5, "−0.5"), (number, 57771.2, "57,771"),
        (number, 1234.4, "1234"), (number, 1e-7, "1 × 10⁻⁷"), (number, 3, "3"), (number, 4.175e-5, "0.00004175"),
        (number, 0, "0"),
        (number, 2.5e12, "2.5 × 10¹²"), (number, 0.30000001, "0.3"), (number, 9999.96, "10,000"),
        (for_people, "1.2e-08", "1.2 × 10⁻⁸"), (for_people, "-15616", "−15,616"), (for_people, "2.0", "2.0"),
        (for_people, "ε", "ε"),
        (duration, 0.25, "0.25 s"), (duration, 12.4, "12 s"), (duration, 59.6, "1 min 0 s"), (duration, 83, "1 min 23 s"),
        (duration, 3725, "1 h 2 min"),
    ],
)  # fmt: skip
def test_numbers_and_durations(write, value, shown):
    assert write(value) == shown


@pytest.mark.parametrize(
    ("value", "error", "shown"),
    [
        (0.0006776, 4.175e-5, ("0.000678", "0.000042")), (57771.2, 1234.0, ("57,800", "1,200")), (-2.0, 0.0, ("−2", "")),
        (2.0, float("nan"), ("2", "")), (1.0, 0.0996, ("1.00", "0.10")), (1e-9, 1.23e-10, ("1 × 10⁻⁹", "1.23 × 10⁻¹⁰")),
        (3.9999824720805832, 5.6e-16, ("4", "")),
    ],
)  # fmt: skip
def test_a_number_has_the_digits_of_its_error(value, error, shown):
    assert with_error(value, error) == shown


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


def test_the_best_two_numbers_of_a_statistic_are_marked(tmp_path):
    columns = "statistic,synthesizer,label,guarantee,estimate,mcse,from,printed,difference"
    rows = [
        "mean,Data,Data,,10,,1,,", "mean,A,A,,12,,1,,", "mean,B,B,,9,,1,,", "mean,C,C,,12,,1,,",
        "ecdf_max,A,A,,0.3,,1,,", "ecdf_max,B,B,,0.1,,1,,", "ecdf_max,C,C,,0.2,,1,,",
        "delta,A,A,,1,,1,,", "delta,B,B,,2,,1,,", "delta,C,C,,3,,1,,",
    ]  # fmt: skip
    (tmp_path / "table1.csv").write_text("\n".join([columns, *rows]), encoding="utf-8")
    cells = {
        row["label"]: {name: cell["element"] for name, cell in row["cells"].items()}
        for row in read_grid(tmp_path / "table1.csv").rows
    }
    assert cells == {
        "Data": {"mean": ""},
        "A": {"mean": "u", "ecdf_max": "", "delta": ""},
        "B": {"mean": "strong", "ecdf_max": "strong", "delta": ""},
        "C": {"mean": "u", "ecdf_max": "u", "delta": ""},
    }
