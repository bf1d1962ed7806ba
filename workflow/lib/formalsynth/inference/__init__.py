"""Inference from private statistics alone: posteriors given noisy tables, scores of candidates, tests of fit, and intervals."""
