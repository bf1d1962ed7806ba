"""Hostile and odd input of every kind, read as a run reads it: each is used as given, or refused in a sentence.

One small paper is written to files with one thing changed. Refusals are lines that can be printed as they are, each
with the file, the key and what was given; and neither costs more than a second.
"""

import os
import time
from pathlib import Path

import pytest
import yaml
from config_trees import put, untied

from formalsynth.core import data_files
from formalsynth.settings.messages import ConfigError
from formalsynth.settings.yaml_file import load_yaml
from formalsynth_workflow.plan.load import read_plan

SECONDS = 5
"""Largest processor time of short tests, in seconds; the larger inputs of this file would take hours or all memory."""
RUN = {
    "scale": "paper", "papers": ["mini"], "root_seed": 1, "batch_size": 2, "data_folder": "resources",
    "scales": {"paper": {}, "smoke": {"replicates": 2, "shrink": 10}},
}  # fmt: skip
PAPER = {
    "id": 901, "title": "A small paper", "authors": "Ours (2026)",
    "sweeps": {"share": [0.5]},
    "synthesizers": {"Plain": {"mechanism": "unweighted"}, "Weighted": {"mechanism": "weighted", "parents": ["Plain"]}},
    "scenarios": {
        "simulated": {
            "id": 1, "place": "Section 1", "family": "lognormal_regression", "n": 50, "replicates": 4,
            "population": {"name": "lognormal_on_normal", "predictor_mean": 0, "predictor_sd": 1, "intercept": 1, "sigma": 1},
            "synthesizers": ["Plain", "Weighted"],
        },
    },
    "figures": {
        1: {"scenario": "simulated", "value": "delta", "synthesizers": ["Plain", "Weighted"], "y": "Bound", "subject": "Bounds"},
    },
    "tables": {1: {"scenario": "simulated", "statistics": ["mean"], "synthesizers": ["Plain"], "subject": "Means"}},
}  # fmt: skip
CLAIMS = {
    "claims": [
        {
            "id": "bounds-order", "place": "Section 1", "claim": "Bounds fall.",
            "estimate": {"scenario": "simulated", "value": ["delta"], "of": ["Plain", "Weighted"]},
            "test": {"kind": "order", "direction": "falling"},
        },
    ],
}  # fmt: skip
FILES = {"run": "config.yaml", "paper": "papers/mini.yaml", "claims": "claims/mini.yaml"}


@pytest.fixture
def written(tmp_path, monkeypatch):
    """A config folder with the small paper."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(data_files, "SHIPPED", tmp_path / "shipped")
    for part in ("papers", "claims"):
        (tmp_path / "config" / part).mkdir(parents=True)
    for name, tree in (("run", RUN), ("paper", PAPER), ("claims", CLAIMS)):
        text = yaml.safe_dump(untied(tree), sort_keys=False, allow_unicode=True)
        (tmp_path / "config" / FILES[name]).write_text(text, encoding="utf-8")
    return tmp_path / "config"


def outcome(folder):
    """The plan, or the message of the error; nothing else may come of it, and not later than after some seconds."""
    began = time.process_time()
    try:
        result = read_plan(load_yaml(folder / "config.yaml"), folder)
    except ConfigError as error:
        result = str(error)
        for line in result.splitlines():
            assert line.isprintable(), ascii(line)
            assert len(line) < 2000
    assert time.process_time() - began < SECONDS
    return result


def changed(folder, file, path, value):
    """Write a file with one key changed."""
    tree = untied({"run": RUN, "paper": PAPER, "claims": CLAIMS}[file])
    put(tree, path, value)
    text = yaml.safe_dump(tree, sort_keys=False, allow_unicode=True)
    (folder / FILES[file]).write_text(text, encoding="utf-8", errors="surrogatepass")
    return outcome(folder)


def test_the_small_paper_is_one(written):
    assert list(outcome(written).papers) == ["mini"]


PLACES = [
    ("paper", "title"),
    ("paper", "authors"),
    ("paper", "scenarios.simulated.place"),
    ("paper", "synthesizers.Plain.label"),
    ("paper", "figures.1.subject"),
    ("paper", "figures.1.y"),
    ("claims", "claims.0.claim"),
    ("claims", "claims.0.note"),
]
"""Where config has free text that a page, a figure, a table or a log shows."""
TEXT = {
    "html": "<script>alert(1)</script>",
    "attribute": "\" onload='x' &amp; </title>",
    "shell": "$(touch hacked) `id` ; rm -rf *",
    "tex": "$\\frac{1}{0}$ \\input{x} 100% #_^",
    "format": "%s %(x)s %n",
    "rst": ".. raw:: html",
    "template": "{{ 7 * 7 }} {% include 'x' %}",
    "path": "../../etc/passwd",
    "long": "ü" * 3000,
    "emoji": "🙂 e\u0301 ﬁ Ω",
    "quote": 'it\'s "so", \\n no',
    "number": "-0.5 to 1",
}
"""Text that is text, whatever it is elsewhere."""
NO_TEXT = {
    "formula": '=HYPERLINK("http://x")',
    "command of a spreadsheet": "@SUM(1+1)",
    "formula after a blank": "  =1+1",
    "old formula": "-2+3+cmd|' /C calc'!A0",
    "plus": "+1(2)",
    "return": "x\rall is well",
    "colour of a terminal": "\x1b[31mred\x1b[0m",
    "bell": "a\x07b",
    "nothing": "a\x00b",
    "reversed": "fig\u202egpj.exe",
    "isolated": "a\u2066b",
    "separator": "a\u2028b",
    "wide formula": "\uff1dHYPERLINK(1)",
    "wide command": "\uff20SUM(1)",
    "wide plus": "\uff0b1(2)",
}
"""Text that would be something else in a spreadsheet, a log or a terminal."""


@pytest.mark.parametrize("text", TEXT.values(), ids=TEXT)
@pytest.mark.parametrize(("file", "path"), [PLACES[0], PLACES[4], PLACES[6]], ids=str)
def test_text_is_text(written, file, path, text):
    result = changed(written, file, path, text)
    assert not isinstance(result, str), result
    assert not list(written.parent.rglob("hacked"))


@pytest.mark.parametrize(("file", "path"), PLACES, ids=[path for _, path in PLACES])
def test_text_that_is_more_than_text_is_refused_everywhere(written, file, path):
    for text in NO_TEXT.values():
        result = changed(written, file, path, text)
        assert isinstance(result, str), f"{text!r} was accepted"
        assert f"{FILES[file]}: {path}: given " in result


NAMES = {
    "folder above": "../../outside",
    "absolute": "/tmp/outside",
    "option": "--force",
    "wildcard": "{paper}",
    "stars": "*",
    "blank": "a b",
    "nothing": "",
    "full stop": "..",
    "quote": "a'b",
    "separator": "a/b",
    "backslash": "a\\b",
    "look-alike": "simul\u0430ted",
    "wide": "ｓｉｍ",
    "line": "sim\n",
    "shell": "$(id)",
    "tilde": "~root",
    "long": "a" * 300,
}


@pytest.mark.parametrize("name", NAMES.values(), ids=NAMES)
def test_a_name_that_would_be_a_path_is_refused_wherever_names_are_given(written, name):
    """Names of papers, scenarios, synthesizers and scales become folders, files and patterns."""
    for file, path, section in (
        ("run", "papers", [name]),
        ("run", "scales", {"paper": {}, name: {}}),
        ("paper", "scenarios", PAPER["scenarios"] | {name: PAPER["scenarios"]["simulated"] | {"id": 2}}),
        ("paper", "synthesizers", PAPER["synthesizers"] | {name: {"mechanism": "unweighted"}}),
        ("paper", "synthesizers.Plain.id", name or " "),  # an empty one takes the default
    ):
        result = changed(written, file, path, section)
        assert isinstance(result, str), f"{path}: {name!r} was accepted"
    assert not Path("/tmp/outside").exists()


VALUES = [
    ("run", "root_seed", "7; rm -rf /"),
    ("run", "root_seed", None),
    ("run", "batch_size", 10**400),
    ("run", "batch_size", "auto()"),
    ("run", "papers", {"mini": 1}),
    ("run", "papers", ["mini", "mini"]),
    ("run", "papers", ["mini"] * 3000),
    ("run", "scale", "PAPER"),
    ("run", "scale", "smoke/../paper"),
    ("run", "scales.paper.shrink", 0),
    ("run", "scales.paper.shrink", float("inf")),
    ("run", "scales.paper.replicates", 10**12),
    ("run", "sc\u0430le", "paper"),
    ("run", "data_folder", "a\x00b"),
    ("run", "data_folder", "config/config.yaml"),
    ("paper", "id", 0),
    ("paper", "scenarios.simulated.n", 10**30),
    ("paper", "scenarios.simulated.n", [50, 50]),
    ("paper", "scenarios.simulated.n", []),
    ("paper", "scenarios.simulated.n", {"from": 1}),
    ("paper", "scenarios.simulated.replicates", 0),
    ("paper", "scenarios.simulated.replicates", 10**10),
    ("paper", "scenarios.simulated.family", "os.system"),
    ("paper", "scenarios.simulated.population", {"name": "__import__"}),
    ("paper", "scenarios.simulated.population", {"name": "lognormal_on_normal", "__class__": 1}),
    ("paper", "scenarios.simulated.unit", -1),
    ("paper", "synthesizers.Plain.mechanism", "../unweighted"),
    ("paper", "synthesizers.Weighted.parents", ["Weighted"]),
    ("paper", "synthesizers.Plain.colours", ["red; x"]),
    ("paper", "synthesizers.Plain.label", "{0.__class__.__mro__}"),
    ("paper", "synthesizers.Plain.label", "{nobody}"),
    ("paper", "synthesizers.Plain.id", "{a:>999999999}"),
    ("paper", "sweeps.share", [float("nan")]),
    ("paper", "synthesizers.Weighted.parameters", {"c": 1e308}),
    ("paper", "synthesizers.Weighted.parameters", {"c": -1e308}),
    ("paper", "figures", {10**30: PAPER["figures"][1]}),
    ("paper", "figures.1.value", "__dict__"),
    ("paper", "figures.1.kind", "violin.py"),
    ("paper", "figures.1.scenario", "../simulated"),
    ("paper", "figures", {"1/../2": PAPER["figures"][1]}),
    ("paper", "figures", {"٣": PAPER["figures"][1]}),
    ("paper", "tables", {-1: PAPER["tables"][1]}),
    ("paper", "tables", {1e400: PAPER["tables"][1]}),
    ("claims", "claims.0.id", "Bounds_Order"),
    ("claims", "claims.0.estimate.value", ["delta; drop"]),
    ("claims", "claims.0.test", {"kind": "eval"}),
    ("claims", "claims", CLAIMS["claims"] * 2),
    ("claims", "claims", [[]]),
]


@pytest.mark.parametrize(("file", "path", "value"), VALUES, ids=[f"{path}={value!r:.30}" for _, path, value in VALUES])
def test_a_value_that_cannot_be_is_refused_with_its_file_and_key(written, file, path, value):
    result = changed(written, file, path, value)
    assert isinstance(result, str), "it was accepted"
    assert FILES[file] in result
    assert path.split(".")[0] in result or "'sc" in result


LAUGHS = b"a0: &a0 [x]\n" + b"".join(b"a%d: &a%d [%s]\n" % (k + 1, k + 1, b", ".join([b"*a%d" % k] * 9)) for k in range(9))
BYTES = {
    "a mark of UTF-8": (b"\xef\xbb\xbf", True),
    "UTF-16": (b"\xff\xfe", False),
    "line ends of Windows": (lambda text: text.replace(b"\n", b"\r\n"), True),
    "line ends of old Macs": (lambda text: text.replace(b"\n", b"\r"), True),
    "no end of line": (lambda text: text.rstrip(), True),
    "cut in the middle of a character": (lambda text: text + b"# \xc3", False),
    "half of it": (lambda text: text[: len(text) // 2], False),
    "twice": (lambda text: text + text, False),
    "two documents": (lambda text: text + b"---\n" + text, False),
    "a directive": (b"%YAML 9.9\n---\n", False),
    "a tag of Python": (lambda text: text + b"x: !!python/object/apply:os.system [touch hacked]\n", False),
    "an alias of nothing": (lambda text: text + b"x: *y\n", False),
    "itself": (lambda text: text + b"x: &x [*x]\n", False),
    "laughs": (lambda text: text + LAUGHS, False),
    "ten megabytes": (lambda text: text + b"#" * 10**7, False),
    "brackets": (lambda text: text + b"x: " + b"[" * 5000, False),
    "many keys": (lambda text: text + b"".join(b"x%d: 1\n" % k for k in range(25_001)), False),
    "a long number": (lambda text: text + b"x: " + b"9" * 5000 + b"\n", False),
    "empty": (lambda text: b"", False),
    "noise": (lambda text: bytes(range(256)) * 20, False),
    "a program": (lambda text: b"\x7fELF" + bytes(200), False),
}  # fmt: skip


@pytest.mark.parametrize(("change", "works"), BYTES.values(), ids=BYTES)
def test_a_file_of_odd_bytes_is_read_or_refused(written, change, works):
    for name in FILES.values():
        path = written / name
        kept = path.read_bytes()
        path.write_bytes(change(kept) if callable(change) else change + kept)
        result = outcome(written)
        assert isinstance(result, str) != works, result
        assert works or str(path) in result
        path.write_bytes(kept)
    assert not list(written.parent.rglob("hacked"))


def dangling(path):
    path.symlink_to("nowhere")


def circle(path):
    path.symlink_to(path.name)


KINDS = {
    "folder": Path.mkdir,
    "pipe": os.mkfifo,
    "dangling link": dangling,
    "link to itself": circle,
    "nothing": lambda path: None,
}


@pytest.mark.parametrize("make", KINDS.values(), ids=KINDS)
@pytest.mark.parametrize("file", ["run", "paper"])
def test_what_is_no_file_is_named(written, file, make):
    path = written / FILES[file]
    path.unlink()
    make(path)
    result = outcome(written)
    assert isinstance(result, str)
    assert path.name in result or "mini" in result


DATA = {
    "empty": b"",
    "header only": b"stress,cycle\n",
    "formula": b"stress,cycle\n=1+1,2\n",
    "html": b"<!DOCTYPE html><html>not found</html>",
    "zip": b"PK\x03\x04" + bytes(100),
    "pickle": b"\x80\x04\x95cos\nsystem\n(S'touch hacked'\ntR.",
    "nothing but zeros": bytes(10_000),
    "one line without end": b"1," * 500_000,
    "quotes without end": b'"' * 9999,
    "infinite": b"stress,cycle\n" + b"inf,nan\n" * 22,
}


REAL = {
    "id": 2,
    "place": "Section 2",
    "family": "lognormal_regression",
    "file": {"name": "fatigue"},
    "synthesizers": ["Plain"],
}


@pytest.mark.parametrize("content", DATA.values(), ids=DATA)
def test_a_data_file_that_is_none_is_named(written, content):
    (written.parent / "resources").mkdir()
    (written.parent / "resources" / "fatigue.csv").write_bytes(content)
    result = changed(written, "paper", "scenarios.real", REAL)
    assert isinstance(result, str)
    assert "papers/mini.yaml: scenarios.real.file: resources/fatigue.csv: sha256 is " in result


@pytest.mark.parametrize("make", KINDS.values(), ids=KINDS)
def test_a_data_file_that_is_no_file_is_named_and_what_is_absent_is_skipped(written, make):
    (written.parent / "resources").mkdir()
    make(written.parent / "resources" / "fatigue.csv")
    result = changed(written, "paper", "scenarios.real", REAL)
    if (written.parent / "resources" / "fatigue.csv") in (written.parent / "resources").iterdir():
        assert "scenarios.real.file: resources/fatigue.csv: is not a file" in result
    else:
        assert any("fatigue.csv is absent" in sentence for sentence in result.skipped)


@pytest.mark.parametrize("value", ["nowhere", "config/config.yaml", "~", "a\nb", "$HOME", "x" * 5000])
def test_a_variable_that_names_no_folder_is_named(written, monkeypatch, value):
    monkeypatch.setenv("FORMALSYNTH_DATA", value)
    result = outcome(written)
    assert result.startswith("environment variable FORMALSYNTH_DATA: given ")


LONG = "x" * 5000
OWN = {
    # contents of a study that extends the paper, and a part of the message about it
    "sections that are lists": ("synthesizers: [a]\nscenarios: [a]\n", "synthesizers: given ['a']"),
    "sections that are text": ("synthesizers: abc\nscenarios: abc\n", "scenarios: given 'abc'"),
    "a scenario that is a number": ("scenarios: {simulated: 5}\n", "scenarios.simulated: given 5"),
    "a scenario that is a list": ("scenarios: {simulated: [1]}\n", "scenarios.simulated: given [1]"),
    "a long path of code": (f"code: [{LONG}.py]\n", "code: given 'xxx"),
    "a long path of claims": (f"claims: {LONG}\n", "claims: given 'xxx"),
    "a long path of a program": (f"scenarios: {{simulated: {{family: {{stan: {LONG}.stan}}}}}}\n", "family.stan: given 'xxx"),
    "a program whose path ends": ('scenarios: {simulated: {family: {stan: "x\\0.stan"}}}\n', "family.stan: given 'x\\x00.stan'"),
    "a long key": (f"? {'k' * 100_000}\n: 1\n", "kkk...: given 1"),
}


@pytest.mark.parametrize(("text", "part"), OWN.values(), ids=OWN)
def test_an_impossible_study_is_reported(written, text, part):
    (written.parent / "own.yaml").write_text(f"extends: mini\n{text}", encoding="utf-8")
    result = changed(written, "run", "study", "own.yaml")
    assert isinstance(result, str), "it was accepted"
    assert part in result


CODE = {
    "ends": ("raise SystemExit(0)", "SystemExit: 0"),
    "ends in another way": ("raise GeneratorExit", "GeneratorExit"),
    "speaks to the terminal": (r"raise ValueError('\x1b[31mred\nall is well')", r"ValueError: \x1b[31mred all is well"),
    "has no words": (
        "class E(Exception):\n    def __str__(self):\n        raise RuntimeError\nraise E",
        "its message cannot be shown",
    ),
}


@pytest.mark.parametrize(("code", "part"), CODE.values(), ids=CODE)
def test_own_code_that_ends_is_reported_and_does_not_end_the_run(written, code, part):
    """An exit without an error would look like a run in which all was done."""
    (written.parent / "own.yaml").write_text("extends: mini\ncode: [own.py]\n", encoding="utf-8")
    (written.parent / "own.py").write_text(code, encoding="utf-8")
    result = changed(written, "run", "study", "own.yaml")
    assert isinstance(result, str)
    assert f"own.yaml: code: given 'own.py'; line {1 + code.count(chr(10))}: " in result
    assert part in result


def test_a_path_that_is_too_long_for_a_study_is_reported(written):
    assert "config.yaml: study: given 'xxx" in changed(written, "run", "study", LONG)


def test_registered_files_have_plain_names():
    """They are joined to folders of the user."""
    data_files.FILES.find()
    assert all(Path(dataset.file).name == dataset.file for dataset in data_files.FILES.values())
