"""Risk-equalised synthesis and its baselines under attack (REPS paper)."""

from __future__ import annotations

from typing import Annotated, Any

import pandas as pd

from formalsynth.allowed import Positive, one_of
from formalsynth.mechanisms import MECHANISMS, Context, mechanism
from formalsynth.reps.data import FILES, SOURCES
from formalsynth.reps.methods import METHODS
from formalsynth.reps.replicate import load_split, measure, prepare, targets_of
from formalsynth.reps.settings import Settings
from formalsynth.streams import Address
from formalsynth.studies.registry import Outcome, Run, study


def _register_methods() -> None:
    """Each method of the paper's tables is a mechanism ``reps_<method>`` of the study ``protection``."""
    for id, method in METHODS.items():

        def private(context: Context | None, *, epsilon: Positive, _id: str = id) -> tuple[str, float]:
            return _id, epsilon

        def plain(context: Context | None, *, _id: str = id) -> tuple[str, float]:
            return _id, float("inf")

        function = private if method.private else plain
        function.__name__ = f"reps_{id}"
        mechanism(60 + method.id, method.guarantee(Settings()), parents=0, study="protection")(function)


_register_methods()


@study(
    requires=lambda settings: FILES.get(settings["dataset"], ()),
    sections={"settings": Settings},
)
def protection(run: Run, *, dataset: Annotated[str, one_of(SOURCES)], settings: dict[str, Any] | None = None) -> Outcome:
    """Utility, attacks and per-instance bounds of each method; details by outlier decile.

    A replicate is one seed: one split, and the same streams for every method and epsilon, so that they are compared on equal
    noise and equal draws.
    """
    chosen, rows, details = Settings(**(settings or {})), [], []
    for replicate in run.replicates:
        streams = Address.of(run.scenario, run.root, replicate).generator
        prepared = prepare(dataset, load_split(dataset, run.data_folder, streams, run.scenario.n), chosen)
        targets = targets_of(prepared, chosen, streams)
        for one in run.scenario.synthesizers.values():
            method, epsilon = MECHANISMS[one.mechanism].function(None, **one.parameters)
            found = measure(prepared, targets, method, epsilon, chosen, streams)
            key = {"replicate": replicate, "synthesizer": one.id}
            # In replicates.csv delta is the Lipschitz bound.
            rows.append(key | {("dp_delta" if name == "delta" else name): value for name, value in found.row.items()})
            # What is said of all records together is in the row.
            details.append(found.deciles[found.deciles["decile"] > 0].assign(**key, epsilon=found.row["epsilon"]))
    return Outcome(pd.DataFrame(rows).drop(columns=["label"]), pd.concat(details, ignore_index=True))
