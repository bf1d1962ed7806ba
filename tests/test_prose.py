"""The checker of our English: it finds slips in prose, and takes no code for prose."""

import importlib.util
from pathlib import Path

import pytest

SCRIPT = Path(__file__).parents[1] / ".ci" / "prose.py"


@pytest.fixture(scope="module")
def checker():
    spec = importlib.util.spec_from_file_location("prose", SCRIPT)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("The results are very unique.\n", True),
        ("The the results are plain.\n", True),
        ("The results are plain.\n", False),
        ("Run `very very` and look.\n\n```\nvery very\n```\n", False),
    ],
)
def test_slips_are_found_in_prose_alone(checker, monkeypatch, capsys, text, found):
    monkeypatch.setattr(checker, "texts", lambda: [("page.md", checker.prose(text))])
    assert checker.main() == int(found)
    assert ("page.md:1:" in capsys.readouterr().out) == found


def test_every_check_that_is_off_has_a_reason(checker):
    assert all(len(reason.split()) > 3 for reason in checker.OFF.values())
