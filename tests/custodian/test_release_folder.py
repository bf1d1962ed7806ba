"""Folder of a release: complete or absent."""

import pytest
from formalsynth.core.text import DataError
from formalsynth.custodian.release_folder import check_place, unpublished_folder


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
