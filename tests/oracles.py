"""Exact answers that the core is compared with, and how far a correct program may be from them."""

from dataclasses import dataclass

import numpy as np
from arviz_stats.base import array_stats
from scipy import stats
from scipy.special import gammaln, logsumexp

from formalsynth.core.family import FAMILIES

FAMILIES.find()
PRIORS = dict(FAMILIES["lognormal_regression"].priors)


@dataclass(frozen=True)
class Posterior:
    """Normal-inverse-gamma: ``sigma^2 ~ inverse gamma(shape, rate)``, ``beta | sigma ~ normal(mean, sigma^2 precision^-1)``."""

    mean: np.ndarray
    precision: np.ndarray
    shape: float
    rate: float

    def draws(self, generator, n_draws):
        """Independent draws, in the form that leaves the sampler."""
        sigma = np.sqrt(self.rate / generator.gamma(self.shape, size=n_draws))
        noise = generator.standard_normal((n_draws, len(self.mean)))
        # precision = L L', so L'^-1 noise has the covariance precision^-1
        offset = np.linalg.solve(np.linalg.cholesky(self.precision).T, noise.T).T
        return {"beta": self.mean + sigma[:, None] * offset, "sigma": sigma}

    def beta(self, j):
        """Marginal distribution of a coefficient."""
        scale = np.sqrt(self.rate / self.shape * np.linalg.inv(self.precision)[j, j])
        return stats.t(2 * self.shape, loc=self.mean[j], scale=scale)

    def sigma_moment(self, k):
        """The k-th moment of sigma."""
        return self.rate ** (k / 2) * np.exp(gammaln(self.shape - k / 2) - gammaln(self.shape))

    def uniforms(self, draws):
        """Draws through their exact distribution functions: uniform if the draws are from this posterior.

        Columns: each coefficient, sigma, and the distance of the coefficients from their mean, given sigma.
        """
        beta, sigma = draws["beta"], draws["sigma"]
        offset = beta - self.mean
        distance = np.einsum("si,ij,sj->s", offset, self.precision, offset) / sigma**2
        marginal = [self.beta(j).cdf(beta[:, j]) for j in range(beta.shape[1])]
        variance = stats.invgamma(self.shape, scale=self.rate).cdf(sigma**2)
        return np.column_stack([*marginal, variance, stats.chi2(beta.shape[1]).cdf(distance)])


def posterior(design, y, weights, priors=PRIORS):
    """The pseudo posterior of a weighted linear regression under the conjugate prior of the family."""
    p = design.shape[1]
    prior = np.eye(p) / priors["sd"] ** 2
    precision = prior + design.T @ (weights[:, None] * design)
    mean = np.linalg.solve(precision, design.T @ (weights * y))
    residual = y - design @ mean
    # the usual y'Wy - mean' precision mean, without its cancellation
    squares = residual @ (weights * residual) + mean @ prior @ mean
    return Posterior(mean, precision, priors["shape"] + weights.sum() / 2, priors["scale"] + squares / 2)


@dataclass(frozen=True)
class BetaPosterior:
    """Posteriors of the Beta model at given points, record by record with the densities of scipy."""

    phi: np.ndarray
    lambda_: np.ndarray
    log_prior: np.ndarray

    @classmethod
    def equally_spaced(cls, priors, points=251, lambda_max=1e4):
        """At midpoints of cells of equal size in phi and log lambda."""
        middle = (np.arange(points) + 0.5) / points
        log_lambda = np.log(priors["lambda_min"]) + middle * np.log(lambda_max / priors["lambda_min"])
        phi, lambda_ = (values.ravel() for values in np.meshgrid(middle, np.exp(log_lambda)))
        # d lambda = lambda d log lambda
        return cls(
            phi, lambda_, stats.pareto.logpdf(lambda_, priors["lambda_shape"], scale=priors["lambda_min"]) + np.log(lambda_)
        )

    def logpdf(self, x, at=slice(None)):
        """Log density of a record at some of the points."""
        phi, lambda_ = self.phi[at], self.lambda_[at]
        return stats.beta.logpdf(x, lambda_ * phi, lambda_ * (1 - phi))

    def log_mass(self, x, weights, threshold):
        """Log mass of the posterior with every weighted record clipped at the threshold."""
        total = self.log_prior.copy()
        for value, weight in zip(x, weights, strict=True):
            part = weight * self.logpdf(value)
            total += part if threshold is None else np.clip(part, -threshold, threshold)
        return total - logsumexp(total)


def log_likelihood(design, y, draws, jacobian=0.0):
    """Log density (S, n), record by record, with the mean in extended precision."""
    mean = np.asarray(draws["beta"].astype(np.longdouble) @ design.T.astype(np.longdouble), dtype=float)
    return stats.norm.logpdf(y, mean, draws["sigma"][:, None]) - jacobian


def z_of_mean(values, exact, sd):
    """Distance of a chain's mean from the exact mean in Monte Carlo standard errors.

    Args:
        values: (S,) autocorrelated draws.
        exact: their exact mean.
        sd: their exact standard deviation.
    """
    ess = float(array_stats.ess(values[None], chain_axis=0, draw_axis=1, method="mean"))
    return (values.mean() - exact) / (sd / np.sqrt(ess))


def z_band(checks, failure=1e-4):
    """Limit of ``checks`` normal deviates: the probability that any exceeds it is below ``failure``."""
    return stats.norm.isf(failure / (2 * checks))
