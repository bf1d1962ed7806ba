"""Populations: what simulated records are drawn from, which need not be the family that is fitted to them."""
