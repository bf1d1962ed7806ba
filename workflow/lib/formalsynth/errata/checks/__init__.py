"""One module for each erratum; the register finds them in this folder."""
