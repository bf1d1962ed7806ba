"""Package of the paper "On the formal privacy guarantees of synthetic data": privacy and utility of a normal synthesis model.

``accounting`` and ``unknown_variance`` compute the privacy cost, ``combining`` contains the syntheses and the combining rules,
and ``means`` computes Figure 1. Each ``study_*`` runs one of them with the settings in config.
"""
