"""Parts of a batch that only some scenarios request.

Parts are looked up in registers, and no module imports them. Only the job of a scenario that requests a part depends on its
module, so editing the module reruns no other job.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from formalsynth.core.family import Family
from formalsynth.core.job import AuditJob, FitJob, SamplerSettings
from formalsynth.core.registry import Registry
from formalsynth.engine.chain import Posteriors, Sampler
from formalsynth.stan.fit import Fit
from formalsynth.steps.data import DataBatch

if TYPE_CHECKING:
    import pandas as pd

AuditStep = Callable[[AuditJob, DataBatch, Path], "pd.DataFrame"]
PARTS: Registry[AuditStep] = Registry("part of a batch", "steps/audit.py")
"""Parts by name."""
MakeSampler = Callable[[Family, Path, SamplerSettings], Sampler]
SAMPLERS: Registry[MakeSampler] = Registry("sampler of an audit", "steps/sampling.py")
"""Samplers for audits without exact posteriors; the only name is :data:`CMDSTAN`."""
CMDSTAN = "cmdstan"
MakePosteriors = Callable[[FitJob], Posteriors[Fit]]
POSTERIORS: Registry[MakePosteriors] = Registry("source of posteriors", "steps/exact_draws.py")
"""Sources of posteriors other than Stan; the only name is :data:`EXACT`."""
EXACT = "exact"
