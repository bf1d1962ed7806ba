"""Texts on the columns of the study of limits."""

from formalsynth.core.words import METRICS, Words

for _column, _words in {
    "factor": Words(
        "Error over that without privacy",
        "The standard error to expect of a coefficient or mean, over that of the same model fitted to the records themselves.",
    ),
}.items():
    METRICS.add(_column, _words, __name__)
