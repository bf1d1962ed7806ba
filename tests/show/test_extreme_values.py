"""Every kind of figure and table with no, one, equal, nearly equal, negative, zero and infinite values, and with failures."""

import numpy as np
import pandas as pd
import pytest
from made_up_displays import DRAWN, figure_of, rows_of, scenario_of, table_display, tidy_of
from matplotlib.text import Text

from formalsynth.core.rows import AUDIT
from formalsynth_workflow.show.captions import caption, not_drawn
from formalsynth_workflow.show.draw import drawing_of
from formalsynth_workflow.show.table import TABLES
from formalsynth_workflow.show.tidy import table_of

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
"""Values of a synthesizer in 40 replicates."""
PAIRS = [(name, CASES[name]) for name in ("none", "one", "zero", "tiny", "infinite")]
PAIRS += [("none", NOISE), ("zero", NOISE), ("equal", CASES["nearly equal"]), ("zero and one", CASES["negative"])]
PAIRS += [("partly infinite", CASES["partly minus infinite"])]
"""Names of the values of synthesizer A, and the values of synthesizer B."""
COLUMNS = ("delta", "weight", "ecdf_max", "audited", "claimed", "claimed_larger", "attacked", "error", "value")


def collected(values, others, neighbours=False):
    """Collected tables of both scenarios: replicates, or an audit of two neighbours."""
    column = np.append(values, others)
    failed = {"status": np.where(np.isnan(column), "failed", "ok"), "reason": np.where(np.isnan(column), "no draws", None)}
    fields = {"candidate": "grid", "releases": 1, "streams": 1, "theta": np.tile([0.0, 1.0], REPLICATES)}
    tables = [rows_of(scenario).assign(**dict.fromkeys(COLUMNS, column), **fields, **failed) for scenario in SCENARIOS]
    if not neighbours:
        return tables
    return [table.assign(neighbour=kind, delta=0.001) for table in tables for kind in ("add", "remove")]


def drawn(kind, fields, tables):
    """The display, the tidy table and the drawing of a figure of both scenarios."""
    display = figure_of(scenarios=SCENARIOS, kind=kind, **fields)
    tidy = tidy_of(display, *tables)
    return display, tidy, drawing_of(display, tidy)


def words_of(drawing):
    return "\n".join(text.get_text().replace("\n", " ") for text in drawing.findobj(Text))


@pytest.mark.parametrize(("case", "others"), PAIRS, ids=[case for case, _ in PAIRS])
@pytest.mark.parametrize(("kind", "fields"), DRAWN, ids=[kind for kind, _ in DRAWN])
def test_a_figure_is_drawn(kind, fields, case, others):
    tables = []
    for audited in (False, True):
        if audited == (fields.get("table") == AUDIT) or kind == "frontier":
            tables += collected(CASES[case], others, audited)
    display, tidy, drawing = drawn(kind, fields, tables)
    words = words_of(drawing)
    assert caption(display, not_drawn(display, tidy), display.figure.printed_range(tidy))
    if case == "infinite":
        assert "infinite" in words
    if case == "none" and kind != "frontier":  # which shows audited data sets alone
        assert "failed (no draws)" in words
    if case == "zero" and fields.get("log"):
        assert "no value above 0" in words


def test_values_above_0_are_drawn_next_to_a_row_without():
    _, _, drawing = drawn("violin", {"log": True}, collected(np.zeros(REPLICATES), NOISE))
    (axis,) = drawing.axes
    assert [name.get_text() for name in axis.get_yticklabels()] == ["label A", "label B"]
    assert "no value above 0" in words_of(drawing)


def test_an_empty_frame_has_its_title_and_its_warning():
    scenarios = [scenario_of("first", n=100, replicates=REPLICATES, stand_in=True)]
    display = figure_of(scenarios=scenarios, kind="line", x="theta", log=True, subject="Lines")
    words = words_of(drawing_of(display, tidy_of(display, *collected(np.zeros(REPLICATES), np.zeros(REPLICATES)))))
    assert "Lines" in words and "STAND-IN" in words and "no value above 0" in words


@pytest.mark.parametrize(
    ("ids", "lost", "counted", "note"),
    [
        ("A", 40, "R = 40", "failed (first reason)"),
        ("B", 4, "R = 36 to 40", "4 of 40: failed"),
        ("B", 0, "R = 40", None),
    ],
)
def test_a_row_of_failures_has_the_first_reason_and_a_frame_counts_what_is_drawn(ids, lost, counted, note):
    scenarios = [scenario_of("first", replicates=REPLICATES)]
    table = rows_of(scenarios[0]).assign(status="ok")
    failed = (table["synthesizer"] == ids) & (table["replicate"] < lost)
    reasons = np.where(failed, np.where(table["replicate"] == 0, "first reason", "another"), None)
    display = figure_of(scenarios=scenarios)
    drawing = drawing_of(display, tidy_of(display, table.assign(delta=table["delta"].mask(failed), reason=reasons)))
    (axis,) = drawing.axes
    assert [name.get_text() for name in axis.get_yticklabels()] == ["label A", "label B"]
    assert [text.get_text() for text in axis.texts if text.get_text()] == [note] * bool(note)
    assert drawing.legends[0].get_title().get_text() == f"n = 20, {counted}"


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
