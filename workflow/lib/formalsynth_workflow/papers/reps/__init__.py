"""Risk-equalised private synthesis (REPS): score records privately, downweight outliers, synthesize, attack.

The steps of a replicate in order, each a module that uses only earlier ones: ``tables``, ``files`` and ``datasets`` (a split
mixed table), ``scoring`` (stage 1), ``weighting`` (stage 1.5), ``synthesis`` (stage 2), ``methods`` (REPS, ablations and
baselines), ``evaluation``, ``attacks``, ``per_instance`` (per-instance privacy) and ``outside`` (effects outside the budget);
``prepare``, ``release`` and ``measure`` call these modules, and ``study_protection`` calls those three:

    split = load_split("simulated", folder, streams)
    prepared = prepare("simulated", split, settings)
    targets = targets_of(prepared, settings, streams)
    measured = measure(prepared, targets, "reps", 4.0, settings, streams)
"""
