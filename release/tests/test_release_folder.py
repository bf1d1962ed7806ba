"""Folder of a release: complete or absent."""

import numpy as np
import pytest
from small_release import COLUMNS, a_schema, made_tables, typed_incomes

from formalsynth.core.text import DataError
from formalsynth_release import release_folder
from formalsynth_release.release_folder import check_place, draw_outcomes, unpublished_folder


def test_nothing_is_left_of_a_release_that_fails(tmp_path):
    to = tmp_path / "releases" / "income"
    with pytest.raises(RuntimeError), unpublished_folder(to) as folder:
        (folder / "README.md").write_text("half")
        raise RuntimeError
    assert list(tmp_path.iterdir()) == []


def test_a_folder_is_private_until_it_moves_to_its_place(tmp_path):
    to = tmp_path / "releases" / "income"
    with unpublished_folder(to) as folder:
        assert folder.stat().st_mode & 0o077 == 0
        folder.rename(to)
    assert [path.name for path in to.parent.iterdir()] == ["income"]


def test_an_existing_folder_is_never_overwritten(tmp_path):
    check_place(tmp_path / "new")
    (tmp_path / "file").touch()
    with pytest.raises(DataError, match=r"file/new: cannot be made \(.*\): choose another folder with --to"):
        check_place(tmp_path / "file" / "new")
    with pytest.raises(DataError, match="already exists"):
        check_place(tmp_path)
    link = tmp_path / "link"
    link.symlink_to(tmp_path / "absent")
    with pytest.raises(DataError, match="already exists"):
        check_place(link)


def test_a_set_whose_outcomes_are_all_missing_has_a_picture(tmp_path):
    """The noise can make it so for a file of few rows, after the epsilon was spent."""
    draw_outcomes(tmp_path / "outcomes.png", "income", [np.array([]), np.array([1.0, 2.0])])
    draw_outcomes(tmp_path / "empty.png", "income", [np.array([])])
    assert (tmp_path / "outcomes.png").read_bytes() != (tmp_path / "empty.png").read_bytes()


@pytest.mark.parametrize("changes", [{"missing": "drop_rows"}, {"missing": "refuse", "neighbours": "add_remove"}])
def test_intervals_are_for_the_file_and_not_for_the_declared_rows(tmp_path, monkeypatch, changes):
    """2,960 rows are counted, and each set has 50: the number of rows is estimated where it is confidential."""
    ways = []
    original = release_folder.analysed
    monkeypatch.setattr(release_folder, "analysed", lambda way, *rest: ways.append(way) or original(way, *rest))
    schema = a_schema(columns={"income": COLUMNS["income"] | {"bins": 20}}, **changes)
    table = typed_incomes()[["income"]]
    made_tables(tmp_path / "income", schema, table, rows=50, ceiling=8, budget=9, figure=False, analyses={"replicates": 20})
    # noise of scale 1 / 4 at most in each of 20 bins: a standard deviation of about 2 rows
    assert abs(ways[0].rows - len(table)) < 25
