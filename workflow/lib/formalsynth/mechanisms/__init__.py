"""Mechanisms: each file registers its own, and a paper's config names them."""
