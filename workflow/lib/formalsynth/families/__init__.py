"""Model families by the name that config uses."""

from formalsynth.families.base import Array, Draws, Family, Predictor, Records, blocks, count, take
from formalsynth.families.beta import BetaFamily, BetaRegressionFamily
from formalsynth.families.counts import NegativeBinomialFamily, NegativeBinomialRegressionFamily, PoissonFamily
from formalsynth.families.linear import LinearFamily

FAMILIES: dict[str, Family] = {
    "beta": BetaFamily(),
    "beta_regression": BetaRegressionFamily(),
    "normal": LinearFamily(log=False),
    "lognormal": LinearFamily(log=True),
    "lognormal_regression": LinearFamily(log=True),
    "poisson": PoissonFamily(),
    "negative_binomial": NegativeBinomialFamily(),
    "negative_binomial_regression": NegativeBinomialRegressionFamily(),
}

__all__ = ["FAMILIES", "Array", "Draws", "Family", "Predictor", "Records", "blocks", "count", "take"]
