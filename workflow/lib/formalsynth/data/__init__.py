"""Confidential data: readers of real files, their download, and populations of simulated records."""
