"""The dry run does not open the file; the internal report is confidential and compares the candidates."""

from dataclasses import replace

import incomes
import numpy as np
import pytest
from formalsynth.cli.main import main
from formalsynth.core.arrays import Records
from formalsynth.core.family import FAMILIES
from formalsynth.custodian.candidates import read_study
from formalsynth.custodian.comparison import CandidateSummary, combined, compare_candidates, overlap, recommend
from formalsynth.custodian.internal_audit import AuditResult, additions
from formalsynth.custodian.records import design_of, made_up, names_of
from formalsynth.custodian.schema import Analyses, ReleaseDraft, read_declared
from formalsynth.custodian.synthetic_sets import Outcomes, uses_predictors
from formalsynth.plan.model import find_all
from small_release import a_schema, histogram, typed


@pytest.fixture
def few_incomes(tmp_path, monkeypatch):
    """Folder of a study of few rows, with an audit of few neighbours."""
    monkeypatch.chdir(tmp_path)
    folder = tmp_path / incomes.declared_study(600)
    incomes.declare(folder, {"study.yaml": {"internal_audit": incomes.SHORT_AUDIT}})
    return folder


@pytest.mark.stan
def test_a_dry_run_never_opens_the_file(few_incomes, capsys, cmdstan):
    (few_incomes.parents[1] / "income.csv").unlink()
    assert main(["plan", str(few_incomes)]) == 0
    out = capsys.readouterr().out
    assert "income.csv was not opened" in out
    assert "failed" not in out
    page = (few_incomes / "plan.html").read_text()
    assert "MADE-UP ROWS" in page
    assert "CONFIDENTIAL" not in page


@pytest.mark.stan
def test_the_internal_report_names_candidates_and_is_for_its_owner(few_incomes, capsys, cmdstan):
    analyses = {"regressions": [{"predictors": ["age", "sector"], "log": True}]}
    incomes.declare(few_incomes, {"release.yaml": {"ceiling": 200, "analyses": analyses}})
    assert main(["compare", str(few_incomes)]) == 0
    assert not any(part.isdigit() for part in capsys.readouterr().out.split())
    path = few_incomes / "confidential" / "CONFIDENTIAL-report.html"
    assert path.stat().st_mode & 0o077 == 0
    page = path.read_text()
    assert page.count("position: fixed") == 1
    for part in (
        "CONFIDENTIAL",
        "The columns released as_is (age, region, sector) have ",
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
    assert combined(np.array([[1.0], [5.0]]), np.array([[0.5], [1.5]]))[1] == [1 + 8 / 2]
    assert combined(np.array([[1.0]]), np.array([[0.5]]))[1] == [0.5 * 3]


@pytest.mark.parametrize("synthesized", [True, False])
@pytest.mark.parametrize("sets", [1, 2, 5])
def test_intervals_of_posterior_draws_cover(sets, synthesized):
    """The slope of a normal regression, from draws of its exact posterior. With 1 + 1 / m the coverage is .89, .91 and .93."""
    generator, runs, n = np.random.default_rng(sets), 4000, 100

    def least_squares(x, y):
        x, y = x - x.mean(axis=1, keepdims=True), y - y.mean(axis=1, keepdims=True)
        slope = (x * y).sum(axis=1) / (x**2).sum(axis=1)
        return slope, ((y - slope[:, None] * x) ** 2).sum(axis=1) / (n - 2) / (x**2).sum(axis=1)

    x = generator.standard_normal((runs, n))
    y = 1.0 * x + generator.standard_normal((runs, n))
    slope, variance = least_squares(x, y)
    residual = variance * (n - 2) * ((x - x.mean(axis=1, keepdims=True)) ** 2).sum(axis=1)
    opened = []
    for _ in range(sets):
        sigma2 = residual / generator.chisquare(n - 2, runs)
        drawn = slope + np.sqrt(variance * sigma2 / (residual / (n - 2))) * generator.standard_normal(runs)
        new_x = generator.standard_normal((runs, n)) if synthesized else x
        opened.append(
            least_squares(new_x, drawn[:, None] * new_x + np.sqrt(sigma2)[:, None] * generator.standard_normal((runs, n)))
        )
    mean, total = combined(*(np.stack(values) for values in zip(*opened, strict=True)))
    coverage = (abs(mean - 1.0) < 1.96 * np.sqrt(total)).mean()
    # .938 to .960 in 12 runs of 4000; the standard error is .0035
    assert 0.932 < coverage < 0.975


def candidate(id, epsilon, distance, pure=False, reason=""):
    return CandidateSummary(id, "kind", reason, epsilon, pure, distance, {}, (), ())


def test_a_recommendation_fits_under_the_ceiling_and_prefers_strict_guarantees():
    many = [candidate("pure", 1, 0.05, pure=True), candidate("near", 3, 0.04), candidate("failed", 1, 0.01, reason="why")]
    assert recommend(many, None).id == "pure"
    assert recommend([candidate("far", 1, 0.3, pure=True), *many[1:]], None).id == "near"
    assert recommend([candidate("far", 1, 0.3, pure=True), *many[1:]], 2).id == "far"
    assert recommend(many, 0.5) is None


def test_a_recommendation_goes_by_the_declared_analyses():
    pure = replace(candidate("pure", 1, 0.02, pure=True), lost=("income on age",))
    keeps = candidate("keeps", 3, 0.05)
    chosen = recommend([pure, keeps], None)
    assert chosen.id == "keeps"
    assert "Others lose more of the declared analyses: pure loses income on age." in chosen.reason
    # under this ceiling no candidate keeps it
    chosen = recommend([pure, keeps], 2)
    assert chosen.id == "pure"
    assert chosen.weakness.startswith("It loses income on age, which no candidate keeps. ")
    other = replace(keeps, lost=("the 0.9 quantile", "the 0.5 quantile"))
    chosen = recommend([pure, other], None)
    assert chosen.id == "pure"
    assert chosen.weakness.startswith("It loses income on age, which is kept by keeps. ")


def test_a_histogram_loses_a_declared_regression_and_a_model_keeps_it():
    schema = a_schema()
    table = typed(schema, incomes.incomes().replace("", np.nan))
    design = design_of(schema, table)
    beta, *_ = np.linalg.lstsq(design, np.log(table["income"]), rcond=None)
    sigma = np.std(np.log(table["income"]) - design @ beta)
    draws = {"beta": np.tile(beta, (10, 1)), "sigma": np.full(10, sigma)}
    find_all()
    model = replace(
        histogram(), synthesizer=histogram().synthesizer.model_copy(update={"id": "Model", "mechanism": "unweighted"}),
        draws=draws, predictor=FAMILIES["lognormal_regression"], by_record=np.ones(len(table)), epsilon=9.0,
    )  # fmt: skip
    analyses = Analyses.model_validate({"regressions": [{"predictors": ["age"], "log": True}]})
    assert uses_predictors(schema, Outcomes(model.predictor, model.draws))
    table_alone = histogram()
    assert not uses_predictors(schema, Outcomes(table_alone.predictor, table_alone.draws))
    alone = a_schema(columns={"income": schema.columns["income"].model_dump()})
    assert not uses_predictors(alone, Outcomes(model.predictor, {**draws, "beta": beta[None, :1]}))
    compared = compare_candidates(
        schema, table, {"Histogram": histogram(), "Model": model}, {}, ReleaseDraft(5, None, analyses, None, None)
    )
    assert {summary.id: "log income on age" in summary.lost for summary in compared} == {"Histogram": True, "Model": False}
    chosen = recommend(compared, None)
    assert chosen.id == "Model"
    assert "Histogram loses log income on age" in chosen.reason


def seen(epsilon, tried=3):
    return AuditResult(epsilon, "a row is replaced", tried)


def test_a_claim_below_what_the_audit_found_is_not_recommended():
    refuted = replace(candidate("near", 3, 0.01), audited=seen(4))
    kept = replace(candidate("far", 3, 0.3), audited=seen(2))
    assert refuted.refuted
    assert not kept.refuted
    chosen = recommend([refuted, kept], None)
    assert chosen.id == "far"
    assert "near is excluded: it claims 3, but the audit found at least 4" in chosen.reason
    assert "at least 2 among 3 neighbours" in chosen.weakness
    assert recommend([refuted], None) is None
    # without a number of the audit, the claim counts
    unknown = replace(refuted, audited=AuditResult(float("nan"), "why"))
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
    assert "study.yaml has internal_audit: false" in (income_study / "plan.html").read_text()
    incomes.declare(income_study, {"study.yaml": {"internal_audit": {"synthesizers": ["Nobody"]}}})
    assert main(["plan", str(income_study)]) == 1
    assert "internal_audit.synthesizers: given 'Nobody'" in capsys.readouterr().err
    incomes.declare(income_study, {"study.yaml": {"internal_audit": {"largest": 100}}})
    assert main(["plan", str(income_study)]) == 0
    assert "internal_audit.largest in study.yaml allows more" in (income_study / "plan.html").read_text()
