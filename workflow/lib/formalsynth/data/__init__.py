"""Confidential data: registered files with their readers, and populations of simulated records."""
