"""Folder of a release: complete or absent."""

import numpy as np
import pytest
from formalsynth.core.text import DataError
from formalsynth.custodian.release_folder import check_place, draw_outcomes, unpublished_folder


def test_nothing_is_left_of_a_release_that_fails(tmp_path):
    to = tmp_path / "release" / "income"
    with pytest.raises(RuntimeError), unpublished_folder(to) as folder:
        (folder / "README.md").write_text("half")
        raise RuntimeError
    assert list(tmp_path.iterdir()) == []


def test_a_folder_is_private_until_it_moves_to_its_place(tmp_path):
    to = tmp_path / "release" / "income"
    with unpublished_folder(to) as folder:
        assert folder.stat().st_mode & 0o077 == 0
        folder.rename(to)
    assert [path.name for path in to.parent.iterdir()] == ["income"]


def test_an_existing_folder_is_never_overwritten(tmp_path):
    check_place(tmp_path / "new")
    with pytest.raises(DataError, match="is there already"):
        check_place(tmp_path)
    link = tmp_path / "link"
    link.symlink_to(tmp_path / "absent")
    with pytest.raises(DataError, match="is there already"):
        check_place(link)


def test_a_set_whose_outcomes_are_all_missing_has_a_picture(tmp_path):
    """The noise can make it so for a file of few rows, after the epsilon was spent."""
    draw_outcomes(tmp_path / "outcomes.png", "income", [np.array([]), np.array([1.0, 2.0])])
    draw_outcomes(tmp_path / "empty.png", "income", [np.array([])])
    assert (tmp_path / "outcomes.png").read_bytes() != (tmp_path / "empty.png").read_bytes()
