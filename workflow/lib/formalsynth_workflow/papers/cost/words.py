"""Explanations of the columns of the study of limits."""

from formalsynth.core.words import METRICS, Words

for _column, _words in {
    "factor": Words(
        "Error relative to that without privacy",
        "The expected standard error of a coefficient or mean, relative to that of the same model fitted to the actual records.",
    ),
}.items():
    METRICS.add(_column, _words, __name__)
