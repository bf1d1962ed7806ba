"""The internal report compares what a release would have: predictors, noise, number of rows and epsilon."""

from dataclasses import dataclass, field, replace

import incomes
import numpy as np
import pytest
from formalsynth.cli.main import main
from formalsynth.custodian.comparison import compare_candidates
from formalsynth.custodian.internal_audit import AuditResult
from formalsynth.custodian.schema import Analyses, Regression, ReleaseDraft
from small_release import COLUMNS, a_schema, histogram, typed

SYNTHESIZED = {
    name: column | {"release": "synthesized"} if column.get("release") == "as_is" else column for name, column in COLUMNS.items()
}
ANALYSES = Analyses(regressions=[Regression(predictors=["age", "sector"])])


@dataclass
class Seen:
    """A model whose outcome is a line of the predictors, which keeps the designs that it gets."""

    designs: list = field(default_factory=list)

    def predict(self, generator, records, draws):
        """The line: 20,000 at 18 years, 60,000 more at 80."""
        self.designs.append(records.design)
        return (20_000 + 60_000 * records.design[:, 1])[None]


def compared(**changes):
    """A candidate on the line, and the designs that it was asked for."""
    schema = a_schema(columns=SYNTHESIZED, neighbours="add_remove")
    draft = ReleaseDraft(**{"sets": 3, "ceiling": None, "analyses": ANALYSES, "rows": 2500, "predictors_epsilon": 2.0} | changes)
    table, seen = typed(schema, incomes.incomes().replace("", np.nan)), Seen()
    synthesizer = histogram().synthesizer.model_copy(update={"id": "Line", "mechanism": "censored_unweighted"})
    line = replace(
        histogram(),
        synthesizer=synthesizer,
        guarantee="DP (add/remove)",
        by_record=np.ones(len(table)),
        predictor=seen,
        draws={"mu": np.zeros((9, 1))},
    )
    candidates, audited = {"Line": line, "Histogram": histogram()}, {"Histogram": AuditResult(1.5, "a row is added", 3)}
    return table, seen, {summary.id: summary for summary in compare_candidates(schema, table, candidates, audited, draft)}


def test_synthesized_predictors_are_drawn_and_their_epsilon_is_counted():
    table, seen, both = compared()
    assert both["Histogram"].epsilon == 1 + 2
    assert [len(design) for design in seen.designs] == [2500, 2500, 2500]
    ages = [18 + 62 * design[:, 1] for design in seen.designs]
    assert not np.array_equal(ages[0], ages[1])
    # ages are drawn inside ten bins with noise of scale 1/2 on counts of cells; the file's are other ones
    assert np.mean(np.isin(ages[0].round(6), table["age"])) > 0.9
    assert np.abs(np.bincount(ages[0].round().astype(int), minlength=81)[18:] / 2500 - 1 / 63).max() < 0.02


def test_the_regression_of_a_synthetic_set_is_on_its_own_predictors():
    """Outcomes on a line of synthetic predictors give that line; against the predictors of the file they would give nothing."""
    _, _, both = compared()
    slope = next(coefficient for coefficient in both["Line"].coefficients if coefficient.name == "age")
    assert slope.synthetic == pytest.approx((60_000 / 62, 60_000 / 62), rel=1e-3)  # for a year


def test_an_audit_is_held_against_the_claim_for_outcomes():
    """The table of predictors is not audited: 1.5 refutes a claim of 1, whatever the table costs."""
    _, _, both = compared()
    summary = both["Histogram"]
    assert (summary.epsilon, summary.claim, summary.refuted, summary.shown) == (3, 1, True, 3.5)


@pytest.mark.parametrize("missing", ["rows", "predictors_epsilon"])
def test_what_a_release_needs_is_missing_before_anything_is_fitted(income_study, capsys, missing):
    schema = {f"columns.{name}.release": "synthesized" for name in ("age", "region", "sector")}
    release = {"rows": 2500, "predictors_epsilon": 2, missing: ...}
    incomes.declare(income_study, {"schema.yaml": schema | {"neighbours": "add_remove"}, "release.yaml": release})
    assert main(["compare", str(income_study)]) == 1
    error = capsys.readouterr().err
    assert f"{missing}: is missing" in error
    assert "Fitting" not in error


def test_a_candidate_that_cannot_be_released_has_a_reason():
    schema = a_schema()
    table = typed(schema, incomes.incomes().replace("", np.nan))
    other = histogram()
    other = replace(other, synthesizer=other.synthesizer.model_copy(update={"mechanism": "noisy_median"}))
    (summary,) = compare_candidates(schema, table, {"Other": other}, {}, ReleaseDraft(2, None, Analyses(), None, None))
    assert "the noise of noisy_median is not safe in floating point" in summary.reason
