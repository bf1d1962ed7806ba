"""Parts of a batch that only some scenarios ask for.

They are found by a register and not imported: the job of a scenario that asks for one is told its module, so that an edit there
makes no other job run again.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from formalsynth.core.family import Family
from formalsynth.core.job import AuditJob, SamplerSettings
from formalsynth.core.registry import Registry
from formalsynth.steps.data import DataBatch

if TYPE_CHECKING:
    import pandas as pd

    from formalsynth.audit.sampled import Sampler

AuditStep = Callable[[AuditJob, DataBatch, Path], "pd.DataFrame"]
PARTS: Registry[AuditStep] = Registry("part of a batch", "steps/audit.py")
"""Parts by name."""
MakeSampler = Callable[[Family, Path, SamplerSettings], "Sampler"]
SAMPLERS: Registry[MakeSampler] = Registry("sampler of an audit", "steps/sampling.py")
"""What samples the posteriors of an audit that are not known exactly, by the only name :data:`CMDSTAN`."""
CMDSTAN = "cmdstan"
