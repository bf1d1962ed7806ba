"""Files of config as text: they hold keys and values, each key once, or are refused by name."""

import importlib.util
import os
import re
import tempfile
from pathlib import Path

import pytest
import yaml
from formalsynth.plan import yaml_file as load
from formalsynth.plan.load import read_plan
from formalsynth.plan.messages import ConfigError
from hypothesis import given
from hypothesis import strategies as st


def _without_libyaml():
    """The module as it is where PyYAML was built without libyaml."""
    spec = importlib.util.spec_from_file_location("load_without_libyaml", load.__file__)
    module = importlib.util.module_from_spec(spec)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(yaml, "__with_libyaml__", False)
        spec.loader.exec_module(module)
    return module


LOADERS = {"libyaml": load.load_yaml, "Python": _without_libyaml().load_yaml}


@pytest.fixture(params=LOADERS)
def load_yaml(request):
    """The reader of files, fast and slow."""
    return LOADERS[request.param]


TEXTS_OF_FILES = [
    ("a: [1", "cannot be read as YAML"),
    ("a: b: c", "cannot be read as YAML"),
    ("\tx: 1", "cannot be read as YAML"),
    ("a: 1\n b: 2", "cannot be read as YAML"),
    ("a: *nobody", "undefined alias 'nobody'"),
    ("a: !!python/name:os.system", "could not determine a constructor"),
    ("a: 2020-13-45", "month must be in 1..12"),
    ("a: " + "1" * 5000, "cannot be read as YAML"),
    ("{[1]: 2}", "unhashable key"),
    ("[" * 800, "cannot be read as YAML"),
    ("a: 1\na: 2", "the key 'a' is given twice in .*line 2, column 1"),
    ("1: x\n'1': y", "the key '1' is given twice"),
    ("a: {b: 1, c: 2, b: 1}", "the key 'b' is given twice"),
    ("a: {<<: {b: 1}, <<: {c: 1}}", "the key '<<' is given twice"),
    ("", r"\(whole file\): contains something other than keys and values; allowed: keys and values"),
    ("# nothing", r"\(whole file\): contains something other than keys and values; allowed: keys and values"),
    ("- 1", r"\(whole file\): contains something other than keys and values; allowed: keys and values"),
    ("just words", r"\(whole file\): contains something other than keys and values; allowed: keys and values"),
    ("--- 1\n--- 2", "expected a single document"),
    ("a: &a [*a]", "with its aliases expanded, this has more than 50000 values"),
    ("a: &a {b: *a}", "with its aliases expanded, this has more than 50000 values"),
    (
        "a0: &a0 [x, x]\n" + "".join(f"a{k + 1}: &a{k + 1} [{', '.join([f'*a{k}'] * 9)}]\n" for k in range(9)),
        "with its aliases expanded, this has more than 50000 values",
    ),
    ("a: [" + "1, " * 60_000 + "]", "more than 50000 values"),
    ("a: " + "x" * 3_000_000, r"\(whole file\): has 3000003 bytes; allowed: at most 2000000"),
    ("a: !!set {b, c}", "is unordered: give a list"),
    ("a: !!omap [b: 1]", "give keys and values"),
    ("a: !!pairs [b: 1]", "give keys and values"),
    ("a: !!binary G1szMW0=", "hides its contents: give text"),
    ("a: !!bool maybe", "cannot be read as YAML"),
    ("a: !!timestamp maybe", "cannot be read as YAML"),
    ("a: !!int ''", "cannot be read as YAML"),
]


@pytest.mark.parametrize(("text", "words"), TEXTS_OF_FILES, ids=[f"{case[0]:.20}" for case in TEXTS_OF_FILES])
def test_a_file_that_is_no_yaml_of_keys_and_values_is_named(load_yaml, tmp_path, text, words):
    (tmp_path / "paper.yaml").write_text(text)
    with pytest.raises(ConfigError, match=rf"paper\.yaml: .*{words}"):
        load_yaml(tmp_path / "paper.yaml")


@pytest.mark.parametrize("content", [b"\xff\xfea", b"a: \xe9", b"a: \x00", b"a: \x07"])
def test_a_file_in_another_encoding_is_named(load_yaml, tmp_path, content):
    (tmp_path / "paper.yaml").write_bytes(content)
    with pytest.raises(ConfigError, match=r"paper\.yaml: cannot be read as YAML"):
        load_yaml(tmp_path / "paper.yaml")


@given(st.text(max_size=60) | st.text(alphabet="abn01:-[]{},&*!|>'\"%@`#? \n\t", max_size=60))
def test_any_text_is_yaml_or_refused(tmp_path_factory, text):
    path = tmp_path_factory.getbasetemp() / "any.yaml"
    path.write_text(text, encoding="utf-8")
    try:
        assert isinstance(load.load_yaml(path), dict)
    except ConfigError as error:
        assert str(error).startswith(f"{path}: ")


def test_a_folder_in_place_of_a_file_is_named(load_yaml, tmp_path):
    (tmp_path / "paper.yaml").mkdir()
    with pytest.raises(ConfigError, match=r"paper\.yaml: cannot be read as YAML: .*Is a directory"):
        load_yaml(tmp_path / "paper.yaml")


def test_a_pipe_in_place_of_a_file_is_named(load_yaml, tmp_path):
    os.mkfifo(tmp_path / "paper.yaml")
    with pytest.raises(ConfigError, match=r"paper\.yaml: \(whole file\): is a pipe"):
        load_yaml(tmp_path / "paper.yaml")


def test_keys_of_a_merged_section_may_be_given_again(load_yaml, tmp_path):
    (tmp_path / "paper.yaml").write_text("a: &a {x: 1, y: 2}\nb: &b {<<: *a, x: 3}\nc: {<<: *b, y: 4}\n")
    assert load_yaml(tmp_path / "paper.yaml")["c"] == {"x": 3, "y": 4}


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("1e-5", 1e-5),
        ("1E3", 1e3),
        ("-2.5e+3", -2500.0),
        ("1e", "1e"),
        ("3a", "3a"),
        ("7", 7),
        ("010", "010"),
        ("0o10", "0o10"),
        ("0x1F", "0x1F"),
        ("1:30", "1:30"),
        ("0", 0),
        ("-12", -12),
        ("0.5", 0.5),
        (".5", 0.5),
        ("1.", 1.0),
        (".inf", float("inf")),
        ("1_000", 1000),
    ],
)
def test_numbers_with_an_exponent_are_numbers(load_yaml, tmp_path, text, value):
    (tmp_path / "paper.yaml").write_text(f"a: {text}\n")
    number = load_yaml(tmp_path / "paper.yaml")["a"]
    assert (number, type(number)) == (value, type(value))


@pytest.mark.parametrize("file", ["papers/range.yaml", "papers/censor.yaml", "papers/reps.yaml", "config.yaml"])
def test_a_line_given_twice_is_refused(repository, tmp_path, file):
    """Every line of a shipped file in turn that holds one key and its value, on a line of their own."""
    lines = (repository / "config" / file).read_text(encoding="utf-8").splitlines()
    places = [k for k, line in enumerate(lines) if re.fullmatch(r" *[\w.]+: [^&*|>#]+", line)]
    assert len(places) > 10
    for k in places[:: max(1, len(places) // 12)]:
        path = tmp_path / Path(file).name
        path.write_text("\n".join([*lines[: k + 1], lines[k], *lines[k + 1 :]]), encoding="utf-8")
        with pytest.raises(ConfigError, match=rf"{path.name}: .*the key '[^']+' is given twice .*line {k + 2},"):
            load.load_yaml(path)


def test_the_shipped_files_are_read_as_they_are_elsewhere(repository):
    for name in ("config.yaml", "papers/range.yaml", "papers/zcdp.yaml"):
        path = repository / "config" / name
        given = yaml.safe_load(path.read_text(encoding="utf-8"))
        assert [repr(read(path)) for read in LOADERS.values()] == [repr(given)] * 2


@pytest.mark.parametrize("text", ["", "- 1\n", "just words\n", "\x00"])
def test_a_paper_that_is_no_yaml_of_keys_and_values_is_named(repository, tmp_path, text):
    run = load.load_yaml(repository / "config" / "config.yaml") | {"papers": ["range"]}
    (tmp_path / "papers").mkdir()
    (tmp_path / "papers" / "range.yaml").write_text(text)
    with pytest.raises(ConfigError, match=r"papers/range\.yaml: (\(whole file\)|cannot be read as YAML)"):
        read_plan(run, tmp_path)


def test_a_file_that_a_program_writes_may_be_larger(load_yaml, tmp_path, monkeypatch):
    monkeypatch.setitem(load_yaml.__globals__, "LARGEST", 500)
    path = tmp_path / "crossing.yaml"
    path.write_text("a: [" + "1, " * 1500 + "]")
    assert len(load_yaml(path, 4)["a"]) == 1500
    with pytest.raises(ConfigError, match="more than 1000 values"):
        load_yaml(path, 2)


@given(
    st.one_of(st.text("0123456789eE+-._: #\n'\"xon", max_size=8), st.sampled_from(["1e3", "1E-5", "0x1f", "010", "1_0", "yes"]))
)
def test_texts_that_look_like_numbers_are_read_as_texts(text):
    for flow in (True, False, None):
        written = load.yaml_text({"a": [text], "b": 1e-5}, flow=flow)
        with tempfile.NamedTemporaryFile("w", encoding="utf-8") as file:
            file.write(written)
            file.flush()
            assert load.load_yaml(Path(file.name)) == {"a": [text], "b": 1e-5}
