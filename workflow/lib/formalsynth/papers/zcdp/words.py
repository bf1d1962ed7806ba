"""Words for the columns and guarantees of the zcdp paper's studies."""

from formalsynth.core.words import GUARANTEES, METRICS, Words

for _column, _words in {
    "replicates.value": Words(
        "Released mean",
        "The mean that the mechanism gives out; how far it scatters is the price of privacy.",
    ),
    "n_syn": Words(
        "Synthetic records n_syn",
        "How many records are released. More of them tell more about the confidential ones.",
    ),
    "covered": Words("Coverage", "The share of replicates whose 95 % interval holds the true mean. It should be 0.95."),
    "width": Words("Width", "The length of the 95 % interval. Among intervals with the right coverage, shorter is more useful."),
    "error": Words("Error", "The released estimate minus the true mean; on average, its bias."),
    "negative": Words(
        "Negative variances",
        "The share of replicates whose estimated variance is below 0, so that no interval exists.",
    ),
}.items():
    METRICS.add(_column, _words, __name__)

for _kind, _meaning in {
    "zCDP": "Zero-concentrated differential privacy: its budget is rho, from which (ε, δ) pairs follow.",
    "(eps, delta)-DP": "Differential privacy in which the factor exp(ε) may fail with probability δ.",
    "(eps, delta)-DP, local to s^2": "An (ε, δ) that holds at this data set's variance s²; at another one it may be larger.",
}.items():
    GUARANTEES.add(_kind, _meaning, __name__)
