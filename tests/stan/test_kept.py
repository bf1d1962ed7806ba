"""Compiled programs are kept for the user, and taken only where they are whole and made from the same sources."""

import os
import shutil

import pytest
from formalsynth.runtime.cache import cache_folder
from formalsynth.stan import compile as compiling
from formalsynth.stan.compile import compile_program
from formalsynth.stan.kept import KIND, fingerprint


@pytest.fixture
def cache(tmp_path, monkeypatch):
    """An empty cache of the user's."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return tmp_path / "cache"


@pytest.fixture
def counted(program, monkeypatch):
    """Programs that were compiled; a finished one replaces the result of the compiler, which takes long."""
    compiled = []

    def compile_(source, folder, form, functions):
        compiled.append((source.name, form))
        return str(shutil.copy2(program, folder / "built"))

    monkeypatch.setattr(compiling, "_compile", compile_)
    return compiled


def source_with(folder, text):
    folder.mkdir(exist_ok=True)
    source = folder / "some.stan"
    source.write_text(text)
    return source


@pytest.mark.stan
def test_a_program_is_compiled_once_for_all_folders(cache, counted, cmdstan, tmp_path):
    source = source_with(tmp_path / "a", "model {}")
    first, second = tmp_path / "one" / "some", tmp_path / "two" / "some"
    assert [compile_program(source, executable, cmdstan) for executable in (first, second)] == ["plain", "plain"]
    assert len(counted) == 1
    assert first.read_bytes() == second.read_bytes()
    assert os.access(second, os.X_OK)
    assert cache_folder(KIND).stat().st_mode & 0o077 == 0


@pytest.mark.stan
def test_another_source_is_compiled_again(cache, counted, cmdstan, tmp_path):
    compile_program(source_with(tmp_path / "a", "model {}"), tmp_path / "one" / "some", cmdstan)
    compile_program(source_with(tmp_path / "a", "model { }"), tmp_path / "one" / "some", cmdstan)
    assert len(counted) == 2


@pytest.mark.stan
def test_a_damaged_one_is_compiled_again(cache, counted, cmdstan, tmp_path):
    source = source_with(tmp_path / "a", "model {}")
    compile_program(source, tmp_path / "one" / "some", cmdstan)
    kept = next(path for path in cache_folder(KIND).iterdir() if not path.name.startswith("."))
    kept.write_bytes(kept.read_bytes()[:-1])
    compile_program(source, tmp_path / "two" / "some", cmdstan)
    assert len(counted) == 2
    assert (tmp_path / "two" / "some").read_bytes() == (tmp_path / "one" / "some").read_bytes()


@pytest.mark.stan
@pytest.mark.parametrize("harm", ["others may write", "no folder can be made"])
def test_a_cache_that_cannot_be_trusted_or_used_is_left_alone(cache, counted, cmdstan, tmp_path, harm):
    if harm == "others may write":
        cache_folder(KIND).chmod(0o777)
    else:
        cache.write_text("a file")
    source = source_with(tmp_path / "a", "model {}")
    for name in ("one", "two"):
        assert compile_program(source, tmp_path / name / "some", cmdstan) == "plain"
    assert len(counted) == 2


@pytest.mark.stan
def test_the_fingerprint_tells_forms_and_compilers_apart(cmdstan, tmp_path, monkeypatch):
    source = source_with(tmp_path / "a", "model {}")
    plain = fingerprint([source], cmdstan, "plain")
    assert plain == fingerprint([source], cmdstan, "plain")
    assert plain != fingerprint([source], cmdstan, "native")
    assert plain != fingerprint([source], tmp_path, "plain")
    monkeypatch.setenv("CXXFLAGS", "-O0")
    assert plain != fingerprint([source], cmdstan, "plain")
