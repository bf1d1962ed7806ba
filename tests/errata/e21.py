"""E21: the sum of the stages' ε for a record whose weight depends on the scores."""

import numpy as np
from check import Row, at_most, numeric_check, simulated_delta

from formalsynth.core.gaussian import gaussian_delta, gaussian_epsilon

DELTA = 1e-3
"""δ of both stages, half for each."""
OTHERS, THRESHOLD, SMALL = 2.0, 3.0, 0.1
"""Number of others with the record's value, noisy count from which the weight is 1, and weight below it."""
COUNT_NOISE, SUM_NOISE = 4.0, 1.0
"""Standard deviation of the noise on the count, and of the noise on the sum of weights."""


@numeric_check(
    "E21",
    printed="ε₁ + ε₂(w) at δ₁ + δ₂ for the record, with its weight w held fixed",
    derived="δ(ε) = E_T[δ₂(ε − L₁(T), w(T))] over the scores T, with the privacy loss L₁ of the scores",
)
def delta_of_a_sum_with_a_weight_from_the_scores():
    """Noisy sum of weights, in which a noisy count sets a record's weight to 0.1 or 1."""
    rows = []
    for weight in (SMALL, 1.0):
        # as stated: the sum of the ε of both stages at half of δ each, for a fixed weight
        epsilon = gaussian_epsilon(COUNT_NOISE, 1.0, DELTA / 2) + gaussian_epsilon(SUM_NOISE, weight, DELTA / 2)
        rows.append(
            Row(
                f"δ needed at ε = {epsilon:.4g}, stated for weight {weight:g}", at_most(DELTA), integrated(epsilon),
                simulated_delta(simulated_losses(), epsilon), "1,000,000 simulated privacy losses",
            )
        )  # fmt: skip
    return rows


def weight_given(count):
    """Weight of the record, given the noisy count (draws,)."""
    return np.where(count < THRESHOLD, SMALL, 1.0)


def count_loss(count):
    """Privacy loss of the noisy count."""
    return ((count - OTHERS) ** 2 - (count - OTHERS - 1) ** 2) / (2 * COUNT_NOISE**2)


def integrated(epsilon):
    """Integrate the δ of stage 2 at ε minus the loss of stage 1 over the noisy count."""
    count, step = np.linspace(OTHERS + 1 - 9 * COUNT_NOISE, OTHERS + 1 + 9 * COUNT_NOISE, 20_001, retstep=True)
    density = np.exp(-(((count - OTHERS - 1) / COUNT_NOISE) ** 2) / 2) / (COUNT_NOISE * np.sqrt(2 * np.pi))
    return float(step * density @ gaussian_delta(SUM_NOISE, weight_given(count), epsilon - count_loss(count)))


def simulated_losses():
    """Privacy losses of both stages with the record."""
    generator = np.random.default_rng(21)
    count = generator.normal(OTHERS + 1, COUNT_NOISE, 1_000_000)
    weight = weight_given(count)
    released = generator.normal(weight, SUM_NOISE)
    return count_loss(count) + (released**2 - (released - weight) ** 2) / (2 * SUM_NOISE**2)
