"""Contracts of a user's own mechanisms, families and Stan programs, checked before use."""
