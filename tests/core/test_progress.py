"""Progress goes to a waiting user, on standard error, and to nobody else."""

import pytest

from formalsynth.core import progress


@pytest.fixture(autouse=True)
def _silent(monkeypatch):
    """As in a new process: commands that other tests ran in this one have turned progress on."""
    monkeypatch.setattr(progress.PROGRESS, "shown", False)


def test_nothing_is_printed_unless_it_is_requested(capsys):
    progress.tell("Comparing")
    assert list(progress.in_turn("abc", "Fitting candidate")) == ["a", "b", "c"]
    assert capsys.readouterr() == ("", "")


@pytest.mark.parametrize(("seconds", "lines"), [
    (1, ["1 of 25", "11 of 25, about 15 s left", "21 of 25, about 5 s left"]),
    (60, ["1 of 25", *(f"{k} of 25, about {26 - k} minutes left" for k in range(2, 25)), "25 of 25, about 60 s left"]),
])  # fmt: skip
def test_a_line_comes_at_the_first_and_then_every_ten_seconds(monkeypatch, capsys, seconds, lines):
    monkeypatch.setattr(progress.time, "monotonic", iter(range(0, 10_000, seconds)).__next__)
    progress.show_progress()
    progress.show_progress()
    assert list(progress.in_turn(range(25), "Fitting candidate")) == list(range(25))
    said = capsys.readouterr()
    assert said.err.splitlines() == [f"Fitting candidate {line}" for line in lines]
    assert said.out == ""
