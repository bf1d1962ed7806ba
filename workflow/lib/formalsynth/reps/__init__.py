"""Risk-equalised private synthesis (REPS): score records privately, weight them by risk, learn with the weights.

Each stage has a register in :mod:`~formalsynth.reps.stages`: scorers release noisy tables, weight maps turn scores into weights,
and learners fit a generator to weighted records. All stages use records on declared columns (:mod:`~formalsynth.reps.domain`).
"""
