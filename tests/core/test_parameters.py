"""Parameters of registered functions as typed models."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from formalsynth.core.constraints import (
    Count,
    CountOfTwo,
    CountOrZero,
    Finite,
    NonNegative,
    OpenProportion,
    PositiveNumber,
    Proportion,
)
from formalsynth.core.parameters import defaults, parameters_of, partial


def example(context, *, epsilon: PositiveNumber, low: Finite = 0.0, high: Finite = 1.0, bins: CountOrZero = 0):
    """Purpose of the example (Section 1). More
    of it.

    And the rest.
    """


MODEL = parameters_of(example)


def test_keyword_only_parameters_make_the_model():
    assert list(MODEL.model_fields) == ["epsilon", "low", "high", "bins"]
    assert defaults(MODEL) == {"low": 0.0, "high": 1.0, "bins": 0}
    assert MODEL(epsilon=2).model_dump() == {"epsilon": 2, "low": 0.0, "high": 1.0, "bins": 0}


@pytest.mark.parametrize("wrong", [{}, {"epsilon": 1, "delta": 2}, {"context": 1, "epsilon": 1}])
def test_absent_and_unknown_parameters_are_refused(wrong):
    with pytest.raises(ValidationError):
        MODEL(**wrong)


def test_a_sweep_may_leave_any_parameter_to_give():
    assert partial(MODEL)().model_dump(exclude_none=True) == {}
    assert partial(MODEL)(low=3).model_dump(exclude_none=True) == {"low": 3}
    with pytest.raises(ValidationError):
        partial(MODEL)(epsilon=-1)
    with pytest.raises(ValidationError, match="more than low, which is 3"):
        partial(MODEL)(low=3, high=2)


def test_a_range_ascends():
    assert MODEL(epsilon=1, low=-1, high=0).high == 0
    for low, high in ((2, 1), (1, 1), (1, 1.0)):
        with pytest.raises(ValidationError, match="more than low"):
            MODEL(epsilon=1, low=low, high=high)


def ranges(*, a: Finite, b: Finite, wide_a: Finite = 0.0, wide_b: Finite = 0.0):
    """Both kinds of ranges that mechanisms have."""


def test_every_range_of_a_mechanism_ascends():
    assert parameters_of(ranges)(a=0, b=1, wide_a=1, wide_b=2).b == 1
    for wrong in ({"a": 1, "b": 0}, {"a": 0, "b": 1, "wide_a": 3, "wide_b": 2}):
        with pytest.raises(ValidationError, match="more than"):
            parameters_of(ranges)(**wrong)


@pytest.mark.parametrize("value", [3, 3.0, 0.25, 10**6])
def test_numbers_stay_as_they_are_given(value):
    for model in (MODEL, partial(MODEL)):
        kept = model(epsilon=value).epsilon
        assert (type(kept), kept) == (type(value), value)


def takes(annotation):
    """A model with one parameter."""

    def function(*, value):
        """One parameter."""

    function.__annotations__["value"] = annotation
    return parameters_of(function)


ANYTHING = st.integers(-5, 5) | st.floats(-5, 5) | st.sampled_from([math.inf, -math.inf, math.nan, 1e9, 1e9 + 1, 10**9, 10**10])
EACH = {
    "Finite": (Finite, math.isfinite),
    "PositiveNumber": (PositiveNumber, lambda value: 0 < value < math.inf),
    "NonNegative": (NonNegative, lambda value: 0 <= value < math.inf),
    "Proportion": (Proportion, lambda value: 0 <= value <= 1),
    "OpenProportion": (OpenProportion, lambda value: 0 < value < 1),
    "Count": (Count, lambda value: 1 <= value <= 1e9 and value == int(value)),
    "CountOfTwo": (CountOfTwo, lambda value: 2 <= value <= 1e9 and value == int(value)),
    "CountOrZero": (CountOrZero, lambda value: 0 <= value <= 1e9 and value == int(value)),
}


@pytest.mark.parametrize("name", EACH)
@given(value=ANYTHING)
def test_a_number_takes_what_it_allows(name, value):
    annotation, holds = EACH[name]
    model = takes(annotation)
    if holds(value):
        kept = model(value=value).value
        assert (type(kept), kept) == (type(value), value)
    else:
        with pytest.raises(ValidationError):
            model(value=value)


@pytest.mark.parametrize("name", EACH)
@pytest.mark.parametrize("value", [True, "1", None, [1]])
def test_what_is_no_number_is_refused(name, value):
    with pytest.raises(ValidationError):
        takes(EACH[name][0])(value=value)
