"""Comparison of mechanisms with published competitors on the same data at the same total epsilon."""
