"""Checks of errata, one module for each; the register finds them in this folder."""
