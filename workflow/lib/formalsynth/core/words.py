"""Names and meanings of columns and kinds of guarantee, for figures, tables and the report."""

from __future__ import annotations

from dataclasses import dataclass

from formalsynth.core.neighbours import EXACT_DRAWS
from formalsynth.core.registry import Registry
from formalsynth.core.text import counted as counted  # a sentence on a number is a word, too
from formalsynth.core.utility import OWN_UTILITY


@dataclass(frozen=True)
class Words:
    """Name of a column or a kind of guarantee, and its meaning in one or two sentences."""

    name: str
    meaning: str


METRICS: Registry[Words] = Registry("column", "core/words.py")
"""Columns that figures and tables show; a name such as ``replicates.value`` applies to the column of one collected table only."""
GUARANTEES: Registry[str] = Registry("kind of guarantee", "core/words.py")
"""Kinds of guarantee, without their conditions."""
SYMBOLS = {"epsilon": "ε", "lambda": "λ", "delta": "δ"}
"""Symbols of parameters and columns."""
EVERY = " for every data set"
CONDITION = " It does not hold for every data set, but only under the condition named after the bar."
EXACT = " It is proven for exact draws from the posterior; the error of a sampler is not covered."
FIXED = " It does not hold for every data set: the quantity named after the bar is treated as if it did not depend on the data."


def equation(name: str, value: str) -> str:
    """Write the value of a parameter or column, as in ``ε = 5``."""
    return f"{SYMBOLS.get(name, name)} = {value}"


def guarantee(kind: str) -> Words:
    """Return the name and meaning of a kind of guarantee, such as ``DP | fixed weights``."""
    head, _, condition = kind.partition(" | ")
    meaning = GUARANTEES.get(head, "A kind specific to its mechanism; see there.")
    if kind.endswith(EXACT_DRAWS):
        meaning += EXACT
    elif condition:
        meaning = meaning.replace(EVERY, "") + (FIXED if condition.startswith("fixed") else CONDITION)
    return Words(kind, meaning)


def metric(column: str) -> Words:
    """Return the name and meaning of a column; an added column without them keeps its own name."""
    if column in OWN_UTILITY:
        return Words(OWN_UTILITY[column].label, OWN_UTILITY[column].meaning)
    return METRICS.get(column, Words(column, "A column in the tables of this run."))


for _column, _words in {
    "n": Words("n", "The number of records in a data set."),
    "bound": Words(
        "By-record Lipschitz bound Δᵢ",
        "The largest absolute value of one record's weighted log-likelihood over the posterior draws. The largest bound over "
        "the records is Δ, and the claimed ε is 2 Δ.",
    ),
    "delta": Words(
        "Lipschitz bound Δ",
        "The largest by-record bound of a data set; the claimed ε is 2 Δ. A smaller Δ gives a smaller claim, and a record may "
        "cost more than the claim: see the audited ε. Δ is estimated, as a maximum over posterior draws. For a continuous "
        "outcome, it depends on the unit of the fit.",
    ),
    "epsilon": Words(
        "Epsilon ε, the privacy budget",
        "The claim that adding or removing one record changes the probability of any release by a factor of at most exp(ε). A "
        "strict mechanism guarantees its declared ε for every data set. If ε is 2 Δ of the data set at hand, a record may "
        "cost more: see the audited ε.",
    ),
    "delta_mcse": Words(
        "Monte Carlo error of Δ",
        "Standard error of Δ as a maximum over a finite number of posterior draws, with the weights of this run held fixed. "
        "A different seed for the fits changes the weights too, and Δ can then differ by more.",
    ),
    "audited": Words(
        "Audited ε",
        "A lower bound on the cost of a record for the data at hand: the largest loss over the neighbours that were tried, with "
        "everything recomputed on each. A neighbour that was not tried may cost more. At δ = 10⁻³ unless another δ is named.",
    ),
    "claimed": Words(
        "Claimed ε",
        "The ε that a strict mechanism guarantees for such neighbours; for others, twice the Lipschitz bound of the data set.",
    ),
    "claimed_larger": Words("Larger claimed ε", "The larger of the claims that a mechanism makes on the two neighbours."),
    "attacked": Words(
        "Attacked ε",
        "A lower bound on ε, with 95 % confidence, from an attack that knows both neighbouring data sets and the mechanism, and "
        "sees one synthetic data set.",
    ),
    "held": Words("Audited ε, weights held", "The cost of a record if joining or moving changed no other weight."),
    "strict": Words("Audited ε at the smaller δ", "The audited ε at δ = 10⁻⁵ instead of 10⁻³, or at the value in config."),
    "pure": Words(
        "Audited ε at δ = 0",
        "The largest loss of any release, however improbable. It is unbounded for posteriors without censoring. A guarantee for "
        "every data set is compared with this value.",
    ),
    "composed": Words(
        "Audited ε of several releases", "The audited ε of five draws of one posterior, or of the number in config."
    ),
    "remove": Words("Audited ε, a record leaves", "The audited ε for neighbours that lack one record of the data set."),
    "add": Words("Audited ε, a record joins", "The audited ε for neighbours with one additional record, within declared bounds."),
    "replace": Words(
        "Audited ε, a record is replaced", "The audited ε for neighbours in which one record leaves and another joins."
    ),
    "move": Words("Audited ε, a record moves", "The audited ε for neighbours with one record moved inside its sensitive range."),
    "oscillation": Words(
        "Bound by oscillation",
        "Over posterior draws, the oscillation of the difference of two neighbours' log-likelihoods: a bound of their loss.",
    ),
    "strict_remove": Words("Leaves, smaller δ", "The audited ε at the smaller δ, for neighbours that lack one record."),
    "strict_add": Words("Joins, smaller δ", "The audited ε at the smaller δ, for neighbours with one additional record."),
    "strict_replace": Words(
        "Replaced, smaller δ", "The audited ε at the smaller δ, for neighbours in which one record leaves and another joins."
    ),
    "strict_move": Words(
        "Moves, smaller δ", "The audited ε at the smaller δ, for neighbours with one record moved inside its sensitive range."
    ),
    "floor": Words("Floor", "The loss between two runs on the same data with different random numbers for the weights."),
    "weight": Words(
        "Privacy weight of a record",
        "How much the record counts in the fit: 1 fully, 0 not at all. Records at high risk get small weights.",
    ),
    "known": Words(
        "Probability λ",
        "The probability that a value predicted by the model for the record falls outside its sensitive range. The closer to 1, "
        "the smaller the part of the record that needs protection.",
    ),
    "ecdf_max": Words(
        "max-ECDF",
        "The largest vertical distance between the distribution functions of the synthetic and the confidential data: 0 if "
        "they agree, 1 if they do not overlap. Smaller is more useful.",
    ),
    "ecdf_avg": Words(
        "avg-ECDF",
        "The mean squared vertical distance between the distribution functions of the synthetic and the confidential data. "
        "Smaller is more useful.",
    ),
    "mean": Words("Mean", "Mean of a data set. Synthetic data are useful if theirs is close to that of the confidential data."),
    "median": Words(
        "Median",
        "Half of the values are below it. Synthetic data are useful if theirs is close to that of the confidential data.",
    ),
    "q15": Words(
        "15 % quantile",
        "15 % of the values are below it. Synthetic data are useful if theirs is close to that of the confidential data.",
    ),
    "q90": Words(
        "90 % quantile",
        "90 % of the values are below it. Synthetic data are useful if theirs is close to that of the confidential data.",
    ),
    "q99": Words(
        "99 % quantile",
        "99 % of the values are below it. Synthetic data are useful if theirs is close to that of the confidential data.",
    ),
    "sd": Words(
        "Standard deviation",
        "Standard deviation of a data set. Synthetic data are useful if theirs is close to that of the confidential data.",
    ),
    "coefficient": Words("Coefficient", "The last coefficient of the regression, as the mean over posterior draws."),
    "coefficient_low": Words("Coefficient, lower end", "The lower end of the 95 % interval of the coefficient."),
    "coefficient_high": Words("Coefficient, upper end", "The upper end of the 95 % interval of the coefficient."),
    "unit": Words(
        "Unit of the outcome", "Declared: fits see the outcome divided by it. Bounds of a continuous outcome depend on it."
    ),
    "area_error": Words(
        "Error of area means",
        "The root mean square, over areas, of the difference between the means of an area in synthetic and confidential data, as "
        "a share of the overall mean. Records with equal predictors are an area. Smaller is more useful.",
    ),
    "value": Words(
        "Values",
        "The records themselves. Synthetic data are useful if their distribution has the shape of the confidential data.",
    ),
    "phi": Words(
        "φ", "The mean of the outcome, a parameter of the model, over posterior draws. A wider curve means more uncertainty."
    ),
    "mu": Words(
        "µ", "The mean of the outcome, a parameter of the model, over posterior draws. A wider curve means more uncertainty."
    ),
    "affected": Words(
        "Records affected",
        "The number of records whose weight was cut, or whose log-likelihood was cut at ε / 2 in at least one posterior draw.",
    ),
    "slope": Words(
        "Rate of contraction",
        "The slope of the log standard deviation of Δ over replicates on log n. At -1/2, four times as many records halve that "
        "standard deviation.",
    ),
    "last_slope": Words("Rate of contraction at the largest n", "The same slope, between the two largest sample sizes only."),
}.items():
    METRICS.add(_column, _words, __name__)

for _kind, _meaning in {
    "asymptotic DP (local eps_x)": "Computed from this data set alone: a guarantee for all data sets only as n grows.",
    "range-averaged": "Protection of values inside a record's sensitive range R, averaged over its predicted values. R cannot be "
    "public: its ends are multiples of the record and reveal it.",
    "range-truncated": "Given that a record is known to lie in its sensitive range R: only differences inside R are protected. "
    "R cannot be public: its ends are multiples of the record and reveal it.",
    "DP": "Differential privacy for every data set.",
    "DP (add/remove)": "Differential privacy for every data set; neighbours differ by one added or removed record.",
    "DP (replace-one)": "Differential privacy for every data set; neighbours differ by one replaced record.",
    "DP (moves)": "Differential privacy for every data set, given public ranges; neighbours differ by one record, moved inside "
    "its range.",
    "none": "No guarantee.",
}.items():
    GUARANTEES.add(_kind, _meaning, __name__)
