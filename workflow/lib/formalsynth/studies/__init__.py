"""Studies: scenarios whose replicates one function runs whole, from the data to what is measured, without Stan.

A study gets a scenario and replicate numbers and returns rows in the columns of ``replicates.csv``, with columns of its own
behind them; its synthesizers are entries of the paper's config like all others. Importing this package registers them.
"""

from formalsynth.studies import censoring, normal, protection
from formalsynth.studies.registry import STUDIES, Study

__all__ = ["STUDIES", "Study", "censoring", "normal", "protection"]
