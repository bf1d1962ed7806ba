"""Figures and tables of audits: what they show of neighbours and data sets."""

import numpy as np
import pandas as pd
import pytest
from formalsynth.core.mechanism import MECHANISMS, is_strict
from formalsynth.core.two_samples import two_samples
from formalsynth.show import draw
from formalsynth.show.captions import caption
from formalsynth.show.estimator import ESTIMATORS
from formalsynth.show.painter import PAINTERS
from formalsynth.show.tables.audited import by_data_set
from formalsynth.show.tidy import figure_table, table_of
from made_up_audits import made_up_audits

PAINTERS.find()
ESTIMATORS.find()


@pytest.fixture(scope="module")
def paper(plan_of):
    return plan_of("cost").papers["cost"]


@pytest.fixture(scope="module")
def made_up(paper):
    return {scenario.id: made_up_audits(scenario) for scenario in paper.scenarios.values()}


@pytest.fixture
def drawn(paper, made_up, tmp_path):
    """The tidy table of a figure, and the drawing."""

    def drawn(number):
        display = paper.figure(number, "paper")
        collected = [made_up[scenario.id][name] for scenario in display.scenarios for name in display.figure.tables()]
        path = tmp_path / "figure.csv"
        figure_table(display, collected).to_csv(path, index=False)
        table = pd.read_csv(path)
        return table, draw.drawing_of(display, table), display

    return drawn


def test_a_row_of_a_table_is_over_data_sets_and_the_neighbours_that_it_names(paper, made_up):
    display = paper.table(1, "paper")
    table = table_of(display, made_up["lognormal_n2000"]).set_index(["synthesizer", "statistic"])
    assert table.loc[("LW", "weight"), "from"] == 12
    expected = {
        "claimed": 2, "claimed_larger": 6, "audited": 4, "remove": 0.4, "add": 4, "strict_remove": 0.8, "strict_add": 8,
        "pure": 12, "composed": 20, "attacked": 1.2, "floor": 0.04, "weight": 0.7,
    }  # fmt: skip
    assert table.loc["LW"]["estimate"][list(expected)].to_dict() == pytest.approx(expected)
    assert 0.01 < table.loc[("LW", "ecdf_max"), "estimate"] < 0.04
    assert "20 audited data sets of n = 2000" in caption(display)
    assert "lower bound" in caption(display)


def test_a_data_set_that_could_not_be_audited_counts_as_none(made_up):
    audit = made_up["lognormal_n2000"]["audit"]
    audit = audit[audit["synthesizer"] == "LW"]
    failed = pd.DataFrame([{"replicate": 99, "synthesizer": "LW", "reason": "no posterior"}])
    for statistic in ("audited", "claimed", "strict", "attacked", "floor", "composed"):
        more = by_data_set(pd.concat([audit, failed], ignore_index=True), statistic)
        assert np.array_equal(more, by_data_set(audit, statistic))
        assert len(by_data_set(failed.reindex(columns=audit.columns), statistic)) == 0


def test_a_frontier_has_utility_at_the_audited_epsilon_and_leads_to_the_claimed_one(drawn):
    table, drawing, display = drawn("1")
    row = table[(table.scenario == "lognormal_n2000") & (table.synthesizer == "LW")].iloc[0]
    assert (row.x, row.claimed, row.line) == (4, 2, pytest.approx(two_samples(2000)["ecdf_max"]))
    frames = {axis.get_title(loc="left"): axis for axis in drawing.axes}
    assert list(frames) == ["Lognormal regression", "Beta(0.5, 3)", "Negative binomial mixture"]
    lines = [line for line in frames["Lognormal regression"].lines if len(line.get_xdata()) == 2 and line.get_linestyle() == "-"]
    assert [tuple(line.get_xdata()) for line in lines][:2] == [(2, 1), (4, 2)]
    names = [text.get_text() for text in frames["Lognormal regression"].texts]
    assert sorted(names) == sorted(
        [
            "CW",
            "Declared scale 20",
            "Histogram",
            "LW, min-max",
            "LW, re-weighted",
            "Range-averaged",
            "SW",
            "Unweighted",
            "sampling error",
        ]
    )
    assert "diamonds (conditional guarantee)" in caption(display)


def test_a_guaranteed_mechanism_is_on_the_frontier_at_its_guarantee_for_one_record_added_or_removed(paper, made_up):
    display = paper.figure("1", "paper")
    collected = [made_up[scenario.id][name] for name in display.figure.tables() for scenario in display.scenarios]
    replaced = [table.assign(neighbour="replace", audited=99.0, claimed=99.0) for table in collected if "neighbour" in table]
    table = figure_table(display, [*collected, *replaced])
    at = table.groupby("synthesizer")[["x", "claimed"]].median()
    for id in at.index:
        strict = is_strict(display.looks[id].guarantee)
        assert at.loc[id, "x"] == at.loc[id, "claimed"] * (1 if strict else 2)
    assert {"PH_3", "Censor_uw_3", "reference_censored_3"} <= set(at.index)
    assert "lower bound" in caption(display)


def test_the_histogram_of_the_study_claims_half_its_epsilon_for_one_record_added_or_removed(paper):
    MECHANISMS.find()
    for scenario in paper.scenarios.values():
        for synthesizer in scenario.synthesizers.values():
            if synthesizer.mechanism == "perturbed_histogram":
                strict = MECHANISMS["perturbed_histogram"].claim(synthesizer.parameters, "add_remove")
                assert {5: 2.5, 3: 1.5, 2: 1.0, 1: 0.5}[synthesizer.parameters["epsilon"]] == strict
    audited = [
        scenario.audit.search for scenario in paper.scenarios.values() if scenario.name in ("lognormal", "shares", "counts")
    ]
    assert [search.kinds for search in audited] == [("same", "remove", "add")] * 3


def test_budgets_stand_in_the_order_of_the_synthesizers_with_a_marker_for_each_number(drawn):
    _, drawing, display = drawn("3")
    (axis,) = drawing.axes
    assert [text.get_text() for text in axis.get_yticklabels()] == [display.looks[id].label for id in display.ids]
    places = [points.get_offsets()[1].tolist() for points in axis.collections if len(points.get_offsets()) == 20]
    assert [[x, round(y)] for x, y in places] == [[2, 1], [4, 1], [pytest.approx(0.4), 1], [pytest.approx(1.2), 1]]
    assert len({y for _, y in places}) == 4  # none hides another


def test_a_guarantee_for_every_data_set_is_audited_at_delta_0_next_to_its_claim(drawn):
    table, _, display = drawn("4")
    joins = table[(table.panel == "audited") & (table.neighbour == "add")].groupby("synthesizer")["value"].first()
    assert joins["reference_censored_1"] == 3 * 2 * (display.ids.index("reference_censored_1") + 1)
    assert joins["declared_10"] == 2 * (display.ids.index("declared_10") + 1)
    assert "audited at δ = 0" in caption(display)


def test_the_share_of_data_sets_is_against_either_claim(drawn):
    _, drawing, _ = drawn("7")
    assert [axis.get_title(loc="left") for axis in drawing.axes] == [
        "against the claim on the data set", "against the larger claim of both neighbours",
    ]  # fmt: skip
    for axis, share in zip(drawing.axes, (1, 0), strict=True):
        lines = [line.get_ydata() for line in axis.lines if len(line.get_ydata()) == 6 and line.get_linestyle() != "None"]
        assert len(lines) >= 5
        assert all(set(values) == {share} for values in lines[:5])


def test_a_curve_has_the_weights_computed_again_and_held(drawn):
    table, _, _ = drawn("6")
    assert table.groupby("panel")["value"].first().tolist() == [18, 2]
    assert table["x"].nunique() == 17


def test_a_loss_of_0_is_on_the_axis_of_a_curve(drawn):
    table, _, display = drawn("6")
    table.loc[table["x"] == table["x"].min(), "value"] = 0.0
    axis = draw.drawing_of(display, table).axes[0]
    assert axis.get_ylim()[0] == 0
    assert axis.get_yscale() == "symlog"
    assert "0" in [text.get_text() for text in axis.get_yticklabels()]
    assert "linear below 0.1" in caption(display)


def test_an_attack_is_over_what_either_claim_allows(drawn):
    table, drawing, display = drawn("11")
    assert len(drawing.axes) >= len(display.ids) == 8
    row = table[table.synthesizer == "Censor_w_3"].iloc[1]
    assert (row.x, row.value) == (0.01, pytest.approx(0.99**2))
    assert row.claimed_larger == 3 * row.claimed
    frame = next(axis for axis in drawing.axes if axis.get_title(loc="left") == display.looks["Censor_w_3"].label)
    assert len(frame.collections) == 2
    assert f"claimed {row.claimed:.3g}" in frame.texts[0].get_text()
    # a share of none is drawn at the edge, half the least of the others
    assert min(frame.lines[0].get_xdata()) == frame.get_xlim()[0] == 0.005
    assert "breaks the claim" in caption(display)
    # with a conditional guarantee at delta = 0.001, with one for every data set at delta = 0
    for id, delta in (("Censor_w_3", 1e-3), ("reference_censored_3", 0)):
        frame = next(axis for axis in drawing.axes if axis.get_title(loc="left") == display.looks[id].label)
        edge = dict(frame.collections[1].get_paths()[0].vertices.tolist()[1:200])
        claimed = float(table[table.synthesizer == id].claimed.iloc[0])
        across = np.array(list(edge))
        limit = np.maximum.reduce([1 - delta - np.exp(claimed) * across, np.exp(-claimed) * (1 - delta - across), 0 * across])
        assert list(edge.values()) == pytest.approx(np.maximum(limit, 0.005).tolist())


def test_the_limit_law_is_drawn_with_its_synthesizer_alone(drawn):
    table, drawing, display = drawn("9")
    limits = table[table.law_median.notna()]
    assert set(limits.synthesizer) == {"LW"}
    # docs/CONTRACTION.md
    assert limits[limits.n == 100][["law_median", "law_sd"]].iloc[0].tolist() == pytest.approx([1.391, 0.318], abs=2e-3)
    dashed = {axis.get_title(loc="left"): sum(line.get_linestyle() == "--" for line in axis.lines) for axis in drawing.axes}
    assert {label for label, lines in dashed.items() if lines} == {display.looks["LW"].label}
    assert "limit law" in caption(display)
