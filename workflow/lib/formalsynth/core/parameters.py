"""Parameters of mechanisms, populations, studies and arms as typed models, made from the signatures of their functions."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any, get_type_hints

from pydantic import Field, ValidationInfo, create_model, field_validator

from formalsynth.core.model import Model

ABOVE = {"b": "a", "wide_b": "wide_a", "high": "low"}
"""Upper ends of ranges, each with its lower end."""


class Parameters(Model):
    """Parameters that config may set; a field without a default has to be given."""

    @field_validator("b", "wide_b", "high", mode="after", check_fields=False)
    @classmethod
    def _above(cls, value: float | None, info: ValidationInfo) -> float | None:
        low = ABOVE[info.field_name or ""]
        if value is not None and info.data.get(low) is not None and not info.data[low] < value:
            raise ValueError(f"Input should be more than {low}, which is {info.data[low]:g}")
        return value


def parameters_of(function: Callable[..., Any]) -> type[Parameters]:
    """Keyword-only parameters of a function as a model.

    Args:
        function: its annotations say what a parameter may be, as in ``epsilon: PositiveNumber``.
    """
    hints = get_type_hints(function, include_extras=True)
    fields: dict[str, Any] = {
        name: (hints.get(name, Any), ... if one.default is one.empty else one.default)
        for name, one in inspect.signature(function).parameters.items()
        if one.kind is one.KEYWORD_ONLY
    }
    return create_model(f"{function.__name__}_parameters", __base__=Parameters, **fields)


class SomeParameters(Parameters):
    """Parameters none of which has to be given; what is given is a number."""

    @field_validator("*", mode="before")
    @classmethod
    def _number(cls, value: object) -> object:
        if value is None:
            raise ValueError("Input should be a number")
        return value


def partial(model: type[Parameters]) -> type[Parameters]:
    """Same parameters, none of which has to be given: a sweep may give the rest."""
    fields: dict[str, Any] = {
        name: (one.annotation if not one.metadata else one.rebuild_annotation() | None, Field(None, description=one.description))
        for name, one in model.model_fields.items()
    }
    return create_model(f"{model.__name__}_given", __base__=SomeParameters, **fields)


def defaults(model: type[Parameters]) -> dict[str, float]:
    """Parameters that need not be given, with what they are then."""
    return {name: one.default for name, one in model.model_fields.items() if not one.is_required()}
