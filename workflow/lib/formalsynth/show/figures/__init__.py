"""Painters of the kinds of figures, one file each."""
