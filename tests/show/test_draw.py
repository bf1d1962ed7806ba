"""Drawings: of nothing but their table, the same bytes every time, marked where stand-in data are shown; and kinds of figures."""

import functools
import pickle
import subprocess
import sys
import xml.etree.ElementTree as ElementTree

import matplotlib
import numpy as np
import pandas as pd
import pytest
from formalsynth.displays.display import DRAWINGS, FOR_PRINT, FigureDisplay, Printed
from formalsynth.displays.figure import FIGURES, Figure, figure_kind
from formalsynth.displays.table import TABLES
from formalsynth.plan.jobs import maker
from formalsynth.runtime.files import unbroken
from formalsynth.show import draw
from formalsynth.show.draw import STAND_IN, draw_figure
from formalsynth.show.drawing import CONFIDENTIAL, plain_powers
from formalsynth.show.estimator import ESTIMATORS
from formalsynth.show.figures import violin
from formalsynth.show.figures.line import differences
from formalsynth.show.figures.violin import BINS, HALF, POINTS, _bars, _is_tied, _outline
from formalsynth.show.painter import PAINTERS, Painter, painter, painter_of
from formalsynth.show.tidy import figure_table
from made_up_displays import figure_of, rows_of, scenario_of
from matplotlib.figure import Figure as Drawing
from pydantic import ValidationError

ENTRY = {"scenario": "first", "value": "delta", "synthesizers": ["A"]}
KINDS = [
    {"kind": "violin", "log": True},
    {"kind": "violin", "panels": "synthesizer"},
    {"kind": "violin", "value": ["delta", "weight"]},
    {"kind": "density", "centred": True, "zoom": 1.5},
    {"kind": "contraction"},
    {"kind": "line", "x": "weight", "against": "label B", "top": 9.0},
    {"kind": "line", "x": "weight", "panels": "scenario", "line": 0.5, "x_log": True, "log": True},
    {"kind": "scatter", "x": "weight", "line": "delta"},
    {"kind": "scatter", "x": "weight", "panels": "synthesizer"},
]


def drawable(**entry):
    scenarios = [scenario_of("first", replicates=20), scenario_of("second", n=30, replicates=20)]
    display = figure_of(scenarios=scenarios, **entry)
    weight = np.tile(np.linspace(0.1, 1, 4), 10)
    return display, figure_table(display, [rows_of(scenario, weight=weight) for scenario in scenarios])


def text_of(path):
    """Text of a drawing whose letters are text."""
    return "".join(ElementTree.parse(path).getroot().itertext())


def formats(entry):
    """Formats to draw: how a PDF is written does not depend on what is drawn."""
    return (*DRAWINGS, FOR_PRINT) if entry is KINDS[0] else DRAWINGS


@pytest.fixture(scope="module")
def drawn(tmp_path_factory):
    """Function that returns the folder with the drawings of one of the kinds, each drawn once."""

    @functools.cache
    def drawn_once(place):
        folder = tmp_path_factory.mktemp("drawn")
        draw_figure(*drawable(**KINDS[place]), [folder / f"fig.{kind}" for kind in formats(KINDS[place])])
        return folder

    return lambda entry: drawn_once(KINDS.index(entry))


@pytest.mark.parametrize("entry", KINDS)
def test_a_drawing_is_the_same_bytes_every_time(tmp_path, drawn, entry):
    first, kinds = drawn(entry), formats(entry)
    draw_figure(*drawable(**entry), [tmp_path / f"fig.{kind}" for kind in kinds])
    for kind in kinds:
        assert (first / f"fig.{kind}").read_bytes() == (tmp_path / f"fig.{kind}").read_bytes()
    assert ElementTree.parse(first / "fig.svg").getroot().tag.endswith("svg")
    assert (first / "fig.png").read_bytes().startswith(b"\x89PNG")
    if FOR_PRINT in kinds:
        pdf = (first / "fig.pdf").read_bytes()
        assert pdf.startswith(b"%PDF")
        assert b"Date" not in pdf and b"atplotlib" not in pdf


@pytest.mark.parametrize("entry", KINDS)
def test_the_last_digits_of_a_layout_are_not_seen(tmp_path, monkeypatch, drawn, entry):
    """They depend on the order in memory, so that they differ in few of many processes."""
    first = drawn(entry)
    rounded, shaken = draw._round_places, []

    def shake(drawing):
        for axis in drawing.axes:
            place = axis.get_position(original=True)
            place.set_points(place.get_points() + 1e-13)
            shaken.append(axis.set_position(place))
        rounded(drawing)

    monkeypatch.setattr(draw, "_round_places", shake)
    draw_figure(*drawable(**entry), [tmp_path / "other.svg"])
    assert shaken
    assert (first / "fig.svg").read_bytes() == (tmp_path / "other.svg").read_bytes()


@pytest.mark.parametrize("entry", KINDS)
def test_a_drawing_shows_what_is_in_the_table(tmp_path, drawn, entry):
    """Other values, another drawing."""
    display, tidy = drawable(**entry)
    changed = tidy.assign(value=tidy["value"] * np.linspace(1, 2, len(tidy)))
    draw_figure(display, changed, [tmp_path / "other.svg"])
    assert (drawn(entry) / "fig.svg").read_bytes() != (tmp_path / "other.svg").read_bytes()


def test_contraction_has_its_slope(tmp_path, monkeypatch):
    monkeypatch.setitem(draw.STYLE, "svg.fonttype", "none")
    scenarios = [scenario_of("first", n=n, replicates=20) for n in (100, 400, 1600)]
    noise = np.tile(np.random.default_rng(1).normal(size=20), 2)
    tables = [rows_of(scenario).assign(delta=3 + noise / np.sqrt(scenario.n)) for scenario in scenarios]
    display = figure_of(scenarios=scenarios, kind="contraction")
    draw_figure(display, figure_table(display, tables), [tmp_path / "fig.svg"])
    assert text_of(tmp_path / "fig.svg").count("slope −0.50 ±") == 2


def test_differences_are_taken_in_the_same_replicate_at_the_same_point():
    table = pd.DataFrame(
        {"scenario": "s", "replicate": [0, 1, 0, 1], "x": 1.0, "label": ["A", "A", "B", "B"], "value": [5.0, 7.0, 2.0, 3.0]}
    )
    assert differences(table, "B")[["label", "value"]].to_numpy().tolist() == [["A", 3.0], ["A", 4.0]]
    moved = differences(table.assign(at=1.0, x=[4.0, 4.0, 1.0, 2.0]), "B")
    assert moved["x"].tolist() == [3.0, 2.0]
    assert moved["value"].tolist() == [3.0, 4.0]


@pytest.mark.parametrize(
    ("values", "is_smooth"),
    [
        (np.random.default_rng(1).normal(size=100), True),
        (np.random.default_rng(1).normal(60, 20, size=100).round() / 2000, True),
        (np.random.default_rng(1).poisson(20, size=100).astype(float), False),
        (np.append(np.random.default_rng(1).uniform(size=90), np.ones(10)), False),
    ],
    ids=["continuous", "multiples of a small share", "whole numbers", "a tenth at one value"],
)
def test_there_is_no_density_where_values_have_none(values, is_smooth):
    assert _is_tied(values) is not is_smooth
    across, halves = _outline(values)
    assert len(across) == POINTS
    edges, heights, _ = _bars(values, (values.min(), values.max()))
    counts = np.histogram(values, edges)[0]
    assert heights[counts == counts.max()] == pytest.approx(HALF)
    for drawn in (halves, heights):
        assert drawn.max() == pytest.approx(HALF)
        assert drawn.min() >= 0


@pytest.mark.parametrize(
    ("values", "span"),
    [
        ([99, 100, 100, 100, 101], (98, 102)),
        ([99, 99.5, 100, 100, 100, 101], (98, 102)),
        ([89, 90, 90, 90, 90, 91], (70, 170)),
        ([0, 17, 93, 93, 400], (0, 400)),
        ([88.85, 89, 90, 90, 90], (88, 92)),
        ([2.31, 2.31, 2.31, 2.4, 2.55], (2, 3)),
    ],
    ids=["integers", "halves between", "a wide frame", "counts", "others between", "tied elsewhere"],
)
def test_bars_are_centred_on_integers_or_on_the_value_that_most_have(values, span):
    values = np.repeat(np.array(values, float), 8)
    across, halves, gap = _bars(values, span)
    middles, shown = (across[:-1] + across[1:]) / 2, halves > 0
    most = max(set(values), key=list(values).count)
    assert middles[halves.argmax()] == pytest.approx(most)
    assert (gap > 0) == (most == round(most))  # integers have bars of their own
    assert np.abs(values[:, None] - middles[shown]).min(axis=1).max() <= np.diff(across).max() / 2 + 1e-9
    if np.diff(across).max() <= 1:
        whole = [value for value in set(values) if value == round(value)]
        assert all(np.abs(middles[shown] - value).min() < 1e-9 for value in whole)
    assert 4 <= (span[1] - span[0]) / np.diff(across).max() <= 2 * BINS
    assert np.histogram(values, across)[0][shown].sum() == len(values)


def shapes_of(monkeypatch):
    """The names of the shapes of rows, in the order in which they are drawn."""
    shapes = []
    for name in ("_bars", "_outline"):
        drawn = getattr(violin, name)
        monkeypatch.setattr(violin, name, lambda *values, name=name, drawn=drawn: shapes.append(name) or drawn(*values))
    return shapes


def test_a_row_without_ties_has_bars_where_another_row_of_its_frame_needs_them(tmp_path, monkeypatch):
    shapes = shapes_of(monkeypatch)
    display, tidy = drawable()
    tidy["value"] = np.random.default_rng(1).normal(size=len(tidy))
    draw_figure(display, tidy, [tmp_path / "fig.svg"])
    assert set(shapes) == {"_outline"}
    shapes.clear()
    tidy.loc[tidy["synthesizer"] == "A", "value"] = tidy["value"].rank().round(-1)
    draw_figure(display, tidy, [tmp_path / "fig.svg"])
    assert set(shapes) == {"_bars"}


def test_frames_of_one_quantity_have_one_kind_of_shapes(tmp_path, monkeypatch):
    shapes = shapes_of(monkeypatch)
    display, tidy = drawable()
    frames = [tidy.assign(panel=title, value=np.random.default_rng(1).normal(size=len(tidy))) for title in ("one", "other")]
    frames[1].loc[frames[1]["synthesizer"] == "A", "value"] = np.arange(40) % 5
    draw_figure(display, pd.concat(frames), [tmp_path / "fig.svg"])
    assert set(shapes) == {"_bars"}


def test_the_confidential_data_are_labelled_where_they_are_across_a_frame(tmp_path, monkeypatch):
    monkeypatch.setitem(draw.STYLE, "svg.fonttype", "none")
    scenario = scenario_of("first")
    for ids, labelled in ((("Data", "A"), True), (("A", "B"), False), (("Data",), False)):
        display = figure_of(ids=ids, scenarios=[scenario])
        draw_figure(display, figure_table(display, [rows_of(scenario, ids=ids)]), [tmp_path / "fig.svg"])
        assert (CONFIDENTIAL in text_of(tmp_path / "fig.svg")) is labelled


def test_a_legend_has_no_marker_that_is_not_in_the_drawing(tmp_path, monkeypatch):
    """Few values are dots and equal ones a tick: neither has a marker of its guarantee."""
    monkeypatch.setitem(draw.STYLE, "svg.fonttype", "none")
    display, tidy = drawable()
    draw_figure(display, tidy, [tmp_path / "fig.svg"])
    assert "Guarantee:" in text_of(tmp_path / "fig.svg")
    draw_figure(display, tidy.assign(value=1.5), [tmp_path / "fig.svg"])
    assert "Guarantee:" not in text_of(tmp_path / "fig.svg")


@pytest.mark.parametrize(
    ("limits", "expected"),
    [
        ((0.04, 0.6), {"0.05", "0.1", "0.2", "0.5"}),
        ((0.05, 200), {"0.1", "1", "10", "100"}),
        ((2e-4, 9e-4), {"2×10⁻⁴", "3×10⁻⁴", "4×10⁻⁴", "5×10⁻⁴", "6×10⁻⁴", "7×10⁻⁴", "8×10⁻⁴"}),
        ((1e-6, 2), {"10⁻⁵", "10⁻³", "10⁻¹"}),
        ((1, 1e6), {"10⁰", "10²", "10⁴", "10⁶"}),
    ],
)
@pytest.mark.parametrize("name", ["x", "y"])
def test_an_axis_has_one_style_of_ticks(limits, expected, name):
    figure = Drawing()
    axes = figure.subplots()
    axes.set(**{f"{name}scale": "log", f"{name}lim": limits})
    plain_powers(figure)
    axis = getattr(axes, f"{name}axis")
    low, high = limits
    places = [place for place in axis.get_majorticklocs() if low <= place <= high]
    labels = axis.get_major_formatter().format_ticks(places)
    assert set(labels) >= expected
    assert len({any(sign in label for sign in "⁻⁰¹²³⁴⁵⁶⁷⁸⁹") for label in labels}) == 1
    assert set(axis.get_minor_formatter().format_ticks(axis.get_minorticklocs())) <= {""}


def test_ticks_of_counts_are_integers():
    figure = Drawing()
    axes = figure.subplots()
    axes.set_xlim(91, 103)
    plain_powers(figure)
    assert all(place == round(place) for place in axes.get_xticks())


@pytest.mark.parametrize("kind", ["svg", "png", "pdf"])
def test_a_drawing_is_sealed(tmp_path, kind):
    display, tidy = drawable()
    path = tmp_path / f"fig.{kind}"
    draw_figure(display, tidy, [path])
    assert unbroken(path) == path
    path.write_bytes(path.read_bytes()[:-1])
    with pytest.raises(OSError, match=rf"fig\.{kind} is damaged"):
        unbroken(path)
    path.write_bytes(b"")
    with pytest.raises(OSError, match=rf"fig\.{kind} is damaged"):
        unbroken(path)


def test_few_values_are_dots_and_equal_ones_a_tick(tmp_path, monkeypatch):
    monkeypatch.setitem(draw.STYLE, "svg.fonttype", "none")
    display, tidy = drawable()
    tidy.loc[tidy["synthesizer"] == "A", "value"] = 1.5
    draw_figure(display, tidy, [tmp_path / "fig.svg"])
    assert "all = 1.5" in text_of(tmp_path / "fig.svg")


def test_values_at_zero_are_counted_next_to_a_logarithmic_axis(tmp_path, monkeypatch):
    monkeypatch.setitem(draw.STYLE, "svg.fonttype", "none")
    display, tidy = drawable(log=True)
    tidy.loc[tidy.index[:3], "value"] = 0.0
    draw_figure(display, tidy, [tmp_path / "fig.svg"])
    assert "3 of 40 at 0" in text_of(tmp_path / "fig.svg")


def test_one_letter_has_a_subscript_and_other_names_have_not(tmp_path, monkeypatch):
    monkeypatch.setitem(draw.STYLE, "svg.fonttype", "none")
    for label, whole in (("T_PPD of n_syn", False), ("Censor_w", True)):
        display, tidy = drawable(y=label)
        draw_figure(display, tidy, [tmp_path / "fig.svg"])
        assert (label in text_of(tmp_path / "fig.svg")) is whole


def test_frames_have_their_sample_sizes(tmp_path, monkeypatch):
    monkeypatch.setitem(draw.STYLE, "svg.fonttype", "none")
    display, tidy = drawable()
    draw_figure(display, tidy, [tmp_path / "fig.svg"])
    assert "n = 20 to 30, R = 20" in text_of(tmp_path / "fig.svg")


def test_rows_without_a_value_are_left_out_of_a_drawing(tmp_path):
    display, tidy = drawable()
    tidy.loc[tidy["synthesizer"] == "A", "value"] = np.nan
    draw_figure(display, tidy, [tmp_path / "fig.svg"])
    draw_figure(display, tidy[tidy["synthesizer"] == "B"], [tmp_path / "other.svg"])
    assert (tmp_path / "fig.svg").read_bytes() == (tmp_path / "other.svg").read_bytes()


def test_a_group_without_spread_is_a_line(tmp_path):
    display, tidy = drawable()
    tidy.loc[tidy["synthesizer"] == "A", "value"] = 1.0
    draw_figure(display, tidy, [tmp_path / "fig.svg"])
    assert (tmp_path / "fig.svg").stat().st_size > 0


def test_exact_densities_are_drawn(tmp_path):
    scenario = scenario_of("first", replicates=20)
    details = rows_of(scenario, count=5).drop(columns="delta").assign(x=np.tile(np.linspace(0, 2, 5), 2), density=0.2)
    display = figure_of(scenarios=[scenario], kind="density", exact=True)
    tidy = figure_table(display, [rows_of(scenario), details])
    draw_figure(display, tidy, [tmp_path / "fig.svg"])
    draw_figure(display, tidy.assign(density=np.nan), [tmp_path / "other.svg"])
    assert (tmp_path / "fig.svg").read_bytes() != (tmp_path / "other.svg").read_bytes()


@pytest.mark.parametrize("stand_ins", [(False, False), (True, False), (False, True), (True, True)])
def test_a_drawing_has_the_mark_where_any_scenario_is_a_stand_in(tmp_path, stand_ins, monkeypatch):
    monkeypatch.setitem(draw.STYLE, "svg.fonttype", "none")
    scenarios = [scenario_of(f"scenario{k}", stand_in=stand_in) for k, stand_in in enumerate(stand_ins)]
    display = figure_of(scenarios=scenarios)
    assert display.stand_in is any(stand_ins)
    draw_figure(display, figure_table(display, [rows_of(scenario) for scenario in scenarios]), [tmp_path / "fig.svg"])
    assert (STAND_IN in text_of(tmp_path / "fig.svg")) is any(stand_ins)


@pytest.mark.parametrize(
    ("entry", "wrong"),
    [
        ({"kind": "line"}, "x"),
        ({"kind": "line", "x": "", "panels": "none"}, "x"),
        ({"kind": "scatter"}, "x"),
        ({"kind": "scatter", "x": ""}, "x"),
        ({"kind": "violin", "x": "weight"}, "x"),
        ({"kind": "violin", "exact": True}, "exact"),
        ({"kind": "violin", "line": "delta"}, "line"),
        ({"kind": "violin", "line": "half_epsilon"}, "line"),
        ({"kind": "violin", "panels": "scenario"}, "panels"),
        ({"kind": "violin", "panels": "synthesizer", "value": ["mean", "median"]}, "panels"),
        ({"kind": "line", "x": "n", "panels": "synthesizer"}, "panels"),
        ({"kind": "density", "panels": "epsilon"}, "panels"),
        ({"kind": "density", "value": ["mean", "median"]}, "value"),
        ({"kind": "density", "line": 1.0}, "line"),
        ({"kind": "scatter", "x": "weight", "line": 1.0}, "line"),
        ({"kind": "violin", "value": ...}, "value"),
        ({"kind": "violin", "table": "record"}, "table"),
    ],
)
def test_what_a_kind_cannot_draw_is_refused(entry, wrong):
    given = {key: value for key, value in (ENTRY | entry).items() if value is not ...}
    with pytest.raises(ValidationError) as refused:
        FIGURES[entry["kind"]](**given)
    assert {error["loc"][0] for error in refused.value.errors()} == {wrong}


@pytest.mark.parametrize("more", [{"panels": "epsilon"}, {"where": {"epsilon": 4}}])
def test_half_of_epsilon_needs_an_epsilon(more):
    assert FIGURES["violin"](**ENTRY, line="half_epsilon", **more).line == "half_epsilon"


def test_every_kind_has_an_alternative_text():
    for kind in FIGURES.values():
        assert kind.ALT
    assert figure_of(subject="Bounds").figure.alt() == "Violin plots: Bounds. Details are in the caption."


def test_a_display_comes_back_from_plain_data_with_the_kind_of_its_figure():
    for entry in KINDS:
        display = figure_of(**entry)
        assert FigureDisplay.of(display.plain()) == display
        assert type(FigureDisplay.of(display.plain()).figure) is FIGURES[entry["kind"]]


def test_another_kind_is_its_fields_and_a_painter(tmp_path):
    with FIGURES.trial(), PAINTERS.trial():

        @figure_kind("points")
        class Points(Figure):
            ALT = "Points"

        @painter("points")
        class PointsPainter(Painter):
            def inches(self, table):
                return 3.5, 2.0

            def paint(self, table, canvas):
                canvas.subplots().plot(table["value"], "o")

        display, tidy = drawable(kind="points")
        draw_figure(display, tidy, [tmp_path / "fig.svg"])
        assert (tmp_path / "fig.svg").stat().st_size > 0
    assert "points" not in FIGURES
    assert "points" not in PAINTERS


@pytest.mark.parametrize(("kinds", "makers"), [(FIGURES, PAINTERS), (TABLES, ESTIMATORS)], ids=["figures", "tables"])
def test_every_kind_has_its_maker_at_the_same_place(kinds, makers):
    """A job names the module of the maker by that of the fields."""
    assert {kind: maker(kinds.module(kind)) for kind in kinds} == {kind: makers.module(kind) for kind in makers}


def test_a_file_of_own_code_has_fields_and_maker():
    assert maker("/own/points.py") == "/own/points.py"


def test_kinds_are_known_without_what_draws_them():
    """The plan reads every kind and draws none."""
    code = "import sys, formalsynth.displays.display; from formalsynth.displays.figure import FIGURES; "
    code += "from formalsynth.displays.table import TABLES; FIGURES.find(); TABLES.find(); "
    code += "print(sorted({'matplotlib', 'pandas', 'formalsynth.show'} & set(sys.modules)))"
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, env={"PYTHONPATH": ":".join(sys.path)}
    )
    assert done.stdout.strip() == "[]"


def test_a_backend_of_the_user_changes_nothing(tmp_path):
    display, tidy = drawable()
    draw_figure(display, tidy, [tmp_path / "one.svg"])
    (tmp_path / "figure").write_bytes(pickle.dumps((display, tidy, [tmp_path / "other.svg"])))
    code = "import pickle, sys, formalsynth.show.figures.violin; from formalsynth.show.draw import draw_figure; "
    code += "draw_figure(*pickle.load(open(sys.argv[1], 'rb')))"
    given = {"PYTHONPATH": ":".join(sys.path), "MPLBACKEND": "nonsense", "HOME": str(tmp_path)}
    subprocess.run([sys.executable, "-c", code, str(tmp_path / "figure")], check=True, env=given)
    assert (tmp_path / "one.svg").read_bytes() == (tmp_path / "other.svg").read_bytes()


def test_a_matplotlibrc_of_the_user_changes_nothing(tmp_path):
    display, tidy = drawable()
    draw_figure(display, tidy, [tmp_path / "one.svg"])
    with matplotlib.rc_context({"lines.linewidth": 9, "font.family": "serif", "axes.facecolor": "red", "savefig.dpi": 20}):
        draw_figure(display, tidy, [tmp_path / "other.svg"])
    assert (tmp_path / "one.svg").read_bytes() == (tmp_path / "other.svg").read_bytes()


@pytest.mark.parametrize("entry", KINDS)
@pytest.mark.parametrize("label", ["income in $", r"$ and $, $\\frac{1}{$, $x_i^2$ & <b>"])
def test_a_dollar_sign_in_a_label_is_a_dollar_sign(tmp_path, entry, label, monkeypatch):
    monkeypatch.setitem(draw.STYLE, "svg.fonttype", "none")
    display, tidy = drawable(**entry, y=label)
    draw_figure(display, tidy, [tmp_path / "fig.svg"])
    assert label in text_of(tmp_path / "fig.svg")


def test_a_label_without_the_parameter_across_is_a_level_line():
    from matplotlib.figure import Figure

    display = figure_of(ids=("A", "B", "C"), kind="line", at={"A": 1.0, "B": 2.0, "C": None})
    table = figure_table(display, [rows_of(scenario_of("first"), ids=("A", "B", "C"))])
    canvas = Figure()
    painter_of(display).paint(table, canvas)
    axis, level = canvas.axes[0], table.loc[table["synthesizer"] == "C", "value"].mean()
    flat = [line for line in axis.lines if np.allclose(line.get_ydata(), level)]
    assert [list(line.get_xdata()) for line in flat] == [[0, 1]]
    assert [tick.get_text() for tick in axis.get_xticklabels()] == ["1", "2"]


def test_powers_of_ten_are_raised_and_not_mathematics(tmp_path, monkeypatch):
    monkeypatch.setitem(draw.STYLE, "svg.fonttype", "none")
    display, tidy = drawable(kind="line", x="weight", log=True, x_log=True)
    tidy = tidy.assign(value=tidy["value"] * np.logspace(-6, 0, len(tidy)))
    draw_figure(display, tidy, [tmp_path / "fig.svg"])
    text = text_of(tmp_path / "fig.svg")
    assert "10⁻³" in text
    assert "mathdefault" not in text


@pytest.mark.parametrize("entry", KINDS)
@pytest.mark.parametrize("lost", [["A"], ["A", "B"]])
def test_a_figure_is_drawn_without_what_failed(tmp_path, entry, lost):
    display, tidy = drawable(**entry)
    tidy.loc[tidy["synthesizer"].isin(lost), "value"] = np.nan
    draw_figure(display, tidy, [tmp_path / "fig.svg"])
    assert (tmp_path / "fig.svg").stat().st_size > 1000


@pytest.mark.parametrize("entry", [{"kind": "violin"}, {"kind": "line", "x": "weight", "reference": "alone"}])
def test_printed_values_and_what_needs_no_release_are_drawn(tmp_path, entry, monkeypatch):
    monkeypatch.setitem(draw.STYLE, "svg.fonttype", "none")
    scenario = scenario_of("first", replicates=40)
    display = figure_of(scenarios=[scenario], **entry, **({"reference_label": "no release"} if "reference" in entry else {}))
    printed = (Printed(scenario=scenario.id, column="delta", id="B", low=1.0, high=1.0),)
    for name, cells in (("plain", ()), ("compared", printed)):
        shown = display.model_copy(update={"printed": cells})
        draw_figure(shown, figure_table(shown, [rows_of(scenario, weight=0.5, alone=0.2)]), [tmp_path / f"{name}.svg"])
    plain, compared = text_of(tmp_path / "plain.svg"), text_of(tmp_path / "compared.svg")
    assert "printed" not in plain and "printed" in compared
    assert ("no release" in plain) == ("reference" in entry)


def test_a_figure_has_its_printed_values(plan_of):
    """Tables give values and intervals, claims values and limits; a figure of another column has none."""
    reps, reweight, censor = (plan_of(key, "paper").papers[key] for key in ("reps", "reweight", "censor"))
    values = {(cell.id, cell.column): (cell.low, cell.high) for cell in reps.figure("1", "paper").printed}
    assert values["REPS_4", "tstr"] == (0.72, 0.72)
    assert values["REPS_4", "domias_printed_top_advantage"] == (0.728, 0.728)
    intervals = {(cell.id, cell.column): (cell.low, cell.high) for cell in reweight.figure("5", "paper").parts["b"].printed}
    assert intervals["CW", "median"] == (98.7, 102.4)
    limits = {cell.id: (cell.low, cell.high) for cell in censor.figure("10", "paper").printed}
    assert limits["Unweighted"] == (7.5, 15) and limits["Weighted_e_3"] == (1.5, 1.5)
    assert censor.figure("3", "paper").printed == ()
