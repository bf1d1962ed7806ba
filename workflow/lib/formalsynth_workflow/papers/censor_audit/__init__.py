"""Guarantees of censoring between neighbouring data sets, from exact posteriors (censor paper; errata E5 and E6)."""
