"""Check of forbidden words: it reports them in identifiers, texts and docstrings, and passes plain English."""

from pathlib import Path

import pytest
import yaml

from dev import words


@pytest.fixture(scope="module")
def rules():
    return yaml.safe_load(Path(words.__file__).with_suffix(".yaml").read_text(encoding="utf-8"))


@pytest.mark.parametrize(
    ("line", "use"),
    [
        ("job_is_told = 1", "told"),
        ("class ToldRun: pass", "Told"),
        ("# The file is written anew.", "anew"),
        ("def read(found): pass", "variable found"),
        ("sizes = [one for one in range(3)]", "variable one"),
        ('LIMIT = 3\n"""Of the runs."""', '"Of ..."'),
        ('def ok(x):\n    """Whether it is."""', '"Whether ..."'),
    ],
)
def test_a_use_is_reported_with_its_line(rules, line, use):
    assert (line.count("\n") + 1, use) in [(number, word) for number, word, _ in words.check(line, rules, python=True)]


@pytest.mark.parametrize("line", ["threshold = 2  # a limit", "stand, foretold = 1, 2", "# the one that each found"])
def test_parts_of_words_are_not_reported(rules, line):
    assert not list(words.check(line, rules, python=True))


def test_every_word_has_a_replacement(rules):
    for section in ("words", "docstring starts", "names"):
        assert all(isinstance(instead, str) and instead for instead in rules[section].values())
