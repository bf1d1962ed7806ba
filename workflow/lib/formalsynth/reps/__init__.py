"""Risk-equalised private synthesis (REPS): score records privately, weigh outliers down, synthesize, attack.

The order of a replicate, each step a module that knows only those before it: ``tables`` and ``data`` (a split mixed table),
``scoring`` (stage 1), ``weighting`` (stage 1.5), ``synthesis`` (stage 2), ``methods`` (REPS, ablations and baselines),
``evaluation`` and ``attacks``, ``bounds`` (per-instance privacy), and ``replicate``, which calls them all:

    split = load_split("simulated", folder, streams)
    prepared = prepare("simulated", split, settings)
    targets = targets_of(prepared, settings, streams)
    measured = measure(prepared, targets, "reps", 4.0, settings, streams)
"""
