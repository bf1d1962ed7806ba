"""Five papers on formally private synthetic data: their designs, steps, figures, tables, claims and report.

Nothing in this package imports Snakemake; the scripts in ``workflow/scripts`` map paths to the functions here.
"""

from pathlib import Path

PACKAGE = Path(__file__).parent
REPOSITORY = PACKAGE.parents[2]
"""Folder of the repository: config, Stan programs, documents, and the record of CmdStan's place."""
