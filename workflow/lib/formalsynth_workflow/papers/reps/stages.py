"""Random streams of a replicate, by purpose.

The caller passes the streams. They are the same for all methods and budgets of a replicate, so methods are compared with equal
noise and equal draws.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from formalsynth.core.streams import add_stages

OWN_STAGES = {
    "source": 8, "split": 9, "targets": 10, "score": 11, "threshold": 12, "shuffle": 13, "release": 14, "sample": 15,
    "select": 17,
}  # fmt: skip
"""Stages of this paper's replicates, in addition to the stage "bootstrap" of all papers."""
Streams = Callable[[str], np.random.Generator]
"""Function from a stage to a new generator, which always starts at the same state."""

add_stages(OWN_STAGES)
