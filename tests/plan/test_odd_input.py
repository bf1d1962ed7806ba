"""Hostile and odd texts and names: each is used as given, or refused by a line that can be printed as it is."""

import re

import pytest
from config_trees import CLAIM, RANGE, of_papers, put, refusal

from formalsynth.settings.messages import ConfigError, validated
from formalsynth_workflow.plan.model import PaperConfig, RunConfig, find_all

PLACES = [
    (RANGE, "title"),
    (RANGE, "figures.1.subject"),
    (CLAIM, "claims.0.claim"),
    (RANGE, "authors"),
    (RANGE, "scenarios.simulation.place"),
    (RANGE, "synthesizers.Unweighted.label"),
    (RANGE, "figures.1.y"),
    (CLAIM, "claims.0.note"),
]
"""Places of free text that a page, a figure, a table or a log shows."""
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
NAMES = [
    "../../outside", "/tmp/outside", "--force", "{paper}", "*", "a b", "", "..", "a'b", "a/b", "a\\b", "simul\u0430ted", "ｓｉｍ",
    "sim\n", "$(id)", "~root", "a" * 300,
]  # fmt: skip
"""Texts that are not names: names of papers, scenarios, synthesizers and scales become folders, files and patterns."""


@pytest.fixture
def with_text(own, read):
    """Read the plan of a paper with one text at several places, or return the message about it."""

    def with_text(text, places):
        trees = of_papers(own, "range")
        for file, path in places:
            put(trees[file], path, text)
        return refusal(read, trees)

    return with_text


@pytest.mark.parametrize("text", TEXT.values(), ids=TEXT)
def test_text_is_text(with_text, text, fatigue):
    result = with_text(text, PLACES[:3])
    assert not isinstance(result, str), result


@pytest.mark.parametrize("text", NO_TEXT.values(), ids=NO_TEXT)
def test_text_that_is_more_than_text_is_refused_everywhere(with_text, text):
    lines = with_text(text, PLACES).splitlines()
    assert all(line.isprintable() for line in lines)
    for file, path in PLACES:
        assert any(f"{file}: {path}: given " in line for line in lines), path


@pytest.mark.parametrize("name", NAMES)
def test_a_name_that_would_be_a_path_is_refused_wherever_names_are_given(name, tmp_path):
    find_all()
    run = {"root_seed": 1, "papers": [name], "scales": {name: {}}}
    paper = {"title": "T", "authors": "A", "synthesizers": {name: {"mechanism": "unweighted"}}, "scenarios": {name: {}}}
    for model, tree, keys in ((RunConfig, run, ("papers.0", "scales")), (PaperConfig, paper, ("synthesizers", "scenarios"))):
        with pytest.raises(ConfigError) as refused:
            validated(model, tree, tmp_path / "file.yaml")
        lines = str(refused.value).splitlines()
        assert all(line.isprintable() for line in lines)
        for key in keys:
            assert any(re.search(rf": '?{key}.*: given .*; ", line) for line in lines), (key, lines)
