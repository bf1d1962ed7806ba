"""What the steps hand to each other: a batch of replicates, the replicates along the first axis, and how it is kept in a file."""

from __future__ import annotations

import functools
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from formalsynth.core.arrays import Array, read_only
from formalsynth.core.family import FAMILIES
from formalsynth.core.job import FitJob, MeasureJob, Synthesizer
from formalsynth.core.mechanism import Context, FitCache, Parent
from formalsynth.core.streams import Address
from formalsynth.engine.chain import Children, context_of
from formalsynth.runtime.files import digest, read_arrays, write_arrays
from formalsynth.stan.fit import DIAGNOSTICS, Fit
from formalsynth.steps.data import DataBatch

File = Mapping[str, np.ndarray]
"""Arrays by the names that they have in a file."""
DRAWS, BOUNDS, WEIGHTS, FOUND, SAMPLED = "draw:", "by_record:", "weights:", "found:", "sample:"
"""How names begin in a file, before the parameter or the synthesizer that an array belongs to. Used in this module only."""


@dataclass(frozen=True)
class FitResult:
    """What the fit step makes of one replicate."""

    fit: Fit
    found: FitCache | None = None


@dataclass(frozen=True)
class FitBatch:
    """Draws and diagnostics of one synthesizer on a batch of R replicates."""

    status: np.ndarray
    """(R,) ``ok`` or ``failed``."""
    reason: np.ndarray
    """(R,) why a fit failed."""
    diagnostics: Mapping[str, np.ndarray]
    """(R,) each of :data:`formalsynth.stan.fit.DIAGNOSTICS`."""
    draws: Mapping[str, Array]
    """(R, S, ...) each parameter; NaN where a fit failed."""
    found: Mapping[str, Array]
    """(R, ...) each field of :class:`FitCache` that any replicate has."""

    @classmethod
    def of(cls, results: Sequence[FitResult]) -> FitBatch:
        """The results of a batch; a replicate that lacks an array gets NaN of its shape."""
        fits = [result.fit for result in results]
        return cls(
            status=np.array([fit.status for fit in fits]),
            reason=np.array([fit.reason for fit in fits]),
            diagnostics={name: np.array([getattr(fit, name) for fit in fits]) for name in DIAGNOSTICS},
            draws=stacked([fit.draws for fit in fits]),
            found=stacked([_findings(result.found) for result in results]),
        )

    @classmethod
    def read(cls, path: str | Path) -> FitBatch:
        """Read what :meth:`write` wrote."""
        file = read_arrays(path)
        diagnostics = {name: file[name] for name in DIAGNOSTICS}
        draws, found = beginning(file, DRAWS), beginning(file, FOUND)
        return cls(file["status"], file["reason"], diagnostics, draws, found)

    def write(self, path: str | Path, made_from: str = "") -> None:
        """Write the batch to a file, with its specification."""
        write_arrays(path, self._file(), made_from)

    @functools.cached_property
    def digest(self) -> str:
        """The sha256 of what it holds, but for the seconds that it took."""
        return digest({name: values for name, values in self._file().items() if name != "seconds"})

    def _file(self) -> dict[str, np.ndarray]:
        file = {"status": self.status, "reason": self.reason, **self.diagnostics}
        file |= {f"{DRAWS}{name}": values for name, values in self.draws.items()}
        return file | {f"{FOUND}{name}": values for name, values in self.found.items()}

    def ok(self, k: int) -> bool:
        """Whether the fit of the k-th replicate may be used."""
        return bool(self.status[k] == "ok")

    def draws_of(self, k: int) -> dict[str, Array]:
        """The draws of the k-th replicate."""
        return {name: read_only(values[k]) for name, values in self.draws.items()}

    def found_of(self, k: int) -> FitCache:
        """What the fit step found on the way in the k-th replicate."""
        found = {name: values[k] for name, values in self.found.items()}
        scalars = {name: values.item() for name, values in found.items() if values.ndim == 0}
        return FitCache(**{**found, **scalars})


@dataclass(frozen=True)
class Member:
    """Record-level results of a synthesizer that others build on."""

    by_record: Array
    """(R, n) or (n,) Lipschitz bounds."""
    weights: Array
    """(R, n) or (n,) sensitive weights."""


@dataclass(frozen=True)
class Sample:
    """What figures of a single sample need of the synthesizers that share a fit."""

    values: Array
    """(n,) the first synthetic data set."""
    sets: Array
    """(sets, statistics) of every synthetic data set."""
    weights: Array
    """(n,) exponents of the likelihood in the fit; (0,) of a mechanism without a pseudo posterior."""
    by_record: Mapping[str, Array]
    """(n,) Lipschitz bounds by synthesizer; of none of such a mechanism."""

    @classmethod
    def read(cls, file: File) -> Sample | None:
        """That of a file; None where it has none."""
        if f"{SAMPLED}values" not in file:
            return None
        values, sets, weights = (file[f"{SAMPLED}{name}"] for name in ("values", "sets", "weights"))
        return cls(values, sets, weights, beginning(file, f"{SAMPLED}{BOUNDS}"))

    def file(self) -> dict[str, np.ndarray]:
        """Its arrays by the names that they have in a file."""
        bounds = {f"{BOUNDS}{id}": values for id, values in self.by_record.items()}
        arrays = {"values": self.values, "sets": self.sets, "weights": self.weights, **bounds}
        return {f"{SAMPLED}{name}": values for name, values in arrays.items()}


@dataclass(frozen=True)
class MeasureBatch:
    """Record-level results of the synthesizers that share a fit, on a batch of R replicates."""

    members: Mapping[str, Member]
    """By id, the synthesizers that others build on."""
    sample: Sample | None
    """Of the replicate that stands for the single sample; None where the batch has it not, or its fit failed."""

    @classmethod
    def of(cls, members: Sequence[Mapping[str, Member]], sample: Sample | None) -> MeasureBatch:
        """The results of the replicates; one that failed has NaN."""
        bounds = stacked([{id: member.by_record for id, member in one.items()} for one in members])
        weights = stacked([{id: member.weights for id, member in one.items()} for one in members])
        return cls({id: Member(bounds[id], weights[id]) for id in bounds}, sample)

    @classmethod
    def read(cls, path: str | Path) -> MeasureBatch:
        """Read what :meth:`write` wrote."""
        file = read_arrays(path)
        bounds, weights = beginning(file, BOUNDS), beginning(file, WEIGHTS)
        return cls({id: Member(bounds[id], weights[id]) for id in bounds}, Sample.read(file))

    def write(self, path: str | Path, made_from: str = "") -> None:
        """Write the batch to a file, with its specification."""
        sample = {} if self.sample is None else self.sample.file()
        write_arrays(path, self._of_members() | sample, made_from)

    @functools.cached_property
    def digest(self) -> str:
        """The sha256 of what other fits build on: all but what is kept of the single sample."""
        return digest(self._of_members())

    def _of_members(self) -> dict[str, np.ndarray]:
        bounds = {f"{BOUNDS}{id}": member.by_record for id, member in self.members.items()}
        return bounds | {f"{WEIGHTS}{id}": member.weights for id, member in self.members.items()}


@dataclass(frozen=True)
class Fitted:
    """A fit that others build on, with what was measured of it."""

    fit: FitBatch
    measure: MeasureBatch
    children: Children = ()
    """Mechanisms and parameters of the synthesizers of the batch that build on it."""
    shared: dict[int, dict[Hashable, Array]] = field(default_factory=dict)
    """Arrays that the children compute for each other, by the position of the replicate in the batch."""

    def digests(self) -> list[str]:
        """Digests of the fit and of what was measured."""
        return [self.fit.digest, self.measure.digest]

    def parents(self, k: int) -> dict[str, Parent]:
        """Synthesizers of the k-th replicate that others build on, by id; without those that failed."""
        if not self.fit.ok(k):
            return {}
        draws, shared = self.fit.draws_of(k), self.shared.setdefault(k, {})
        return {
            id: Parent(draws, member.by_record[k], member.weights[k], self.children, shared)
            for id, member in self.measure.members.items()
            if not np.isnan(member.weights[k]).any()
        }


def context_in(
    job: FitJob | MeasureJob, synthesizer: Synthesizer, data: DataBatch, k: int, fitted: Mapping[str, Fitted], cache: FitCache
) -> Context:
    """Input of a synthesizer's mechanism in the k-th replicate of a batch.

    Raises:
        ParentFailed: a parent has no draws there.
    """
    parents = [fitted[fit].parents(k) for fit in dict.fromkeys(job.fits.values())]
    replicate = Context(FAMILIES[job.family], data.records(k), Address.of(job.key, int(data.replicate[k])))
    return context_of(synthesizer, replicate, {id: parent for fit in parents for id, parent in fit.items()}, cache)


def stacked(parts: Sequence[Mapping[str, Array]]) -> dict[str, Array]:
    """Stack the arrays of the replicates; a replicate that lacks one gets NaN of its shape."""
    shapes = {key: np.shape(value) for part in parts for key, value in part.items()}
    return {
        key: np.stack([np.asarray(part.get(key, np.full(shape, np.nan)), dtype=float) for part in parts])
        for key, shape in shapes.items()
    }


def beginning(file: File, head: str) -> dict[str, np.ndarray]:
    """The arrays whose names begin with ``head``, by the rest of their names."""
    return {name.removeprefix(head): values for name, values in file.items() if name.startswith(head)}


def _findings(found: FitCache | None) -> dict[str, Array]:
    values = {} if found is None else vars(found)
    return {name: np.asarray(value, dtype=float) for name, value in values.items() if value is not None}
