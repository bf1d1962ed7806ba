"""A Stan program is compiled whole or not at all, and away from the repository."""

import os

import pytest
from formalsynth.stan.compile import compile_program


@pytest.mark.stan
def test_a_program_that_does_not_compile_is_an_error_with_the_compilers_words(cmdstan, tmp_path):
    source = tmp_path / "broken.stan"
    source.write_text("parameters { real mu; } model { mu ~ nonsense(0, 1); }\n")
    with pytest.raises(RuntimeError, match=r"(?s)broken\.stan does not compile .*nonsense"):
        compile_program(source, tmp_path / "out" / "broken", cmdstan)
    assert not (tmp_path / "out").exists() or not list((tmp_path / "out").iterdir())


@pytest.mark.stan
def test_compiling_leaves_nothing_beside_the_source(program, repository):
    assert program.is_file()
    assert os.access(program, os.X_OK)
    assert {path.suffix for path in (repository / "stan").iterdir() if path.is_file()} == {".stan"}
