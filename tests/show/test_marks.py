"""Marks of each kind of figure: where its drawing has points, lines, bars and names, for data with known answers."""

import numpy as np
import pandas as pd
import pytest
from made_up_displays import FIRST, STRICT, audit_of, figure_of, rows_of, scenario_of, tidy_of

from formalsynth.core.statistics import jackknife
from formalsynth_workflow.show.display import Panel, Printed
from formalsynth_workflow.show.draw import drawing_of
from formalsynth_workflow.show.figures.budgets import BROKEN
from formalsynth_workflow.show.figures.line import OURS, PRINTED_FRAME, shifted
from formalsynth_workflow.show.figures.violin import BINS, HALF, POINTS, bars
from formalsynth_workflow.show.style import CONTRAST, contrast

SCENARIO = scenario_of("first", replicates=40)
SKEWED = np.arange(40.0) ** 2
QUARTERS = np.quantile(SKEWED, [0.25, 0.5, 0.75])


def axes_of(display, *collected):
    """The frames of a drawing."""
    return drawing_of(display, tidy_of(display, *collected)).axes


def texts_of(axis):
    return [text.get_text() for text in axis.texts]


def lines_of(axis, **look):
    """Coordinates of the lines of a frame that look like this."""
    chosen = [line for line in axis.lines if all(getattr(line, f"get_{key}")() == value for key, value in look.items())]
    return [np.asarray(line.get_xydata(), float).tolist() for line in chosen]


def segments_of(axis):
    """Ends of the vertical and horizontal bars of a frame."""
    return [segment.tolist() for bar in axis.collections if hasattr(bar, "get_segments") for segment in bar.get_segments()]


def test_an_ecdf_is_the_share_of_values_up_to_there():
    rows = rows_of(SCENARIO, delta=[*np.repeat([1.0, 2.0, np.inf], [10, 20, 10]), *np.arange(1.0, 41)])
    (axis,) = axes_of(figure_of(scenarios=[SCENARIO], kind="ecdf"), rows)
    tied, distinct = (np.array(line.get_xydata()) for line in axis.lines)
    assert tied[:3].tolist() == [[1, 0], [1, 0.25], [2, 0.75]]
    assert distinct[1:].tolist() == [[k, pytest.approx(k / 40)] for k in range(1, 41)]
    assert {line.get_drawstyle() for line in axis.lines} == {"steps-post"}


def test_lines_differ_without_colours_and_have_markers_at_different_places():
    ids = tuple("ABCDEFGHIJKLMNOP")
    (axis,) = axes_of(figure_of(ids=ids, kind="ecdf"), rows_of(scenario_of("first"), ids=ids))
    dashes = [str(line._unscaled_dash_pattern) for line in axis.lines]
    markers = [line.get_marker() for line in axis.lines]
    assert len(set(zip(dashes, markers, strict=True))) == len(ids)
    assert (len(set(dashes[:6])), len(set(markers[:7]))) == (6, 7)
    assert len({line.get_markevery()[0] for line in axis.lines}) == len(ids)


def test_scenarios_and_parameters_are_frames_and_lines_keep_their_styles():
    scenarios = [scenario_of("first"), scenario_of("second", n=30)]
    display = figure_of(scenarios=scenarios, kind="ecdf", panels="scenario", y="bound")
    rows = pd.concat(rows_of(scenario) for scenario in scenarios[::-1])
    rows = rows[(rows["scenario"] == "first_n20") | (rows["synthesizer"] == "B")]
    first, second = axes_of(display, rows)
    assert [axis.get_title("left") for axis in (first, second)] == ["First", "Second"]
    assert [axis.get_title("right") for axis in (first, second)] == ["n = 20, R = 3", "n = 30, R = 3"]
    assert (first.get_xlabel(), second.get_xlabel()) == ("", "bound")
    assert second.lines[0].get_marker() == first.lines[1].get_marker() != first.lines[0].get_marker()
    frames = [Panel(title=f"M = {k}", ids=(id,), epsilon=None) for k, id in ((2, "A"), (4, "B"))]
    axes = axes_of(figure_of(frames=frames, kind="ecdf", panels="M"), rows_of(scenario_of("first")))
    assert [axis.get_title("left") for axis in axes] == ["M = 2", "M = 4"]


def test_a_violin_has_its_median_its_middle_half_and_the_confidential_data():
    ids = ("Data", "A")
    rows = rows_of(SCENARIO, ids=ids, delta=[*SKEWED, *(SKEWED + 0.5)])
    (axis,) = axes_of(figure_of(ids=ids, scenarios=[SCENARIO]), rows)
    low, middle, high = QUARTERS
    assert [[middle + 0.5, 1]] in lines_of(axis)
    assert [[low + 0.5, 1], [high + 0.5, 1]] in lines_of(axis)
    band = next(patch for patch in axis.patches if patch.get_alpha())
    assert (band.get_x(), band.get_width()) == pytest.approx((low, high - low))
    assert "confidential data" in texts_of(axis)
    assert "confidential data" not in texts_of(axes_of(figure_of(ids=("A",)), rows)[0])


NORMAL = np.random.default_rng(1).normal(60, 20, size=40)


@pytest.mark.parametrize(
    ("frames", "binned"),
    [
        ([NORMAL], False),
        ([NORMAL.round(2) / 2000], False),
        ([NORMAL.round(-1)], True),
        ([np.append(NORMAL[:35], [60.0] * 5)], True),
        ([NORMAL, np.arange(40.0) % 5], True),
    ],
    ids=["continuous", "multiples of a small share", "whole numbers", "an eighth at one value", "ties in another frame"],
)
def test_frames_of_one_quantity_have_outlines_or_where_values_are_tied_bars(frames, binned):
    display = figure_of(scenarios=[SCENARIO])
    tables = [
        tidy_of(display, rows_of(SCENARIO, delta=[*NORMAL, *values])).assign(panel=str(k)) for k, values in enumerate(frames)
    ]
    for axis in drawing_of(display, pd.concat(tables)).axes:
        heights = [np.ptp(shape.get_paths()[0].vertices[:, 1]) for shape in axis.collections]
        outlines = [height for height, shape in zip(heights, axis.collections, strict=True) if len(shape.get_paths()[0]) > POINTS]
        assert outlines == pytest.approx([] if binned else [2 * HALF] * 2)
        assert max((bar.get_height() for bar in axis.patches), default=0) == pytest.approx(2 * HALF * binned)


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
    across, halves, gap = bars(values, span)
    middles, shown = (across[:-1] + across[1:]) / 2, halves > 0
    most = max(set(values), key=list(values).count)
    assert middles[halves.argmax()] == pytest.approx(most)
    assert halves.max() == pytest.approx(HALF)
    assert (gap > 0) == (most == round(most))  # integers have bars of their own
    assert np.abs(values[:, None] - middles[shown]).min(axis=1).max() <= np.diff(across).max() / 2 + 1e-9
    if np.diff(across).max() <= 1:
        whole = [value for value in set(values) if value == round(value)]
        assert all(np.abs(middles[shown] - value).min() < 1e-9 for value in whole)
    assert 4 <= (span[1] - span[0]) / np.diff(across).max() <= 2 * BINS
    assert np.histogram(values, across)[0][shown].sum() == len(values)


def test_few_values_are_dots_and_equal_ones_a_tick():
    display = figure_of(ids=("A", "B"))
    drawing = drawing_of(display, tidy_of(display, rows_of(scenario_of("first"), delta=[1.5] * 3 + [1.0, 3.0, 2.0])))
    (axis,) = drawing.axes
    assert texts_of(axis) == ["all = 1.5"]
    assert sorted(axis.collections[0].get_offsets()[:, 0]) == [1, 2, 3]
    assert [[2, 0.6], [2, 1.4]] in lines_of(axis)
    assert not drawing.legends  # nothing has a marker of its guarantee


def test_printed_values_are_ticks_or_brackets_with_their_own_legend():
    cells = [Printed(scenario=SCENARIO.id, column="delta", id=id, low=1.0, high=high) for id, high in (("A", 1.0), ("B", 3.0))]
    display = figure_of(scenarios=[SCENARIO], printed=cells)
    drawing = drawing_of(display, tidy_of(display, rows_of(SCENARIO)))
    assert [text.get_text() for text in drawing.legends[0].get_texts()][-2:] == ["printed", "printed range"]
    drawn = [np.asarray(line)[:, 0].tolist() for line in lines_of(drawing.axes[0], color="#767676")]
    assert drawn == [[1, 1], [1, 1, 3, 3]]


def test_a_density_has_area_1_and_equal_values_a_line():
    rows = rows_of(SCENARIO, delta=[*NORMAL, *[1.5] * 40])
    (axis,) = axes_of(figure_of(scenarios=[SCENARIO], kind="density"), rows)
    curve, level = axis.lines
    assert np.trapezoid(curve.get_ydata(), curve.get_xdata()) == pytest.approx(1, abs=0.1)
    assert set(level.get_xdata()) == {1.5}
    assert texts_of(axis) == ["label B: all = 1.5"]
    _, second = axes_of(figure_of(scenarios=[SCENARIO], kind="density", centred=True, zoom=4.0), rows)
    assert f"sd label A: {NORMAL.std(ddof=1):.3g}\nsd label B: 0" in texts_of(second)
    assert second.get_xlim() == (-4, 4)


def test_exact_densities_are_curves_over_histograms_with_their_spread():
    x = np.linspace(-5, 5, 101)
    details = rows_of(SCENARIO, ids=("A",), count=101).drop(columns="delta").assign(x=x, density=np.exp(-(x**2) / 2) / 2.5066)
    display = figure_of(ids=("A",), scenarios=[SCENARIO], kind="density", exact=True, centred=True)
    first, second = axes_of(display, rows_of(SCENARIO, ids=("A",), delta=NORMAL), details)
    assert np.asarray(first.lines[0].get_xdata()) == pytest.approx(x)
    assert len(first.patches) == 40
    assert texts_of(second) == ["sd label A: 1"]


def test_lines_go_through_means_with_two_standard_errors():
    rows = rows_of(scenario_of("first", replicates=4), weight=np.tile([0.0, 1.0], 4), delta=[1, 5, 3, 5, 2, 2, 4, 8])
    for dodge, style in ((False, "-"), (True, "None")):
        display = figure_of(scenarios=[SCENARIO], kind="line", x="weight", dodged=dodge)
        drawing = drawing_of(display, tidy_of(display, rows))
        (axis,) = drawing.axes
        assert [line[:, 1].tolist() for line in map(np.array, lines_of(axis))][::3] == [[2, 5], [3, 5]]
        assert segments_of(axis)[0][0][1] == 2 - 2 and segments_of(axis)[0][1][1] == 2 + 2  # the standard error of 1 and 3 is 1
        assert axis.lines[0].get_linestyle() == drawing.legends[0].get_lines()[0].get_linestyle() == style


def test_shifted_points_stay_within_their_place_and_in_their_order():
    across = pd.Series([1.0, 2.0, 4.0])
    for log, step in ((False, 1.0), (True, np.log(2))):
        moved = np.array([shifted(across, share, log) for share in (-1 / 3, 0, 1 / 3)])
        places = np.log(moved) if log else moved
        assert (np.diff(places, axis=0) > 0).all()
        assert np.ptp(places, axis=0) == pytest.approx([0.4 * step] * 3)
        assert moved[1] == pytest.approx(across.to_numpy())


def test_differences_are_taken_in_the_same_replicate():
    rows = rows_of(scenario_of("first"), weight=1.0, delta=[5.0, 7.0, 6.0, 2.0, 3.0, 1.0])
    left, right = axes_of(figure_of(kind="line", x="weight", against="label B"), rows)
    assert [line for line in lines_of(right) if line == [[1, 4]]]
    assert (left.get_ylabel(), right.get_ylabel()) == ("", "minus label B")
    display = figure_of(kind="line", x="weight", at={"A": 1.0, "B": 1.0}, against="label B")
    moved = rows.assign(weight=[4.0, 4.0, 4.0, 1.0, 2.0, 0.0])
    assert [line for line in lines_of(axes_of(display, moved)[1]) if line == [[3, 4]]]


def test_a_label_without_the_parameter_across_is_a_level_line():
    ids = ("A", "B", "C")
    rows = rows_of(scenario_of("first"), ids=ids)
    (axis,) = axes_of(figure_of(ids=ids, kind="line", at={"A": 1.0, "B": 2.0, "C": None}), rows)
    level = rows.loc[rows["synthesizer"] == "C", "delta"].mean()
    assert [[0, pytest.approx(level)], [1, pytest.approx(level)]] in lines_of(axis)
    assert [tick.get_text() for tick in axis.get_xticklabels()] == ["1", "2"]


def test_printed_points_of_a_result_have_a_frame_of_their_own_with_the_parameter_at_points():
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
    left, right = axes_of(display, rows_of(scenario, weight=np.tile([1.0, 2.0], 2)))
    assert [axis.get_title(loc="left") for axis in (left, right)] == [PRINTED_FRAME, OURS]
    assert lines_of(left)[0] == [[5, 7], [6, 9]]
    assert {"ε = 0.5", "4"} <= set(texts_of(left))
    assert np.array(lines_of(right)[0])[:, 0].tolist() == [1.5, 1.5]


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
    assert {"no release", "printed (same shapes)"} <= set(labels)
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


SIZES = [scenario_of("first", n=n, replicates=40) for n in (100, 400, 1600)]


def contracting():
    """Values whose spread is the same at each n for A, and halves with four times the records for B."""
    return [rows_of(size, delta=[*(100 + NORMAL), *(100 + NORMAL * 10 / np.sqrt(size.n))]) for size in SIZES]


def test_a_contraction_has_its_slope_and_the_cone_of_the_rate():
    constant, falling = axes_of(figure_of(scenarios=SIZES, kind="contraction"), *contracting())
    assert texts_of(constant)[0].startswith("slope 0.00 ±") or texts_of(constant)[0].startswith("slope −0.00 ±")
    assert texts_of(falling)[0].startswith("slope −0.50 ±")
    middle = np.median(100 + NORMAL)
    cone = constant.collections[0].get_paths()[0].vertices
    outer = np.quantile(100 + NORMAL, [0.05, 0.95]) / middle
    assert sorted(set(cone[np.isclose(cone[:, 0], 100), 1].round(9))) == pytest.approx(outer)
    at_end = 1 + (outer - 1) / 4
    assert sorted(set(cone[np.isclose(cone[:, 0], 1600), 1].round(9))) == pytest.approx(at_end)
    quarters = np.quantile(100 + NORMAL, [0.25, 0.75]) / middle
    assert segments_of(constant)[0] == [[100, pytest.approx(quarters[0])], [100, pytest.approx(quarters[1])]]


def test_a_spread_is_the_standard_deviation_at_each_sample_size_with_two_standard_errors():
    (axis,) = axes_of(figure_of(scenarios=SIZES, kind="spread", law="Beta(0.5, 3)", law_of="A"), *contracting())
    constant, falling = (np.array(line) for line in lines_of(axis, marker="o"))
    assert constant[:, 1] / NORMAL.std(ddof=1) == pytest.approx([1, 1, 1])
    assert falling[:, 1] / NORMAL.std(ddof=1) == pytest.approx([1, 0.5, 0.25])
    low, high = np.array(segments_of(axis)[0])[:, 1] / NORMAL.std(ddof=1)
    error = jackknife(NORMAL[:, None], "sd").error(np.log)[0]
    assert (low, high) == pytest.approx((np.exp(-2 * error), np.exp(2 * error)))
    assert {"label A", "label B", "limit law of\nlabel A"} <= set(texts_of(axis))
    (law,) = lines_of(axis, linestyle="--")
    assert np.array(law)[:, 1] == pytest.approx(np.pi / (4 * np.sqrt(6)), abs=0.01)
    for replicates, lines in ((2, 2), (1, 0)):
        tables = [table[table["replicate"] < replicates] for table in contracting()]
        (axis,) = axes_of(figure_of(scenarios=SIZES, kind="spread"), *tables)
        assert len(lines_of(axis, marker="o")) == lines


def test_a_frontier_has_medians_with_a_line_to_the_claim():
    display = figure_of(kind="frontier", value="ecdf_max", looks={"B": STRICT})
    (axis,) = axes_of(display, rows_of(SCENARIO, count=3, audited=99.0, ecdf_max=[0.1, 0.2, 0.9] * 2), audit_of(SCENARIO))
    line, mark, strict, strict_mark = lines_of(axis)[:4]
    assert (line, mark) == ([[2, 0.2], [1, 0.2]], [[2, 0.2]])
    assert (strict, strict_mark) == ([[2, 0.2], [2, 0.2]], [[2, 0.2]])
    assert axis.get_xlim()[1] == 9
    names = {text.get_text(): text.xy for text in axis.texts}
    assert names["label A"][0] == 2 and names["label A"][1] < names["label B"][1]
    assert "sampling error" in names


def test_utility_is_drawn_at_medians_with_middle_halves_and_names():
    looks = {id: STRICT | {"label": f"Ours, ε = {k}", "epsilon": k} for id, k in (("A", 0.5), ("B", 1.0), ("C", 2.0))}
    looks |= {"D": {"label": "Weighted, min-max"}, "E": STRICT | {"label": "Theirs, ε = 2", "epsilon": 2.0}}
    values = 0.01 + SKEWED / 1600
    ids = tuple(looks)
    display = figure_of(ids=ids, scenarios=[SCENARIO], kind="guaranteed", value="ecdf_max", looks=looks)
    (axis,) = axes_of(display, rows_of(SCENARIO, ids=ids, ecdf_max=np.tile(values, 5)))
    low, middle, high = np.quantile(values, [0.25, 0.5, 0.75])
    ours, other, theirs = (np.array(line) for line in lines_of(axis, linestyle="-"))
    assert np.exp(ours[:, 0]) == pytest.approx([0.5, 1, 2])
    assert [*ours[:, 1], *other[:, 1], *theirs[:, 1]] == pytest.approx([middle] * 5)
    assert segments_of(axis)[0] == [[pytest.approx(np.log(0.5)), low], [pytest.approx(np.log(0.5)), high]]
    assert other[0, 0] > np.log(2)
    assert {"Ours", "Theirs", "Weighted, min-max", "sampling error"} <= set(texts_of(axis))
    assert [label.get_text() for label in axis.get_xticklabels()] == ["0.5", "1", "2", ""]
    assert all(contrast(line.get_color()) >= CONTRAST for line in axis.lines)


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
