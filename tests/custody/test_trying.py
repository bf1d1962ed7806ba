"""The dry run does not open the file; the internal report is confidential and says what there is to choose from."""

from dataclasses import replace

import incomes
import numpy as np
import pytest
from formalsynth.cli.main import main
from formalsynth.core.arrays import Records
from formalsynth.custody.auditing import Audited, additions
from formalsynth.custody.candidates import read_study
from formalsynth.custody.checking import typed
from formalsynth.custody.comparing import Compared, combined, overlap, recommend
from formalsynth.custody.records import design_of, made_up, names_of
from formalsynth.custody.schema import read_declared


@pytest.mark.stan
def test_a_dry_run_never_opens_the_file(income_study, capsys, cmdstan):
    (income_study.parents[1] / "income.csv").unlink()
    assert main(["plan", str(income_study)]) == 0
    out = capsys.readouterr().out
    assert "income.csv was not opened" in out
    assert "failed" not in out
    page = (income_study / "plan.html").read_text()
    assert "MADE-UP ROWS" in page
    assert "CONFIDENTIAL" not in page


@pytest.mark.stan
def test_the_internal_report_names_candidates_and_is_for_its_owner(income_study, capsys, cmdstan):
    analyses = {"regressions": [{"predictors": ["age", "sector"], "log": True}]}
    incomes.declare(income_study, {"release.yaml": {"ceiling": 200, "analyses": analyses}})
    assert main(["compare", str(income_study)]) == 0
    assert not any(part.isdigit() for part in capsys.readouterr().out.split())
    path = income_study / "confidential" / "CONFIDENTIAL-report.html"
    assert path.stat().st_mode & 0o077 == 0
    page = path.read_text()
    assert page.count("position: fixed") == 1
    for part in (
        "CONFIDENTIAL",
        "Histogram",
        "Weighted",
        "Recommendation",
        "Weakness",
        "log income on age, sector",
        "Most exposed rows",
        "audited epsilon, at least",
        "neighbours tried",
        "Rows whose loss is largest",
    ):
        assert part in page


def test_a_row_of_the_design_depends_on_that_row_alone(income_study):
    schema = read_declared(income_study).schema
    table = made_up(schema, np.random.default_rng(0))
    design = design_of(schema, table)
    assert design.shape == (3000, len(names_of(schema)))
    assert (design_of(schema, table.iloc[:50]) == design[:50]).all()
    assert design.min() == 0
    assert design.max() == 1
    assert Records(table["income"].to_numpy(), design).x.min() >= 1000


def test_rows_are_clipped_and_left_out_as_declared(income_study):
    schema = read_declared(income_study).schema
    text = incomes.incomes().replace("", np.nan)
    table = typed(schema, text)
    assert len(table) == 2935
    assert table["income"].max() == 500_000
    assert list(table) == ["income", "age", "region", "sector"]


def test_intervals_overlap_and_sets_combine_as_published():
    assert overlap((0, 2), (0, 2)) == 1
    assert overlap((0, 2), (1, 3)) == 0.5
    assert overlap((0, 1), (2, 3)) == -1
    mean, variance = combined(np.array([[1.0], [3.0]]), np.array([[0.5], [1.5]]))
    assert mean == [2]
    assert variance == [1 + 2 / 2]


def candidate(id, epsilon, distance, pure=False, reason=""):
    return Compared(id, "kind", reason, epsilon, pure, distance, {}, (), ())


def test_a_recommendation_fits_under_the_ceiling_and_prefers_what_holds_as_it_stands():
    many = [candidate("pure", 1, 0.05, pure=True), candidate("near", 3, 0.04), candidate("failed", 1, 0.01, reason="why")]
    assert recommend(many, None).id == "pure"
    assert recommend([candidate("far", 1, 0.3, pure=True), *many[1:]], None).id == "near"
    assert recommend([candidate("far", 1, 0.3, pure=True), *many[1:]], 2).id == "far"
    assert recommend(many, 0.5) is None


def seen(epsilon, tried=3):
    return Audited(epsilon, "a row is replaced", tried)


def test_a_claim_below_what_the_audit_found_is_not_recommended():
    refuted = replace(candidate("near", 3, 0.01), audited=seen(4))
    stands = replace(candidate("far", 3, 0.3), audited=seen(2))
    assert refuted.refuted
    assert not stands.refuted
    chosen = recommend([refuted, stands], None)
    assert chosen.id == "far"
    assert "near is out: it claims 3, and the audit found at least 4" in chosen.reason
    assert "at least 2 among 3 neighbours" in chosen.weakness
    assert recommend([refuted], None) is None
    # one whose audit has no number stands on its claim
    unknown = replace(refuted, audited=Audited(float("nan"), "why"))
    assert recommend([unknown], None).id == "near"
    assert "It is the only candidate" in recommend([unknown], 5).reason


def test_rows_to_add_reach_every_declared_end_and_stay_within(income_study):
    declared = read_declared(income_study)
    study = read_study(declared)
    rows = additions(declared.schema, study)
    assert len(rows) == study.audit.outcomes * study.audit.profiles
    assert set(rows["income"]) >= {1000, 500_000}
    assert rows["age"].between(18, 80).all()
    assert {"Islands", "North"} <= set(rows["region"]) <= set(incomes.REGIONS)
    assert (design_of(declared.schema, rows)[:, 0] == 1).all()


@pytest.mark.stan
def test_the_audit_of_the_report_can_be_left_out_or_named(income_study, capsys, cmdstan):
    incomes.declare(income_study, {"study.yaml": {"internal_audit": False}, "release.yaml": {"ceiling": 200}})
    assert main(["plan", str(income_study)]) == 0
    assert "study.yaml says internal_audit: false" in (income_study / "plan.html").read_text()
    incomes.declare(income_study, {"study.yaml": {"internal_audit": {"synthesizers": ["Nobody"]}}})
    assert main(["plan", str(income_study)]) == 1
    assert "internal_audit.synthesizers: given 'Nobody'" in capsys.readouterr().err
    incomes.declare(income_study, {"study.yaml": {"internal_audit": {"largest": 100}}})
    assert main(["plan", str(income_study)]) == 0
    assert "internal_audit.largest in study.yaml allows more" in (income_study / "plan.html").read_text()
