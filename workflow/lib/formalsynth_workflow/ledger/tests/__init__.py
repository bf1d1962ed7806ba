"""Kinds of tests of claims, one per file."""
