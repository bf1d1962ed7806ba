"""Search for a parameter: its end, and its message without one."""

from hypothesis import given
from hypothesis import strategies as st

from formalsynth.core.synthesizer import Search
from formalsynth.engine.search import Walk


def walked(search, target, epsilon_at):
    """The value at which the search ends, None where its steps are too few."""
    walk = Walk(search, target)
    for _ in range(search.steps):
        value = walk.value
        if walk.ends(epsilon_at(value)):
            return value
    return None


@given(st.floats(0.5, 8), st.floats(0.02, 0.3))
def test_a_search_ends_where_the_target_is(target, tolerance):
    value = walked(Search(parameter="c", target=target, tolerance=tolerance), target, lambda c: 10 * c)
    assert abs(10 * value - target) <= tolerance * target


def test_even_steps_end_at_the_low_end():
    low = Search(parameter="k", target=7.5, low=0.9, high=0.95, lower_by=0.05, steps=4)
    assert walked(low, 7.5, lambda k: 10 * k) is None


def test_a_target_out_of_reach_is_named():
    assert walked(Search(parameter="c", target=1.0, steps=3), 1.0, lambda c: 10.0) is None
    assert Walk(Search(parameter="c", target=1.0), 1.0).missed(10.0) == "epsilon 10.000 is not within reach of 1.000"
