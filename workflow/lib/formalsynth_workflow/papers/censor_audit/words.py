"""Explanations of the columns and guarantees of the audit of censoring."""

from formalsynth.core.words import GUARANTEES, METRICS, Words

for _column, _words in {
    "add_remove": Words(
        "Loss, one record added or removed",
        "The largest absolute log ratio of the two exact posteriors anywhere: no smaller ε can be claimed for such neighbours.",
    ),
    "replace_one": Words(
        "Loss, one record replaced",
        "The largest absolute log ratio of the two exact posteriors anywhere: no smaller ε can be claimed for such neighbours.",
    ),
    "add_remove_region": Words(
        "Loss in the region of high mass, one record added or removed",
        "The largest absolute log ratio in the region with nearly all the mass of either posterior.",
    ),
    "replace_one_region": Words(
        "Loss in the region of high mass, one record replaced",
        "The largest absolute log ratio in the region with nearly all the mass of either posterior.",
    ),
    "add_remove_delta": Words(
        "δ at the claimed ε, one record added or removed",
        "The smallest δ at which the claimed ε holds between the two posteriors.",
    ),
    "replace_one_delta": Words(
        "δ at the claimed ε, one record replaced", "The smallest δ at which the claimed ε holds between the two posteriors."
    ),
    "phi_mean": Words("φ", "The mean of the Beta distribution, a parameter of the model; the curves are its exact densities."),
    "beta2_mean": Words(
        "β2", "The second shape of the Beta distribution, a parameter of the model; the curves are its exact densities."
    ),
}.items():
    METRICS.add(_column, _words, __name__)

for _kind, _meaning in {
    "none: prior": "The prior does not depend on the data, so there is nothing to protect.",
    "lower bound of epsilon, by audit": "The largest loss among the neighbours that were tried: the true ε is at least this.",
}.items():
    GUARANTEES.add(_kind, _meaning, __name__)
