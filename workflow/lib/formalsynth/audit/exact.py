"""Pseudo posteriors that are known exactly, by family: what the audit has in place of a sampler.

A data set and its neighbours are weights over one universe of records: D has weight 0 on what it lacks. So one set of sums, or
one grid, serves them all.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Protocol, TypeVar

import numpy as np

from formalsynth.audit.losses import Loss
from formalsynth.core.arrays import Array, Records
from formalsynth.core.family import Family
from formalsynth.core.registry import Registry

Posterior = TypeVar("Posterior")


class Exact(Protocol[Posterior]):
    """The exact pseudo posteriors of one family over one universe of records."""

    @property
    def dimension(self) -> int:
        """Uniform numbers that a draw takes."""

    def posterior(self, weights: Array, threshold: float | None = None) -> Posterior:
        """The pseudo posterior with likelihood weights over the universe (N,), each record clipped at the threshold.

        Raises:
            ValueError: the family is not known exactly with a threshold, or the posterior is nowhere near a grid.
        """

    def draws(self, posterior: Posterior, uniforms: Array) -> dict[str, Array]:
        """Draws (S) from uniform numbers (S, dimension), by a smooth map: neighbours get the same numbers."""

    def divergence(self, one: Posterior, other: Posterior) -> float:
        """The mean loss in the direction in which it is the larger (Kullback and Leibler), for a first look."""

    def losses(self, one: Sequence[Posterior], other: Sequence[Posterior], seed: int = 0) -> Loss:
        """The privacy loss between two mixtures of posteriors in equal parts; of one each, as a rule.

        A mixture is what is released by a mechanism whose weights are random and not told.

        Args:
            one: posteriors of D.
            other: posteriors of D'.
            seed: of the draws, where draws are used.
        """


class Sampled(Exact[Posterior], Protocol[Posterior]):
    """The same from a sampler, whose draws are all that is known of a posterior."""

    def close_to(self, near: Posterior, weights: Array, threshold: float | None) -> Posterior:
        """The pseudo posterior for a first look, at which the draws of a near one may stand for its own."""


Maker = Callable[[Family, Records, Mapping[str, float]], Exact[Any]]
EXACT: Registry[Maker] = Registry("exact posterior", "audit/exact_*.py")
"""By the name of the family's Stan program."""


def exact(*programs: str) -> Callable[[Maker], Maker]:
    """Register what makes the exact posteriors of families with these Stan programs."""

    def register(maker: Maker) -> Maker:
        for program in programs:
            EXACT.add(program, maker, maker.__module__)
        return maker

    return register


def exact_posteriors(family: Family, universe: Records, priors: Mapping[str, float]) -> Exact[Any]:
    """The exact posteriors of a family over a universe of records.

    Raises:
        KeyError: none are known for this family; use :mod:`formalsynth.audit.bridge` with draws of a sampler.
    """
    if family.program not in EXACT:
        EXACT.find()  # a job is told the one module that it needs
    if family.program not in EXACT:
        raise KeyError(f"no exact posterior for the program {family.program}: there are {sorted(EXACT)}; audit its draws instead")
    return EXACT[family.program](family, universe, priors)


def log_mean(log_densities: Array) -> Array:
    """Log density (G,) of a mixture in equal parts of components (K, G)."""
    largest = log_densities.max(axis=0)
    kept = np.where(np.isfinite(largest), largest, 0.0)
    with np.errstate(divide="ignore"):
        mixed: Array = kept + np.log(np.exp(log_densities - kept).mean(axis=0))
    return mixed
