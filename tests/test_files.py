"""Files are whole or absent, and have the same bytes for the same content."""

import numpy as np
import pandas as pd
import pytest
from formalsynth.files import read_arrays, read_parents, read_table, whole, write_arrays, write_table, write_text
from hypothesis import given
from hypothesis import strategies as st

ARRAYS = {"draw:beta": np.arange(6.0).reshape(2, 3), "status": np.array(["ok", "failed"]), "n": np.array(3)}


def test_arrays_come_back_as_they_were(tmp_path):
    write_arrays(tmp_path / "one.npz", ARRAYS)
    found = read_arrays(tmp_path / "one.npz")
    assert set(found) == set(ARRAYS)
    for key, value in ARRAYS.items():
        assert found[key].dtype == value.dtype
        assert (found[key] == value).all()


def test_the_same_arrays_have_the_same_bytes(tmp_path):
    write_arrays(tmp_path / "one.npz", ARRAYS)
    write_arrays(tmp_path / "folder" / "other.npz", ARRAYS)
    assert (tmp_path / "one.npz").read_bytes() == (tmp_path / "folder" / "other.npz").read_bytes()


@pytest.mark.parametrize("before", [None, "old"])
def test_a_broken_write_leaves_things_as_they_were(tmp_path, before):
    path = tmp_path / "result.txt"
    if before:
        path.write_text(before)
    with pytest.raises(RuntimeError, match="power cut"), whole(path) as partial:
        partial.write_text("half of the")
        raise RuntimeError("power cut")
    assert [one.name for one in tmp_path.iterdir()] == (["result.txt"] if before else [])
    assert before is None or path.read_text() == before


def test_a_file_takes_its_name_only_at_the_end(tmp_path):
    path = tmp_path / "new" / "result.txt"
    with whole(path) as partial:
        partial.write_text("all of it")
        assert not path.exists()
        assert partial.suffix == path.suffix
    assert path.read_text() == "all of it"
    assert [one.name for one in path.parent.iterdir()] == ["result.txt"]


@pytest.mark.parametrize("keep", [0, 1, 100, 0.5, -1])
def test_a_damaged_archive_is_named(tmp_path, keep):
    path = tmp_path / "fit.npz"
    write_arrays(path, ARRAYS)
    content = path.read_bytes()
    path.write_bytes(content[: int(keep * len(content)) if isinstance(keep, float) else keep])
    with pytest.raises(OSError, match=r"fit\.npz is damaged .*delete it and run again"):
        read_arrays(path)


def test_an_archive_with_a_flipped_byte_is_named(tmp_path):
    path = tmp_path / "fit.npz"
    write_arrays(path, {"x": np.zeros(1000)})
    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 1
    path.write_bytes(content)
    with pytest.raises(OSError, match=r"fit\.npz is damaged"):
        read_arrays(path)


def test_an_archive_of_objects_is_refused(tmp_path):
    """Reading one would run code."""
    np.savez(tmp_path / "fit.npz", x=np.array([{"a": 1}], dtype=object))
    with pytest.raises(OSError, match="damaged"):
        read_arrays(tmp_path / "fit.npz")


def test_parents_are_read_by_the_id_in_their_file_names(tmp_path):
    for name in ("Unweighted", "averaged_0.4_1.8"):
        write_arrays(tmp_path / f"{name}.fit.npz", {"draw:sigma": np.ones(2)})
        write_arrays(tmp_path / f"{name}.measure.npz", {"by_record:x": np.zeros(3)})
    names = ["Unweighted", "averaged_0.4_1.8"]
    paths = [[str(tmp_path / f"{name}.{kind}.npz") for name in names] for kind in ("fit", "measure")]
    found = read_parents(*paths)
    assert list(found) == names
    assert set(found["averaged_0.4_1.8"]) == {"draw:sigma", "by_record:x"}


NUMBERS = st.lists(st.floats(allow_nan=False, allow_infinity=False), min_size=1, max_size=8)


@given(NUMBERS)
def test_numbers_keep_all_their_digits(tmp_path_factory, numbers):
    path = tmp_path_factory.mktemp("table") / "numbers.csv"
    write_table(path, pd.DataFrame({"value": numbers, "label": ["NA"] * len(numbers)}))
    found = read_table(path)
    assert found["value"].tolist() == numbers
    assert found["label"].tolist() == ["NA"] * len(numbers)


def test_gaps_stay_gaps(tmp_path):
    write_table(tmp_path / "gaps.csv", pd.DataFrame({"a": [1.5, np.nan], "b": ["x", None]}))
    assert (tmp_path / "gaps.csv").read_bytes() == b"a,b\n1.5,x\n,\n"
    assert read_table(tmp_path / "gaps.csv").isna().to_numpy().tolist() == [[False, False], [True, True]]


@pytest.mark.parametrize("content", ["", 'a,b\n1,"2', "a,b\n1,2\n1,2,3\n"])
def test_a_damaged_table_is_named(tmp_path, content):
    path = tmp_path / "replicates.csv"
    path.write_text(content)
    with pytest.raises(OSError, match=r"(?s)replicates\.csv is damaged .*delete it and run again"):
        read_table(path)


def test_text_is_utf8(tmp_path):
    write_text(tmp_path / "caption.txt", "Δ of (0.4, 1.8)\n")
    assert (tmp_path / "caption.txt").read_text(encoding="utf-8") == "Δ of (0.4, 1.8)\n"
