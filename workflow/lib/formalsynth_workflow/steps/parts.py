"""Sources of draws that only some scenarios request.

They are looked up in registers, and no module imports them. Only the job of a scenario that requests one depends on its module,
so editing the module reruns no other job.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from formalsynth.core.family import Family
from formalsynth.core.registry import Registry
from formalsynth.core.synthesizer import SamplerSettings
from formalsynth.engine.chain import Posteriors, Sampler
from formalsynth.stan.fit import Fit
from formalsynth_workflow import PACKAGE
from formalsynth_workflow.jobs.inputs import FitJob

MakeSampler = Callable[[Family, Path, SamplerSettings], Sampler]
SAMPLERS: Registry[MakeSampler] = Registry("sampler of an audit", "steps/sampling.py", package=PACKAGE)
"""Samplers for audits without exact posteriors; the only name is :data:`CMDSTAN`."""
CMDSTAN = "cmdstan"
MakePosteriors = Callable[[FitJob], Posteriors[Fit]]
POSTERIORS: Registry[MakePosteriors] = Registry("source of posteriors", "steps/exact_draws.py", package=PACKAGE)
"""Sources of posteriors other than Stan; the only name is :data:`EXACT`."""
EXACT = "exact"
