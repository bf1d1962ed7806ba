"""Explanations of the columns and guarantees of the zcdp paper's studies."""

from formalsynth.core.words import GUARANTEES, METRICS, Words

for _column, _words in {
    "replicates.value": Words(
        "Released mean",
        "The mean that the mechanism releases; its spread is the price of privacy.",
    ),
    "n_syn": Words(
        "Synthetic records n_syn",
        "The number of released records. More records reveal more about the confidential data.",
    ),
    "covered": Words("Coverage", "The share of replicates whose 95 % interval contains the true value. It should be 0.95."),
    "width": Words("Width", "The length of the 95 % interval. Among intervals with the right coverage, shorter is more useful."),
    "error": Words("Error", "The released estimate minus the true value; its average is the bias."),
    "sensitivity": Words(
        "Sensitivity",
        "The largest distance, in standard deviations of the model, by which replacing one record moves the mean.",
    ),
    "ceiling": Words("Largest rho", "The rho that no number of synthetic records exceeds; infinite for plug-in synthesis."),
    "exact": Words("Exact δ", "The smallest δ of the release at the stated ε between two data sets, by calculation."),
    "excess": Words(
        "Simulated δ", "The same δ from simulated releases, whose records are drawn and whose densities are computed."
    ),
    "gap": Words("Difference", "The simulated δ minus the exact one."),
    "negative": Words(
        "Negative variances",
        "The share of replicates with an estimated variance below 0, for which no interval exists.",
    ),
}.items():
    METRICS.add(_column, _words, __name__)

for _kind, _meaning in {
    "zCDP": "Zero-concentrated differential privacy: its budget is rho, from which (ε, δ) pairs are computed.",
    "(eps, delta)-DP": "Differential privacy whose factor exp(ε) may fail with probability δ.",
    "(eps, delta)-DP, local to s^2": "An (ε, δ) at this data set's variance s²; it may be larger at another variance.",
}.items():
    GUARANTEES.add(_kind, _meaning, __name__)
