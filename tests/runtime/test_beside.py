"""Jobs find the package beside the workflow."""

import os

from formalsynth.runtime.beside import tell_jobs


def test_a_folder_is_looked_into_first_and_once(monkeypatch):
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join(["theirs", "ours"]))
    tell_jobs("ours")
    tell_jobs("ours")
    assert os.environ["PYTHONPATH"].split(os.pathsep) == ["ours", "theirs"]


def test_without_other_folders_there_is_one(monkeypatch):
    monkeypatch.delenv("PYTHONPATH", raising=False)
    tell_jobs("ours")
    assert os.environ["PYTHONPATH"] == "ours"
