"""E8: steps of risk-equalised synthesis that use the records but are not part of its budget."""

import numpy as np
from check import Row, near, numeric_check, simulated_delta

from formalsynth.core.gaussian import analytic_sigma, gaussian_delta
from formalsynth.reps.stages import Risk
from formalsynth.reps.weight_maps.by_score import hinge_weights

N, CLIP, UPPER = 1000, 4.0, 10.0
"""Number of training records, half in each class; clip of standardised numbers; declared upper bound, also the added value."""
EPSILON, DELTA, TAIL, STRENGTH = 1.0, 1e-3, 0.9, 1.0
"""ε and δ of the noise; level of the quantile of the scores that gives τ; strength λ of the weights."""


@numeric_check(
    "E8",
    printed="a record moves the sums by w_i |u_i|, at most the clip: weights and scale are fixed by stage 1",
    derived="it also moves centre, scale and τ: |w_i u_i + Σ_(j≠i) (w_j u_j − w'_j u'_j)|",
)
def distances_of_released_sums():
    """Effect of one record on the sums of 1000 standardised records, and the guarantee of noise calibrated for the clip."""
    generator = np.random.default_rng(8)
    x = np.append(*(np.clip(generator.normal(mean, 1.0, N // 2), mean - 3, mean + 3) for mean in (-1.0, 1.0)))
    u = np.clip(generator.exponential(1.0, N), 0.0, CLIP)
    size, sigma = float(np.linalg.norm(moved_by_joining(x))), analytic_sigma(CLIP, EPSILON, DELTA)
    distances = CLIP, derived_joining(x)  # as printed: its own contribution, with unchanged centre and scale
    deltas = [float(gaussian_delta(sigma, distance, EPSILON)) for distance in distances]
    noise = np.random.default_rng(88).normal(0.0, sigma, 100_000)
    losses = ((noise - size) ** 2 - noise**2) / (2 * sigma**2)
    return [
        Row("distance when a record is added", *distances, near(size, 1e-9 * size), "features standardised again"),
        Row(
            "δ needed at ε = 1, δ = 0.001 spent", *deltas, simulated_delta(losses, EPSILON), "100,000 simulated privacy losses"
        ),
        *(
            Row(
                f"distance when {removed} is removed", (weights(v) * v)[v.argmax()], derived_leaving(v),
                near(moved_by_leaving(v), 1e-9), "τ and all weights recomputed",
            )
            for removed, v in (("a record", u), ("one of 11 values 2 next to 90 values 1", np.repeat([1.0, 2.0], [90, 11])))
        ),
    ]  # fmt: skip


def derived_joining(x):
    """Distance if a record at the bound is added to class 1, given the values (n,), whose first half is in class 0.

    The n + 1 records have the centre c' = c + (u − c)/(n+1) and the scale k'² = n (k² + (u − c)²/(n+1)) / (n+1).
    """
    n, c, k = len(x), float(x.mean()), float(x.std())
    gap = UPPER - c
    centre, scale = c + gap / (n + 1), np.sqrt(n * (k**2 + gap**2 / (n + 1)) / (n + 1))
    first, second = ((n / 2) * ((half.mean() - centre) / scale - (half.mean() - c) / k) for half in np.split(x, 2))
    return float(np.hypot(first, second + min((UPPER - centre) / scale, CLIP)))


def derived_leaving(u):
    """Distance if the largest of the clipped values (n,), which are also the scores, is removed.

    The weights of the others change: those above both thresholds are multiplied by exp(λ (τ' − τ)).
    """
    top, rest = u.argmax(), np.delete(u, u.argmax())
    tau, after = threshold(u), threshold(rest)
    others, above = np.delete(weights(u), top), rest > max(tau, after)
    between = (rest > min(tau, after)) & ~above
    lost = (1 - np.exp(STRENGTH * (after - tau))) * (others * rest)[above].sum()
    lost += ((others - weights(rest)) * rest)[between].sum()
    return float(weights(u)[top] * u[top] + lost)


def threshold(u):
    """Value of τ for these scores (n,)."""
    return float(np.quantile(u, TAIL))


def weights(u):
    """Weights (n,) of records with these scores."""
    return hinge_weights(Risk(u, threshold(u), strength=STRENGTH))


def moved_by_joining(x):
    """Change of each class's sum (2,)."""
    before, after = (np.clip((v - v.mean()) / v.std(), -CLIP, CLIP) for v in (x, np.append(x, UPPER)))
    half = len(x) // 2
    return np.array([after[:half].sum() - before[:half].sum(), after[half:].sum() - before[half:].sum()])


def moved_by_leaving(u):
    """Change of the sum if the largest value is removed."""
    before, after = (float((weights(v) * v).sum()) for v in (u, np.delete(u, u.argmax())))
    return before - after
