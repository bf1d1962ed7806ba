import pytest

from formalsynth_workflow.report.formats import by_number, duration, number


@pytest.mark.parametrize(
    ("value", "shown"),
    [(float("nan"), "–"), (float("inf"), "∞"), (-0.5, "−0.5"), (57771.2, "57771"), (1234.5, "1234"), (1e-7, "1e−07"), (3, "3")],
)
def test_numbers(value, shown):
    assert number(value) == shown


@pytest.mark.parametrize(
    ("seconds", "shown"), [(0.25, "0.25 s"), (12.4, "12 s"), (59.6, "1 min 0 s"), (83, "1 min 23 s"), (3725, "1 h 2 min")]
)
def test_durations(seconds, shown):
    assert duration(seconds) == shown


def test_names_are_sorted_by_their_numbers():
    names = ["table 1", "figure 10", "figure 2", "figure 2a"]
    assert sorted(names, key=by_number) == ["figure 2", "figure 2a", "figure 10", "table 1"]
