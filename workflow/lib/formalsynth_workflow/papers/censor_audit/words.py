"""Explanations of the columns and guarantees of the audit of censoring."""

from formalsynth.core.words import GUARANTEES, METRICS, Words

_CHANGES = {"add_remove": "one record added or removed", "replace_one": "one record replaced"}
for _suffix, _words in {
    "": Words(
        "Loss",
        "The largest absolute log ratio of the two exact posteriors anywhere: no smaller ε can be claimed for such neighbours.",
    ),
    "_region": Words(
        "Loss in the region of high mass",
        "The largest absolute log ratio in the region with nearly all the mass of either posterior.",
    ),
    "_delta": Words("δ at the claimed ε", "The smallest δ at which the claimed ε holds between the two posteriors."),
}.items():
    for _change, _name in _CHANGES.items():
        METRICS.add(f"{_change}{_suffix}", Words(f"{_words.name}, {_name}", _words.meaning), __name__)

for _column, _words in {
    "phi_mean": Words("φ", "The mean of the Beta distribution, a parameter of the model; the curves are its exact densities."),
    "beta2_mean": Words(
        "β2", "The second shape of the Beta distribution, a parameter of the model; the curves are its exact densities."
    ),
}.items():
    METRICS.add(_column, _words, __name__)

for _column, _words in {
    "censored": Words("Censored records", "Records whose weighted log-likelihood is clipped at some draw: the median month."),
    "largest_epsilon": Words("Largest 2 Δ", "The largest local ε of a month, twice its Lipschitz bound without clipping."),
    "loss": Words("Largest loss", "The largest ε at the stated δ between neighbours in a month: a lower bound of its ε."),
    "month": Words("Month", "The number of the month; the first month chooses the settings of the others."),
    "first_loss": Words("Loss of month 1", "The same in month 1, whose scale and shift each neighbour chooses again."),
    "first_ecdf_max": Words("max-ECDF of month 1", "The largest difference of the distribution functions in month 1."),
}.items():
    METRICS.add(_column, _words, __name__)

for _kind, _meaning in {
    "none: prior": "The prior does not depend on the data, so there is nothing to protect.",
    "lower bound of epsilon, by audit": "The largest loss among the neighbours that were tried: the true ε is at least this.",
}.items():
    GUARANTEES.add(_kind, _meaning, __name__)
