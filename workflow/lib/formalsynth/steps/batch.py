"""What the steps share: a batch of replicates as arrays with the replicates along the first axis.

Keys with a colon name what an array belongs to: ``draw:beta`` is the Stan variable beta, ``found:known`` a result of the
mechanism, ``by_record:Weighted`` a synthesizer's bounds.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from formalsynth.families import FAMILIES, Array, Draws
from formalsynth.mechanisms import MECHANISMS, Context, Form, Parent, Release
from formalsynth.scenario import Scenario, Synthesizer
from formalsynth.streams import Address

SAMPLE = 0
"""The replicate that figures "over a single sample" show."""
Arrays = Mapping[str, np.ndarray]


def context_of(
    scenario: Scenario, synthesizer: Synthesizer, root: int, data: Arrays, k: int, parents: Mapping[str, Arrays],
    found: dict[str, Array],
) -> Context | str:  # fmt: skip
    """The context of one replicate, or the reason why there is none."""
    records = {key: values[k] for key, values in data.items() if key != "replicate"}
    known = []
    for parent in synthesizer.parents:
        arrays = parents[scenario.synthesizers[parent].fit]
        if arrays["status"][k] != "ok":
            return f"its parent {parent} failed"
        known.append(Parent(draws_of(arrays, k), arrays[f"by_record:{parent}"][k], arrays[f"weights:{parent}"][k]))
    address = Address.of(scenario, root, int(data["replicate"][k]))
    return Context(FAMILIES[scenario.family], records, address, known, dict(found))


def form_of(synthesizer: Synthesizer, context: Context, value: float | None = None) -> Form | Release:
    """What the synthesizer's mechanism makes of a context.

    Args:
        synthesizer: the synthesizer.
        context: what its mechanism may look at.
        value: value of a searched parameter; by default the one that the fit step found.
    """
    parameters = dict(synthesizer.parameters)
    if synthesizer.search and (value is not None or "searched" in context.found):
        parameters[synthesizer.search["parameter"]] = float(context.found["searched"]) if value is None else value
    return MECHANISMS[synthesizer.mechanism].function(context, **parameters)


def draws_of(fit: Arrays, k: int) -> Draws:
    """The draws of the k-th replicate of a batch."""
    return {key.removeprefix("draw:"): values[k] for key, values in fit.items() if key.startswith("draw:")}


def stack_arrays(parts: Sequence[Mapping[str, Array]]) -> dict[str, np.ndarray]:
    """Stack the arrays of the replicates; a replicate that lacks one gets NaN of its shape."""
    shapes = {key: np.shape(value) for part in parts for key, value in part.items()}
    return {
        key: np.stack([np.asarray(part.get(key, np.full(shape, np.nan)), dtype=float) for part in parts])
        for key, shape in shapes.items()
    }
