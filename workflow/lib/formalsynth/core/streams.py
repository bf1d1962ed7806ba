"""Named random streams: the address of a random number identifies its purpose, not the time at which it is drawn.

A stream is keyed by the root seed, the integer ids of paper and scenario, the sample size, the replicate, the stage and
(if synthesizers must differ) the integer words of the synthesizer. Batch size, number of cores and order have no effect,
and renaming a scenario changes nothing as long as its id stays the same.
"""

from __future__ import annotations

import hashlib
import math
import struct
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from formalsynth.core.synthesizer import ScenarioKey

STAGES = {"data": 1, "stan": 2, "predict": 3, "synthesize": 4, "mechanism": 5, "bootstrap": 6, "prior": 7, "centre": 16}
"""Integer ids of the stages; an id is never reused. Studies add their own stages with :func:`add_stages`."""
OWN = "mechanism"
"""Stage of the noise of mechanisms, whose streams are keyed on the mechanism and all its settings."""
OF_MECHANISMS = (OWN, "predict")
"""Stages whose streams a mechanism may use; the others belong to the data, the fits and the synthetic values."""
_MICRO = 1_000_000


def number_of(name: str) -> int:
    """Return an integer id derived from a name; it is above all ids chosen by hand."""
    return 2**32 + int.from_bytes(hashlib.sha256(name.encode()).digest()[:6], "big")


def add_stages(stages: Mapping[str, int]) -> None:
    """Add the stages of a study.

    Raises:
        ValueError: a name or an integer is taken by another stage.
    """
    for name, number in stages.items():
        if STAGES.get(name, number) != number or (name not in STAGES and number in STAGES.values()):
            raise ValueError(f"stage {name} = {number}: the name or the number is already used; existing stages: {STAGES}")
        STAGES[name] = number


@dataclass(frozen=True)
class Address:
    """Address of random streams in the workflow."""

    root: int
    paper: int
    scenario: int
    n: int
    replicate: int

    @classmethod
    def of(cls, key: ScenarioKey, replicate: int) -> Address:
        """Address of one replicate of a scenario."""
        return cls(key.root, key.paper_id, key.number, key.n, replicate)

    def sequence(self, stage: str, words: Sequence[int] = ()) -> np.random.SeedSequence:
        """Seed sequence of one stage; ``words`` distinguish synthesizers.

        Raises:
            ValueError: the stage is that of mechanisms, and there are no words: all settings would have the same noise.
        """
        if stage == OWN and not words:
            raise ValueError("the noise of a mechanism needs words of the mechanism and its settings: use Mechanism.apply")
        return np.random.SeedSequence([self.root, self.paper, self.scenario, self.n, self.replicate, STAGES[stage], *words])

    def generator(self, stage: str, words: Sequence[int] = ()) -> np.random.Generator:
        """Create the generator of one stage."""
        return np.random.default_rng(self.sequence(stage, words))

    def stan_seed(self, words: Sequence[int] = ()) -> int:
        """Return a seed in Stan's range, 1 to 2^31 - 1."""
        return int(self.sequence("stan", words).generate_state(1)[0] % (2**31 - 1)) + 1


@dataclass(frozen=True)
class MechanismAddress(Address):
    """Address for a mechanism, limited to its own random streams."""

    key: tuple[int, ...] = ()
    """Words of the mechanism and all its settings, to which those given for a stream are added."""

    def sequence(self, stage: str, words: Sequence[int] = ()) -> np.random.SeedSequence:
        """Seed sequence of one stage.

        Raises:
            ValueError: the stage is not one of a mechanism.
        """
        if stage not in OF_MECHANISMS:
            allowed = " or ".join(f'context.address.generator("{name}")' for name in OF_MECHANISMS)
            raise ValueError(f"uses the random stream {stage!r}, which is not a mechanism's own: use {allowed}")
        return super().sequence(stage, (*self.key, *words) if stage == OWN else words)


def parameter_words(mechanism: int, parameters: Mapping[str, float | str | None], every: Sequence[str] = ()) -> tuple[int, ...]:
    """Integer words that identify a mechanism with its parameters, independent of their order.

    Args:
        mechanism: integer id of the mechanism.
        parameters: given parameters.
        every: names of all parameters. If the given ones come first among these, their number identifies them; otherwise a word
            made from their names is added.
    """
    given = {name: value for name, value in sorted(parameters.items()) if value is not None}
    identified = not every or set(given) == set(every[: len(given)])
    return (mechanism, *(_word(value) for value in given.values()), *([] if identified else [_word(",".join(given))]))


def _word(value: float | str) -> int:
    """Return an integer unique to a number: outputs of two mechanisms with the same noise would differ by the exact counts."""
    if isinstance(value, str):
        return int.from_bytes(value.encode(), "big") % (2**61 - 1)
    if not math.isfinite(value):
        return 2**63 + (value > 0)
    micro = round(float(value) * _MICRO) if abs(value) < 1e12 else 0
    if micro / _MICRO == value:
        return micro % 2**63
    return 2**64 + int.from_bytes(struct.pack(">d", value), "big")
