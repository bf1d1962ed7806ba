"""Fields of the kinds of figures and tables: what is refused, what config files may leave out, and what jobs are given."""

import pytest
from made_up_displays import DRAWN, figure_of, table_display
from pydantic import ValidationError

from formalsynth.core.utility import UTILITY
from formalsynth_workflow.show.figure import FIGURES, FigureDisplay
from formalsynth_workflow.show.table import TABLES, TableDisplay

FIGURE = {"scenario": "first", "value": "delta", "synthesizers": ["A"]}
TABLE = {"scenario": "first", "statistics": ["mean"], "synthesizers": ["A"], "subject": "Numbers"}


def parts(**changed):
    """A sheet with two parts, the second of which is changed."""
    return {"kind": "sheet", "value": ..., "synthesizers": ..., "parts": {"a": FIGURE, "b": FIGURE | changed}}


@pytest.mark.parametrize(
    ("entry", "wrong", "sentence"),
    [
        ({"kind": "line", "x": "", "panels": "none"}, "x", "x is missing"),
        ({"kind": "line", "x": "n", "panels": "synthesizer"}, "panels", "should be none or scenario or a parameter"),
        ({"kind": "scatter"}, "x", "Field required"),
        ({"kind": "scatter", "x": ""}, "x", "at least 1"),
        ({"kind": "scatter", "x": "weight", "line": 1.0}, "line", "'none' or 'delta'"),
        ({"kind": "violin", "line": "delta"}, "line.", "'none', 'half_epsilon' or 'population'"),
        ({"kind": "violin", "panels": "scenario"}, "panels", "should be none or a parameter"),
        ({"kind": "violin", "panels": "synthesizer", "value": ["mean", "q15"]}, "panels", "where value names several columns"),
        ({"kind": "violin", "value": ...}, "value", "Field required"),
        ({"kind": "density", "panels": "epsilon"}, "panels", "should be none"),
        ({"kind": "density", "value": ["mean", "median"]}, "value", "string"),
        ({"kind": "density", "zoom": 0}, "zoom", "greater than 0"),
        ({"kind": "needed"}, "", "Field required"),
        ({"kind": "needed", "target": 0, "at": "p"}, "target", "greater than 0"),
        ({"kind": "spread", "law": "Beta(0.5, 3)"}, "", "law and law_of belong together"),
        ({"kind": "contraction", "law_of": "A"}, "", "law and law_of belong together"),
        ({"kind": "frontier"}, "value", "'ecdf_max' or 'ecdf_avg'"),
        ({"kind": "guaranteed", "value": "ecdf_max", "panels": "n"}, "panels", "should be none or scenario"),
        ({"kind": "trade_off", "value": "error", "panels": "none"}, "panels", "'synthesizer'"),
        (parts(scenario="second"), "", "Part b should have the scenario and the size of the sheet, which are first, None"),
        (parts(size=7), "", "Part b should have"),
        (parts(kind="sheet"), "parts.b.kind", "Input should be"),
        (parts() | {"parts": {"a": FIGURE}}, "parts", "at least 2"),
        (parts() | {"parts": {"a": FIGURE, "B": FIGURE}}, "parts.B.[key]", "pattern"),
        (parts() | {"synthesizers": ["A"]}, "", "should be left out"),
    ],
)
def test_a_figure_that_its_kind_cannot_draw_is_refused(entry, wrong, sentence):
    errors = errors_of(FIGURES, FIGURE | entry)
    assert all(place.startswith(wrong) for place, _ in errors)
    assert any(sentence in message for _, message in errors), errors


@pytest.mark.parametrize(
    ("entry", "wrong"),
    [
        ({"kind": "spread"}, "value"),
        ({"kind": "rate"}, "value"),
        ({"kind": "rate", "value": ""}, "value"),
        ({"kind": "sample", "value": "delta"}, "value"),
        ({"kind": "audited", "summary": "mean"}, "summary"),
        ({"kind": "results", "medians": ["mean"]}, "medians"),
        ({"kind": "means", "medians": ["median"]}, "medians"),
        ({"kind": "means", "statistics": ...}, "statistics"),
    ],
)
def test_a_table_that_its_kind_cannot_make_is_refused(entry, wrong):
    assert {place for place, _ in errors_of(TABLES, TABLE | entry)} == {wrong}


def errors_of(kinds, entry):
    """Places and messages of the errors about a section; a key with an ellipsis is left out."""
    with pytest.raises(ValidationError) as refused:
        kinds[entry["kind"]](**{key: value for key, value in entry.items() if value is not ...})
    return [(".".join(map(str, error["loc"])), error["msg"]) for error in refused.value.errors()]


@pytest.mark.parametrize("more", [{"panels": "epsilon"}, {"where": {"epsilon": 4}}])
def test_half_of_epsilon_needs_an_epsilon(more):
    assert FIGURES["violin"](**FIGURE, line="half_epsilon", **more).line == "half_epsilon"


@pytest.mark.parametrize(("kind", "fields"), DRAWN, ids=[kind for kind, _ in DRAWN])
def test_a_display_comes_back_from_plain_data_with_its_kind_and_an_alternative_text(kind, fields):
    display = figure_of(kind=kind, subject="Bounds", **fields)
    again = FigureDisplay.of(display.plain())
    assert again == display
    assert type(again.figure) is FIGURES[kind]
    assert display.figure.alt() == f"{FIGURES[kind].ALT}: Bounds. Details are in the caption."
    assert FIGURES[kind].ALT


@pytest.mark.parametrize(
    ("kind", "statistics", "columns", "tables", "rows"),
    [
        ("sample", ["mean", "mean"], ["mean"], ["sets", "values"], UTILITY),
        ("interval", ["mean_low", "mean_high"], ["mean"], ["sets"], tuple(f"{x}_{y}" for x in UTILITY for y in ("low", "high"))),
        ("rate", ["slope"], ["slope", "delta"], ["replicates"], ("slope", "last_slope")),
        ("spread", ["sd"], ["delta"], ["replicates"], ("min", "q1", "median", "mean", "q3", "max", "spread", "sd")),
        ("means", ["mean"], ["mean"], ["replicates"], None),
        ("results", ["mean"], ["mean"], ["replicates"], None),
        ("audited", ["strict"], ["strict"], ["audit"], ...),
        ("audited", ["ecdf_max", "strict"], ["ecdf_max", "strict"], ["audit", "replicates"], ...),
    ],
)
def test_a_kind_of_table_has_its_columns_tables_and_rows(kind, statistics, columns, tables, rows):
    more = {"value": "delta"} if kind in ("rate", "spread") else {}
    display = table_display(kind=kind, statistics=statistics, **more)
    again = TableDisplay.of(display.plain())
    assert again == display
    assert type(again.entry) is TABLES[kind]
    assert (again.entry.shown_columns(), again.entry.tables(), again.entry.summarized) == (columns, tables, more.get("value", ""))
    assert rows is ... or again.entry.rows_allowed() == rows
    assert rows is not ... or {*statistics, "floor", "strict_add"} <= set(again.entry.rows_allowed())


@pytest.mark.parametrize(
    ("kind", "statistic", "heading", "printed"),
    [
        ("interval", "q15_low", "15 % quantile, low end", {"q15": (1.0, 3.0)}),
        ("spread", "median", "median", {"delta": (2.0, 2.0)}),
        ("results", "q15", "15 % quantile", {"q15_low": (1, 1), "q15_high": (3, 3), "q90_low": (4, 4), "median": (2, 2)}),
    ],
)
def test_a_kind_of_table_has_its_headings_and_printed_values(kind, statistic, heading, printed):
    more = {"value": "delta"} if kind == "spread" else {}
    values = {"q15_low": 1.0, "q15_high": 3.0, "q90_low": 4.0, "median": 2.0}
    names = {"interval": ["q15_low", "q90_low"]}.get(kind, ["median"])
    entry = TABLES[kind](**TABLE | {"statistics": names, "kind": kind, "printed": {"A": values}} | more)
    assert entry.heading(statistic) == heading
    assert entry.printed_columns() == {"A": printed}


def test_another_kind_is_one_class():
    from formalsynth_workflow.show.figure import Figure, figure_kind

    with FIGURES.trial():

        @figure_kind("points")
        class Points(Figure):
            ALT = "Points"

        assert type(figure_of(kind="points").figure) is Points
    assert "points" not in FIGURES
