"""Parameters of mechanisms, populations, studies and arms, as typed models made from the signatures of their functions."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any, get_type_hints

from pydantic import Field, ValidationInfo, create_model, field_validator

from formalsynth.core.model import Model

ABOVE = {"b": "a", "wide_b": "wide_a", "high": "low", "x_high": "x_low"}
"""Names of upper ends of ranges, each with the name of its lower end."""


class Parameters(Model):
    """Parameters that config may set; a field without a default is required."""

    @field_validator("b", "wide_b", "high", "x_high", mode="after", check_fields=False)
    @classmethod
    def _above(cls, value: float | None, info: ValidationInfo) -> float | None:
        low = ABOVE[info.field_name or ""]
        if value is not None and info.data.get(low) is not None and not info.data[low] < value:
            raise ValueError(f"Input should be more than {low}, which is {info.data[low]:g}")
        return value


def parameters_of(function: Callable[..., Any]) -> type[Parameters]:
    """Keyword-only parameters of a function as a model.

    Args:
        function: function with annotated parameters, as in ``epsilon: PositiveNumber``.
    """
    hints = get_type_hints(function, include_extras=True)
    fields: dict[str, Any] = {
        name: (hints.get(name, Any), ... if parameter.default is parameter.empty else parameter.default)
        for name, parameter in inspect.signature(function).parameters.items()
        if parameter.kind is parameter.KEYWORD_ONLY
    }
    return create_model(f"{function.__name__}_parameters", __base__=Parameters, **fields)


class SomeParameters(Parameters):
    """Optional parameters; given ones have to be numbers."""

    @field_validator("*", mode="before")
    @classmethod
    def _number(cls, value: object) -> object:
        if value is None:
            raise ValueError("Input should be a number")
        return value


def partial(model: type[Parameters]) -> type[Parameters]:
    """Make a model of the same parameters in which all are optional: a sweep may set the rest."""
    fields: dict[str, Any] = {
        name: (
            info.annotation if not info.metadata else info.rebuild_annotation() | None,
            Field(None, description=info.description),
        )
        for name, info in model.model_fields.items()
    }
    return create_model(f"{model.__name__}_given", __base__=SomeParameters, **fields)


def defaults(model: type[Parameters]) -> dict[str, float]:
    """List the optional parameters with their defaults."""
    return {name: info.default for name, info in model.model_fields.items() if not info.is_required()}
