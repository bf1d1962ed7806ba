"""Confidential data of a batch of replicates, in a separate module, so simulated data do not depend on the code of the fits."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from formalsynth.core.arrays import Array, Integers, Records
from formalsynth.runtime.files import read_arrays, write_arrays

INPUT = "input "
"""Prefix of the names of further columns in a file."""


@dataclass(frozen=True)
class DataBatch:
    """The confidential data of a batch of R replicates."""

    replicate: Integers
    """(R,) replicate numbers."""
    x: Array
    """(R, n) outcomes."""
    design: Array
    """(R, n, p) predictors."""
    inputs: Mapping[str, Array] = field(default_factory=dict)
    """Further columns (R, n) of the records, by name."""

    @classmethod
    def of(cls, replicates: Sequence[int], batch: Sequence[Records]) -> DataBatch:
        """Stack the data sets of some replicates."""
        inputs = {name: np.stack([records.inputs[name] for records in batch]) for name in batch[0].inputs}
        x, design = np.stack([records.x for records in batch]), np.stack([records.design for records in batch])
        return cls(np.asarray(replicates), x, design, inputs)

    @classmethod
    def read(cls, path: str | Path) -> DataBatch:
        """Read a file written by :meth:`write`."""
        arrays = read_arrays(path)
        inputs = {name.removeprefix(INPUT): arrays.pop(name) for name in list(arrays) if name.startswith(INPUT)}
        return cls(**arrays, inputs=inputs)

    def write(self, path: str | Path) -> None:
        """Write the batch to a file."""
        inputs = {f"{INPUT}{name}": values for name, values in self.inputs.items()}
        write_arrays(path, {"replicate": self.replicate, "x": self.x, "design": self.design, **inputs})

    def records(self, k: int) -> Records:
        """Return the data set of the k-th replicate."""
        return Records(self.x[k], self.design[k], {name: values[k] for name, values in self.inputs.items()})
