"""Batches: results of the steps, with the replicates along the first axis, and their files."""

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
"""Arrays, by their names in a file."""
DRAWS, BOUNDS, WEIGHTS, CACHED, SAMPLED = "draw:", "by_record:", "weights:", "found:", "sample:"
"""Prefixes of names in a file, followed by the parameter or synthesizer to which an array belongs. Used only in this module."""


@dataclass(frozen=True)
class FitResult:
    """Result of the fit step on one replicate."""

    fit: Fit
    cache: FitCache | None = None


@dataclass(frozen=True)
class FitBatch:
    """Draws and diagnostics of one synthesizer on a batch of R replicates."""

    status: np.ndarray
    """(R,) ``ok`` or ``failed``."""
    reason: np.ndarray
    """(R,) reasons why fits failed."""
    diagnostics: Mapping[str, np.ndarray]
    """(R,) each of :data:`formalsynth.stan.fit.DIAGNOSTICS`."""
    draws: Mapping[str, Array]
    """(R, S, ...) each parameter; NaN if a fit failed."""
    cache: Mapping[str, Array]
    """(R, ...) each field of :class:`FitCache` that is set in at least one replicate."""

    @classmethod
    def of(cls, results: Sequence[FitResult]) -> FitBatch:
        """Stack the results of a batch; a missing array of a replicate is filled with NaN."""
        fits = [result.fit for result in results]
        return cls(
            status=np.array([fit.status for fit in fits]),
            reason=np.array([fit.reason for fit in fits]),
            diagnostics={name: np.array([getattr(fit, name) for fit in fits]) for name in DIAGNOSTICS},
            draws=stacked([fit.draws for fit in fits]),
            cache=stacked([_cached(result.cache) for result in results]),
        )

    @classmethod
    def read(cls, path: str | Path) -> FitBatch:
        """Read a file written by :meth:`write`."""
        file = read_arrays(path)
        diagnostics = {name: file[name] for name in DIAGNOSTICS}
        draws, cache = beginning(file, DRAWS), beginning(file, CACHED)
        return cls(file["status"], file["reason"], diagnostics, draws, cache)

    def write(self, path: str | Path, made_from: str = "") -> None:
        """Write the batch to a file, with its specification."""
        write_arrays(path, self._file(), made_from)

    @functools.cached_property
    def digest(self) -> str:
        """Sha256 of its arrays, except the seconds."""
        return digest({name: values for name, values in self._file().items() if name != "seconds"})

    def _file(self) -> dict[str, np.ndarray]:
        file = {"status": self.status, "reason": self.reason, **self.diagnostics}
        file |= {f"{DRAWS}{name}": values for name, values in self.draws.items()}
        return file | {f"{CACHED}{name}": values for name, values in self.cache.items()}

    def ok(self, k: int) -> bool:
        """Return True if the fit of the k-th replicate passed."""
        return bool(self.status[k] == "ok")

    def draws_of(self, k: int) -> dict[str, Array]:
        """Return the draws of the k-th replicate."""
        return {name: read_only(values[k]) for name, values in self.draws.items()}

    def cache_of(self, k: int) -> FitCache:
        """Return the costly results of the fit step on the k-th replicate."""
        arrays = {name: values[k] for name, values in self.cache.items()}
        scalars = {name: values.item() for name, values in arrays.items() if values.ndim == 0}
        return FitCache(**{**arrays, **scalars})


@dataclass(frozen=True)
class Member:
    """Record-level results of a synthesizer that others build on."""

    by_record: Array
    """(R, n) or (n,) Lipschitz bounds."""
    weights: Array
    """(R, n) or (n,) sensitive weights."""


@dataclass(frozen=True)
class Sample:
    """Arrays for figures of a single sample, of the synthesizers that share a fit."""

    values: Array
    """(n,) the first synthetic data set."""
    sets: Array
    """(sets, statistics) statistics of every synthetic data set."""
    weights: Array
    """(n,) exponents of the likelihood in the fit; (0,) for a mechanism without a pseudo posterior."""
    by_record: Mapping[str, Array]
    """(n,) Lipschitz bounds by synthesizer; empty for such a mechanism."""

    @classmethod
    def read(cls, file: File) -> Sample | None:
        """Read the sample from a file; None if there is none."""
        if f"{SAMPLED}values" not in file:
            return None
        values, sets, weights = (file[f"{SAMPLED}{name}"] for name in ("values", "sets", "weights"))
        return cls(values, sets, weights, beginning(file, f"{SAMPLED}{BOUNDS}"))

    def file(self) -> dict[str, np.ndarray]:
        """Return its arrays, by their names in a file."""
        bounds = {f"{BOUNDS}{id}": values for id, values in self.by_record.items()}
        arrays = {"values": self.values, "sets": self.sets, "weights": self.weights, **bounds}
        return {f"{SAMPLED}{name}": values for name, values in arrays.items()}


@dataclass(frozen=True)
class MeasureBatch:
    """Record-level results of the synthesizers that share a fit, on a batch of R replicates."""

    members: Mapping[str, Member]
    """Synthesizers that others build on, by id."""
    sample: Sample | None
    """Arrays of the replicate that is the single sample; None if it is in another batch, or its fit failed."""

    @classmethod
    def of(cls, members: Sequence[Mapping[str, Member]], sample: Sample | None) -> MeasureBatch:
        """Stack the results of the replicates; a failed one has NaN."""
        bounds = stacked([{id: member.by_record for id, member in replicate.items()} for replicate in members])
        weights = stacked([{id: member.weights for id, member in replicate.items()} for replicate in members])
        return cls({id: Member(bounds[id], weights[id]) for id in bounds}, sample)

    @classmethod
    def read(cls, path: str | Path) -> MeasureBatch:
        """Read a file written by :meth:`write`."""
        file = read_arrays(path)
        bounds, weights = beginning(file, BOUNDS), beginning(file, WEIGHTS)
        return cls({id: Member(bounds[id], weights[id]) for id in bounds}, Sample.read(file))

    def write(self, path: str | Path, made_from: str = "") -> None:
        """Write the batch to a file, with its specification."""
        sample = {} if self.sample is None else self.sample.file()
        write_arrays(path, self._of_members() | sample, made_from)

    @functools.cached_property
    def digest(self) -> str:
        """Sha256 of the arrays that other fits build on: all except those of the single sample."""
        return digest(self._of_members())

    def _of_members(self) -> dict[str, np.ndarray]:
        bounds = {f"{BOUNDS}{id}": member.by_record for id, member in self.members.items()}
        return bounds | {f"{WEIGHTS}{id}": member.weights for id, member in self.members.items()}


@dataclass(frozen=True)
class Fitted:
    """A fit that others build on, with its measurements."""

    fit: FitBatch
    measure: MeasureBatch
    children: Children = ()
    """Mechanisms and parameters of the batch's synthesizers that build on it."""
    shared: dict[int, dict[Hashable, Array]] = field(default_factory=dict)
    """Arrays computed once and shared by all children, by the position of the replicate in the batch."""

    def digests(self) -> list[str]:
        """Return the digests of the fit and of its measurements."""
        return [self.fit.digest, self.measure.digest]

    def parents(self, k: int) -> dict[str, Parent]:
        """Return the synthesizers of the k-th replicate that others build on, by id; failed ones are left out."""
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
    """Return the input of a synthesizer's mechanism in the k-th replicate of a batch.

    Raises:
        ParentFailed: a parent has no draws there.
    """
    parents = [fitted[fit].parents(k) for fit in dict.fromkeys(job.fits.values())]
    replicate = Context(FAMILIES[job.family], data.records(k), Address.of(job.key, int(data.replicate[k])))
    return context_of(synthesizer, replicate, {id: parent for fit in parents for id, parent in fit.items()}, cache)


def stacked(parts: Sequence[Mapping[str, Array]]) -> dict[str, Array]:
    """Stack the arrays of the replicates; a missing array is filled with NaN."""
    shapes = {key: np.shape(value) for part in parts for key, value in part.items()}
    return {
        key: np.stack([np.asarray(part.get(key, np.full(shape, np.nan)), dtype=float) for part in parts])
        for key, shape in shapes.items()
    }


def beginning(file: File, head: str) -> dict[str, np.ndarray]:
    """Select the arrays whose names start with ``head``, by the rest of their names."""
    return {name.removeprefix(head): values for name, values in file.items() if name.startswith(head)}


def _cached(cache: FitCache | None) -> dict[str, Array]:
    values = {} if cache is None else vars(cache)
    return {name: np.asarray(value, dtype=float) for name, value in values.items() if value is not None}
