"""Exact pseudo posteriors by family, which the audit uses instead of a sampler.

A data set and its neighbours are weights over one universe of records: a record that is not in D has weight 0. One set of sums,
or one grid, therefore serves all of them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Protocol, TypeVar

import numpy as np

from formalsynth.audit.losses import Loss
from formalsynth.core.arrays import Array, Records
from formalsynth.core.centring import Reference
from formalsynth.core.family import Family
from formalsynth.core.registry import Registry

Posterior = TypeVar("Posterior")


class Exact(Protocol[Posterior]):
    """Exact pseudo posteriors of one family over one universe of records."""

    @property
    def dimension(self) -> int:
        """Number of uniform numbers per draw."""

    def posterior(self, weights: Array, threshold: float | None = None) -> Posterior:
        """Pseudo posterior with likelihood weights over the universe (N,), each record clipped at the threshold.

        Raises:
            ValueError: the family has no exact posterior with a threshold, or no grid covers the posterior.
        """

    def draws(self, posterior: Posterior, uniforms: Array) -> dict[str, Array]:
        """Draws (S) from uniform numbers (S, dimension), by a smooth map; neighbours use the same numbers."""

    def divergence(self, base: Posterior, other: Posterior) -> float:
        """Larger of the mean losses in both directions (Kullback-Leibler divergence), to rank neighbours."""

    def losses(self, base: Sequence[Posterior], other: Sequence[Posterior], seed: int = 0) -> Loss:
        """Privacy loss between two mixtures of posteriors in equal parts, usually of one posterior each.

        A mixture is the output of a mechanism with random weights that the attacker does not know.

        Args:
            base: posteriors of D.
            other: posteriors of D'.
            seed: seed of the draws, if draws are used.
        """


class Sampled(Exact[Posterior], Protocol[Posterior]):
    """Pseudo posteriors from a sampler, represented by draws."""

    def close_to(self, near: Posterior, weights: Array, threshold: float | None) -> Posterior:
        """Pseudo posterior for ranking, for which reweighted draws of a near posterior may be used."""

    def relative_to(self, reference: Reference) -> Sampled[Posterior]:
        """Pseudo posteriors of differences from the log-likelihood at a reference, from the same sampler."""


Maker = Callable[[Family, Records, Mapping[str, float]], Exact[Any]]
EXACT: Registry[Maker] = Registry("exact posterior", "audit/exact_*.py")
"""Exact posteriors by the name of the family's Stan program."""


def exact(*programs: str) -> Callable[[Maker], Maker]:
    """Register a function that makes the exact posteriors of families with these Stan programs."""

    def register(maker: Maker) -> Maker:
        for program in programs:
            EXACT.add(program, maker, maker.__module__)
        return maker

    return register


def exact_posteriors(family: Family, universe: Records, priors: Mapping[str, float]) -> Exact[Any]:
    """Exact posteriors of a family over a universe of records.

    Raises:
        KeyError: the family has none; use :mod:`formalsynth.audit.bridge` with draws of a sampler.
    """
    if family.program not in EXACT:
        EXACT.find()  # in a job, imports only the module that the job names
    if family.program not in EXACT:
        raise KeyError(f"no exact posterior for the program {family.program}: allowed: {sorted(EXACT)}; audit its draws instead")
    return EXACT[family.program](family, universe, priors)


def log_mean(log_densities: Array) -> Array:
    """Log density (G,) of an equal mixture of components (K, G)."""
    largest = log_densities.max(axis=0)
    shift = np.where(np.isfinite(largest), largest, 0.0)
    with np.errstate(divide="ignore"):
        mixed: Array = shift + np.log(np.exp(log_densities - shift).mean(axis=0))
    return mixed
