"""Counts with each log-likelihood clipped: a guarantee for every data set (censor paper, arXiv:2205.05003).

A small epsilon clips counts with a large mean at every draw: the posterior is then the prior.
"""

import formalsynth as fs

counts = fs.simulate("poisson", 200, seed=1, mu=3.0)
for epsilon in (8.0, 6.0, 4.0):
    censored = fs.censor("poisson", counts, epsilon)
    at_bound = (censored.by_record >= epsilon / 2).mean()
    print(f"epsilon {epsilon:g}: mean {censored.draws['mu'].mean():.2f}, {at_bound:.0%} of the records reach the bound")
