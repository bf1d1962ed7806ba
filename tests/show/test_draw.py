"""Drawings as files: the same bytes every time, with their texts, their origin and the mark of stand-in data."""

import pickle
import subprocess
import sys
import xml.etree.ElementTree as ElementTree

import matplotlib
import numpy as np
import pytest
from made_up_displays import figure_of, rows_of, scenario_of, table_display, tidy_of
from matplotlib.figure import Figure as Drawing
from matplotlib.layout_engine import ConstrainedLayoutEngine
from PIL import Image

from formalsynth import __version__
from formalsynth.runtime.files import unbroken
from formalsynth_workflow.plan.jobs import Jobs
from formalsynth_workflow.show import draw
from formalsynth_workflow.show.display import DRAWINGS, FOR_PRINT
from formalsynth_workflow.show.draw import STAND_IN, draw_figure, drawing_of
from formalsynth_workflow.show.drawing import plain_powers
from formalsynth_workflow.show.origin import Origin

KINDS = [
    {"kind": "violin", "log": True},
    {"kind": "density", "centred": True, "zoom": 1.5},
    {"kind": "contraction"},
    {"kind": "line", "x": "weight", "against": "label B", "top": 9.0},
    {"kind": "line", "x": "weight", "panels": "scenario", "line": 0.5, "x_log": True, "log": True},
    {"kind": "scatter", "x": "weight", "line": "delta"},
]


def drawable(replicates=20, **entry):
    """A figure of two scenarios, and its tidy table."""
    scenarios = [scenario_of("first", replicates=replicates), scenario_of("second", n=30, replicates=replicates)]
    display = figure_of(scenarios=scenarios, **entry)
    weight = np.tile(np.linspace(0.1, 1, 4), replicates // 2)
    return display, tidy_of(display, *[rows_of(scenario, weight=weight) for scenario in scenarios])


def text_of(display, tidy, folder, monkeypatch):
    """Text of a drawing whose letters are text."""
    monkeypatch.setitem(draw.STYLE, "svg.fonttype", "none")
    draw_figure(display, tidy, [folder / "text.svg"])
    return "".join(ElementTree.parse(folder / "text.svg").getroot().itertext())


@pytest.mark.parametrize("entry", KINDS)
def test_a_drawing_is_the_same_bytes_every_time_and_shows_its_table(tmp_path, monkeypatch, entry):
    """Also if the last digits of its layout differ, which depend on the order in memory."""
    display, tidy = drawable(**entry)
    kinds = (*DRAWINGS, FOR_PRINT) if entry is KINDS[0] else DRAWINGS
    draw_figure(display, tidy, [tmp_path / f"first.{kind}" for kind in kinds])
    draw_figure(display, tidy.assign(value=tidy["value"] * np.linspace(1, 2, len(tidy))), [tmp_path / "other.svg"])
    execute = ConstrainedLayoutEngine.execute

    def shaken(engine, drawing):
        execute(engine, drawing)
        for axis in drawing.axes:
            place = axis.get_position(original=True)
            place.set_points(place.get_points() + 1e-13)
            axis.set_position(place)

    monkeypatch.setattr(ConstrainedLayoutEngine, "execute", shaken)
    draw_figure(display, tidy, [tmp_path / f"again.{kind}" for kind in kinds])
    for kind in kinds:
        assert (tmp_path / f"first.{kind}").read_bytes() == (tmp_path / f"again.{kind}").read_bytes()
    assert (tmp_path / "first.svg").read_bytes() != (tmp_path / "other.svg").read_bytes()
    assert (tmp_path / "first.png").read_bytes().startswith(b"\x89PNG")
    if FOR_PRINT in kinds:
        pdf = (tmp_path / "first.pdf").read_bytes()
        assert pdf.startswith(b"%PDF")
        assert b"Date" not in pdf and b"atplotlib" not in pdf


def test_settings_of_the_user_change_nothing(tmp_path):
    display, tidy = drawable()
    draw_figure(display, tidy, [tmp_path / "one.svg"])
    with matplotlib.rc_context({"lines.linewidth": 9, "font.family": "serif", "axes.facecolor": "red", "savefig.dpi": 20}):
        draw_figure(display, tidy, [tmp_path / "other.svg"])
    (tmp_path / "figure").write_bytes(pickle.dumps((display, tidy, [tmp_path / "third.svg"])))
    code = (
        "import pickle, sys, formalsynth_workflow.show.figures.violin; from formalsynth_workflow.show.draw import draw_figure; "
    )
    code += "draw_figure(*pickle.load(open(sys.argv[1], 'rb')))"
    given = {"PYTHONPATH": ":".join(sys.path), "MPLBACKEND": "nonsense", "HOME": str(tmp_path)}
    subprocess.run([sys.executable, "-c", code, str(tmp_path / "figure")], check=True, env=given)
    assert (tmp_path / "one.svg").read_bytes() == (tmp_path / "other.svg").read_bytes() == (tmp_path / "third.svg").read_bytes()


def test_a_plan_is_read_without_a_drawing_library(repository):
    code = (
        "import sys; from pathlib import Path; from formalsynth_workflow.plan.load import plan_of; "
        "plan = plan_of(Path('config')); "
        "[paper.figure(number, 'paper') for paper in plan.papers.values() for number in paper.figures]; "
        "print(sorted({'matplotlib', 'seaborn', 'pandas'} & set(sys.modules)))"
    )
    given = {"PYTHONPATH": ":".join(sys.path)}
    done = subprocess.run([sys.executable, "-c", code], cwd=repository, capture_output=True, text=True, check=True, env=given)
    assert done.stdout.strip() == "[]"


def test_a_drawing_is_sealed(tmp_path):
    paths = [tmp_path / f"fig.{kind}" for kind in ("svg", "png", "pdf")]
    draw_figure(*drawable(), paths)
    for path in paths:
        assert unbroken(path) == path
        path.write_bytes(path.read_bytes()[:-1])
        with pytest.raises(OSError, match=rf"{path.name} is damaged"):
            unbroken(path)


@pytest.mark.parametrize(
    ("limits", "expected"),
    [
        ((0.04, 0.6), {"0.05", "0.1", "0.2", "0.5"}),
        ((0.05, 200), {"0.1", "1", "10", "100"}),
        ((2e-4, 9e-4), {"0.0002", "0.0003", "0.0004", "0.0005", "0.0006", "0.0007", "0.0008"}),
        ((1e-6, 2), {"10⁻⁶", "10⁻⁴", "10⁻²", "10⁰"}),
        ((1, 1e7), {"10⁰", "10²", "10⁴", "10⁶"}),
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


@pytest.mark.parametrize(
    ("limits", "expected"), [((91, 103), ["95", "100"]), ((0, 0.004), ["0", "0.001"]), ((0, 4e-6), ["0", "1×10⁻⁶"])]
)
def test_ticks_of_counts_are_integers_and_tiny_numbers_have_a_power_of_ten(limits, expected):
    figure = Drawing()
    axes = figure.subplots()
    axes.set_xlim(*limits)
    plain_powers(figure)
    places = [place for place in axes.get_xticks() if limits[0] <= place]
    assert axes.xaxis.get_major_formatter().format_ticks(places)[:2] == expected


def test_texts_are_set_as_they_are_and_a_letter_with_a_subscript_as_mathematics(tmp_path, monkeypatch):
    labels = {"income in $": True, r"$ and $, $\\frac{1}{$, $x_i^2$ & <b>": True, "Censor_w": True, "T_PPD of n_syn": False}
    for label, whole in labels.items():
        assert (label in text_of(*drawable(y=label), tmp_path, monkeypatch)) is whole
    display, tidy = drawable(kind="line", x="weight", log=True, x_log=True)
    text = text_of(display, tidy.assign(value=tidy["value"] * np.logspace(-6, 0, len(tidy))), tmp_path, monkeypatch)
    assert "10⁻³" in text and "mathdefault" not in text


def test_a_frame_has_its_sample_sizes_and_a_row_what_is_not_drawn(tmp_path, monkeypatch):
    display, tidy = drawable(log=True, y="Δ", per=2.0, subject="Bounds of two")
    tidy.loc[tidy.index[:3], "value"] = 0.0
    text = text_of(display, tidy, tmp_path, monkeypatch)
    for words in ("n = 20 to 30, R = 20", "3 of 40 at 0", "Bounds of two", "Δ"):
        assert text.count(words) == 1


@pytest.mark.parametrize("stand_ins", [(False, False), (True, False), (False, True), (True, True)])
def test_a_drawing_has_the_mark_where_any_scenario_is_a_stand_in(tmp_path, stand_ins, monkeypatch):
    scenarios = [scenario_of(f"scenario{k}", stand_in=stand_in) for k, stand_in in enumerate(stand_ins)]
    display = figure_of(scenarios=scenarios)
    text = text_of(display, tidy_of(display, *map(rows_of, scenarios)), tmp_path, monkeypatch)
    assert (STAND_IN in text) is display.stand_in is any(stand_ins)


def test_a_sheet_has_its_parts_with_letters_and_leaves_out_one_without_results(tmp_path, monkeypatch):
    part = {"scenario": ["first", "second"], "value": "delta", "synthesizers": ["A", "B"], "subject": "Bounds"}
    parts = {letter: part | {"subject": f"Part {letter}"} for letter in "abc"}
    display, tidy = drawable(kind="sheet", value="", synthesizers=[], parts=parts)
    text = text_of(display, tidy, tmp_path, monkeypatch)
    assert [f"{letter}  Part {letter}" in text for letter in "abc"] == [True] * 3
    assert drawing_of(display, tidy).get_figwidth() == 7
    first = tidy[tidy["part"] == "a"]
    assert "Part b" not in text_of(display, first, tmp_path, monkeypatch)
    assert drawing_of(display, first).get_figwidth() == 3.5


SOFTWARE = "formalsynth 9.9 (commit abc1234)"
RUN = {"software": SOFTWARE, "seed": "17", "config": "0123456789ab", "options": " --config root_seed=17"}
WORDS = (
    "Made by formalsynth 9.9 (commit abc1234) with root seed 17 from {0} in the config of small (sha256 0123456789ab) at scale "
    "paper: snakemake --cores 1 {1} --config root_seed=17"
)


def test_each_file_has_its_origin_and_no_time(tmp_path):
    display, tidy = drawable(number="4b", subject="Bounds")
    origin = Origin.of(RUN, display, "fig.png")
    draw_figure(display, tidy, [tmp_path / f"fig.{kind}" for kind in ("png", "svg")], origin)
    text = Image.open(tmp_path / "fig.png").text
    assert (text["Title"], text["Software"]) == ("Figure 4b of small. Bounds", RUN["software"])
    assert text["Description"] == origin.words == WORDS.format("figure 4b", "fig.png")
    metadata = "".join(ElementTree.parse(tmp_path / "fig.svg").getroot().find("{*}metadata").itertext())
    assert origin.words in metadata
    assert "date" not in (tmp_path / "fig.svg").read_text().partition("</metadata>")[0]
    table = Origin.of(RUN, table_display(number="2", statistics=["mean"]), "table2.csv")
    assert (table.title, table.words) == ("Table 2 of small.", WORDS.format("table 2", "table2.csv"))


def test_a_run_describes_itself(plan_of, repository):
    jobs = Jobs(plan_of("range"), repository / "config").papers["range"]
    run = jobs.origin({"papers": ["range"], "scale": "smoke"})
    assert run["software"].startswith(f"formalsynth {__version__} (commit ")
    assert (run["seed"], len(run["config"])) == ("20260205", 12)
    assert run["options"] == """ --config 'papers=["range"]' scale=smoke"""
