"""Posterior given noisy tables in numpy: the density of the Stan program ``noisy_tables``, its draws, and the expected errors.

Its input is the data that :class:`formalsynth.inference.tables_model.TablesModel` prepares for Stan. A fit takes hundredths of a
second, so thousands of releases can be simulated before any data are used, at no cost in privacy.
"""

from __future__ import annotations

import itertools
from dataclasses import dataclass

import numpy as np
from scipy.special import expit, gammaln, log_expit, ndtr

from formalsynth.core.arrays import Array, Draws, Integers
from formalsynth.core.family import StanData
from formalsynth.core.tables import BETA, BETA_REGRESSION, GAMMA, NEGATIVE_BINOMIAL, NEGATIVE_BINOMIAL_REGRESSION, NORMAL, POISSON

STEP = 1e-4
"""Step of numerical derivatives, for parameters scaled to about 1."""
ROUNDS = 60
"""Largest number of steps in the search for the mode."""
FREEDOM = 6
"""Degrees of freedom of the Student t distribution from which draws are proposed."""


@dataclass(frozen=True)
class Guess:
    """Guess of the parameters of a family and of its predictor, for example from an earlier survey."""

    coefficient: tuple[float, ...]
    """Linear coefficients, the constant first; on the logit scale for shares and the logarithmic scale for counts."""
    spread: float
    """Spread, as defined by :class:`formalsynth.core.tables.Tabled`."""
    x_mean: float = 0.0
    x_sd: float = 1.0


@dataclass(frozen=True)
class TablesDensity:
    """Density of the parameters given noisy tables.

    A point contains the linear coefficients on the scale of the declared bounds, the logarithm of the spread (not for a Poisson
    distribution), the logarithm of the number of records, the mean and log standard deviation of each predictor, and the
    inverse hyperbolic tangents of their partial correlations.
    """

    data: StanData
    """Data of the Stan program."""

    @property
    def kind(self) -> int:
        """Kind of the family."""
        return int(self._number("kind"))

    @property
    def predictors(self) -> int:
        """Number of predictors."""
        return int(self._number("q"))

    @property
    def noise_variance(self) -> float:
        """Variance of the noise in each cell."""
        return self._number("noise_variance")

    @property
    def cells(self) -> int:
        """Number of cells in all tables."""
        return len(self._array("noisy"))

    @property
    def edges(self) -> Array:
        """Inner edges (bins - 1,) of the outcome's bins."""
        return self._array("edges")

    @property
    def x_edges(self) -> Array:
        """Inner edges (rows - 1,) of the predictors' bins, on the scale of the bounds."""
        return self._array("x_edges")

    def without_hierarchy(self) -> TablesDensity:
        """Return this density, but with a flat prior on the coefficients if their prior has hyperparameters."""
        if self.kind != NEGATIVE_BINOMIAL_REGRESSION:
            return self
        settings = np.array([0.0, 0.0, self._array("prior")[0], 0.0])
        return TablesDensity({**self.data, "kind": NEGATIVE_BINOMIAL, "prior": settings})

    @property
    def dimension(self) -> int:
        """Number of values in a point."""
        q = self.predictors
        return 3 * q + 2 + (self.kind != POISSON) + q * (q - 1) // 2

    def point(self, inits: StanData) -> Array:
        """Convert starting values of the Stan program to a point (d,), without correlations."""
        names = ("theta", "log_spread", "log_total", "x_mean", "log_x_sd")
        point = np.concatenate([np.atleast_1d(np.asarray(inits[name], dtype=float)) for name in names])
        return np.append(point, np.zeros(self.dimension - len(point)))

    def point_of(self, guess: Guess, total: float) -> Array:
        """Convert declared parameters and a number of records to a point (d,); there is at most one predictor."""
        slopes = np.array(guess.coefficient[1:]) * self._array("x_half")
        theta = [guess.coefficient[0] + float(np.dot(guess.coefficient[1:], self._array("x_centre"))), *slopes]
        spread = [] if self.kind == POISSON else [np.log(guess.spread - self._number("spread_from"))]
        x_mean = (guess.x_mean - self._array("x_centre")) / self._array("x_half")
        return np.array([*theta, *spread, np.log(total), *x_mean, *np.log(guess.x_sd / self._array("x_half"))])

    def parts(self, points: Array) -> _Parts:
        """Split points (S, d) into named values."""
        q, p = self.predictors, self.predictors + 1
        has_spread = self.kind != POISSON
        log_spread = points[:, p] if has_spread else np.full(len(points), -np.inf)
        rest = points[:, p + has_spread :]
        spread = self._number("spread_from") + (np.exp(log_spread) if has_spread else 1.0)
        return _Parts(
            points[:, :p], log_spread, np.asarray(spread) * np.ones(len(points)), np.exp(rest[:, 0]), rest[:, 1 : 1 + q],
            np.exp(rest[:, 1 + q : 1 + 2 * q]), *_correlation(rest[:, 1 + 2 * q :], q),
        )  # fmt: skip

    def sampled(self, points: Array) -> Draws:
        """Convert points to the variables that the Stan program returns."""
        parts, q = self.parts(points), self.predictors
        coefficient = parts.theta.copy()
        if q:
            coefficient[:, 1:] /= self._array("x_half")
            coefficient[:, 0] -= coefficient[:, 1:] @ self._array("x_centre")
        variables = {"coefficient": coefficient, "total": parts.total}
        return variables if self.kind == POISSON else {**variables, "spread": parts.spread}

    def predictor_draws(self, points: Array) -> tuple[Array, Array]:
        """Means and standard deviations (S, q) of the predictors in their own units."""
        parts, half = self.parts(points), self._array("x_half")
        return self._array("x_centre") + half * parts.x_mean, half * parts.x_sd

    def expected(self, points: Array) -> Array:
        """Compute expected counts (S, cells) of all tables, column by column."""
        parts, q = self.parts(points), self.predictors
        if not q:
            of_tables = [self._inside(parts.theta, parts.spread)]
        else:
            of_tables = [self._table(parts, t) for t in range(q)]
            of_tables += [self._pair(parts, j, k) for j, k in itertools.combinations(range(q), 2)]
        columns = [table.swapaxes(1, 2).reshape(len(points), -1) for table in of_tables]
        expected: Array = parts.total[:, None] * np.hstack(columns)
        return expected

    def _table(self, parts: _Parts, t: int) -> Array:
        """Probabilities (S, rows, bins) of the table of one predictor."""
        slopes = parts.theta[:, 1:]
        effect = slopes * parts.x_sd
        joint = np.einsum("sjk,sk->sj", parts.correlation, effect)
        slope = joint[:, t] / parts.x_sd[:, t]
        at_zero = parts.theta[:, 0] + (slopes * parts.x_mean).sum(axis=1) - slope * parts.x_mean[:, t]
        others = (effect * joint).sum(axis=1) - joint[:, t] ** 2
        own = np.sqrt(parts.spread**2 + np.maximum(others, 0)) if self.kind == NORMAL else parts.spread
        inside = self._inside(at_zero[:, None] + slope[:, None] * self._array("x"), own)
        return self._by_row(inside, parts.x_mean[:, t], parts.x_sd[:, t])

    def _pair(self, parts: _Parts, j: int, k: int) -> Array:
        """Probabilities (S, rows, rows) of the table of two predictors."""
        correlation, sd = parts.correlation[:, j, k], parts.x_sd
        slope = correlation * sd[:, k] / sd[:, j]
        own = sd[:, k] * np.sqrt(np.maximum(1 - correlation**2, 1e-12))
        eta = parts.x_mean[:, k, None] + slope[:, None] * (self._array("x") - parts.x_mean[:, j, None])
        return self._by_row(_normal_bins(self.x_edges, eta, own), parts.x_mean[:, j], sd[:, j])

    def _by_row(self, inside: Array, x_mean: Array, x_sd: Array) -> Array:
        """Probabilities (S, rows, columns) by bin of a predictor, from those of the columns at the predictor's points."""
        x = self._array("x")
        log_density = self._array("x_log_weight") - 0.5 * ((x - x_mean[:, None]) / x_sd[:, None]) ** 2
        starts = self._array("first").astype(int) - 1
        sizes = np.diff(np.append(starts, len(x)))
        largest = np.repeat(np.maximum.reduceat(log_density, starts, axis=1), sizes, axis=1)
        density = np.exp(log_density - largest)
        mass = np.add.reduceat(density[:, :, None] * inside, starts, axis=1)
        mass /= np.add.reduceat(density, starts, axis=1)[:, :, None]
        upto = ndtr((self.x_edges - x_mean[:, None]) / x_sd[:, None])
        ends = np.ones((len(upto), 1))
        rows: Array = np.diff(np.hstack([0 * ends, upto, ends]), axis=1)
        return rows[:, :, None] * mass

    def _inside(self, eta: Array, spread: Array) -> Array:
        """Probabilities (S, points, bins) of the outcome's bins at linear predictors (S, points)."""
        if self.kind == NORMAL:
            return _normal_bins(self.edges, eta, spread)
        log_weight, collect = self._array("log_weight"), self._array("collect")
        with np.errstate(over="ignore"):
            p: Array = np.exp(self._log_density(eta, spread) + log_weight) @ collect
        if self.kind >= POISSON:
            p[:, :, -1] += 1 - p.sum(axis=2)
            return p
        p += 1e-12
        p /= p.sum(axis=2, keepdims=True)
        return p

    def _log_density(self, eta: Array, spread: Array) -> Array:
        """Log density or mass (S, points, nodes) of the outcome at the nodes."""
        at, other, spread = self._array("at"), self._array("at_other"), spread[:, None, None]
        eta = eta[:, :, None]
        if self.kind in (BETA, BETA_REGRESSION):
            mean = 1e-9 + (1 - 2e-9) * expit(eta)
            a, b = spread * mean, spread * (1 - mean)
            return np.asarray(a * at + b * other + gammaln(spread) - gammaln(a) - gammaln(b))
        if self.kind == GAMMA:
            constant = spread * np.log(spread) - gammaln(spread)
            return np.asarray(spread * (at - eta) - spread * np.exp(-eta) * other + constant)
        if self.kind == POISSON:
            return np.asarray(eta * at - np.exp(eta))
        excess = np.log1p(spread * np.exp(eta))
        return np.asarray((eta - excess) * at - excess / spread + np.cumsum(np.log1p(spread * other), axis=2))

    def log_density(self, points: Array) -> Array:
        """Log density (S,) up to a constant; -inf if it cannot be computed.

        Raises:
            ValueError: the family's prior has hyperparameters.
        """
        with np.errstate(all="ignore"):
            total = self._log_likelihood(points) + self._log_prior(points)
        return np.where(np.isfinite(total), total, -np.inf)

    def _log_likelihood(self, points: Array) -> Array:
        """Log likelihood (S,) of the noisy counts."""
        mean, noisy = self.expected(points), self._array("noisy")
        if self._number("whitened"):
            whitened = (noisy - mean) @ self._array("whiten").T
            return np.asarray(-0.5 * (whitened**2).sum(axis=1))
        large, small = (self._array(name).astype(int) - 1 for name in ("large_cell", "small_cell"))
        variance = mean[:, large] + self.noise_variance
        normal = -0.5 * ((noisy[large] - mean[:, large]) ** 2 / variance + np.log(variance)).sum(axis=1)
        at, coefficients = mean[:, small], self._array("polynomial").T
        exact = (np.log(np.polynomial.polynomial.polyval(at, coefficients, tensor=False)) - at).sum(axis=1)
        result: Array = normal + exact
        return result

    def _log_prior(self, points: Array) -> Array:
        """Log prior (S,) with the Jacobians of the logarithms; the prior on the number of records is flat."""
        parts, prior = self.parts(points), self._array("prior")
        log_x_sd = np.log(parts.x_sd)
        shared = np.log(parts.total) + parts.log_prior_correlation - (parts.x_mean**2 / 8 + (log_x_sd + 0.7) ** 2 / 2).sum(axis=1)
        coefficient = self.sampled(points)["coefficient"]
        squares = (coefficient**2).sum(axis=1) / (2 * prior[0] ** 2)
        jacobian, spread, theta = parts.log_spread, parts.spread, parts.theta[:, 0]
        if self.kind == NORMAL:
            shape = 2 * prior[1] + self.predictors + 1
            return np.asarray(shared - shape * jacobian - (prior[2] + squares) / spread**2)
        if self.kind == BETA:
            return np.asarray(shared + log_expit(theta) + log_expit(-theta) - (prior[1] + 1) * np.log(spread) + jacobian)
        if self.kind == BETA_REGRESSION:
            return np.asarray(shared - squares - (prior[2] + 1) * np.log(spread) + jacobian)
        if self.kind == GAMMA:
            return np.asarray(shared - squares + (prior[1] - 1) * np.log(spread) - prior[2] * spread + jacobian)
        mean = shared + prior[0] * theta - prior[1] * np.exp(theta)
        if self.kind == POISSON:
            return np.asarray(mean)
        if self.kind == NEGATIVE_BINOMIAL:
            return np.asarray(mean - np.log1p((spread / prior[2]) ** 2) + jacobian)
        raise ValueError("the prior of this family has hyperparameters: sample it with Stan")

    def _number(self, name: str) -> float:
        value = self.data[name]
        assert isinstance(value, int | float)
        return value

    def _array(self, name: str) -> Array:
        return np.asarray(self.data[name], dtype=float)


@dataclass(frozen=True)
class _Parts:
    """Values of points: coefficients (S, p), spread (S,), number of records (S,), and predictor parameters."""

    theta: Array
    log_spread: Array
    spread: Array
    total: Array
    x_mean: Array
    x_sd: Array
    correlation: Array
    """(S, q, q) correlation matrices of the predictors."""
    log_prior_correlation: Array
    """(S,) log prior of the correlations, with the Jacobian."""


def _correlation(partial: Array, q: int) -> tuple[Array, Array]:
    """Correlation matrices (S, q, q) from inverse hyperbolic tangents (S, q (q - 1) / 2), and their log prior (S,).

    Source: Stan's transform of Cholesky factors of correlation matrices, and its LKJ distribution of shape 2.
    """
    factor = np.zeros((len(partial), q, q))
    log_prior, column = np.zeros(len(partial)), 0
    for i in range(q):
        left = np.ones(len(partial))
        for j in range(i):
            value = np.tanh(partial[:, column])
            factor[:, i, j] = value * np.sqrt(left)
            log_prior += np.log1p(-(value**2)) + np.log(left) / 2
            left = left * (1 - value**2)
            column += 1
        factor[:, i, i] = np.sqrt(left)
        log_prior += (q - i + 1) * np.log(left) / 2 if i else 0.0
    return factor @ factor.swapaxes(1, 2), log_prior


def _normal_bins(edges: Array, eta: Array, spread: Array) -> Array:
    """Probabilities (S, points, bins) of bins with inner edges (bins - 1,), from normal means (S, points)."""
    upto = ndtr((edges - eta[:, :, None]) / spread[:, None, None])
    ends = np.ones((*eta.shape, 1))
    cells: Array = np.diff(np.concatenate([0 * ends, upto, ends], axis=2), axis=2)
    return cells


def information(density: TablesDensity, point: Array, noise_variance: float | None = None) -> Array:
    """Compute the Fisher information (d, d) of the tables at a point, for the noise variance of the data or another one.

    It treats counts as independent, with the variance of Poisson counts plus noise, and uses only their means. Without noise it
    is exact; with noise, it does not exceed the true information.
    """
    steps = STEP * np.eye(len(point))
    ends = density.expected(np.vstack([point + steps, point - steps, point[None]]))
    slope = (ends[: len(point)] - ends[len(point) : -1]) / (2 * STEP)
    variance = ends[-1] + (density.noise_variance if noise_variance is None else noise_variance)
    weighted = slope / np.sqrt(variance)
    result: Array = weighted @ weighted.T
    return result


@dataclass(frozen=True)
class WeightedPoints:
    """Draws by importance sampling."""

    points: Array
    """(S, d) points of equal weight, resampled by their importance weights."""
    effective: float
    """Effective number of draws, out of S, before resampling."""


def importance_draws(density: TablesDensity, start: Array, generator: np.random.Generator, size: int = 1000) -> WeightedPoints:
    """Draw from the posterior by importance sampling around its mode, then twice around the previous draws.

    Raises:
        ValueError: no point near the start has a positive density.
    """
    mode = find_mode(density, start)
    centre: Array = mode
    covariance: Array = np.linalg.inv(_curvature(density, mode)).astype(float)
    for _ in range(3):
        points, weights = _weighted(density, centre, covariance, generator, size)
        effective = 1 / float((weights**2).sum())
        centre = weights @ points
        if effective > 5 * len(mode):
            covariance = (weights[:, None] * (points - centre)).T @ (points - centre)
    chosen = np.searchsorted(np.cumsum(weights), (np.arange(size) + generator.random()) / size * (1 - 1e-12))
    return WeightedPoints(points[np.minimum(chosen, size - 1)], effective)


def _weighted(
    density: TablesDensity, centre: Array, covariance: Array, generator: np.random.Generator, size: int
) -> tuple[Array, Array]:
    """Points of a Student t distribution, and their normalised weights for the posterior."""
    factor, d = np.linalg.cholesky(covariance), len(centre)
    normal = generator.standard_normal((size, d))
    scale = np.sqrt(FREEDOM / generator.chisquare(FREEDOM, size))[:, None]
    log_proposal = -(FREEDOM + d) / 2 * np.log1p(((normal * scale) ** 2).sum(axis=1) / FREEDOM)
    points = centre + (normal * scale) @ factor.T
    log_weight = density.log_density(points) - log_proposal
    largest = log_weight.max()
    if not np.isfinite(largest):
        raise ValueError("the posterior given these tables has no positive density near its starting point")
    weights = np.exp(log_weight - largest)
    return points, weights / weights.sum()


def find_mode(density: TablesDensity, start: Array) -> Array:
    """Search for the mode (d,) from a starting point by Fisher scoring; a step that would lower the density is shortened."""
    point, value = start, float(density.log_density(start[None])[0])
    shares = 0.5 ** np.arange(12)[:, None]
    for _ in range(ROUNDS):
        curvature = _scoring(density, point)
        step = np.linalg.solve(curvature, _gradient(density, point))
        step /= max(1.0, float(np.abs(step).max()) / 2)
        values = density.log_density(point + shares * step)
        best = int(np.argmax(values))
        if not values[best] > value + 1e-7:
            break
        point, value = point + shares[best] * step, float(values[best])
    return point


def _scoring(density: TablesDensity, point: Array) -> Array:
    """Fisher information with a small ridge for parameters about which the tables contain no information."""
    result: Array = np.nan_to_num(information(density, point)) + 0.05 * np.eye(len(point))
    return result


def _gradient(density: TablesDensity, point: Array) -> Array:
    steps = STEP * np.eye(len(point))
    values = density.log_density(np.vstack([point + steps, point - steps]))
    gradient: Array = (values[: len(point)] - values[len(point) :]) / (2 * STEP)
    return np.nan_to_num(gradient)


def _curvature(density: TablesDensity, point: Array) -> Array:
    """Negative second derivatives (d, d) of the log density; if they are not positive definite, the scoring matrix."""
    d, step = len(point), 1e-3
    steps = step * np.eye(d)
    first: Integers
    second: Integers
    first, second = np.triu_indices(d)
    around = [a * steps[first] + b * steps[second] for a, b in ((1, 1), (1, -1), (-1, 1), (-1, -1))]
    values = density.log_density(point + np.vstack(around)).reshape(4, -1)
    curvature = np.zeros((d, d))
    curvature[first, second] = curvature[second, first] = -(values[0] - values[1] - values[2] + values[3]) / (4 * step**2)
    if np.isfinite(curvature).all() and np.linalg.eigvalsh(curvature)[0] > 0:
        return curvature
    return _scoring(density, point)
