"""Valid parameters of any registered mechanism for the counts of :func:`counts`, made from its signature."""

import numpy as np
from pydantic import ValidationError

from formalsynth.core.arrays import intercept_only
from formalsynth.core.parameters import ABOVE

UPPER = 20.0
"""Upper end of a range."""
OTHERS = (40.0, 15.0, 0.75, 0.25, 3, 1, 0)
"""Other values, of which the first allowed one is used."""
CHOSEN = {"reference": {"theta1": 5.0}, "reference_censored": {"theta1": 5.0}, "censored_centred": {"theta1": 5.0}}
"""Optional parameters that a mechanism needs all the same."""


def counts():
    """Twenty records for the family poisson."""
    return intercept_only(np.random.default_rng(4).poisson(5, 20).astype(float))


def example_parameters(mechanism):
    """Valid values of the required parameters of a mechanism."""
    required = [name for name, field in mechanism.parameters.model_fields.items() if field.is_required()]
    tried = {name: (UPPER,) if name in ABOVE else (1.0, 0.5, 2, 0) for name in required}
    given = {name: next(value for value in values if allows(mechanism, {name: value})) for name, values in tried.items()}
    return given | CHOSEN.get(mechanism.name, {})


def other_settings(mechanism, given, name):
    """The same parameters with other valid values of one of them."""
    now = {**mechanism.parameters(**given).model_dump(), **given}[name]
    others = [{**given, name: value} for value in OTHERS if value != now]
    return [other for other in others if allows(mechanism, other)]


def allows(mechanism, given):
    """Check that no given parameter is refused; missing ones do not count."""
    try:
        mechanism.parameters(**given)
    except ValidationError as error:
        return all(fault["type"] == "missing" for fault in error.errors())
    return True
