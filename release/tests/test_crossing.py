"""The crossing: a text that is read as it was written, and refused where it has anything else."""

import re

import pytest
import yaml
from small_release import COLUMNS, a_config, a_schema, crossing_folder

from formalsynth.core.text import DataError
from formalsynth_release.crossing import (
    CROSSING,
    DECLARATIONS,
    Crossing,
    Declarations,
    Earlier,
    Part,
    declarations_of,
    noise_reason,
    read_crossing,
    sha256,
    text_of,
)  # fmt: skip

TEXTS = [
    "Incomes: seeds 1 to 9", "Seed: 12, weights: 0.5, delta = 3", "Inverness / Ross / Skye", "The islands of /Muck/Rum/Eigg",
    "see C:\\data and ~/data", "10.0.12.7 is a code of the classification", "1, 2, 3, 4, 5, 6, 7, 8, 9, 10 and 11",
    "An \"office\" of 'quotes' <b>and</b> more, {curly} [square] | pipe & # hash * star ` tick", "50", "A" * 100,
    "Incomes 2019-2026, revised 1234567 times", "a@office.example and b@office.example", "Ünïcödé – 日本",
    "data:text/html;base64 <script>alert(1)</script> <!-- hidden -->", "yes: no, on: off, null: ~, 1e5",
    "North, South, private sector, P000017",
]  # fmt: skip
ALONE = a_schema(columns={"income": COLUMNS["income"] | {"bins": 50}, "person": COLUMNS["person"]})


@pytest.fixture
def folder(tmp_path):
    return crossing_folder(tmp_path / "crossing", schema=ALONE)


@pytest.mark.parametrize("text", TEXTS)
def test_declared_texts_are_read_as_they_were_written(tmp_path, text):
    curator = {"name": text, "contact": text}
    config = a_config(title=text, intended_use=text, licence=text, curator=curator)
    crossing, public = read_crossing(crossing_folder(tmp_path / "crossing", config=config, schema=a_schema(protected=text)))
    assert public.release == config
    assert public.schema_.protected == text
    assert crossing.rows == 2900


def test_a_crossing_has_the_noisy_counts_and_no_others(folder):
    crossing, _ = read_crossing(folder)
    (table,) = crossing.tables
    assert (table.name, table.columns, table.shape, table.epsilon, table.scale) == (
        "margin of income", ("income",), (50,), 1.0, 2.0
    )  # fmt: skip
    assert abs(table.counts.sum() - 2960) < 400  # the standard deviation of 50 numbers of scale 2 is 20
    lines = (folder / CROSSING).read_text().splitlines()
    assert yaml.safe_load(lines[0])["statement"] == (
        "Epsilon is at most 1 if the values of one person are replaced: pure differential privacy, for every valid file."
    )
    assert len(lines) < 50


def test_the_file_and_its_format_do_not_cross(folder):
    text = (folder / CROSSING).read_text() + (folder / DECLARATIONS).read_text()
    assert not re.search(r"income\.csv|encoding|delimiter|missing_values|decimal:", text)
    assert "person:" not in text  # a suppressed column


def test_a_confidential_number_of_rows_does_not_cross(tmp_path):
    folder = crossing_folder(tmp_path / "crossing", schema=a_schema(neighbours="add_remove"), config=a_config(rows=2000))
    crossing, public = read_crossing(folder)  # which have no other keys
    assert (crossing.rows, public.schema_.rows, public.release.rows) == (2000, None, 2000)


CHANGES = {
    "a space": (CROSSING, "crossing: 3", "crossing:  3"),
    "a key": (CROSSING, "crossing: 3", "crossing: 3\nhidden: 30500"),
    "a line at the end": (CROSSING, "- name: margin of income", "- name: margin of income\n\n"),
    "more numbers": (CROSSING, "shape: [50]", "shape: [51]"),
    "an unknown column": (CROSSING, "columns: [income]", "columns: [person]"),
    "a larger epsilon": (CROSSING, "epsilon: 1.0", "epsilon: 1.5"),
    "a seed that is none": (CROSSING, "seed: ", "seed: x"),
    "an infinite number": (CROSSING, "scale: 2.0", "scale: .inf"),
    "a missing file": (DECLARATIONS, None, None),
    "a crossing of an earlier version": (CROSSING, "crossing: 3", "crossing: 2"),
}


@pytest.mark.parametrize("kind", CHANGES)
def test_anything_else_in_a_crossing_is_refused(folder, kind):
    name, old, new = CHANGES[kind]
    if old is None:
        (folder / name).unlink()
    else:
        text = (folder / name).read_text()
        assert old in text
        (folder / name).write_text(text.replace(old, new, 1))
    earlier = r".*is of version 0\.13\.0 or before: verify it with that version" * (kind == "a crossing of an earlier version")
    with pytest.raises(DataError, match=re.escape(str(folder)) + earlier):
        read_crossing(folder)


def with_cost(epsilon, scale):
    """Change of what the first table costs."""
    changed = {"epsilon": epsilon, "scale": scale, "reason": noise_reason(2, scale, epsilon)}
    return lambda crossing: crossing.model_copy(update={"tables": (crossing.tables[0].model_copy(update=changed),)})


@pytest.mark.parametrize(("change", "problem"), [
    (with_cost(1.5, 2 / 1.5), "its parts cost 1.5, more than the declared ceiling of 1"),
    (with_cost(1.0, 1.0), "noise of scale 1 costs more than epsilon 1"),
    (lambda crossing: crossing.model_copy(update={"rows": 77}), "rows: is not the declared number of rows"),
    (lambda crossing: crossing.model_copy(update={"earlier": Earlier(budgets=(3.0, 99.0))}),
     "earlier: budgets: the last one is not the declared budget"),
])  # fmt: skip
def test_a_crossing_that_contradicts_its_declarations_is_refused(folder, change, problem):
    (folder / CROSSING).write_text(text_of(change(read_crossing(folder)[0])))
    with pytest.raises(DataError, match=re.escape(problem)):
        read_crossing(folder)


def test_a_guarantee_that_does_not_follow_from_the_declarations_is_refused(folder):
    crossing, public = read_crossing(folder)
    text = text_of(public.model_copy(update={"guarantee": public.guarantee.replace("1", "0.1")}))
    (folder / DECLARATIONS).write_text(text)
    (folder / CROSSING).write_text(text_of(crossing.model_copy(update={"declarations": sha256(text)})))
    with pytest.raises(DataError, match=r"declarations: the guarantee in declarations\.yaml does not follow"):
        read_crossing(folder)


def test_a_table_has_a_line_for_each_of_its_rows(tmp_path):
    part = Part(
        name="age by sex", columns=("age", "sex"), epsilon=1, scale=2, reason="noisy", shape=(3, 2), numbers=(1, -2, 3, 4, 5, 6)
    )
    crossing, _ = read_crossing(crossing_folder(tmp_path / "crossing"))
    text = text_of(crossing.model_copy(update={"tables": (part,)}))
    assert text.endswith("  numbers:\n  - [1, -2]\n  - [3, 4]\n  - [5, 6]\n")
    assert Crossing.model_validate(yaml.safe_load(text)).tables == (part,)


def test_declarations_with_the_same_content_have_the_same_text():
    first, second = (declarations_of("income", a_schema().public, a_config()) for _ in range(2))
    assert sha256(text_of(first)) == sha256(text_of(second))
    assert Declarations.model_validate(yaml.safe_load(text_of(first))) == first
