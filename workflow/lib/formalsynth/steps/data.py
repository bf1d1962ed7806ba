"""Confidential data of a batch of replicates, in a module of its own: simulated data do not depend on the code of the fits."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from formalsynth.core.arrays import Array, Integers, Records
from formalsynth.runtime.files import digest, read_arrays, write_arrays


@dataclass(frozen=True)
class DataBatch:
    """The confidential data of a batch of R replicates."""

    replicate: Integers
    """(R,) replicate numbers."""
    x: Array
    """(R, n) outcomes."""
    design: Array
    """(R, n, p) predictors."""

    @classmethod
    def of(cls, replicates: Sequence[int], batch: Sequence[Records]) -> DataBatch:
        """Stack the data sets of some replicates."""
        return cls(
            np.asarray(replicates), np.stack([records.x for records in batch]), np.stack([records.design for records in batch])
        )

    @classmethod
    def read(cls, path: str | Path) -> DataBatch:
        """Read what :meth:`write` wrote."""
        return cls(**read_arrays(path))

    def write(self, path: str | Path, made_from: str = "") -> None:
        """Write the batch to a file, with its specification."""
        write_arrays(path, self._file(), made_from)

    @functools.cached_property
    def digest(self) -> str:
        """Sha256 of its arrays."""
        return digest(self._file())

    def _file(self) -> dict[str, np.ndarray]:
        return {"replicate": self.replicate, "x": self.x, "design": self.design}

    def records(self, k: int) -> Records:
        """Return the data set of the k-th replicate."""
        return Records(self.x[k], self.design[k])
