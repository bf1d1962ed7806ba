"""A Stan program is compiled whole or not at all, and away from the repository."""

import os
import subprocess

import pytest
from formalsynth.stan import compile as compiling
from formalsynth.stan.compile import compile_program


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

    def compile_(source, folder, form, functions):
        subprocess.run(["make", "-s", "-C", str(tmp_path), str(folder / "out")], check=True)
        return str(folder / "out")

    theirs = {"MAKEFLAGS": flags, "MFLAGS": f"-{flags}", "GNUMAKEFLAGS": "-B", "MAKELEVEL": "1"}
    for name, value in (theirs | {"MAKEOVERRIDES": "${-*-command-variables-*-}"}).items():
        monkeypatch.setenv(name, value)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.delenv("CXX", raising=False)
    monkeypatch.setattr(compiling, "_compile", compile_)
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

    def compile_(source, folder, form, functions):
        tried.append(form)
        raise ValueError(f"Failed to compile Stan model. Console:\nmake[1]: entering\n{said}\nmake[1]: Error 1")

    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setattr(compiling, "_compile", compile_)
    (tmp_path / "some.stan").write_text("#include clipped_sum.stan\n")
    for form, ending in (("native", "stan"), ("native", "hpp"), ("portable", "stan")):
        (tmp_path / form).mkdir(exist_ok=True)
        (tmp_path / form / f"clipped_sum.{ending}").touch()
    with pytest.raises(OSError, match=r"some\.stan could not be compiled \(.*run again") as caught:
        compile_program(tmp_path / "some.stan", tmp_path / "some", cmdstan)
    assert said in str(caught.value)
    assert tried == ["native"]
    assert not (tmp_path / "some").exists()
