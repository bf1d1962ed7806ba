"""Ledger: the papers' claims, with a run's verdict on each."""
