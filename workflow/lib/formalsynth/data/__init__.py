"""Confidential data: registered files and how they are read, and the populations that simulated records are drawn from."""
