"""Words for the columns and guarantees of the audit of censoring."""

from formalsynth.core.words import GUARANTEES, METRICS, Words

for _column, _words in {
    "add_remove": Words(
        "Loss, one record more or less",
        "The largest absolute log ratio of the two exact posteriors anywhere: no smaller ε can be claimed for such neighbours.",
    ),
    "replace_one": Words(
        "Loss, one record changed",
        "The largest absolute log ratio of the two exact posteriors anywhere: no smaller ε can be claimed for such neighbours.",
    ),
    "add_remove_region": Words(
        "Loss where the mass is, one record more or less", "The same, only where one of the posteriors has its mass."
    ),
    "replace_one_region": Words("Loss where the mass is, one record changed", "The same, only where one of them has its mass."),
    "add_remove_delta": Words(
        "δ at the claimed ε, one record more or less", "The least δ with which the claimed ε holds between the two posteriors."
    ),
    "replace_one_delta": Words(
        "δ at the claimed ε, one record changed", "The least δ with which the claimed ε holds between the two posteriors."
    ),
    "phi_mean": Words("φ", "The mean of the Beta distribution, a parameter of the model; the curves are its exact densities."),
}.items():
    METRICS.add(_column, _words, __name__)

for _kind, _meaning in {
    "none: prior": "The prior has seen no data, so that there is nothing to protect.",
    "lower bound of epsilon, by audit": "The largest loss among the neighbours that were tried: the true ε is no smaller.",
}.items():
    GUARANTEES.add(_kind, _meaning, __name__)
