"""Plain words for what figures, tables and the report show, so that no number stands without saying what it is."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Words:
    """What a thing is called and what it means, in one or two sentences."""

    name: str
    meaning: str


METRICS = {
    "bound": Words(
        "By-record Lipschitz bound Δᵢ",
        "The most that one record's weighted log-likelihood amounts to in any posterior draw. The smaller it is, the less this "
        "record can show through in the synthetic data.",
    ),
    "delta": Words(
        "Lipschitz bound Δ",
        "The largest by-record bound of a data set: how far any one record can move the posterior from which synthetic data are "
        "drawn. Smaller is more private. It is estimated, as a maximum over posterior draws.",
    ),
    "epsilon": Words(
        "Epsilon ε, the privacy budget",
        "One record more or less changes the probability of what is released at most by the factor exp(ε). Smaller is more "
        "private. Where it comes from a Lipschitz bound, ε = 2Δ. What it is worth depends on the kind of guarantee.",
    ),
    "weight": Words(
        "Privacy weight of a record",
        "How much the record counts in the fit: 1 is in full, 0 not at all. Records at high risk get small weights.",
    ),
    "known": Words(
        "Probability λ",
        "The chance that a value which the model predicts for the record falls outside its sensitive range. The nearer to 1, the "
        "less of the record needs protection.",
    ),
    "ecdf_max": Words(
        "max-ECDF",
        "The largest vertical distance between the distribution functions of the synthetic and the confidential data: 0 where "
        "they agree, 1 where they do not overlap. Smaller is more useful.",
    ),
    "ecdf_avg": Words(
        "avg-ECDF",
        "The mean squared vertical distance between the distribution functions of the synthetic and the confidential data. "
        "Smaller is more useful.",
    ),
    "mean": Words("Mean", "Of a data set. Synthetic data are useful where theirs is near that of the confidential data."),
    "median": Words("Median", "Half of the values lie below it. Useful where near that of the confidential data."),
    "q15": Words("15 % quantile", "15 % of the values lie below it. Useful where near that of the confidential data."),
    "q90": Words("90 % quantile", "90 % of the values lie below it. Useful where near that of the confidential data."),
    "value": Words(
        "Values",
        "The records themselves. Synthetic data are useful where their shape is that of the confidential data.",
    ),
    "phi": Words("φ", "A parameter of the model, over posterior draws: the mean of the outcome. A wider curve knows less."),
    "mu": Words("µ", "A parameter of the model, over posterior draws: the mean of the outcome. A wider curve knows less."),
    "affected": Words(
        "Records affected",
        "How many records had their weight cut to 0, or their log-likelihood cut at ε / 2 in at least one posterior draw.",
    ),
    "slope": Words(
        "Rate of contraction",
        "The slope of log(max - min) of Δ over replicates on log n. At -1/2, four times the records halve the spread.",
    ),
    "released": Words("Released mean", "The mean that the mechanism gives out; how far it scatters is the price of privacy."),
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
    "strength": Words("Strength lam", "How steeply records at high risk lose weight; 0 leaves all weights as they are."),
    "tstr": Words(
        "TSTR AUROC",
        "Train on synthetic, test on real: how well a classifier learned from synthetic records ranks real ones. 0.5 is a coin "
        "toss, 1 is perfect. Larger is more useful.",
    ),
    "distance_all_advantage": Words(
        "Advantage of the distance attack",
        "|2 AUC - 1| when membership is guessed from the distance to the synthetic records: 0 is a coin toss, 1 always right. "
        "Smaller is more private.",
    ),
    "domias_printed_top_advantage": Words(
        "Top-decile advantage, attack as printed",
        "|2 AUC - 1| of the density-ratio attack on the most outlying tenth of the records. As printed, non-members belong to "
        "their own reference, which gives them away whatever the synthetic data are.",
    ),
    "domias_printed_top_median": Words(
        "Top/median ratio, attack as printed",
        "The advantage on the most outlying tenth over the median advantage of all tenths: 1 is equal risk.",
    ),
    "domias_top_auc": Words(
        "Top-decile AUC, fair attack",
        "The chance that the attack ranks a member above a non-member among the most outlying tenth, no record being its own "
        "reference. 0.5 is a coin toss. Smaller is more private.",
    ),
    "signed_advantage": Words(
        "Advantage by decile",
        "2 AUC - 1 of the attack: 0 is a coin toss, 1 always right, below 0 misled.",
    ),
    "decile": Words(
        "Outlier decile",
        "Tenths of the records by distance to their neighbours: 10 the most outlying, 0 all records.",
    ),
    "eps_total_mean": Words(
        "Per-instance ε",
        "The bound that Corollary 1 gives for a single record, as a mean over the decile. It depends on the record and is no "
        "guarantee for the data set.",
    ),
    "spearman": Words(
        "Spearman correlation",
        "How well the released scores order the records by outlierness: 1 is the same order.",
    ),
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
    "recall": Words("Recall", "The share of the most outlying tenth that is also the tenth with the highest released scores."),
}
"""Columns that figures and tables show."""

DIAGNOSTICS = {
    "fits": Words("Fits", "Posteriors sampled with Stan. A fit that several synthesizers share counts once, a search once."),
    "refits": Words("Refitted", "Fits that failed the gate at first and were sampled again, longer."),
    "failed": Words(
        "Failed",
        "Fits that never passed, or whose search missed its target. They keep a row with the reason and enter no estimate.",
    ),
    "rhat_max": Words(
        "R-hat",
        "Do the parts of a chain agree? 1.00 is full agreement; the largest over all parameters and fits.",
    ),
    "ess_bulk_min": Words(
        "Bulk ESS",
        "Effective sample size: how many independent draws the centre of a posterior is worth; the least.",
    ),
    "ess_tail_min": Words("Tail ESS", "The same for the 5 % and 95 % quantiles; the least."),
    "divergences": Words("Divergences", "Steps in which the sampler lost its way; in sum. Any one can mean a biased posterior."),
    "treedepth_hits": Words(
        "Tree depth",
        "Steps cut off at the largest tree; in sum. They cost time and do no harm to the draws.",
    ),
    "seconds": Words("Stan", "Time spent in Stan, over all fits."),
}
"""How sampling went, over the fits of a paper."""

LEDGER = {
    "claim": Words("Claim", "What the paper says, in our words, and where it says it."),
    "printed": Words("Printed", "The number or formula in the paper, where it has one."),
    "estimate": Words("This run", "The same numbers from this run, from left to right as the claim names them."),
    "mcse": Words("± MCSE", "Monte Carlo standard error: how far the estimate would move if the run had another seed."),
    "replicates": Words("Replicates", "How many simulated data sets the estimate rests on."),
    "erratum": Words("Erratum", "The claim is printed in a form that the paper's own results contradict; the number lists them."),
}
"""Columns of the ledger of claims."""

GUARANTEES = {
    "asymptotic DP (local eps_x)": "Computed from this data set alone: a guarantee for all data sets only as n grows.",
    "range-averaged": "For what lies inside a record's sensitive range R, averaged over where its predicted values fall.",
    "range-truncated": "Given that a record is known to lie in its sensitive range R: only differences inside R are protected.",
    "DP": "Differential privacy for every data set.",
    "DP (add/remove)": "Differential privacy for every data set; neighbours have one record more or less.",
    "DP (replace-one)": "Differential privacy for every data set; neighbours have one record exchanged.",
    "zCDP": "Zero-concentrated differential privacy: its budget is rho, from which (ε, δ) pairs follow.",
    "(eps, delta)-DP": "Differential privacy in which the factor exp(ε) may fail with probability δ.",
    "(eps, delta)-DP (add/remove)": "The factor exp(ε) may fail with probability δ; neighbours have one record more or less.",
    "(eps, delta)-DP, local to s^2": "An (ε, δ) that holds at this data set's variance s²; at another one it may be larger.",
    "per-instance": "For one record in one data set: no guarantee for another.",
    "lower bound of epsilon, by audit": "The largest loss among the neighbours that were tried: the true ε is no smaller.",
    "none": "No guarantee.",
}
"""Kinds of guarantee, without what they take as fixed."""
FIXED = " What is named after the bar is taken as fixed: making it from the data is not paid for."


def guarantee(kind: str) -> Words:
    """A kind of guarantee as the tables name it, such as ``DP | fixed weights``."""
    head, _, condition = kind.partition(" | ")
    meaning = GUARANTEES.get(head, "A kind of its own; see its mechanism.")
    return Words(kind, meaning + (FIXED if condition.startswith("fixed") else ""))


def metric(column: str) -> Words:
    """What a column shows; one that somebody has added stands under its own name."""
    return METRICS.get(column, Words(column, "A column of the tables of this run."))
