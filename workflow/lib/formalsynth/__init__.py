"""Formally private synthetic data: mechanisms, bounds, weights, audits, and what is drawn from them.

Nothing in this package knows Snakemake; the scripts in ``workflow/scripts`` map paths to the functions here.
"""

__version__ = "0.13.0"
