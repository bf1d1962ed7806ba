"""First files of a study: valid YAML whatever the names in the file."""

import pytest
import yaml

from formalsynth_release.csv_file import CsvFormat
from formalsynth_release.inspect import draft
from formalsynth_release.study import DECLARE, undeclared


def schema_text(name, grouped=False, missing=("",), columns=None):
    written = CsvFormat("utf-8", ";", ",")
    given = {"file": f"{name}.csv", "written": written, "missing": list(missing), "outcome": name, "columns": columns or {}}
    return draft("schema.yaml", **given, grouped=grouped)


@pytest.mark.parametrize("name", ["income", "yes", "123", "a: b", "# x", "größe", "'quoted'", "null", "x" * 200])
def test_names_of_columns_and_files_survive(name):
    columns = {name: {"type": "number", "lower": DECLARE, "upper": DECLARE}}
    text = schema_text(name, missing=["", "NA"], columns=columns)
    tree = yaml.safe_load(text)
    assert tree["outcome"] == name
    assert tree["file"] == f"{name}.csv"
    assert tree["columns"] == {name: {"type": "number", "lower": DECLARE, "upper": DECLARE}}
    assert (tree["delimiter"], tree["decimal"], tree["missing_values"]) == (";", ",", ["", "NA"])


def test_marks_between_thousands_are_asked_about_where_there_may_be_some():
    texts = [schema_text("x", grouped) for grouped in (True, False)]
    assert [[yaml.safe_load(text).get(key) for key in ("decimal", "thousands")] for text in texts] == [
        [DECLARE, DECLARE],
        [",", None],
    ]


def test_a_release_leaves_every_choice_open():
    tree = yaml.safe_load(draft("release.yaml"))
    open_keys = set(undeclared(tree))
    assert {"ceiling", "budget", "title", "licence", "curator.name"} <= open_keys
