"""Registers: names that are taken, entries of a test, and where entries are looked for."""

import sys

import pytest

from formalsynth.core.mechanism import ASYMPTOTIC, MECHANISMS, Form, mechanism
from formalsynth.core.registry import DuplicateError, Registry, load, module_name


def test_a_name_that_is_taken_is_refused_and_both_modules_are_named():
    fruit = Registry("fruit")
    fruit.add("apple", 1, "orchard.north")
    with pytest.raises(DuplicateError, match=r"two fruit entries have the name 'apple': orchard\.north and orchard\.south"):
        fruit.add("apple", 2, "orchard.south")
    assert dict(fruit) == {"apple": 1}
    assert fruit.module("apple") == "orchard.north"


def test_what_was_registered_on_trial_is_forgotten():
    fruit = Registry("fruit")
    fruit.add("apple", 1, "orchard")
    with pytest.raises(RuntimeError), fruit.trial():
        fruit.add("pear", 2, "garden")
        assert list(fruit) == ["pear", "apple"]  # in the order of their files
        assert fruit.module("pear") == "garden"
        raise RuntimeError
    assert list(fruit) == ["apple"]
    fruit.add("pear", 3, "garden")
    assert fruit["pear"] == 3


def test_an_unknown_name_is_no_entry():
    fruit = Registry("fruit")
    assert "apple" not in fruit
    assert len(fruit) == 0
    with pytest.raises(KeyError):
        fruit["apple"]


@pytest.fixture
def package(tmp_path, monkeypatch):
    """A package whose modules append their names to a list when they are imported."""
    folder = tmp_path / "made_up_package"
    (folder / "room").mkdir(parents=True)
    for name in ("__init__.py", "room/__init__.py", "room/b.py", "room/a.py", "other.py"):
        (folder / name).write_text("import builtins\nbuiltins.imported_here.append(__name__)\n")
    monkeypatch.setattr("builtins.imported_here", [], raising=False)
    monkeypatch.syspath_prepend(tmp_path)
    yield folder
    for name in [name for name in sys.modules if name.startswith("made_up_package")]:
        del sys.modules[name]


def test_a_register_imports_the_files_that_may_hold_entries_and_no_others(package):
    import builtins

    entries = Registry("entry", "room/a*.py", "papers/*/entry*.py", package=package)
    entries.find()
    assert builtins.imported_here == [f"made_up_package{part}" for part in ("", ".room", ".room.a")]
    entries.find((package, "room/b.py"))
    assert builtins.imported_here[3:] == ["made_up_package.room.b"]


def test_a_job_imports_the_modules_in_its_input(package):
    import builtins

    load(["made_up_package.room.b"])
    assert builtins.imported_here == [f"made_up_package{part}" for part in ("", ".room", ".room.b")]


def test_modules_are_named_as_python_names_them(package):
    assert module_name(package / "room" / "a.py", package) == "made_up_package.room.a"
    assert module_name(package / "room" / "__init__.py", package) == "made_up_package.room"


def made_up(context) -> Form:
    """A mechanism of this test."""


def test_two_mechanisms_never_share_the_integer_of_their_random_streams():
    with MECHANISMS.trial():
        mechanism(ASYMPTOTIC, id=987)(made_up)

        def another(context) -> Form:
            """Another one."""

        with pytest.raises(DuplicateError, match=r"made_up \(.*\) and another \(.*\) both have the id 987"):
            mechanism(ASYMPTOTIC, id=987)(another)
        with pytest.raises(DuplicateError, match="made_up"):
            mechanism(ASYMPTOTIC, id=988)(made_up)
    assert "made_up" not in MECHANISMS


def test_a_mechanism_without_an_id_has_one_of_its_name_above_those_picked_by_hand():
    ids = []
    for _ in range(2):
        with MECHANISMS.trial():
            mechanism(ASYMPTOTIC)(made_up)
            ids.append(MECHANISMS["made_up"].id)
    assert ids[0] == ids[1] > 2**32
