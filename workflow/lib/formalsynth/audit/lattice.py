"""Posteriors of one or two parameters, summed over a lattice that covers their mass.

The lattice is defined in unconstrained coordinates, rotated and scaled by the covariance of the posterior, so that its axes are
those of a standard normal. Each side is moved outwards until the posterior is negligible there. A posterior with more than
:data:`MISSED` of its mass at the border is rejected.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np
from scipy.optimize import minimize

from formalsynth.audit.exact import log_mean
from formalsynth.audit.losses import Losses
from formalsynth.core.arrays import Array, Index, Records, product
from formalsynth.core.compiled import clipped_sums
from formalsynth.core.family import Family

STEP = {1: 0.02, 2: 0.15}
"""Distance between points in standard deviations of the posterior, by the number of parameters."""
CENSORED_STEP = 0.25
"""Distance for two parameters with clipped log-likelihoods, whose computing time grows with the number of records."""
THIN = {1: 20, 2: 4}
"""Stride along an axis of the thin lattice, which suffices to locate a posterior and to compute its mean loss."""
REACH = 8.0
"""Initial half-width of the lattice, in standard deviations."""
DROP = 30.0
"""Drop of the log density from its maximum at which a side ends."""
MISSED = 1e-8
"""Largest mass that may be at the border."""
MOST = {1: 5000, 2: 400}
"""Largest number of points on an axis, by the number of parameters."""
NARROWEST = 0.4
"""Smallest standard deviation of a posterior that a lattice resolves, in units of the lattice."""
WIDER = 14
"""Largest number of times that the sides are moved outwards."""
ROUGH = 33
"""Number of points on an axis of the rough lattices, which locate a posterior."""
SETTLING = 12
"""Largest number of rough lattices that are tried, one after another, to locate a posterior."""


@dataclass(frozen=True)
class Coordinates:
    """Unconstrained coordinates of a family."""

    start: Array
    """(d,) starting point of the search for the mode."""
    draws: Callable[[Array], dict[str, Array]]
    """Map from unconstrained points (G, d) to draws of the family's parameters."""
    log_prior: Callable[[Array], Array]
    """Log prior density (G,) in these coordinates."""
    support: tuple[tuple[float, float], ...]
    """Limits of each coordinate, which contain nearly all of the prior; used to search the supremum of a censored loss."""


@dataclass
class Lattice:
    """Points with the log-likelihood of the universe at each point."""

    centre: Array
    root: Array
    axes: tuple[Array, ...]
    """Standardised values along each axis."""
    log_prior: Array
    """(G,) log prior density at the points."""
    left: Array
    """(G, k) factor of the log-likelihood."""
    right: Array = field(repr=False)
    """(N, k) its other factor, for the universe."""
    _last: tuple[Array, float, Array] | None = None

    @cached_property
    def thin(self) -> Lattice:
        """Lattice with a subset of the points."""
        sizes = [len(axis) for axis in self.axes]
        steps = tuple(slice(None, None, max(1, min(THIN[len(sizes)], (size - 1) // 8))) for size in sizes)
        subset = np.arange(len(self.left)).reshape(sizes)[steps].ravel()
        axes = tuple(axis[step] for axis, step in zip(self.axes, steps, strict=True))
        return Lattice(self.centre, self.root, axes, self.log_prior[subset], self.left[subset], self.right)

    @cached_property
    def standardised_points(self) -> Array:
        """Standardised values (G, d) of the points."""
        return product(self.axes)

    @cached_property
    def log_volume(self) -> float:
        """Log volume of the cell around a point."""
        steps = [axis[1] - axis[0] for axis in self.axes]
        return float(np.linalg.slogdet(self.root)[1] + np.log(steps).sum())

    def log_likelihood(self, weights: Array, threshold: float | None) -> Array:
        """Sum over records of ``clip(weight * log p, -threshold, threshold)``: (G,)."""
        if threshold is None:
            plain: Array = self.left @ (self.right.T @ weights)
            return plain
        changed = np.flatnonzero(weights)
        total = np.zeros(len(self.left))
        if self._last is not None and self._last[1] == threshold:
            differs = np.flatnonzero(weights != self._last[0])
            if 2 * len(differs) < len(changed):
                total = self._last[2] - self._clipped(self._last[0], differs, threshold)
                changed = differs
        total = total + self._clipped(weights, changed, threshold)
        self._last = weights.copy(), threshold, total
        return total

    def _clipped(self, weights: Array, index: Index, threshold: float) -> Array:
        return clipped_sums(self.left, weights[index, None] * self.right[index], threshold)


@dataclass(frozen=True)
class LatticePosterior:
    """Pseudo posterior on a lattice that was built for it or for one of its neighbours."""

    weights: Array
    """(N,) likelihood weights over the universe."""
    threshold: float | None
    lattice: Lattice
    _elsewhere: dict[int, Array] = field(default_factory=dict, repr=False)

    def log_density(self, lattice: Lattice) -> Array:
        """Log density (G,) at the points of a lattice, up to the normaliser; computed once per lattice."""
        if id(lattice) not in self._elsewhere:
            self._elsewhere[id(lattice)] = lattice.log_prior + lattice.log_likelihood(self.weights, self.threshold)
        return self._elsewhere[id(lattice)]

    @cached_property
    def log_mass(self) -> Array:
        """(G,) log mass at the points of its own lattice, up to a constant."""
        return self.log_density(self.lattice)

    @cached_property
    def log_normaliser(self) -> float:
        """Log integral of the unnormalised density."""
        return log_sum(self.log_mass) + self.lattice.log_volume

    @cached_property
    def thin(self) -> LatticePosterior:
        """Posterior on the thin lattice."""
        return LatticePosterior(self.weights, self.threshold, self.lattice.thin)

    def loss(self, others: Sequence[LatticePosterior], mixed: Sequence[LatticePosterior]) -> Array:
        """Log ratio (G,) of the densities of two mixtures, ``mixed`` over ``others``, at the points of its own lattice."""
        log_densities = [
            log_mean(np.stack([posterior.log_density(self.lattice) - posterior.log_normaliser for posterior in side]))
            for side in (mixed, others)
        ]
        return log_densities[0] - log_densities[1]

    @cached_property
    def shares(self) -> Array:
        """Mass of each point, with an axis for each parameter."""
        return np.exp(self.log_mass - log_sum(self.log_mass)).reshape([len(axis) for axis in self.lattice.axes])

    @cached_property
    def missed(self) -> float:
        """Mass at the border of the lattice, which bounds the mass outside it if the tails decrease."""
        return float(sum(self.shares.take(at, axis=axis).sum() for axis in range(self.shares.ndim) for at in (0, -1)))

    @cached_property
    def moments(self) -> tuple[Array, Array]:
        """Mean (d,) and a root (d, d) of the covariance, in units of the lattice."""
        points, mass = self.lattice.standardised_points, self.shares.ravel()
        mean = mass @ points
        covariance = (points - mean).T @ (mass[:, None] * (points - mean))
        return mean, np.asarray(np.linalg.cholesky(covariance + 1e-12 * np.eye(len(mean))), dtype=float)

    @property
    def held(self) -> bool:
        """True if the lattice covers the tails and resolves the posterior."""
        narrowest = np.linalg.svd(self.moments[1], compute_uv=False).min()
        return self.missed <= MISSED and bool(narrowest > NARROWEST)


class LatticePosteriors:
    """Exact pseudo posteriors of a family with one or two parameters; see :class:`formalsynth.audit.exact.Exact`."""

    def __init__(self, family: Family, universe: Records, coordinates: Coordinates) -> None:
        """Prepare the posteriors; lattices are built on demand.

        Args:
            family: the family; its factors are the log-likelihood.
            universe: N records.
            coordinates: unconstrained coordinates of the family.
        """
        self._family, self._universe, self._coordinates = family, universe, coordinates
        self._lattices: list[tuple[Lattice, float | None]] = []
        self.dimension = len(coordinates.start)

    def posterior(self, weights: Array, threshold: float | None = None) -> LatticePosterior:
        """Pseudo posterior on a lattice that covers it."""
        tried = [lattice for lattice, clipped in self._lattices if clipped == threshold]
        for lattice in reversed(tried):
            posterior = LatticePosterior(weights, threshold, lattice)
            if posterior.thin.held:
                return posterior
        posterior = LatticePosterior(weights, threshold, self._lay(*self._settled(weights, threshold), weights, threshold))
        if posterior.missed > MISSED:
            raise ValueError(f"{posterior.missed:.2g} of a posterior's mass is at the border of its lattice")
        self._lattices.append((posterior.lattice, threshold))
        return posterior

    def draws(self, posterior: LatticePosterior, uniforms: Array) -> dict[str, Array]:
        """Draws by the inverse distribution function of the first axis, and of the second axis given the first."""
        lattice, mass = posterior.lattice, posterior.shares
        first = mass if mass.ndim == 1 else mass.sum(axis=1)
        below = _cumulated(first)
        at = np.interp(uniforms[:, 0], below / below[-1], np.arange(len(first)))
        columns = [np.interp(at, np.arange(len(first)), lattice.axes[0])]
        if mass.ndim == 2:
            columns.append(_inverse(_cumulated(mass), at, uniforms[:, 1], lattice.axes[1]))
        return self._coordinates.draws(lattice.centre + np.column_stack(columns) @ lattice.root.T)

    def divergence(self, base: LatticePosterior, other: LatticePosterior) -> float:
        """Larger of the two mean losses, by sums."""
        ours, theirs = base.thin, other.thin
        forward = ours.shares.ravel() @ ours.loss([theirs], [ours])
        return float(max(forward, theirs.shares.ravel() @ theirs.loss([ours], [theirs])))

    def losses(self, base: Sequence[LatticePosterior], other: Sequence[LatticePosterior], seed: int = 0) -> Losses:
        """Privacy loss by sums, without random numbers.

        Each direction is summed over the lattices of its own posteriors, so the two posteriors may be far apart.
        """
        if len(base) == len(other) == 1 and self._same(base[0], other[0]):
            return Losses(np.zeros(1), np.ones(1), np.ones(1), (0.0, 0.0))
        forward = [posterior.loss(other, base) for posterior in base]
        backward = [posterior.loss(base, other) for posterior in other]
        masses = [np.concatenate([posterior.shares.ravel() / len(side) for posterior in side]) for side in (base, other)]
        losses = Losses(
            np.concatenate([*forward, *(-loss for loss in backward)]),
            np.append(masses[0], np.zeros(len(masses[1]))),
            np.append(np.zeros(len(masses[0])), masses[1]),
        )
        if len(base) + len(other) > 2:
            return losses
        return replace(losses, suprema=self._suprema(base[0], other[0], losses))

    @staticmethod
    def _same(base: LatticePosterior, other: LatticePosterior) -> bool:
        return np.array_equal(base.weights, other.weights) and base.threshold == other.threshold

    def _suprema(self, base: LatticePosterior, other: LatticePosterior, losses: Losses) -> tuple[float, float]:
        """Suprema of the loss: infinite without censoring, else from a scan of the prior's support."""
        if base.threshold is None or other.threshold is None:
            return np.inf, np.inf
        p, q = (posterior.log_density(self._scan) - posterior.log_normaliser for posterior in (base, other))
        loss = np.append(p - q, losses.loss)
        return float(loss.max()), float(-loss.min())

    @cached_property
    def _scan(self) -> Lattice:
        axes = [np.linspace(low, high, 400 if self.dimension == 1 else 60) for low, high in self._coordinates.support]
        return self._at(np.zeros(self.dimension), np.eye(self.dimension), tuple(axes))

    def _settled(self, weights: Array, threshold: float | None) -> tuple[Array, Array]:
        """Mean and a root of the covariance, from moments on rough lattices that are moved and rotated until they fit.

        No derivative is used, because a censored log-likelihood is not differentiable everywhere.
        """
        centre = self._mode(weights, threshold)
        root = 2 * np.eye(self.dimension) / np.sqrt(weights.sum() + 4)
        axis = np.linspace(-REACH, REACH, ROUGH)
        for _ in range(SETTLING):
            mean, spread = LatticePosterior(weights, threshold, self._at(centre, root, (axis,) * self.dimension)).moments
            # a posterior narrower than the rough lattice shows no spread
            widths = np.linalg.cholesky(spread @ spread.T + (0.4 * (axis[1] - axis[0])) ** 2 * np.eye(self.dimension))
            scales = np.linalg.svd(spread, compute_uv=False)
            centre = centre + root @ mean
            if scales.min() > 0.7 and scales.max() < 1.5 and np.abs(mean).max() < 1:
                break
            root = root @ widths
        return centre, root

    def _mode(self, weights: Array, threshold: float | None) -> Array:
        def fall(at: Array) -> float:
            lattice = self._at(np.zeros(self.dimension), np.eye(self.dimension), tuple(at[:, None]))
            return -float((lattice.log_likelihood(weights, threshold) + lattice.log_prior)[0])

        mode: Array = minimize(fall, self._coordinates.start, method="Nelder-Mead", options={"xatol": 1e-2, "fatol": 1e-1}).x
        return mode

    def _lay(self, centre: Array, root: Array, weights: Array, threshold: float | None) -> Lattice:
        """Lattice that ends where the log density has dropped by :data:`DROP`."""
        limits = [[-REACH, REACH] for _ in centre]
        for _ in range(WIDER):
            rough = self._at(centre, root, tuple(np.linspace(low, high, 17) for low, high in limits))
            height = (rough.log_likelihood(weights, threshold) + rough.log_prior).reshape([17] * len(limits))
            end = height.max() - DROP
            open_sides = [(j, k) for j in range(height.ndim) for k in (0, 1) if height.take(-k, axis=j).max() > end]
            for j, k in open_sides:
                limits[j][k] *= 1.4
            if not open_sides:
                break
        step = CENSORED_STEP if threshold is not None and self.dimension == 2 else STEP[self.dimension]
        return self._at(centre, root, tuple(self._axis(low, high, step) for low, high in limits))

    def _axis(self, low: float, high: float, step: float) -> Array:
        return np.linspace(low, high, min(MOST[self.dimension], 1 + int(np.ceil((high - low) / step))))

    def _at(self, centre: Array, root: Array, axes: tuple[Array, ...]) -> Lattice:
        points = centre + product(axes) @ root.T
        factors = self._family.factors(self._universe, self._coordinates.draws(points))
        return Lattice(centre, root, axes, self._coordinates.log_prior(points), *factors)


def _cumulated(mass: Array) -> Array:
    """Mass (..., k) below each point of the last axis, for a density that is linear between the points."""
    below = np.zeros(mass.shape)
    np.cumsum((mass[..., 1:] + mass[..., :-1]) / 2, axis=-1, out=below[..., 1:])
    return below


def _inverse(below: Array, at: Array, uniforms: Array, values: Array) -> Array:
    """Values (S,) with a given share of the mass below them, in rows interpolated between those of a table.

    Args:
        below: (r, k) cumulated mass of each row.
        at: (S,) places of the interpolated rows, from 0 to r - 1.
        uniforms: (S,) shares of the mass.
        values: (k,) points of the columns.
    """
    row = np.minimum(at.astype(int), len(below) - 2)
    share = at - row

    def mass_below(k: Index) -> Array:
        mass: Array = (1 - share) * below[row, k] + share * below[row + 1, k]
        return mass

    wanted = uniforms * mass_below(np.full(len(at), len(values) - 1))
    # bisection: the value is in the interval that ends at point k
    k = np.zeros(len(at), dtype=np.int64)
    for width in 2 ** np.arange(int(len(values) - 1).bit_length())[::-1]:
        further = np.minimum(k + width, len(values) - 1)
        k = np.where(mass_below(further) < wanted, further, k)
    k = np.minimum(k + 1, len(values) - 1)
    low, high = mass_below(k - 1), mass_below(k)
    part = np.clip((wanted - low) / np.where(high > low, high - low, 1.0), 0, 1)
    inverse: Array = values[k - 1] + part * (values[k] - values[k - 1])
    return inverse


def log_sum(log_mass: Array) -> float:
    """Log of a sum of exponentials."""
    largest = float(log_mass.max())
    return largest + float(np.log(np.exp(log_mass - largest).sum()))
