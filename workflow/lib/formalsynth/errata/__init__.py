"""Numeric checks of the errata: what is printed and what is derived, each against numbers that rest on neither."""
