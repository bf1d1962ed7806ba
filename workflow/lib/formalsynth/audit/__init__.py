"""Audit of mechanisms: the privacy loss between neighbouring data sets, measured instead of claimed."""
