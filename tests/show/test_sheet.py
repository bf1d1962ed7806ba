"""Sheets: figures that are printed under one number."""

import numpy as np
import pandas as pd
import pytest
from formalsynth.displays.display import FigureDisplay
from formalsynth.displays.figure import FIGURES
from formalsynth.plan.model import find_all
from formalsynth.show.captions import caption
from formalsynth.show.draw import draw_figure
from formalsynth.show.tidy import figure_table
from made_up_displays import rows_of
from pydantic import ValidationError

find_all()
PART = {"scenario": "first", "value": "delta", "synthesizers": ["A"]}


@pytest.fixture(scope="module")
def display(plan_of):
    """Figure 12 of reweight: means and medians, and two quantiles."""
    return plan_of("reweight").papers["reweight"].figure("12", "paper")


@pytest.fixture(scope="module")
def collected(display):
    (scenario,) = display.scenarios
    rows = rows_of(scenario, ids=display.ids, count=40)
    return rows.assign(**{name: rows["delta"] * k for k, name in enumerate(("mean", "median", "q15", "q90"), 1)})


def test_a_sheet_has_the_tables_of_its_parts(display, collected):
    table = figure_table(display, [collected])
    assert list(display.parts) == table["part"].unique().tolist() == ["a", "b"]
    for letter, part in display.parts.items():
        own = table[table["part"] == letter].drop(columns="part").reset_index(drop=True)
        pd.testing.assert_frame_equal(own, figure_table(part, [collected]).reset_index(drop=True), check_dtype=False)


def test_each_part_is_given_the_tables_that_it_reads(plan_of):
    display = plan_of("reweight").papers["reweight"].figure("5", "paper")
    (scenario,) = display.scenarios
    columns = {"sets": ("mean", "median", "q15", "q90"), "draws": ("mu",), "values": ("value",)}
    tables = []
    for k, name in enumerate(display.figure.tables()):
        rows = rows_of(scenario, ids=display.ids, count=40)
        tables.append(rows.assign(**dict.fromkeys(columns[name], rows["delta"] + 100 * k)))
    table = figure_table(display, tables)
    for letter, part in display.parts.items():
        place = display.figure.tables().index(part.table)
        assert table.loc[table["part"] == letter, "value"].between(100 * place, 100 * place + 99).all()


def test_a_sheet_is_drawn_the_same_every_time_and_with_every_part(tmp_path, display, collected):
    table = figure_table(display, [collected])
    changed = table.assign(value=table["value"] * np.where(table["part"] == "b", 1.5, 1))
    for name, shown in (("first", table), ("again", table), ("other", changed)):
        draw_figure(display, shown, [tmp_path / f"{name}.svg"])
    first, again, other = ((tmp_path / f"{name}.svg").read_bytes() for name in ("first", "again", "other"))
    assert first == again
    assert first != other


def test_a_sheet_without_one_of_its_parts_is_drawn(tmp_path, display, collected):
    table = figure_table(display, [collected])
    draw_figure(display, table[table["part"] == "a"], [tmp_path / "fig.svg"])
    assert (tmp_path / "fig.svg").stat().st_size > 1000


def test_a_caption_names_every_part(display):
    text = caption(display)
    for letter, part in display.parts.items():
        assert f"({letter}) {part.figure.subject}" in text
    assert text.count("Guarantees: ") == 1


def test_a_sheet_comes_back_from_plain_data(display):
    assert FigureDisplay.of(display.plain()) == display


@pytest.mark.parametrize(
    ("parts", "message"),
    [
        ({"a": PART}, "at least 2"),
        ({"a": PART, "B": PART}, "pattern"),
        ({"a": PART, "b": PART | {"scenario": "second"}}, "Part b should have the scenario and the size of the sheet"),
        ({"a": PART, "b": PART | {"size": 7}}, "Part b should have"),
        (
            {"a": PART, "b": {"kind": "sheet", "scenario": "first", "parts": {"a": PART, "b": PART}}},
            r"parts\.b\.kind\n  Input should be",
        ),
    ],
)
def test_a_wrong_sheet_is_refused(parts, message):
    with pytest.raises(ValidationError, match=message):
        FIGURES["sheet"](kind="sheet", scenario="first", parts=parts)
