"""Compiled loops against the same in NumPy, and machines on which they cannot be compiled."""

import os
import subprocess
import sys

import numpy as np
import pytest
from formalsynth.core import compiled
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse import csr_array


def clipped(left: np.ndarray, right: np.ndarray, threshold: float) -> np.ndarray:
    return np.clip(left @ right.T, -threshold, threshold).sum(axis=1)


@pytest.fixture
def again(monkeypatch, tmp_path):
    """An empty cache, and a library that is not loaded yet and will be compiled without optimisations, four times faster."""
    monkeypatch.setattr(compiled, "FLAGS", tuple(flag.replace("-O3", "-O0") for flag in compiled.FLAGS))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    compiled.library.cache_clear()
    yield
    compiled.library.cache_clear()


@given(
    seed=st.integers(0, 2**32 - 1), points=st.integers(0, 70), records=st.integers(0, 400), rank=st.integers(0, 5),
    threshold=st.sampled_from([0.0, 1e-3, 0.7, 1e6]),
)  # fmt: skip
def test_clipped_sums(seed, points, records, rank, threshold):
    generator = np.random.default_rng(seed)
    left, right = generator.normal(size=(points, rank)), generator.normal(size=(records, rank))
    result = compiled.clipped_sums(left, right, threshold)
    assert result == pytest.approx(clipped(left, right, threshold), rel=1e-12, abs=1e-11)
    assert compiled.clipped_sums(np.asfortranarray(left), right[::-1], threshold) == pytest.approx(result, rel=1e-12, abs=1e-11)


def test_clipped_sums_of_what_is_not_finite(generator):
    left, right = generator.normal(size=(40, 2)), generator.normal(size=(30, 2))
    left[3], left[5], left[7] = np.nan, (np.inf, 0), (-np.inf, 1)
    right[:, 0] = np.abs(right[:, 0])
    with np.errstate(invalid="ignore"):
        expected = clipped(left, right, 2.0)
    assert compiled.clipped_sums(left, right, 2.0) == pytest.approx(expected, rel=1e-12, nan_ok=True)


def test_sums_of_many_records_are_precise():
    """One after the other, a million sums of 0.1 have a relative error of 1e-11."""
    value = 0.1
    sums = compiled.clipped_sums(np.ones((1, 1)), np.full((1_000_000, 1), value), 1.0)
    assert sums[0] == pytest.approx(100_000, rel=1e-12)


def test_without_a_compiler_numpy_computes_the_sums_with_a_warning(again, monkeypatch, generator):
    monkeypatch.setenv("CXX", "no-such-compiler")
    left, right = generator.normal(size=(40, 3)), generator.normal(size=(30, 3))
    with pytest.warns(RuntimeWarning, match="takes much longer: .*'no-such-compiler'"):
        assert compiled.clipped_sums(left, right, 1.0) == pytest.approx(clipped(left, right, 1.0), rel=1e-12)
    assert compiled.clipped_sums(left, right, 1.0) == pytest.approx(clipped(left, right, 1.0), rel=1e-12)


def test_a_compiler_that_knows_one_processor_only_is_enough(again, monkeypatch, generator):
    """The form for each processor is refused, as by compilers before GCC 12."""
    monkeypatch.setattr(compiled, "FORMS", (("-march=no-such-processor",), ("-DONE_FORM",)))
    left, right = generator.normal(size=(40, 3)), generator.normal(size=(30, 3))
    assert compiled.library() is not None
    assert compiled.clipped_sums(left, right, 1.0) == pytest.approx(clipped(left, right, 1.0), rel=1e-12)


def test_all_forms_give_the_same_numbers(tmp_path, generator):
    left, right = generator.normal(size=(1000, 3)), generator.normal(size=(777, 3))
    expected = compiled.clipped_sums(left, right, 1.0)
    for form in ("-DONE_FORM", "-DONE_FORM -march=native"):
        file = tmp_path / "loops.so"
        subprocess.run([*compiled.command(), *compiled.FLAGS, *form.split(), str(compiled.SOURCE), "-o", str(file)], check=True)
        loops, sums = compiled._loaded(file), np.zeros(1000)
        loops.clipped_sums(left, 1000, right, 777, 3, 1.0, sums)
        assert np.array_equal(sums, expected)
        file.unlink()


def test_the_compiler_may_be_named_with_what_calls_it(again, monkeypatch):
    monkeypatch.setenv("CXX", "env g++")
    assert compiled.library() is not None


COMPILERS = {
    "fails": ("echo wrong >&2; exit 3", "ended with code 3: wrong"),
    "fails without a word": ("exit 3", "ended with code 3: "),
    "fails with other bytes": (r"printf '\351' >&2; exit 3", "ended with code 3: "),
    "writes nothing": ("exit 0", "cannot open shared object file"),
    "writes an empty file": ('for file; do :; done; : > "$file"', "file too short"),
    "leaves functions out": ('for file; do :; done; echo | g++ -shared -x c++ - -o "$file"', "lacks a function"),
}


@pytest.mark.parametrize("kind", COMPILERS)
def test_what_a_compiler_does_wrong_is_reported_and_leaves_nothing(again, monkeypatch, tmp_path, kind):
    does, reason = COMPILERS[kind]
    compiler = tmp_path / "compiler"
    compiler.write_text(f"#!/bin/sh\n{does}\n")
    compiler.chmod(0o755)
    monkeypatch.setenv("CXX", str(compiler))
    with pytest.warns(RuntimeWarning, match=reason):
        assert compiled.library() is None
    compiled.library.cache_clear()
    monkeypatch.setenv("CXX", "g++")
    assert compiled.library() is not None


def test_a_name_of_a_compiler_that_cannot_be_read_is_reported(again, monkeypatch):
    monkeypatch.setenv("CXX", '"g++')
    with pytest.warns(RuntimeWarning, match="No closing quotation"):
        assert compiled.library() is None


@pytest.mark.parametrize("damage", ["removed", "cut", "of another user"])
def test_cached_loops_that_cannot_be_trusted_are_compiled_again(again, tmp_path, damage):
    assert compiled.library() is not None
    (file,) = (tmp_path / "cache" / "formalsynth" / "loops").glob("loops-*.so")
    if damage == "removed":
        file.unlink()
    elif damage == "cut":
        beginning = file.read_bytes()[:1000]
        file.unlink()  # this process has loaded it
        file.write_bytes(beginning)
    else:
        file.chmod(0o777)
    compiled.library.cache_clear()
    assert compiled.library() is not None
    assert file.stat().st_mode & 0o022 == 0
    assert file.stat().st_size > 1000


@pytest.mark.parametrize(
    ("left", "right", "threshold"),
    [((5, 3), (4, 1), 1.0), ((5, 1), (4, 3), 1.0), ((5, 3), (4, 3), -1.0), ((5, 3), (4, 3), np.nan)],
)
def test_sums_of_what_does_not_fit_are_refused(left, right, threshold):
    with pytest.raises(ValueError, match="must be equal, and the threshold"):
        compiled.clipped_sums(np.ones(left), np.ones(right), threshold)


def test_a_factor_may_be_sparse(generator):
    left, right = generator.normal(size=(40, 2)), generator.normal(size=(30, 2))
    assert compiled.clipped_sums(left, csr_array(right), 1.0) == pytest.approx(clipped(left, right, 1.0), rel=1e-12)


def test_loops_are_compiled_once_for_a_user(again, monkeypatch, tmp_path):
    assert compiled.library() is not None
    compiled.library.cache_clear()
    monkeypatch.setattr(compiled, "compile_to", None)
    assert compiled.library() is not None


@pytest.mark.parametrize("umask", [0o000, 0o002, 0o077])
def test_loops_are_compiled_once_with_any_umask(again, monkeypatch, tmp_path, umask):
    before = os.umask(umask)
    try:
        (tmp_path / "cache" / "formalsynth").mkdir(parents=True)  # as an earlier version made it
        assert compiled.library() is not None
    finally:
        os.umask(before)
    compiled.library.cache_clear()
    monkeypatch.setattr(compiled, "compile_to", None)
    assert compiled.library() is not None


def test_a_user_without_a_home_has_loops(again, monkeypatch, tmp_path):
    (tmp_path / "file").touch()
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "file"))
    assert compiled.library() is not None


def test_the_command_compiles_ahead_of_time(tmp_path):
    run = subprocess.run(
        [sys.executable, "-m", "formalsynth.core.compiled"],
        env={"PATH": "/usr/bin:/bin", "XDG_CACHE_HOME": str(tmp_path), "PYTHONPATH": ":".join(sys.path)}, check=False,
    )  # fmt: skip
    assert run.returncode == 0
    assert [file.suffix for file in (tmp_path / "formalsynth" / "loops").glob("loops-*")] == [".so"]
