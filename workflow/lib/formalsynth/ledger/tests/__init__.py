"""Kinds of tests of claims, one in each file."""
