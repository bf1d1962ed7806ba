"""One module for each erratum, found by folder."""
