"""Weighted posterior of a Stan program of your own: amounts of which some are zero."""

from pathlib import Path

import numpy as np

import formalsynth as fs

generator = np.random.default_rng(1)
amounts = np.where(generator.random(300) < 0.3, 0.0, generator.lognormal(size=300))
program = Path(__file__).with_name("hurdle.stan")
plain = fs.fit(program, amounts, priors={"scale": 2})
weighted = fs.fit(program, amounts, fs.lipschitz_weights(plain), priors={"scale": 2})
synthetic = fs.synthesize(weighted)[0]
print(f"epsilon {weighted.epsilon:.1f}, {weighted.guarantee}; {plain.epsilon:.1f} without weights")
print(f"zeros: {(amounts == 0).mean():.2f} of the records, {(synthetic == 0).mean():.2f} of the synthetic ones")
