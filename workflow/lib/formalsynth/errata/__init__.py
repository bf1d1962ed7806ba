"""Numeric checks of the errata: the printed and the derived formula, each against independent numbers."""
