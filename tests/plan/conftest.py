"""Fixtures of the tests of the plan: the shipped config as trees that are changed and read without files."""

from pathlib import Path

import pytest
from config_trees import CONFIG, ERRATA, of_papers, own_trees, put, reader, refusal, shipped_trees


@pytest.fixture(scope="session")
def shipped(repository):
    """The shipped files, with our claims among theirs."""
    return shipped_trees(repository / "config")


@pytest.fixture(scope="session")
def own(shipped):
    """The shipped files, with our claims in place of theirs."""
    return own_trees(shipped)


@pytest.fixture(scope="session")
def read(tmp_path_factory):
    """Read trees as a plan."""
    return reader(tmp_path_factory.mktemp("config"))


@pytest.fixture(scope="session")
def refused(own, read):
    """The message about a file of one paper, or about config.yaml, in which one key was changed."""

    def refused(file, path, value):
        trees = of_papers(own, "range" if file in (CONFIG, ERRATA) else Path(file).stem)
        put(trees[file], path, value)
        message = refusal(read, trees)
        assert isinstance(message, str), "it was accepted"
        return message

    return refused
