"""Mechanisms: each file registers its own; papers use them by name in config."""
