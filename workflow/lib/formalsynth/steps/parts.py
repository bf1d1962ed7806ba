"""Parts of a batch that only some scenarios ask for.

They are found by a register and not imported: the job of a scenario that asks for one is told its module, so that an edit there
makes no other job run again.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from formalsynth.core.job import AuditJob
from formalsynth.core.registry import Registry
from formalsynth.steps.data import DataBatch

if TYPE_CHECKING:
    import pandas as pd

AuditStep = Callable[[AuditJob, DataBatch, Path], "pd.DataFrame"]
PARTS: Registry[AuditStep] = Registry("part of a batch", "steps/audit.py")
"""Parts by name."""
