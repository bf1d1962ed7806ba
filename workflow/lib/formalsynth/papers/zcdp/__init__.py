"""Room of the paper "On the formal privacy guarantees of synthetic data": privacy and utility of synthesis from a normal model.

``accounting`` and ``unknown_variance`` compute the privacy cost, ``combining`` has the syntheses and the combining rules, and
``means`` is Figure 1. Each ``study_*`` runs one of them by config.
"""
