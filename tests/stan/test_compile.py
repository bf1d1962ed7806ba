"""A Stan program is compiled once for the user, completely or not at all, and away from the repository."""

import os
import shutil
import subprocess

import pytest

from formalsynth.runtime.cache import cache_folder
from formalsynth.stan import compile as compiling
from formalsynth.stan.compile import KIND, compile_program, fingerprint


@pytest.fixture
def cache(tmp_path, monkeypatch):
    """An empty cache of the user's."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return tmp_path / "cache"


@pytest.fixture
def counted(program, monkeypatch):
    """Programs that were compiled; a finished one replaces the result of the compiler, which takes long."""
    compiled = []

    def compile_(source, folder, form, functions, cmdstan):
        compiled.append((source.name, form))
        return shutil.copy2(program, folder / "built")

    monkeypatch.setattr(compiling, "compile_form", compile_)
    return compiled


def source_with(folder, text):
    folder.mkdir(exist_ok=True)
    source = folder / "some.stan"
    source.write_text(text)
    return source


@pytest.mark.stan
def test_a_program_is_compiled_once_for_all_folders_unless_it_changes_or_is_damaged(cache, counted, cmdstan, tmp_path):
    source = source_with(tmp_path / "a", "model {}")
    first, second = tmp_path / "one" / "some", tmp_path / "two" / "some"
    assert [compile_program(source, executable, cmdstan) for executable in (first, second)] == ["plain", "plain"]
    assert len(counted) == 1
    assert first.read_bytes() == second.read_bytes()
    assert os.access(second, os.X_OK)
    assert cache_folder(KIND).stat().st_mode & 0o077 == 0
    (kept,) = (path for path in cache_folder(KIND).iterdir() if not path.name.startswith("."))
    kept.write_bytes(kept.read_bytes()[:-1])
    compile_program(source, second, cmdstan)
    assert len(counted) == 2
    assert first.read_bytes() == second.read_bytes()
    compile_program(source_with(tmp_path / "a", "model { }"), first, cmdstan)
    assert len(counted) == 3


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


@pytest.mark.stan
def test_a_program_that_does_not_compile_is_an_error_with_the_compilers_words(cmdstan, tmp_path):
    source = tmp_path / "broken.stan"
    source.write_text("parameters { real mu; } model { mu ~ nonsense(0, 1); }\n")
    with pytest.raises(RuntimeError, match=r"(?s)broken\.stan does not compile .*nonsense"):
        compile_program(source, tmp_path / "out" / "broken", cmdstan)
    assert not (tmp_path / "out").exists() or not list((tmp_path / "out").iterdir())


@pytest.mark.stan
def test_compiling_leaves_nothing_in_the_folder_of_the_source(program, repository):
    assert program.is_file()
    assert os.access(program, os.X_OK)
    assert {path.suffix for path in (repository / "stan").iterdir() if path.is_file()} == {".stan"}


@pytest.mark.stan
@pytest.mark.parametrize("flags", ["B", " -j8 --jobserver-auth=3,4", "Bk -- CXX=false"])
def test_the_make_that_compiles_knows_nothing_of_another_make(cmdstan, tmp_path, monkeypatch, flags):
    """``make -B`` would build the user's CmdStan again. A small makefile replaces CmdStan's."""
    (tmp_path / "makefile").write_text('%/out: ; @echo "$(MAKEFLAGS)|$(MFLAGS)|$(MAKELEVEL)|$(origin CXX)" > $@\n')

    def compile_(source, folder, form, functions, cmdstan):
        with compiling.outside_make():
            subprocess.run(["make", "-s", "-C", str(tmp_path), str(folder / "out")], check=True)
        return folder / "out"

    theirs = {"MAKEFLAGS": flags, "MFLAGS": f"-{flags}", "GNUMAKEFLAGS": "-B", "MAKELEVEL": "1"}
    for name, value in (theirs | {"MAKEOVERRIDES": "${-*-command-variables-*-}"}).items():
        monkeypatch.setenv(name, value)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.delenv("CXX", raising=False)
    monkeypatch.setattr(compiling, "compile_form", compile_)
    source = tmp_path / "some.stan"
    source.write_text("model {}")
    compile_program(source, tmp_path / "some", cmdstan)
    seen, of_flags, level, origin = (tmp_path / "some").read_text().strip().split("|")
    assert set(seen.split()) <= {"s", "w", "--no-print-directory"}
    assert (of_flags, level, origin) == (f"-{seen}" if of_flags else "", "0", "default")
    assert os.environ["MAKEFLAGS"] == flags


SAID = [
    "virtual memory exhausted: Cannot allocate memory",
    "g++: fatal error: Killed signal terminated program cc1plus",
    "/tmp/ccX2.s: fatal error: error writing to /tmp/ccX2.s: No space left on device",
]


@pytest.mark.stan
@pytest.mark.parametrize("said", SAID)
def test_a_compiler_that_was_ended_from_outside_is_no_failure_of_the_program(cmdstan, tmp_path, monkeypatch, said):
    """The portable form is not tried in its place: its draws would be others."""
    tried = []

    def compile_(source, folder, form, functions, cmdstan):
        tried.append(form)
        raise ValueError(f"Failed to compile Stan model. Console:\nmake[1]: entering\n{said}\nmake[1]: Error 1")

    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setattr(compiling, "compile_form", compile_)
    (tmp_path / "some.stan").write_text("#include clipped_sum.stan\n")
    for form, ending in (("native", "stan"), ("native", "hpp"), ("portable", "stan")):
        (tmp_path / form).mkdir(exist_ok=True)
        (tmp_path / form / f"clipped_sum.{ending}").touch()
    with pytest.raises(OSError, match=r"some\.stan could not be compiled \(.*run again") as caught:
        compile_program(tmp_path / "some.stan", tmp_path / "some", cmdstan)
    assert said in str(caught.value)
    assert tried == ["native"]
    assert not (tmp_path / "some").exists()
