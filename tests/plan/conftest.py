"""Fixtures of the tests of the plan: the shipped config as trees that are changed and read without files."""

import pytest
from config_trees import own_trees, reader, shipped_trees


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
