"""Confidential data: readers of real files, and populations of simulated records."""
