"""Populations from which simulated records are drawn; they need not belong to the family that is fitted."""
