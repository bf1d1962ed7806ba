"""Fixtures of the steps: the exact posterior in place of CmdStan, and the small study."""

import pytest
from small_study import exact_sample, small_paper

from formalsynth import posteriors


@pytest.fixture
def exact(monkeypatch):
    """The exact posterior in place of CmdStan."""
    monkeypatch.setattr(posteriors, "sample", exact_sample)


@pytest.fixture
def scenario(tmp_path):
    return small_paper(tmp_path).scenarios["skewed_n60"]
