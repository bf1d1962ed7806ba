"""The figures and tables of the small study, from its plan and its collected tables."""

import numpy as np
import pytest
from formalsynth.core.model import DATA
from formalsynth.displays.display import FigureDisplay, TableDisplay
from formalsynth.show.captions import caption
from formalsynth.show.estimator import ESTIMATORS
from formalsynth.show.painter import PAINTERS
from formalsynth.show.tidy import figure_table, table_of
from formalsynth.steps import fit as fit_step
from small_study import collected, exact_sample, run_batch, small_paper

PAINTERS.find()
ESTIMATORS.find()
LABELS = ["Unweighted", "(-Inf, Inf)", "(0.4, 1.8) avg", "(0.4, 1.8) trunc"]


@pytest.fixture(scope="module")
def study(tmp_path_factory):
    """The small study's paper and its collected tables."""
    with pytest.MonkeyPatch.context() as monkeypatch:
        monkeypatch.setattr(fit_step, "sample", exact_sample)
        paper = small_paper(tmp_path_factory.mktemp("study"))
        scenario = paper.scenarios["skewed_n60"]
        return paper, collected(scenario, run_batch(scenario, [0, 1, 2]))


def tidy_of(study, number):
    paper, tables = study
    display = FigureDisplay.of(paper.figure(number, "paper").plain())
    return figure_table(display, [tables[display.table]])


def table_display(study):
    paper, tables = study
    return TableDisplay.of(paper.table(1, "paper").plain()), tables


def test_a_figures_table_has_its_synthesizers_in_the_papers_order(study):
    tidy = tidy_of(study, "1")
    assert tidy["label"].unique().tolist() == LABELS
    assert len(tidy) == 4 * 60
    expected = study[1]["records"].set_index(["synthesizer", "record"])["bound"]
    values = tidy.set_index(["synthesizer", "record"])["value"]
    assert (values == expected.reindex(values.index)).all()


def test_a_privacy_number_never_travels_without_its_kind(study):
    bounds = tidy_of(study, "1")
    assert bounds.groupby("label")["guarantee"].unique().map(list).to_dict() == {
        "Unweighted": ["asymptotic DP (local eps_x)"],
        "(-Inf, Inf)": ["asymptotic DP (local eps_x)"],
        "(0.4, 1.8) avg": ["range-averaged | R"],
        "(0.4, 1.8) trunc": ["range-truncated | R"],
    }
    assert "guarantee" not in tidy_of(study, "2")


def test_the_confidential_data_stand_where_the_plan_puts_them(study):
    tidy = tidy_of(study, "2")
    assert tidy["label"].unique().tolist() == [DATA, *LABELS]
    assert tidy.groupby("label").size().unique().tolist() == [3]


def test_a_caption_has_subject_sizes_and_guarantees(tmp_path):
    paper = small_paper(tmp_path)
    text = caption(paper.figure("1", "smoke"))
    for part in ("Figure 1.", "Bounds of the records", *LABELS, "Somebody (2026)", "Section 1", "n = 60", "scale smoke",
                 "range-averaged | R: (0.4, 1.8) avg", "range-truncated | R: (0.4, 1.8) trunc"):  # fmt: skip
        assert part in text
    text = caption(paper.figure("2", "paper"))
    assert "3 replicates of n = 60" in text
    assert text.endswith("That is all.\n")
    assert "Guarantees: " in text
    assert ".." not in text
    assert caption(paper.table(1, "paper")).startswith("Table 1. Statistics")


def test_a_table_has_the_printed_values_next_to_ours(study):
    display, tables = table_display(study)
    table = table_of(display, tables)
    assert list(table) == ["statistic", "synthesizer", "label", "guarantee", "estimate", "mcse", "from", "printed", "difference"]
    assert table["statistic"].tolist() == ["mean"] * 5 + ["q90"] * 5
    assert table["label"].tolist() == [DATA, *LABELS] * 2
    table = table.set_index(["statistic", "synthesizer"])
    x = tables["values"].loc[tables["values"]["synthesizer"] == DATA, "value"]
    assert table.loc[("mean", DATA), "estimate"] == pytest.approx(x.mean())
    assert np.isnan(table.loc[("mean", DATA), "mcse"])  # the confidential data are exact
    sets = tables["sets"]
    for id in ("Unweighted", "Weighted", "averaged_0.4_1.8"):
        assert table.loc[("q90", id), "estimate"] == sets.loc[sets["synthesizer"] == id, "q90"].median()
    assert table.loc[("mean", "Weighted"), "printed"] == 12.5
    assert table["printed"].notna().sum() == 1


def test_truncated_columns_equal_the_weighted_one(study):
    """They share its fit and its synthetic data."""
    display, tables = table_display(study)
    estimate = table_of(display, tables).set_index(["statistic", "synthesizer"])["estimate"]
    for statistic in ("mean", "q90"):
        assert estimate[(statistic, "truncated_0.4_1.8")] == estimate[(statistic, "Weighted")]
