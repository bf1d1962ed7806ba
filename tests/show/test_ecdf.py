"""Empirical distribution functions: the right steps, distinct without colours, drawn from the table alone."""

import numpy as np
import pytest
from formalsynth.displays.display import FigureDisplay, Panel
from formalsynth.displays.figure import FIGURES
from formalsynth.show.draw import draw_figure
from formalsynth.show.painter import painter_of
from formalsynth.show.tidy import figure_table
from made_up_displays import figure_of, rows_of, scenario_of
from matplotlib.figure import Figure as Drawing
from pydantic import ValidationError

ENTRY = {"kind": "ecdf", "scenario": "first", "value": "delta", "synthesizers": ["A"]}


def axes_of(display, tidy):
    """The frames of a drawing."""
    drawing = Drawing(layout="constrained")
    painter_of(display).paint(tidy.fillna({"panel": ""}), drawing)
    return drawing.axes


def drawable(ids=("A", "B"), replicates=30, **entry):
    scenarios = [scenario_of("first", replicates=replicates), scenario_of("second", n=30, replicates=replicates)]
    display = figure_of(ids=ids, scenarios=scenarios, kind="ecdf", **entry)
    return display, figure_table(display, [rows_of(scenario, ids=ids, seed=scenario.n) for scenario in scenarios])


def at(line, x):
    """The value of a drawn step function."""
    place = np.searchsorted(line.get_xdata(), x, side="right") - 1
    return np.where(place >= 0, np.asarray(line.get_ydata())[place], 0)


@pytest.mark.parametrize("log", [False, True])
def test_each_line_is_the_share_of_values_up_to_there(log):
    display, tidy = drawable(log=log)
    (axis,) = axes_of(display, tidy)
    assert [line.get_label() for line in axis.lines] == ["label A", "label B"]
    assert axis.get_xscale() == ("log" if log else "linear")
    for id, line in zip("AB", axis.lines, strict=True):
        values = tidy.loc[tidy["synthesizer"] == id, "value"].to_numpy()
        assert len(values) == 60
        assert line.get_drawstyle() == "steps-post"
        for x in [*values, *(values + 1e-9), *(values - 1e-9), 0, 1e3]:
            assert at(line, x) == pytest.approx((values <= x).mean())


def test_ties_are_one_step():
    display, tidy = drawable()
    tidy["value"] = np.where(np.arange(len(tidy)) % 3, 1.0, 2.0)
    for line in axes_of(display, tidy)[0].lines:
        assert list(line.get_xdata()) == [1, 1, 2]
        assert list(line.get_ydata()) == pytest.approx([0, 2 / 3, 1])


def test_lines_differ_without_colours():
    ids = tuple("ABCDEFGHIJKLMNOP")
    display, tidy = drawable(ids=ids, replicates=5)
    lines = axes_of(display, tidy)[0].lines
    dashes = [str(line._unscaled_dash_pattern) for line in lines]
    markers = [line.get_marker() for line in lines]
    assert len(set(zip(dashes, markers, strict=True))) == len(ids)
    assert len(set(dashes[:6])) == 6
    assert len(set(markers[:7])) == 7
    # markers of different lines start at different places
    assert len({line.get_markevery()[0] for line in lines}) == len(ids)


def test_markers_are_seen_where_there_is_room_for_one():
    display, tidy = drawable()
    axis = axes_of(display, tidy)[0]
    axis.figure.canvas.draw()
    every = axis.lines[0].get_markevery()
    assert 0 < every[0] < every[1] < 0.2


def test_scenarios_are_frames_in_the_order_of_the_figure_and_lines_keep_their_styles():
    display, tidy = drawable(panels="scenario")
    tidy = tidy[::-1]
    tidy = tidy[~((tidy["scenario"] == "second_n30") & (tidy["synthesizer"] == "A"))]
    first, second = axes_of(display, tidy)
    assert [first.get_title("left"), second.get_title("left")] == ["First", "Second"]
    (line,) = second.lines
    same = next(other for other in first.lines if other.get_label() == "label B")
    assert (line.get_linestyle(), line.get_marker()) == (same.get_linestyle(), same.get_marker())
    assert [axis.get_ylabel() != "" for axis in (first, second)] == [True, True]


def test_parameters_are_frames():
    frames = [Panel(title=f"M = {k}", ids=(id,), epsilon=None) for k, id in ((2, "A"), (4, "B"))]
    scenario = scenario_of("first", replicates=20)
    display = figure_of(scenarios=[scenario], frames=frames, kind="ecdf", panels="M", y="bound")
    axes = axes_of(display, figure_table(display, [rows_of(scenario)]))
    assert [axis.get_title("left") for axis in axes] == ["M = 2", "M = 4"]
    assert [axis.get_xlabel() for axis in axes] == ["", "bound"]
    assert [[line.get_label() for line in axis.lines] for axis in axes] == [["label A"], ["label B"]]


def test_the_limits_hold_every_step():
    display, tidy = drawable()
    (axis,) = axes_of(display, tidy)
    low, high = axis.get_xlim()
    assert low <= tidy["value"].min() < tidy["value"].max() <= high
    assert axis.get_ylim()[0] <= 0 < 1 <= axis.get_ylim()[1]


@pytest.mark.parametrize("entry", [{}, {"log": True}, {"panels": "scenario"}])
def test_a_drawing_is_the_same_bytes_every_time_and_shows_the_table(tmp_path, entry):
    display, tidy = drawable(**entry)
    changed = tidy.assign(value=tidy["value"] * np.linspace(1, 2, len(tidy)))
    for folder, table in (("first", tidy), ("again", tidy), ("other", changed)):
        draw_figure(display, table, [tmp_path / folder / f"fig.{kind}" for kind in ("svg", "png")])
    for kind in ("svg", "png"):
        first, again, other = ((tmp_path / folder / f"fig.{kind}").read_bytes() for folder in ("first", "again", "other"))
        assert first == again
        assert first != other


def test_rows_without_a_value_are_left_out(tmp_path):
    display, tidy = drawable()
    tidy.loc[tidy["synthesizer"] == "A", "value"] = np.nan
    draw_figure(display, tidy, [tmp_path / "fig.svg"])
    draw_figure(display, tidy[tidy["synthesizer"] == "B"], [tmp_path / "other.svg"])
    assert (tmp_path / "fig.svg").read_bytes() == (tmp_path / "other.svg").read_bytes()


def test_its_display_comes_back_from_plain_data():
    display = figure_of(kind="ecdf", log=True, subject="Values")
    assert FigureDisplay.of(display.plain()) == display
    assert type(display.figure) is FIGURES["ecdf"]
    assert display.figure.alt() == "Empirical distribution functions: Values. Details are in the caption."


@pytest.mark.parametrize(
    ("entry", "wrong"),
    [
        ({"value": ["mean", "median"]}, "value"),
        ({"x": "weight"}, "x"),
        ({"line": 1.0}, "line"),
        ({"panels": "synthesizer"}, "panels"),
        ({"log": "very"}, "log"),
    ],
)
def test_what_it_cannot_draw_is_refused(entry, wrong):
    with pytest.raises(ValidationError) as refused:
        FIGURES["ecdf"](**ENTRY | entry)
    assert {error["loc"][0] for error in refused.value.errors()} == {wrong}
