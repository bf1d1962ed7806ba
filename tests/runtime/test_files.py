"""Files are whole or absent, have the same bytes for the same content, and are not used when they were damaged."""

import errno
import os
import re
import resource
import subprocess
import sys
import zipfile
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from formalsynth.runtime.files import (
    atomic_write,
    check_filled,
    check_folder,
    check_folders,
    filled_folder,
    read_arrays,
    read_table,
    sealed,
    unbroken,
    write_arrays,
    write_table,
    write_text,
)

ARRAYS = {"draw:beta": np.arange(6.0).reshape(2, 3), "status": np.array(["ok", "failed"]), "n": np.array(3)}


def test_arrays_come_back_as_they_were(tmp_path):
    write_arrays(tmp_path / "one.npz", ARRAYS)
    arrays = read_arrays(tmp_path / "one.npz")
    assert set(arrays) == set(ARRAYS)
    for key, value in ARRAYS.items():
        assert arrays[key].dtype == value.dtype
        assert (arrays[key] == value).all()


def test_arrays_with_little_in_them_take_little_room(tmp_path):
    draws, counts = np.random.default_rng(1).normal(size=(2, 5000)), np.arange(10_000.0) % 7
    for name, values, room in [("draws", draws, 1.1), ("ones", np.ones(10_000), 0.02), ("counts", counts, 0.1)]:
        path = tmp_path / f"{name}.npz"
        write_arrays(path, {name: values})
        assert path.stat().st_size < room * values.nbytes
        assert (read_arrays(path)[name] == values).all()


def test_the_same_arrays_have_the_same_bytes(tmp_path):
    write_arrays(tmp_path / "one.npz", ARRAYS)
    write_arrays(tmp_path / "folder" / "other.npz", ARRAYS)
    assert (tmp_path / "one.npz").read_bytes() == (tmp_path / "folder" / "other.npz").read_bytes()


@pytest.mark.parametrize("before", [None, "old"])
def test_a_broken_write_leaves_things_as_they_were(tmp_path, before):
    path = tmp_path / "result.txt"
    if before:
        path.write_text(before)
    with pytest.raises(RuntimeError, match="power cut"), atomic_write(path) as partial:
        partial.write_text("half of the")
        raise RuntimeError("power cut")
    assert [file.name for file in tmp_path.iterdir()] == (["result.txt"] if before else [])
    assert before is None or path.read_text() == before


def test_a_file_takes_its_name_only_at_the_end(tmp_path):
    path = tmp_path / "new" / "result.txt"
    with atomic_write(path) as partial:
        partial.write_text("all of it")
        assert not path.exists()
        assert partial.suffix == path.suffix
    assert path.read_text() == "all of it"
    assert [file.name for file in path.parent.iterdir()] == ["result.txt"]


def damages(content):
    """Every way to lose the end of a file, and to change one of its bytes."""
    for k, byte in enumerate(content):
        yield content[:k]
        yield content[:k] + bytes([byte ^ 0x01]) + content[k + 1 :]


def write_small_arrays(path):
    write_arrays(path, {"status": np.array(["ok"])})


def write_small_table(path):
    write_table(path, pd.DataFrame({"synthesizer": ["Weighted", "Unweighted"], "epsilon": [1.25, 17.0]}))


def write_program(path):
    with sealed(path) as partial:
        partial.write_bytes(b"\x7fELF and so on")


READERS = [(write_small_arrays, read_arrays), (write_small_table, read_table), (write_program, unbroken)]


@pytest.mark.parametrize(("write", "read"), READERS, ids=["arrays", "table", "program"])
def test_no_damage_goes_unnoticed(tmp_path, write, read):
    path = tmp_path / "this one.npz"
    write(path)
    read(path)
    content = path.read_bytes()
    for damaged in damages(content):
        path.write_bytes(damaged)
        with pytest.raises(OSError, match=r"this one\.npz is damaged \(its sha256 .*\): delete it and run again"):
            read(path)
    path.write_bytes(content)
    read(path)


@pytest.mark.parametrize("name", ["sets.csv", ".sets.csv.sha256"])
@pytest.mark.parametrize("make", [os.mkfifo, Path.mkdir])
def test_what_is_no_file_is_not_waited_for(tmp_path, name, make):
    write_table(tmp_path / "sets.csv", pd.DataFrame({"a": [1]}))
    (tmp_path / name).unlink()
    make(tmp_path / name)
    with pytest.raises(OSError, match=rf"{re.escape(name)} is damaged \(it is not a file\)"):
        read_table(tmp_path / "sets.csv")


@pytest.mark.parametrize("name", ["../mine", "link/mine", "a\0b", "below/../../mine"])
def test_a_list_of_files_that_leads_out_of_its_folder_removes_nothing_there(tmp_path, name):
    (tmp_path / "mine").write_text("mine")
    folder = tmp_path / "report"
    folder.mkdir()
    (folder / "link").symlink_to("..")
    (folder / ".files").write_text(f"{name}\nold.html\n")
    (folder / "old.html").write_text("")
    with filled_folder(folder) as partial:
        (partial / "index.html").write_text("")
    assert (tmp_path / "mine").read_text() == "mine"
    assert not (folder / "old.html").exists()


@pytest.mark.parametrize("damage", [Path.unlink, Path.touch, lambda path: path.write_text("of another run")])
def test_a_damaged_file_of_a_filled_folder_is_named(tmp_path, damage):
    folder = tmp_path / "report"
    check_folder(folder)
    with filled_folder(folder) as partial:
        (partial / "pages").mkdir()
        for name in ("index.html", "pages/a b.html"):
            (partial / name).write_text(name)
    (folder / "mine.txt").write_text("mine")
    check_folder(folder)
    run = subprocess.run(["sha256sum", "--check", ".files"], cwd=folder, capture_output=True, text=True, check=False)
    assert run.stdout == "index.html: OK\npages/a b.html: OK\n"
    (folder / "pages" / "a b.html").write_text("")
    damage(folder / "pages" / "a b.html")
    expected = r"^missing or changed since they were written: \S+pages/a b\.html; delete \S+report and run again$"
    with pytest.raises(OSError, match=expected):
        check_folder(folder)


def test_a_list_without_checksums_names_no_damage(tmp_path):
    """A run that was killed while it put files in their places leaves such a list."""
    (tmp_path / ".files").write_text("index.html\nold.html\n")
    (tmp_path / "index.html").write_text("new")
    check_folder(tmp_path)


@pytest.mark.parametrize("make", [os.mkfifo, Path.touch, lambda path: path.symlink_to("nowhere")])
def test_a_folder_that_is_something_else_is_named(tmp_path, make):
    check_folders(str(tmp_path), str(tmp_path / "absent"))
    make(tmp_path / "logs")
    with pytest.raises(NotADirectoryError, match=r"logs is not a folder: move it away, and run again"):
        check_folders(str(tmp_path / "logs"))


def test_the_seal_is_what_sha256sum_checks(tmp_path):
    write_small_table(tmp_path / "sets.csv")
    run = subprocess.run(["sha256sum", "--check", ".sets.csv.sha256"], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert run.stdout == "sets.csv: OK\n"
    assert sorted(file.name for file in tmp_path.iterdir()) == [".sets.csv.sha256", "sets.csv"]


def test_a_file_that_was_deleted_is_written_and_sealed_again(tmp_path):
    path = tmp_path / "sets.csv"
    write_small_table(path)
    path.unlink()
    write_table(path, pd.DataFrame({"set": [1]}))
    assert read_table(path)["set"].tolist() == [1]


KILLED = """
import os, signal, sys
from pathlib import Path
import pandas as pd
from formalsynth.runtime.files import write_table
path, moment = sys.argv[1], int(sys.argv[2])
def replace(self, target, original=Path.replace):
    global moment
    moment -= 1
    if moment == 0:
        os.kill(os.getpid(), signal.SIGKILL)
    original(self, target)
Path.replace = replace
write_table(path, pd.DataFrame({"a": [2]}))
"""


@pytest.mark.parametrize(("moment", "value"), [(1, 1), (2, 2)], ids=["before it has its name", "before it is sealed"])
def test_a_write_that_is_killed_leaves_a_file_that_can_be_read(tmp_path, moment, value):
    """The old file or the new one, and no complaint about a seal that belongs to the other."""
    path = tmp_path / "sets.csv"
    write_table(path, pd.DataFrame({"a": [1]}))
    run = subprocess.run([sys.executable, "-c", KILLED, str(path), str(moment)], check=False)
    assert run.returncode == -9
    assert read_table(path)["a"].tolist() == [value]
    assert len(list(tmp_path.glob(".*.scratch"))) == 1
    write_table(path, pd.DataFrame({"a": [3]}))
    assert read_table(path)["a"].tolist() == [3]
    assert sorted(file.name for file in tmp_path.iterdir()) == [".sets.csv.sha256", "sets.csv"]


@pytest.mark.parametrize("before", [None, "old"])
def test_a_full_disk_is_a_sentence_with_the_name_of_the_file(tmp_path, before):
    path = tmp_path / "records.csv"
    if before:
        path.write_text(before)
    reason = r"records\.csv could not be written because the disk is full .*: make room"
    with pytest.raises(OSError, match=reason) as caught, atomic_write(path) as partial:
        partial.symlink_to("/dev/full")
        pd.DataFrame({"a": [1]}).to_csv(partial)
    assert caught.value.errno == errno.ENOSPC
    assert [file.name for file in tmp_path.iterdir()] == (["records.csv"] if before else [])
    assert before is None or path.read_text() == before


def test_a_limit_on_the_size_of_files_is_a_sentence_with_the_name_of_the_file(tmp_path):
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    reason = r"records\.csv could not be written because the file would exceed the size limit .*: raise the limit \(ulimit -f\)"
    try:
        resource.setrlimit(resource.RLIMIT_FSIZE, (4096, limits[1]))
        with pytest.raises(OSError, match=reason) as caught, atomic_write(tmp_path / "records.csv") as partial:
            partial.write_bytes(bytes(5000))
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
    assert caught.value.errno == errno.EFBIG
    assert list(tmp_path.iterdir()) == []


def no_array(path):
    """Numpy gives the bytes of such a part of an archive as they are."""
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("draws.npy", b"\x80\x04\x95cos\nsystem\n(S'touch hacked'\ntR.")


def changed_byte(path):
    """An archive without a seal, which came from elsewhere, still has its own checksum."""
    np.savez(path, x=np.zeros(1000))
    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 1
    path.write_bytes(content)


DAMAGED = {
    "no array": ("fit.npz", no_array, r"damaged \(draws is not an array\)"),
    "a changed byte": ("fit.npz", changed_byte, "damaged .*delete it and run again"),
    "objects, which would run code": ("fit.npz", lambda path: np.savez(path, x=np.array([{"a": 1}], dtype=object)), "damaged"),
    "an empty table": ("sets.csv", Path.touch, "damaged .*delete it and run again"),
    "an open quote": ("sets.csv", lambda path: path.write_text('a,b\n1,"2'), "damaged .*delete it and run again"),
    "a longer row": ("sets.csv", lambda path: path.write_text("a,b\n1,2\n1,2,3\n"), "damaged .*delete it and run again"),
    "another seal": (
        "sets.csv", lambda path: [write_small_table(path), path.with_name(".sets.csv.sha256").write_bytes(b"\xff")], "damaged",
    ),
}  # fmt: skip


@pytest.mark.parametrize("harm", DAMAGED)
def test_a_damaged_file_is_named(tmp_path, harm):
    name, write, words = DAMAGED[harm]
    write(tmp_path / name)
    with pytest.raises(OSError, match=rf"(?s){re.escape(name)} is {words}"):
        (read_arrays if name == "fit.npz" else read_table)(tmp_path / name)


NUMBERS = st.lists(st.floats(allow_nan=False, allow_infinity=False), min_size=1, max_size=8)


@given(NUMBERS)
def test_numbers_keep_all_their_digits(tmp_path_factory, numbers):
    path = tmp_path_factory.mktemp("table") / "numbers.csv"
    write_table(path, pd.DataFrame({"value": numbers, "label": ["NA"] * len(numbers)}))
    table = read_table(path)
    assert table["value"].tolist() == numbers
    assert table["label"].tolist() == ["NA"] * len(numbers)


def test_gaps_stay_gaps(tmp_path):
    write_table(tmp_path / "gaps.csv", pd.DataFrame({"a": [1.5, np.nan], "b": ["x", None]}))
    assert (tmp_path / "gaps.csv").read_bytes() == b"a,b\n1.5,x\n,\n"
    assert read_table(tmp_path / "gaps.csv").isna().to_numpy().tolist() == [[False, False], [True, True]]


def test_text_is_utf8(tmp_path):
    write_text(tmp_path / "caption.txt", "Δ of (0.4, 1.8)\n")
    assert (tmp_path / "caption.txt").read_text(encoding="utf-8") == "Δ of (0.4, 1.8)\n"


SHORT = """
import resource, sys
import numpy, pandas
from formalsynth.runtime.files import read_arrays, read_table
taken = int(open("/proc/self/statm").read().split()[0]) * resource.getpagesize()
resource.setrlimit(resource.RLIMIT_AS, (taken + 2**24, resource.RLIM_INFINITY))
try:
    (read_arrays if sys.argv[1].endswith("npz") else read_table)(sys.argv[1])
except MemoryError as error:
    print(error)
"""


@pytest.mark.skipif(sys.platform != "linux", reason="memory is limited and counted in the way of Linux")
@pytest.mark.parametrize("name", ["one.npz", "one.csv"])
def test_lack_of_memory_is_no_damage(tmp_path, name):
    path = tmp_path / name
    if name == "one.npz":
        write_arrays(path, {"draws": np.zeros(2**23)})
    else:
        path.write_text("a\n" + "0.123456789\n" * 2**22)
    job = subprocess.run([sys.executable, "-c", SHORT, str(path)], capture_output=True, text=True, check=False)
    assert job.stdout.startswith(f"{path} could not be read: "), job.stderr
    assert "damaged" not in job.stdout + job.stderr


def test_a_file_that_the_system_does_not_give_is_no_damaged_one(tmp_path, monkeypatch):
    """Too many open files, a disk that cannot be read, a missing permission."""
    write_arrays(tmp_path / "one.npz", ARRAYS)

    def load(*_, **__):
        raise OSError(errno.EIO, "Input/output error")

    monkeypatch.setattr(np, "load", load)
    with pytest.raises(OSError, match="Input/output error") as caught:
        read_arrays(tmp_path / "one.npz")
    assert "damaged" not in str(caught.value)


def test_empty_files_are_named_and_absent_ones_are_not(tmp_path):
    whole, empty, other = (tmp_path / name for name in ("whole", "empty", "other"))
    whole.write_text("x")
    check_filled([whole, tmp_path / "absent"])
    empty.touch()
    with pytest.raises(OSError, match=rf": {empty}; delete it and run again$"):
        check_filled([whole, empty, tmp_path / "absent"])
    other.touch()
    with pytest.raises(OSError, match=rf": {empty}, {other}; delete them and run again$"):
        check_filled([whole, empty, other])
