"""Ledger: the claims of the papers, with the verdict of a run on each."""
