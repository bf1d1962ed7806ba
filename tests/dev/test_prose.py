"""Check of the English: it finds slips in prose, and does not read code as prose."""

import pytest

from dev import prose


@pytest.mark.parametrize(
    ("text", "finding"),
    [
        ("The results are very unique.\n", True),
        ("The the results are plain.\n", True),
        ("The results are plain.\n", False),
        ("Run `very very` and look.\n\n```\nvery very\n```\n", False),
    ],
)
def test_slips_are_found_in_prose_alone(monkeypatch, capsys, text, finding):
    monkeypatch.setattr(prose, "texts", lambda: [("page.md", prose.prose(text))])
    assert prose.main() == int(finding)
    assert ("page.md:1:" in capsys.readouterr().out) == finding


def test_every_check_that_is_off_has_a_reason():
    assert all(len(reason.split()) > 3 for reason in prose.OFF.values())
