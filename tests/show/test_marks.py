"""Marks of each kind of figure: where its drawing has points, lines, bars and names, for data with known answers."""

import numpy as np
import pandas as pd
import pytest
from made_up_displays import FIRST, STRICT, audit_of, figure_of, rows_of, scenario_of, tidy_of

from formalsynth.core.statistics import jackknife
from formalsynth_workflow.show.display import Panel, Printed
from formalsynth_workflow.show.draw import drawing_of
from formalsynth_workflow.show.figures.budgets import BROKEN
from formalsynth_workflow.show.style import INK, TALLEST

SCENARIO = scenario_of("first", replicates=40)
SKEWED = np.arange(40.0) ** 2
QUARTERS = np.quantile(SKEWED, [0.25, 0.5, 0.75])


def axes_of(display, *collected):
    """The frames of a drawing."""
    return drawing_of(display, tidy_of(display, *collected)).axes


def made(display, *collected):
    """A display and its tidy table."""
    return display, tidy_of(display, *collected)


def legend_of(drawing):
    """Texts of the legend of a drawing."""
    return [text.get_text() for text in drawing.legends[0].get_texts()]


def texts_of(axis):
    return [text.get_text() for text in axis.texts]


def lines_of(axis, **look):
    """Coordinates of the lines of a frame that look like this."""
    chosen = [line for line in axis.lines if all(getattr(line, f"get_{key}")() == value for key, value in look.items())]
    return [np.asarray(line.get_xydata(), float).tolist() for line in chosen]


def segments_of(axis):
    """Ends of the vertical and horizontal bars of a frame."""
    return [segment.tolist() for bar in axis.collections if hasattr(bar, "get_segments") for segment in bar.get_segments()]


def test_lines_differ_without_colours():
    ids = tuple("ABCDEFGHIJKLMNOP")
    drawing = drawing_of(*made(figure_of(ids=ids, kind="line", x="weight"), rows_of(scenario_of("first"), ids=ids, weight=1.0)))
    handles = drawing.legends[0].get_lines()
    dashes = [str(line._unscaled_dash_pattern) for line in handles]
    markers = [line.get_marker() for line in handles]
    assert len(set(zip(dashes, markers, strict=True))) == len(ids)
    assert (len(set(dashes[:6])), len(set(markers[:7]))) == (6, 7)


def test_scenarios_and_parameters_are_frames_and_lines_keep_their_styles():
    scenarios = [scenario_of("first"), scenario_of("second", n=30)]
    display = figure_of(scenarios=scenarios, kind="line", x="weight", panels="scenario", x_label="bound")
    rows = pd.concat(rows_of(scenario, weight=1.0) for scenario in scenarios[::-1])
    rows = rows[(rows["scenario"] == "first_n20") | (rows["synthesizer"] == "B")]
    first, second = axes_of(display, rows)
    assert [axis.get_title("left") for axis in (first, second)] == ["First, n = 20", "Second, n = 30"]
    assert [axis.get_xlabel() for axis in (first, second)] == ["bound"] * 2
    assert second.lines[0].get_marker() == first.lines[3].get_marker() != first.lines[0].get_marker()
    frames = [Panel(title=f"M = {k}", ids=(id,), epsilon=None) for k, id in ((2, "A"), (4, "B"))]
    display = figure_of(frames=frames, kind="line", x="weight", panels="M")
    drawing = drawing_of(*made(display, rows_of(scenario_of("first"), weight=1.0)))
    assert [axis.get_title("left") for axis in drawing.axes] == ["M = 2", "M = 4"]
    assert drawing.legends[0].get_title().get_text() == "n = 20, R = 3"
    crossed = figure_of(scenarios=scenarios, frames=frames, kind="line", x="weight", panels="M")
    axes = axes_of(crossed, *(rows_of(scenario, weight=1.0) for scenario in scenarios))
    assert [(axis.get_title("left"), axis.get_ylabel()) for axis in axes[:2]] == [
        ("First, n = 20", "M = 2"),
        ("Second, n = 30", ""),
    ]
    assert len(axes) == 4


def test_a_violin_has_its_median_its_middle_half_and_the_median_of_the_confidential_data():
    ids = ("Data", "A")
    rows = rows_of(SCENARIO, ids=ids, delta=[*SKEWED, *(SKEWED + 0.5)])
    (axis,) = axes_of(figure_of(ids=ids, scenarios=[SCENARIO]), rows)
    low, middle, high = QUARTERS
    assert [[low + 0.5, 1], [high + 0.5, 1]] in segments_of(axis)
    assert [[middle, 0], [middle + 0.5, 1]] in [marks.get_offsets().tolist() for marks in axis.collections]
    assert [[middle, 0], [middle, 1]] in lines_of(axis)
    assert len(lines_of(axes_of(figure_of(ids=("A",)), rows)[0])) == 0
    (lined,) = axes_of(figure_of(ids=ids, scenarios=[SCENARIO], line=3.0, line_label="three"), rows)
    assert lines_of(lined) == [[[3, 0], [3, 1]]]  # one line alone


NORMAL = np.random.default_rng(1).normal(60, 20, size=40)


@pytest.mark.parametrize(
    ("values", "words"),
    [
        (NORMAL, ""),
        ([*NORMAL[:30], *[60.0] * 10], "25 % at 60"),
        ([*NORMAL[:30], *[75.0] * 10], "25 % at ε/2"),
        ([75.0] * 40, "all at ε/2"),
        ([*NORMAL[:30], *[60.0] * 5, *[61.0] * 5], "12 % at 60\n12 % at 61"),
        (NORMAL.round(), ""),
        (np.repeat([98.0, 99.0, 100.0, 101.0], 10), ""),
    ],
    ids=["continuous", "a quarter at one value", "at the line", "all", "two values", "integers", "few integers"],
)
def test_equal_values_are_a_spike_with_their_share_but_integers_are_a_violin(values, words):
    display = figure_of(ids=("A",), scenarios=[SCENARIO], line=75.0, line_label="ε/2")
    (axis,) = axes_of(display, rows_of(SCENARIO, ids=("A",), delta=values))
    shape = [
        body
        for body in axis.collections
        if hasattr(body, "get_paths") and len(body.get_paths()) and len(body.get_paths()[0]) > 50
    ]
    spikes = [line for line in segments_of(axis) if line[0][0] == line[1][0]]
    assert len(shape) == (len(set(values)) > 1)
    assert len(spikes) == len(words.splitlines())
    assert [text for text in texts_of(axis) if text not in ("", "ε/2")] == [words] * bool(words)
    for body in shape:
        assert np.ptp(body.get_paths()[0].vertices[:, 1]) == pytest.approx(0.8)


def test_a_violin_of_integers_has_one_mode_where_they_have_one():
    """A kernel narrower than the distance of the values would have a mode at each of them."""
    values = np.repeat([98.0, 99.0, 100.0, 101.0, 102.0], [5, 8, 14, 8, 5])
    (axis,) = axes_of(figure_of(ids=("A",), scenarios=[SCENARIO]), rows_of(SCENARIO, ids=("A",), delta=values))
    outline = axis.collections[0].get_paths()[0].vertices
    upper = outline[outline[:, 1] > 0]
    heights = upper[np.argsort(upper[:, 0]), 1]
    assert (np.diff(np.sign(np.diff(heights[heights > 0.02]))) < 0).sum() == 1


def test_few_values_are_dots_and_equal_ones_a_spike():
    display = figure_of(ids=("A", "B"))
    (axis,) = axes_of(display, rows_of(scenario_of("first"), delta=[1.5] * 3 + [1.0, 3.0, 2.0]))
    assert [text for text in texts_of(axis) if text] == ["all at 1.5"]
    assert sorted(axis.collections[0].get_offsets()[:, 0]) == [1, 2, 3]
    assert [[2, 0.6], [2, 1.4]] in segments_of(axis)


def test_frames_are_side_by_side_where_they_would_be_taller_than_half_a_page():
    ids = tuple("ABCDEF")
    for number, width in ((2, 3.5), (3, 7.0)):
        frames = [Panel(title=f"M = {k}", ids=ids, epsilon=None) for k in range(number)]
        drawing = drawing_of(
            *made(figure_of(ids=ids, frames=frames, panels="M", scenarios=[SCENARIO]), rows_of(SCENARIO, ids=ids))
        )
        assert (drawing.get_figwidth(), len(drawing.axes)) == (width, number)
        assert drawing.get_figheight() <= TALLEST


@pytest.mark.parametrize(
    ("value", "kinds", "labels", "axis_label"),
    [
        ("delta", ("DP", "DP"), ["label A", "label B"], "Δ (any data set)"),
        ("delta", ("DP", "none"), ["label A\nany data set", "label B\nnone"], "Δ"),
        ("weight", ("DP", "none"), ["label A", "label B"], "Δ"),
    ],
)
def test_a_privacy_number_has_its_kind_of_guarantee(value, kinds, labels, axis_label):
    looks = {id: {"guarantee": kind} for id, kind in zip("AB", kinds, strict=True)}
    (axis,) = axes_of(
        figure_of(scenarios=[SCENARIO], value=value, looks=looks, y="Δ"), rows_of(SCENARIO, weight=SKEWED.tolist() * 2)
    )
    assert [name.get_text() for name in axis.get_yticklabels()] == labels
    assert axis.get_xlabel() == axis_label


def test_printed_values_are_ticks_or_brackets_with_their_own_legend():
    cells = [Printed(scenario=SCENARIO.id, column="delta", id=id, low=1.0, high=high) for id, high in (("A", 1.0), ("B", 3.0))]
    display = figure_of(scenarios=[SCENARIO], printed=cells)
    drawing = drawing_of(display, tidy_of(display, rows_of(SCENARIO)))
    assert [text.get_text() for text in drawing.legends[0].get_texts()][-2:] == ["printed", "printed range"]
    drawn = [np.asarray(line)[:, 0].tolist() for line in lines_of(drawing.axes[0], color="#767676")]
    assert drawn == [[1, 1], [1, 1, 3, 3]]


def test_a_density_is_filled_and_has_area_1_and_equal_values_a_line():
    rows = rows_of(SCENARIO, delta=[*NORMAL, *[1.5] * 40])
    (axis,) = axes_of(figure_of(scenarios=[SCENARIO], kind="density"), rows)
    curve, level = axis.lines
    assert np.trapezoid(curve.get_ydata(), curve.get_xdata()) == pytest.approx(1, abs=0.1)
    assert len(axis.collections) == 1
    assert set(level.get_xdata()) == {1.5}
    drawing = drawing_of(*made(figure_of(scenarios=[SCENARIO], kind="density", centred=True, zoom=4.0), rows))
    assert drawing.axes[1].get_title("left") == f"around their means\nsd {NORMAL.std(ddof=1):.3g}, 0"
    assert legend_of(drawing) == ["label A", "label B"]
    assert drawing.axes[1].get_xlim() == (-4, 4)


def test_exact_densities_are_curves_over_histograms_with_their_spread():
    x = np.linspace(-5, 5, 101)
    details = rows_of(SCENARIO, ids=("A",), count=101).drop(columns="delta").assign(x=x, density=np.exp(-(x**2) / 2) / 2.5066)
    display = figure_of(ids=("A",), scenarios=[SCENARIO], kind="density", exact=True, centred=True)
    drawing = drawing_of(*made(display, rows_of(SCENARIO, ids=("A",), delta=NORMAL), details))
    assert np.asarray(drawing.axes[0].lines[0].get_xdata()) == pytest.approx(x)
    assert len(drawing.axes[0].patches) == 40
    assert drawing.axes[1].get_title("left").endswith("sd 1")


def test_lines_go_through_means_with_two_standard_errors():
    rows = rows_of(scenario_of("first", replicates=4), weight=np.tile([0.0, 1.0], 4), delta=[1, 5, 3, 5, 2, 2, 4, 8])
    for dodge, style in ((False, "-"), (True, "None")):
        display = figure_of(scenarios=[SCENARIO], kind="line", x="weight", dodged=dodge)
        drawing = drawing_of(display, tidy_of(display, rows))
        (axis,) = drawing.axes
        assert [line[:, 1].tolist() for line in map(np.array, lines_of(axis))][::3] == [[2, 5], [3, 5]]
        assert segments_of(axis)[0][0][1] == 2 - 2 and segments_of(axis)[0][1][1] == 2 + 2  # the standard error of 1 and 3 is 1
        assert axis.lines[0].get_linestyle() == drawing.legends[0].get_lines()[0].get_linestyle() == style


def test_differences_are_taken_in_the_same_replicate():
    rows = rows_of(scenario_of("first"), weight=1.0, delta=[5.0, 7.0, 6.0, 2.0, 3.0, 1.0])
    left, right = axes_of(figure_of(kind="line", x="weight", against="label B"), rows)
    assert [line for line in lines_of(right) if line == [[1, 4]]]
    assert (left.get_ylabel(), right.get_ylabel(), right.get_title("left")) == ("", "minus label B", "difference")
    drawing = drawing_of(*made(figure_of(kind="line", x="weight", against="label B", only_differences=True), rows))
    assert [[1, 4]] in lines_of(drawing.axes[0])


def test_a_single_line_has_no_legend():
    for ids, number in (("A", 0), ("AB", 2)):
        rows = rows_of(scenario_of("first"), ids=tuple(ids), weight=1.0)
        drawing = drawing_of(*made(figure_of(ids=tuple(ids), kind="line", x="weight"), rows))
        assert len([text for legend in drawing.legends for text in legend.get_texts()]) == number


def test_a_label_without_the_parameter_across_is_a_level_line():
    ids = ("A", "B", "C")
    rows = rows_of(scenario_of("first"), ids=ids)
    drawing = drawing_of(*made(figure_of(ids=ids, kind="line", at={"A": 1.0, "B": 2.0, "C": None}), rows))
    (axis,) = drawing.axes
    assert [handle.get_marker() for handle in drawing.legends[0].get_lines()][2] == "none"
    level = rows.loc[rows["synthesizer"] == "C", "delta"].mean()
    assert [[0, pytest.approx(level)], [1, pytest.approx(level)]] in lines_of(axis)
    assert [tick.get_text() for tick in axis.get_xticklabels()] == ["1", "2"]


def test_arrows_lead_from_printed_points_of_a_result_to_ours_in_a_frame_for_each_value():
    scenario = scenario_of("first", replicates=2)
    printed = [
        Printed(scenario=scenario.id, column=column, id=id, low=low, high=low)
        for column, id, low in (("delta", "A", 7.0), ("weight", "A", 5.0), ("delta", "B", 9.0), ("weight", "B", 6.0))
    ]
    display = figure_of(
        scenarios=[scenario], kind="line", x="weight", at={"A": 0.5, "B": 4.0}, printed=printed,
        looks={"A": {"label": "same"}, "B": {"label": "same"}},
    )  # fmt: skip
    display = display.model_copy(update={"figure": display.figure.model_copy(update={"at": "epsilon"})})
    axes = axes_of(display, rows_of(scenario, weight=np.tile([1.0, 2.0], 2), delta=[2.0, 4.0, 5.0, 7.0]))
    assert [axis.get_title(loc="left") for axis in axes] == ["ε = 0.5", "ε = 4"]
    assert [lines_of(axis)[0] for axis in axes] == [[[1.5, 3]], [[1.5, 6]]]
    assert [[(text.xyann, text.xy) for text in axis.texts] for axis in axes] == [[((5, 7), (1.5, 3))], [((6, 9), (1.5, 6))]]
    for axis in axes:
        (low, high), (bottom, top) = axis.get_xlim(), axis.get_ylim()
        assert low < 1.5 and high > 6 and bottom < 3 and top > 9


def test_printed_values_are_dodged_like_ours():
    cells = [Printed(scenario=SCENARIO.id, column="delta", id=id, low=k, high=k) for k, id in enumerate("AB", 1)]
    display = figure_of(scenarios=[SCENARIO], kind="line", x="weight", x_log=True, dodged=True, printed=cells)
    (axis,) = axes_of(display, rows_of(SCENARIO, weight=np.tile([0.5, 1.0], 40), delta=[1.0] * 40 + [2.0] * 40))
    ours = [point for line in lines_of(axis) for point in line if len(line) == 2]
    printed = [points.get_offsets().tolist() for points in axis.collections if len(points.get_offsets()) == 2]
    assert [sorted(points) for points in printed] == [sorted(ours[:2]), sorted(ours[2:])]
    assert len({x for x, _ in ours}) == 4


@pytest.mark.parametrize(
    ("places", "expected"),
    [(10, ["1000", "4000", "7000", "10000"]), (8, ["1000", "3000", "5000", "7000"]), (3, ["1000", "2000", "3000"])],
)
def test_tick_labels_that_would_touch_are_thinned_evenly(places, expected):
    places = 1000 * np.arange(1, places + 1)
    scenarios = [scenario_of(name, replicates=2 * len(places)) for name in ("first", "second", "third", "fourth")]
    display = figure_of(scenarios=scenarios, kind="line", x="weight", panels="scenario", y="a", line=1.0, line_label="budget")
    axes = axes_of(display, *[rows_of(scenario, weight=np.tile(places, 4)) for scenario in scenarios])
    for axis in axes:
        assert [tick.get_text() for tick in axis.get_xticklabels() if tick.get_visible()] == expected


def test_frames_with_different_results_across_have_round_ticks():
    first, second = scenario_of("first", replicates=12), scenario_of("second", replicates=12)
    rows = [rows_of(first, weight=np.tile(np.arange(12) / 12, 2)), rows_of(second, weight=0.37)]
    for axis in axes_of(figure_of(scenarios=[first, second], kind="line", x="weight", panels="scenario"), *rows):
        assert {"0", "0.25", "0.5", "0.75"} <= {tick.get_text() for tick in axis.get_xticklabels() if tick.get_visible()}


def test_a_line_has_its_reference_printed_values_axis_from_zero_and_names_of_high_lines():
    cell = Printed(scenario=SCENARIO.id, column="delta", id="B", low=1.0, high=1.0)
    rows = rows_of(SCENARIO, weight=0.5, alone=0.2, delta=[0.0] * 40 + [70.0] * 40)
    fields = {"reference": "alone", "reference_label": "no release", "from_zero": True, "top": 9.0}
    display = figure_of(scenarios=[SCENARIO], kind="line", x="weight", printed=[cell], **fields)
    drawing = drawing_of(display, tidy_of(display, rows))
    (axis,) = drawing.axes
    assert [[0.5, pytest.approx(0.2)]] in lines_of(axis)
    assert [0.5, 1.0] in [points.get_offsets().tolist()[0] for points in axis.collections if len(points.get_offsets())]
    labels = [text.get_text() for text in drawing.legends[0].get_texts()]
    assert labels == ["label A", "no release", "printed (same shapes)"]
    assert (axis.get_yscale(), axis.get_ylim()) == ("symlog", (0, 9))
    assert texts_of(axis)[0] == "↑ label B: at least 70"


def test_points_of_records_have_a_line_at_the_largest_one():
    rows = rows_of(scenario_of("first"), weight=[0.1, 0.2, 0.4] * 2, delta=[1.0, 5.0, 3.0, 2.0, 2.0, 4.0])
    for panels, frames in (("none", 1), ("synthesizer", 2)):
        axes = axes_of(figure_of(kind="scatter", x="weight", line="delta", panels=panels), rows)
        assert len(axes) == frames
        assert axes[0].collections[0].get_offsets().tolist() == [[0.1, 1], [0.2, 5], [0.4, 3]]
        assert [text for axis in axes for text in texts_of(axis)] == ["Δ = 5", "Δ = 4"]
        assert axes[0].get_xlim() == axes[-1].get_xlim() == pytest.approx((0.088, 0.412))


def test_records_are_paired_with_their_value_before():
    rows = rows_of(SCENARIO, weight=[*np.linspace(0, 0.5, 40), *np.linspace(0.5, 1, 40)]).assign(record=list(range(40)) * 2)
    rows = rows.assign(replicate=0).iloc[::-1]
    (axis,) = axes_of(figure_of(kind="scatter", value="weight", x="weight", before={"B": "A"}, table="records"), rows)
    points = np.asarray(axis.collections[0].get_offsets())
    assert (points[:, 1] - points[:, 0]).tolist() == pytest.approx([0.5] * 40)


SIZES = [scenario_of("first", n=n, replicates=40) for n in (100, 400, 1600)]


def contracting():
    """Values whose spread is the same at each n for A, and halves with four times the records for B."""
    return [rows_of(size, delta=[*(100 + NORMAL), *(100 + NORMAL * 10 / np.sqrt(size.n))]) for size in SIZES]


def test_a_contraction_has_violins_by_sample_size_and_spreads_with_their_slopes():
    drawing = drawing_of(*made(figure_of(scenarios=SIZES, kind="contraction", law="Beta(0.5, 3)", law_of="A"), *contracting()))
    left, right = drawing.axes
    assert (left.get_yscale(), right.get_yscale()) == ("log", "log")
    assert [label.get_text() for label in left.get_xticklabels()] == ["100", "400", "1600"]
    assert len(left.collections) == 6  # two at each size
    assert np.array(lines_of(right, marker="^")[0])[:, 1] / NORMAL.std(ddof=1) == pytest.approx([1, 0.5, 0.25])
    constant, falling = legend_of(drawing)
    assert constant.startswith(("label A: slope 0.00 ± 0.", "label A: slope −0.00 ± 0."))
    assert falling.startswith("label B: slope −0.50 ± 0.")


def test_a_spread_is_the_standard_deviation_at_each_sample_size_with_two_standard_errors():
    (axis,) = axes_of(figure_of(scenarios=SIZES, kind="spread", law="Beta(0.5, 3)", law_of="A"), *contracting())
    (constant,), (falling,) = ([np.array(line) for line in lines_of(axis, marker=marker)] for marker in "o^")
    assert constant[:, 1] / NORMAL.std(ddof=1) == pytest.approx([1, 1, 1])
    assert falling[:, 1] / NORMAL.std(ddof=1) == pytest.approx([1, 0.5, 0.25])
    low, high = np.array(segments_of(axis)[0])[:, 1] / NORMAL.std(ddof=1)
    error = jackknife(NORMAL[:, None], "sd").error(np.log)[0]
    assert (low, high) == pytest.approx((np.exp(-2 * error), np.exp(2 * error)))
    assert texts_of(axis) == ["label A", "label B", "limit law"]
    law = lines_of(axis, color=INK)[0]
    assert np.array(law)[:, 1] == pytest.approx(np.pi / (4 * np.sqrt(6)), abs=0.01)
    for replicates, lines in ((2, 2), (1, 0)):
        tables = [table[table["replicate"] < replicates] for table in contracting()]
        (axis,) = axes_of(figure_of(scenarios=SIZES, kind="spread"), *tables)
        assert sum(len(lines_of(axis, marker=marker)) for marker in "o^") == lines


def test_a_frontier_has_lines_from_the_claim_to_the_loss_found():
    display = figure_of(kind="frontier", value="ecdf_max", looks={"B": STRICT})
    (axis,) = axes_of(display, rows_of(SCENARIO, count=3, audited=99.0, ecdf_max=[0.1, 0.2, 0.9] * 2), audit_of(SCENARIO))
    line, claimed, audited, strict = lines_of(axis)[:4]
    assert (line, claimed, audited) == ([[1, 0.2], [2, 0.2]], [[1, 0.2]], [[2, 0.2]])
    assert strict == [[2, 0.2], [2, 0.2]]
    assert axis.get_xlim()[1] == 4.5
    names = {text.get_text(): text.get_position() for text in axis.texts}
    assert list(names) == ["label A", "label B"]
    assert names["label A"][1] < names["label B"][1]


def test_utility_is_drawn_at_medians_with_middle_halves_and_names():
    looks = {id: STRICT | {"label": f"Ours, ε = {k}", "epsilon": k} for id, k in (("A", 0.5), ("B", 1.0), ("C", 2.0))}
    looks |= {"D": {"label": "Weighted, min-max"}, "E": STRICT | {"label": "Theirs, ε = 2", "epsilon": 2.0}}
    values = 0.01 + SKEWED / 1600
    ids = tuple(looks)
    display = figure_of(ids=ids, scenarios=[SCENARIO], kind="guaranteed", value="ecdf_max", looks=looks)
    (axis,) = axes_of(display, rows_of(SCENARIO, ids=ids, ecdf_max=np.tile(values, 5)))
    low, middle, high = np.quantile(values, [0.25, 0.5, 0.75])
    ours, other, theirs = (np.array(line) for line in lines_of(axis, marker="o"))
    assert ours[:, 0].tolist() == [0.5, 1, 2]
    assert [*ours[:, 1], *other[:, 1], *theirs[:, 1]] == pytest.approx([middle] * 5)
    assert segments_of(axis)[0] == [[0.5, low], [0.5, high]]
    assert other[0, 0] > 5
    assert texts_of(axis) == ["Ours", "Weighted, min-max", "Theirs"]
    assert [label.get_text() for label in axis.get_xticklabels()] == ["0.5", "1", "2"]


def test_needed_records_are_those_at_which_the_error_is_as_large_as_the_target():
    """The error is the root of 1 + 3 c / n, which is 2 at n = c; the smallest n is the least that is drawn."""
    factor = [np.sqrt(1 + 3 * np.repeat([1000.0, 10.0], 40) / size.n) for size in SIZES]
    display = figure_of(scenarios=SIZES, kind="needed", target=2, at={"A": 3.0, "B": 1.0}, looks={"B": {"label": "label A"}})
    (axis,) = axes_of(display, *(rows_of(size, delta=values) for size, values in zip(SIZES, factor, strict=True)))
    assert lines_of(axis)[0] == [[1, pytest.approx(100)], [3, pytest.approx(1000)]]
    assert texts_of(axis) == ["label A"]


def test_budgets_have_medians_and_ranges_over_data_sets_and_a_broken_claim_in_bold():
    fields = {"kind": "budgets", "table": "audit", "value": ["claimed", "audited", "attacked"], "rows": FIRST}
    audit = audit_of(SCENARIO)
    audit.loc[audit["synthesizer"] == "B", "claimed"] = 99.0
    (axis,) = axes_of(figure_of(scenarios=[SCENARIO], y="ε", **fields), audit)
    points = [[[x, round(y)] for x, y in marks.get_offsets()] for marks in axis.collections if len(marks.get_offsets()) == 2]
    approx = [[[pytest.approx(x), k] for k, x in enumerate(pair)] for pair in ([1, 99], [2, 4], [0.2, 0.4], [0.6, 1.2])]
    assert points == approx
    ranges = [[segment[0][0], segment[1][0]] for segment in segments_of(axis)[::2]]
    assert ranges == [pytest.approx(ends) for ends in ([1, 1], [1, 3], [0.1, 0.3], [0.3, 0.9])]
    looks = {name.get_text(): (name.get_fontweight(), name.get_color()) for name in axis.get_yticklabels()}
    assert list(looks) == ["label A", "label B"]
    assert looks["label A"] == ("bold", BROKEN)
    assert looks["label B"][0] == "normal"
    assert "bold red" in axis.get_xlabel()
    audit["claimed"] = audit["synthesizer"].map({"A": 10.0, "B": 99.0})  # as much as claimed is not more
    (axis,) = axes_of(figure_of(scenarios=[SCENARIO], y="ε", **fields), audit)
    assert axis.get_xlabel() == "ε"


def test_the_share_of_data_sets_is_against_either_claim():
    fields = {"kind": "exceedance", "table": "audit", "value": ["audited", "claimed", "claimed_larger"], "rows": FIRST}
    audit = audit_of(SCENARIO)
    first, second = axes_of(figure_of(scenarios=[SCENARIO], **fields), audit[audit["neighbour"] != "replace"])
    assert [axis.get_title(loc="left") for axis in (first, second)] == [
        "against the claim on the data set", "against the larger claim of both neighbours",
    ]  # fmt: skip
    # the costs 1, 2 and 3 against 1 and 3
    assert [lines_of(axis)[0][0][1] for axis in (first, second)] == [pytest.approx(2 / 3), 0]
    low, high = np.array(segments_of(first)[0])[:, 1]
    assert (low, high) == pytest.approx((0.094, 0.992), abs=1e-3)  # Clopper and Pearson, 2 of 3


def test_an_attack_is_over_what_either_claim_allows():
    fields = {
        "kind": "trade_off",
        "table": "audit",
        "value": "error",
        "panels": "synthesizer",
        "rows": {"candidate": "error rates"},
    }
    frames = axes_of(figure_of(looks={"B": STRICT}, **fields), audit_of(scenario_of("first")))
    for k, (axis, delta) in enumerate(zip(frames, (1e-3, 0), strict=False), 1):
        assert texts_of(axis) == [f"claimed {k}\nattacked {0.9 * k:.2g}"]
        assert lines_of(axis)[0][:2] == [[0.005, 1], [0.01, pytest.approx(0.99**2)]]  # a share of none is at the edge
        for claimed, region in zip((3 * k, k), axis.collections, strict=True):
            edge = dict(region.get_paths()[0].vertices.tolist()[1:200])
            x = np.array(list(edge))
            limit = np.maximum.reduce([1 - delta - np.exp(claimed) * x, np.exp(-claimed) * (1 - delta - x), 0.005 + 0 * x])
            assert list(edge.values()) == pytest.approx(limit.tolist())
