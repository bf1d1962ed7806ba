"""Every kind of figure and table with no, one, equal, nearly equal, negative, zero and infinite values, and with failures."""

import numpy as np
import pandas as pd
import pytest
from formalsynth.core.rows import AUDIT
from formalsynth.displays.figure import FIGURES
from formalsynth.displays.table import TABLES
from formalsynth.show.captions import caption, not_drawn
from formalsynth.show.draw import drawing_of
from formalsynth.show.painter import painter_of
from formalsynth.show.tidy import figure_table, table_of
from made_up_displays import figure_of, rows_of, scenario_of, table_display
from matplotlib.text import Text

REPLICATES = 40
SCENARIOS = [scenario_of("first", n=n, replicates=REPLICATES) for n in (100, 400)]
PLACES = np.arange(REPLICATES)
NOISE = np.random.default_rng(1).lognormal(size=REPLICATES)
CASES = {
    "none": np.full(REPLICATES, np.nan),
    "one": np.where(PLACES == 3, 1.5, np.nan),
    "equal": np.full(REPLICATES, 1.5),
    "nearly equal": 1.5 + 1e-15 * PLACES,
    "negative": -NOISE,
    "zero": np.zeros(REPLICATES),
    "zero and one": (PLACES < 3).astype(float),
    "tiny": 1e-9 * NOISE,
    "infinite": np.full(REPLICATES, np.inf),
    "partly infinite": np.where(PLACES < 20, np.inf, NOISE),
    "partly minus infinite": np.where(PLACES < 20, -np.inf, NOISE),
}
"""Values of synthesizer A in 40 replicates."""
ALONE = ("none", "zero", "infinite")
"""Cases in which synthesizer B has ordinary values, too."""
COLUMNS = ("delta", "weight", "ecdf_max", "audited", "claimed", "claimed_larger", "attacked", "error", "value")
PART = {"scenario": ["first"], "value": "delta", "synthesizers": ["A", "B"]}
FIELDS = {
    "budgets": [{"value": ["claimed", "audited", "attacked"], "table": AUDIT}],
    "contraction": [{"panels": "synthesizer"}],
    "density": [{"centred": True}],
    "ecdf": [{}, {"log": True, "panels": "scenario"}],
    "exceedance": [{"value": ["audited", "claimed", "claimed_larger"], "table": AUDIT}],
    "frontier": [{"value": "ecdf_max"}],
    "guaranteed": [{"value": "ecdf_max"}],
    "line": [
        {"x": "theta"},
        {"x": "theta", "log": True, "x_log": True, "against": "label B", "top": 9.0},
        {"x": "weight", "at": {"A": 0.5, "B": 0.5}, "log": True},
        {"x": "weight", "from_zero": True, "x_log": True, "dodged": True},
    ],
    "scatter": [{"x": "weight", "line": "delta", "panels": "synthesizer"}],
    "sheet": [{"value": "", "synthesizers": [], "scenario": ["first"], "parts": {"a": PART, "b": PART | {"log": True}}}],
    "trade_off": [{"panels": "synthesizer", "table": AUDIT, "value": "error"}],
    "violin": [{"log": True}, {"panels": "synthesizer"}, {"value": ["delta", "weight"], "log": True}],
}
"""Fields that a kind needs, or that change its drawing; a kind that is not here has a value alone."""
DRAWN = [(kind, fields) for kind in FIGURES for fields in FIELDS.get(kind, [{}])]


def display_of(kind, fields):
    display = figure_of(scenarios=SCENARIOS, kind=kind, **fields)
    parts = {letter: figure_of(scenarios=SCENARIOS, **part) for letter, part in fields.get("parts", {}).items()}
    return display.model_copy(update={"parts": parts})


def collected(values, others, neighbours=False):
    """Collected tables of both scenarios: replicates, or an audit of two neighbours."""
    column = np.append(values, others)
    failed = {"status": np.where(np.isnan(column), "failed", "ok"), "reason": np.where(np.isnan(column), "no draws", None)}
    fields = {"candidate": "grid", "releases": 1, "streams": 1, "theta": np.tile([0.0, 1.0], REPLICATES)}
    tables = [rows_of(scenario).assign(**dict.fromkeys(COLUMNS, column), **fields, **failed) for scenario in SCENARIOS]
    if not neighbours:
        return tables
    return [table.assign(neighbour=kind, delta=0.001) for table in tables for kind in ("add", "remove")]


def drawn(display, tables, folder):
    """The tidy table of a figure, read from its file, and the drawing."""
    figure_table(display, tables).to_csv(folder / "fig.csv", index=False)
    tidy = pd.read_csv(folder / "fig.csv", keep_default_na=False, na_values=[""])
    return tidy, drawing_of(display, tidy)


def words_of(drawing):
    return "\n".join(text.get_text().replace("\n", " ") for text in drawing.findobj(Text))


@pytest.mark.parametrize(
    ("case", "others"), [*((case, CASES[case]) for case in CASES), *((case, NOISE) for case in ALONE)],
    ids=[*CASES, *(f"{case} in A" for case in ALONE)],
)  # fmt: skip
@pytest.mark.parametrize(("kind", "fields"), DRAWN, ids=[kind for kind, _ in DRAWN])
def test_a_figure_is_drawn(tmp_path, kind, fields, case, others):
    display = display_of(kind, fields)
    tables = []
    for audited in (False, True):
        if audited == (display.table == AUDIT) or kind == "frontier":
            tables += collected(CASES[case], others, audited)
    tidy, drawing = drawn(display, tables, tmp_path)
    words = words_of(drawing)
    assert caption(display, not_drawn(display, tidy), painter_of(display).printed_range(tidy))
    if case == "infinite":
        assert "infinite" in words
    if case == "none" and kind != "frontier":  # which shows audited data sets alone
        assert "failed (no draws)" in words
    if case == "zero" and fields.get("log"):
        assert "no value above 0" in words


def test_values_above_0_are_drawn_next_to_a_row_without(tmp_path):
    """The figures of a job are lost if one of them cannot be drawn."""
    display = display_of("violin", {"log": True})
    _, drawing = drawn(display, collected(np.zeros(REPLICATES), NOISE), tmp_path)
    (axis,) = drawing.axes
    assert [name.get_text() for name in axis.get_yticklabels()] == ["label A", "label B"]
    assert "no value above 0" in words_of(drawing)


def test_an_empty_frame_has_its_title_and_its_warning(tmp_path):
    scenarios = [scenario_of("first", n=100, replicates=REPLICATES, stand_in=True)]
    display = figure_of(scenarios=scenarios, kind="line", x="theta", log=True, subject="Lines")
    _, drawing = drawn(display, collected(np.zeros(REPLICATES), np.zeros(REPLICATES)), tmp_path)
    words = words_of(drawing)
    assert "Lines" in words and "STAND-IN" in words and "no value above 0" in words


def test_a_row_of_failures_is_empty_with_the_reason_and_a_frame_counts_what_is_drawn(tmp_path):
    """A has no results, and four of the forty fits of B failed."""
    scenarios = [scenario_of("first", replicates=REPLICATES)]
    for synthesizers, lost, counted in (("A", 40, "R = 40"), ("B", 4, "R = 36 to 40")):
        table = rows_of(scenarios[0]).assign(status="ok", reason=None)
        failed = (table["synthesizer"] == synthesizers) & (table["replicate"] < lost)
        table = table.assign(delta=table["delta"].mask(failed), reason=np.where(failed, "R-hat 1.31 is above 1.05", None))
        _, drawing = drawn(figure_of(scenarios=scenarios), [table], tmp_path)
        (axis,) = drawing.axes
        assert [name.get_text() for name in axis.get_yticklabels()] == ["label A", "label B"]
        notes = [text.get_text() for text in axis.texts]
        assert notes == (["failed (R-hat 1.31 is above 1.05)"] if lost == 40 else ["4 of 40: failed"])
        assert axis.get_title(loc="right") == f"n = 20, {counted}"


def test_infinite_values_count_where_shares_are_drawn(tmp_path):
    _, drawing = drawn(display_of("ecdf", {}), collected(CASES["partly infinite"], NOISE), tmp_path)
    (first, second) = drawing.axes[0].lines
    assert [np.isfinite(line.get_xdata()).sum() for line in (first, second)] == [42 // 2, 41]


@pytest.mark.filterwarnings("ignore:invalid value")
@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("kind", TABLES)
def test_a_table_is_made(kind, case):
    """An estimate of infinite values is infinite or missing, and no values have no estimate."""
    fields = {"value": "delta"} if "value" in TABLES[kind].model_fields else {}
    rows = TABLES[kind].model_construct(**fields).rows_allowed() or ["delta"]
    display = table_display(ids=("A",), scenarios=SCENARIOS[:1], kind=kind, statistics=[rows[0]], **fields)
    tables = {name: pd.concat(collected(CASES[case], NOISE, name == AUDIT)) for name in ("replicates", "sets", "values", AUDIT)}
    column = rows[0].rpartition("_")[0] if kind == "interval" else rows[0]
    tables |= {name: table.assign(**{column: table["delta"]}) for name, table in tables.items() if name != AUDIT}
    made = table_of(display, tables)
    assert len(made) == 1
    if case == "none":
        assert made["estimate"].isna().all()
