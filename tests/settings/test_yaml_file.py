"""Files of config as text: they hold keys and values, each key once, or are refused by name."""

import os
import re
import tempfile
from pathlib import Path

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from formalsynth.core.yaml_text import yaml_text
from formalsynth.settings.messages import ConfigError
from formalsynth.settings.yaml_file import load_yaml

KEYS = r"\(whole file\): contains something other than keys and values; allowed: keys and values"
REFUSED = [
    ("a: [1", "cannot be read as YAML"),
    ("a: *nobody", "undefined alias in"),
    ("a: !!python/name:os.system", "could not determine a constructor"),
    ("a: 2020-13-45", "month must be in 1..12"),
    ("a: " + "1" * 5000, "cannot be read as YAML"),
    ("{{a: 1}: 2}", "unhashable key"),
    ("[" * 800, "cannot be read as YAML"),
    ("a: 1\na: 2", "the key 'a' is given twice in .*line 2, column 1"),
    ("1: x\n'1': y", "the key '1' is given twice"),
    ("a: {b: 1, c: 2, b: 1}", "the key 'b' is given twice"),
    ("a: {<<: {b: 1}, <<: {c: 1}}", "the key '<<' is given twice"),
    ("", KEYS),
    ("- 1", KEYS),
    ("just words", KEYS),
    ("--- 1\n--- 2", "expected a single document"),
    ("a: " + "x" * 3_000_000, r"\(whole file\): has 3000003 bytes; allowed: at most 2000000"),
    ("a: &a [*a]", "has too many values; allowed: at most 50000 values, with aliases expanded"),
    (
        "a0: &a0 [x, x]\n" + "".join(f"a{k + 1}: &a{k + 1} [{', '.join([f'*a{k}'] * 9)}]\n" for k in range(9)),
        "has too many values; allowed: at most 50000 values, with aliases expanded",
    ),
    ("a: [" + "1, " * 60_000 + "]", "has too many values"),
    ("a: !!set {b, c}", "could not determine a constructor for the tag .*set"),
    ("a: !!bool maybe", "cannot be read as YAML"),
    ("a: !!int ''", "cannot be read as YAML"),
    ("%YAML 9.9\n---\na: 1", "cannot be read as YAML"),
    ("a: !!python/object/apply:os.system [touch hacked]", "could not determine a constructor"),
    ("".join(f"x{k}: 1\n" for k in range(25_001)), "has too many values"),
    (b"\xff\xfea", "cannot be read as YAML"),
    (b"a: 1\n# \xc3", "cannot be read as YAML"),
    (bytes(range(256)) * 20, "cannot be read as YAML"),
    (b"a: \x00", "cannot be read as YAML"),
]


@pytest.mark.parametrize(
    ("text", "words"), REFUSED, ids=[f"{case[0]:.20}" for case in REFUSED if isinstance(case[0], str)] + list("abcd")
)
def test_a_file_that_is_no_yaml_of_keys_and_values_is_named(tmp_path, text, words):
    (tmp_path / "paper.yaml").write_bytes(text if isinstance(text, bytes) else text.encode())
    with pytest.raises(ConfigError, match=rf"paper\.yaml: .*{words}"):
        load_yaml(tmp_path / "paper.yaml")


@given(st.text(max_size=60) | st.text(alphabet="abn01:-[]{},&*!|>'\"%@`#? \n\t", max_size=60))
def test_any_text_is_yaml_or_refused(tmp_path_factory, text):
    path = tmp_path_factory.getbasetemp() / "any.yaml"
    path.write_text(text, encoding="utf-8")
    try:
        assert isinstance(load_yaml(path), dict)
    except ConfigError as error:
        assert str(error).startswith(f"{path}: ")


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (Path.mkdir, "cannot be read as YAML: .*Is a directory"),
        (os.mkfifo, r"\(whole file\): is a pipe"),
        (lambda path: path.symlink_to("nowhere"), "is missing"),
        (lambda path: path.symlink_to(path.name), "cannot be read as YAML: .*Too many levels of symbolic links"),
        (lambda path: None, "is missing"),
    ],
)
def test_what_is_no_file_is_named(tmp_path, make, words):
    make(tmp_path / "paper.yaml")
    with pytest.raises(ConfigError, match=rf"paper\.yaml: {words}"):
        load_yaml(tmp_path / "paper.yaml")


@pytest.mark.parametrize("content", [b"\xef\xbb\xbfa: 1\nb: 2\n", b"a: 1\r\nb: 2\r\n", b"a: 1\rb: 2\r", b"a: 1\nb: 2"])
def test_marks_and_ends_of_lines_of_any_system_are_read(tmp_path, content):
    (tmp_path / "paper.yaml").write_bytes(content)
    assert load_yaml(tmp_path / "paper.yaml") == {"a": 1, "b": 2}


def test_keys_of_a_merged_section_may_be_given_again(tmp_path):
    (tmp_path / "paper.yaml").write_text("a: &a {x: 1, y: 2}\nb: &b {<<: *a, x: 3}\nc: {<<: *b, y: 4}\n")
    assert load_yaml(tmp_path / "paper.yaml")["c"] == {"x": 3, "y": 4}


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("1e-5", 1e-5), ("1E3", 1e3), ("-2.5e+3", -2500.0), ("1e", "1e"), ("3a", "3a"), ("7", 7), ("010", 10), ("0o10", 8),
        ("1:30", "1:30"), ("0", 0), ("-12", -12), ("0.5", 0.5), (".5", 0.5), ("1.", 1.0), (".inf", float("inf")),
    ],
)  # fmt: skip
def test_numbers_are_those_of_yaml_1_2(tmp_path, text, value):
    (tmp_path / "paper.yaml").write_text(f"a: {text}\n")
    number = load_yaml(tmp_path / "paper.yaml")["a"]
    assert (number, type(number)) == (value, type(value))


@pytest.mark.parametrize("file", ["papers/range.yaml", "papers/reps.yaml", "config.yaml"])
def test_a_line_given_twice_is_refused(repository, tmp_path, file):
    """Lines of a shipped file in turn that hold one key and its value, on a line of their own."""
    lines = (repository / "config" / file).read_text(encoding="utf-8").splitlines()
    places = [k for k, line in enumerate(lines) if re.fullmatch(r" *[\w.]+: [^&*|>#]+", line)]
    assert len(places) > 10
    for k in places[:: max(1, len(places) // 12)]:
        path = tmp_path / Path(file).name
        path.write_text("\n".join([*lines[: k + 1], lines[k], *lines[k + 1 :]]), encoding="utf-8")
        with pytest.raises(ConfigError, match=rf"{path.name}: .*the key '[^']+' is given twice .*line {k + 2},"):
            load_yaml(path)


def test_the_shipped_files_are_read_as_they_are_elsewhere(repository):
    for name in ("config.yaml", "papers/range.yaml", "papers/zcdp.yaml"):
        path = repository / "config" / name
        assert repr(load_yaml(path)) == repr(yaml.safe_load(path.read_text(encoding="utf-8")))


@given(st.one_of(
    st.text("0123456789eE+-._: #\n'\"xon", max_size=8), st.sampled_from(["1e3", "1E-5", "0x1f", "0o17", "010", "1_0", "yes"]),
))  # fmt: skip
def test_texts_that_look_like_numbers_are_read_as_texts(text):
    for flow in (True, False, None):
        written = yaml_text({"a": [text], "b": 1e-5}, flow=flow)
        with tempfile.NamedTemporaryFile("w", encoding="utf-8") as file:
            file.write(written)
            file.flush()
            assert load_yaml(Path(file.name)) == {"a": [text], "b": 1e-5}
        assert yaml.safe_load(written)["a"] == [text]
