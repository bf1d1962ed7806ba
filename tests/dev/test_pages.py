"""Reference pages name everything that they list."""

import re

import pytest

from formalsynth.core.rows import REPLICATE_COLUMNS
from formalsynth_release.command import main


def named(repository, page, pattern):
    """Names in a document that match a pattern."""
    return set(re.findall(pattern, (repository / page).read_text(encoding="utf-8")))


def test_each_column_of_replicates_has_a_meaning(repository):
    assert set(REPLICATE_COLUMNS) <= named(repository, "docs/manual/files.md", r"`([^`]+)`")


def test_the_page_on_commands_names_those_of_releases(repository, capsys):
    with pytest.raises(SystemExit):
        main(["--help"])
    commands = set(re.findall(r"^ {4}(\w+)", capsys.readouterr().out, re.MULTILINE))
    assert named(repository, "docs/manual/command_line.md", r"`formalsynth (\w+)") == commands


def test_readme_is_short(repository):
    assert len((repository / "README.md").read_text(encoding="utf-8").splitlines()) <= 120
