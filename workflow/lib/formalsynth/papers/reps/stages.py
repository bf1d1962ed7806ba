"""Random streams of a replicate, by what they are for.

A caller hands out the streams and so decides what is shared: with the same streams for every method and budget of a
replicate, methods are compared on equal noise and equal draws.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from formalsynth.core.streams import add_stages

OWN_STAGES = {
    "source": 8, "split": 9, "targets": 10, "score": 11, "threshold": 12, "shuffle": 13, "release": 14, "sample": 15,
}  # fmt: skip
"""Stages of this paper's replicates, beside the stage "bootstrap" of all papers."""
Streams = Callable[[str], np.random.Generator]
"""A fresh generator for each stage; the same stage always starts at the same place."""

add_stages(OWN_STAGES)
