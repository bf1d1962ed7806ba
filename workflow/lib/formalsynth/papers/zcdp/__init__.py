"""On the formal privacy guarantees of synthetic data: what synthesis from a normal model costs in privacy, and what it gives.

``accounting`` and ``unknown_variance`` count the cost, ``combining`` holds the syntheses and the rules that combine synthetic
data sets, ``means`` is Figure 1. Each ``study_*`` runs one of them by config.
"""
