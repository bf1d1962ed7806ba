"""Show: tidy tables, drawings of nothing but them, captions from the design."""

import xml.etree.ElementTree as ElementTree

import numpy as np
import pandas as pd
import pytest
from formalsynth.design import DATA, Display
from formalsynth.steps import fit as fit_step
from formalsynth.steps.collect import collect_replicates, collect_sample
from formalsynth.steps.show import caption, draw_figure, figure_table, jackknife, median_mcse, table_of
from small_study import ROOT, exact_sample, run_batch, small_paper

LABELS = ["Unweighted", "(-Inf, Inf)", "(0.4, 1.8) avg", "(0.4, 1.8) trunc"]


@pytest.fixture(scope="module")
def study(tmp_path_factory):
    """The small study's paper and its collected tables."""
    with pytest.MonkeyPatch.context() as monkeypatch:
        monkeypatch.setattr(fit_step, "sample", exact_sample)
        paper = small_paper(tmp_path_factory.mktemp("study"))
        scenario = paper.scenarios["skewed_n60"]
        data, fits, measures, rows = run_batch(scenario, [0, 1, 2])
    tables = collect_sample(scenario, ROOT, data, fits, measures)
    return paper, tables | {"replicates": collect_replicates(scenario, ROOT, [data], list(rows.values()))}


def figure(study, number):
    paper, tables = study
    display = Display(**paper.display("figures", number, "paper").plain())
    return display, figure_table(display, [tables[display.source]])


def test_a_figures_table_has_its_synthesizers_in_the_papers_order(study):
    _, tidy = figure(study, "1")
    assert tidy["label"].unique().tolist() == LABELS
    assert len(tidy) == 4 * 60
    expected = study[1]["records"].set_index(["synthesizer", "record"])["bound"]
    assert (
        tidy.set_index(["synthesizer", "record"])["value"] == expected.reindex(tidy.set_index(["synthesizer", "record"]).index)
    ).all()


def test_a_privacy_number_never_travels_without_its_kind(study):
    _, bounds = figure(study, "1")
    assert bounds.groupby("label")["guarantee"].unique().map(list).to_dict() == {
        "Unweighted": ["asymptotic DP (local eps_x)"],
        "(-Inf, Inf)": ["asymptotic DP (local eps_x)"],
        "(0.4, 1.8) avg": ["range-averaged | R"],
        "(0.4, 1.8) trunc": ["range-truncated | R"],
    }
    assert "guarantee" not in figure(study, "2")[1]


def test_the_confidential_data_stand_where_the_design_puts_them(study):
    _, tidy = figure(study, "2")
    assert tidy["label"].unique().tolist() == [DATA, *LABELS]
    assert tidy.groupby("label").size().unique().tolist() == [3]


@pytest.mark.parametrize("number", ["1", "2"])
def test_a_drawing_is_the_same_bytes_every_time(study, tmp_path, number):
    display, tidy = figure(study, number)
    for folder in ("one", "other"):
        draw_figure(display, tidy, [tmp_path / folder / f"fig.{kind}" for kind in ("svg", "png")])
    for kind in ("svg", "png"):
        assert (tmp_path / "one" / f"fig.{kind}").read_bytes() == (tmp_path / "other" / f"fig.{kind}").read_bytes()
    assert ElementTree.parse(tmp_path / "one" / "fig.svg").getroot().tag.endswith("svg")
    assert (tmp_path / "one" / "fig.png").read_bytes().startswith(b"\x89PNG")


def test_a_drawing_shows_what_is_in_the_table(study, tmp_path):
    """Other values, another drawing."""
    display, tidy = figure(study, "1")
    changed = tidy.assign(value=tidy["value"] * np.linspace(1, 2, len(tidy)))
    draw_figure(display, tidy, [tmp_path / "one.svg"])
    draw_figure(display, changed, [tmp_path / "other.svg"])
    assert (tmp_path / "one.svg").read_bytes() != (tmp_path / "other.svg").read_bytes()


def test_rows_without_a_value_are_left_out_of_a_drawing(study, tmp_path):
    display, tidy = figure(study, "2")
    tidy.loc[tidy["label"] == "Unweighted", "value"] = np.nan
    draw_figure(display, tidy, [tmp_path / "fig.svg"])
    assert (tmp_path / "fig.svg").stat().st_size > 0


def test_a_caption_says_what_how_much_and_which_guarantee(study):
    paper, _ = study
    text = caption(paper.display("figures", "1", "smoke"))
    for part in ("Figure 1.", "Bounds of the records", *LABELS, "Somebody (2026)", "Section 1", "n = 60", "scale smoke",
                 "range-averaged | R: (0.4, 1.8) avg", "range-truncated | R: (0.4, 1.8) trunc"):  # fmt: skip
        assert part in text
    text = caption(paper.display("figures", "2", "paper"))
    assert "3 replicates of n = 60" in text
    assert text.endswith("That is all.\n")
    assert "Guarantees" not in text
    assert ".." not in text
    assert caption(paper.display("tables", 1, "paper")).startswith("Table 1. Statistics: Data; Unweighted;")


def test_a_table_lays_the_printed_values_beside_ours(study):
    paper, tables = study
    display = Display(**paper.display("tables", 1, "paper").plain())
    table = table_of(display, tables)
    assert table["statistic"].tolist() == ["mean"] * 5 + ["q90"] * 5
    assert table["label"].tolist() == [DATA, *LABELS] * 2
    found = table.set_index(["statistic", "synthesizer"])
    x = tables["values"].loc[tables["values"]["synthesizer"] == DATA, "value"]
    assert found.loc[("mean", DATA), "estimate"] == pytest.approx(x.mean())
    assert found.loc[("mean", DATA), "mcse"] == 0
    sets = tables["sets"]
    for id in ("Unweighted", "Weighted", "averaged_0.4_1.8"):
        assert found.loc[("q90", id), "estimate"] == sets.loc[sets["synthesizer"] == id, "q90"].median()
    assert found.loc[("mean", "Weighted"), "printed"] == 12.5
    assert found["printed"].notna().sum() == 1


def test_truncated_columns_equal_the_weighted_one(study):
    """They share its fit and its synthetic data."""
    paper, tables = study
    found = table_of(paper.display("tables", 1, "paper"), tables).set_index(["statistic", "synthesizer"])["estimate"]
    for statistic in ("mean", "q90"):
        assert found[(statistic, "truncated_0.4_1.8")] == found[(statistic, "Weighted")]


def test_the_error_of_a_median_agrees_with_theory(generator):
    """Normal samples of 1000: the standard error is sqrt(pi / 2000); the mean of 400 estimates is within 5 of its errors."""
    estimates = np.array([median_mcse(pd.Series(generator.standard_normal(1000))) for _ in range(400)])
    # the normal density is all but flat this near to the median, so the bias is far below the allowance of 1 %
    allowed = 5 * estimates.std() / np.sqrt(400) + 0.01 * np.sqrt(np.pi / 2000)
    assert abs(estimates.mean() - np.sqrt(np.pi / 2000)) < allowed
    assert np.isnan(median_mcse(pd.Series(np.arange(9.0))))


def test_the_jackknife_error_of_a_mean_is_the_usual_one(generator):
    values = pd.Series(generator.standard_exponential(50))
    assert jackknife(values, pd.Series.mean) == pytest.approx(values.std() / np.sqrt(50))
    assert np.isnan(jackknife(values[:9], pd.Series.mean))
