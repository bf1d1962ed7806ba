"""First files of a study: valid YAML whatever the names in the file."""

import pytest
import yaml

from formalsynth_release.csv_file import CsvFormat
from formalsynth_release.study import DECLARE, undeclared
from formalsynth_release.study_files import release_text, schema_text


@pytest.mark.parametrize("name", ["income", "yes", "123", "a: b", "# x", "größe", "'quoted'", "null", "x" * 200])
def test_names_of_columns_and_files_survive(name):
    columns = {name: {"type": "number", "lower": DECLARE, "upper": DECLARE}}
    text = schema_text(f"{name}.csv", CsvFormat("utf-8", ";", ","), False, ["", "NA"], name, columns)
    tree = yaml.safe_load(text)
    assert tree["outcome"] == name
    assert tree["file"] == f"{name}.csv"
    assert tree["columns"] == {name: {"type": "number", "lower": DECLARE, "upper": DECLARE}}
    assert (tree["delimiter"], tree["decimal"], tree["missing_values"]) == (";", ",", ["", "NA"])


def test_marks_between_thousands_are_asked_about_where_there_may_be_some():
    texts = [schema_text("x.csv", CsvFormat("utf-8", ";", ","), grouped, [""], "x", {}) for grouped in (True, False)]
    assert [[yaml.safe_load(text).get(key) for key in ("decimal", "thousands")] for text in texts] == [
        [DECLARE, DECLARE],
        [",", None],
    ]


def test_a_release_leaves_every_choice_open():
    tree = yaml.safe_load(release_text())
    open_keys = set(undeclared(tree))
    assert {"ceiling", "budget", "title", "licence", "curator.name"} <= open_keys
