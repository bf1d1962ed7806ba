"""Explanations of the columns and guarantees of the REPS paper."""

from __future__ import annotations

from formalsynth.core.words import GUARANTEES, METRICS, Words

for _column, _words in {
    "strength": Words("Strength lam", "The rate at which the weights of high-risk records decrease; with 0, all weights are 1."),
    "tstr": Words(
        "TSTR AUROC",
        "Train on synthetic, test on real: the AUROC on real records of a classifier trained on synthetic records. 0.5 is a coin "
        "toss, 1 is perfect. Larger is more useful.",
    ),
    "distance_all_advantage": Words(
        "Advantage of the distance attack",
        "|2 AUC - 1| for guesses of membership from the distance to the synthetic records: 0 is a coin toss, 1 is always right. "
        "Smaller is more private.",
    ),
    "domias_printed_top_advantage": Words(
        "Top-decile advantage, attack as printed",
        "|2 AUC - 1| of the density-ratio attack on the most outlying tenth of the records. As printed, non-members belong to "
        "their own reference, which identifies them independently of the synthetic data.",
    ),
    "domias_printed_top_median": Words(
        "Top/median ratio, attack as printed",
        "The advantage on the most outlying tenth over the median advantage of all tenths: 1 is equal risk.",
    ),
    "domias_top_auc": Words(
        "Top-decile AUC, fair attack",
        "The probability that the attack ranks a member above a non-member among the most outlying tenth, when no record is its "
        "own reference. 0.5 is a coin toss. Smaller is more private.",
    ),
    "signed_advantage": Words(
        "Advantage by decile",
        "2 AUC - 1 of the attack: 0 is a coin toss, 1 is always right, and below 0 is more often wrong than right.",
    ),
    "decile": Words(
        "Outlier decile",
        "Tenths of the records by distance to their neighbours: 10 is the most outlying tenth, 0 all records.",
    ),
    "eps_total_mean": Words(
        "Per-instance ε",
        "The bound of Corollary 1 for a single record, as a mean over the decile. It depends on the record and does not hold for "
        "the data set.",
    ),
    "exact_epsilon": Words(
        "Exact ε",
        "The smallest ε of the release at its total δ, for the largest influence of a record, with weights, tau, lam and "
        "standardisation held fixed.",
    ),
    "share": Words("Share for scores", "The share of ε and δ that is spent on the scores."),
    "record_epsilon": Words(
        "ε of a record",
        "The ε that a record pays for both stages, whatever the other records are. It is stated with the release, at "
        "declared levels of weight.",
    ),
    "fixed_epsilon": Words(
        "Fixed ε", "The ε of both stages at the total δ that holds for all records, whatever their weights: fixed in advance."
    ),
    "record_epsilon_top": Words("ε, last decile", "The mean ε of a record in the most outlying tenth, stated with the release."),
    "record_epsilon_middle": Words(
        "ε, fifth decile", "The mean ε of a record in the fifth decile of outlierness, stated with the release."
    ),
    "record_epsilon_gini": Words("Gini of ε", "The Gini coefficient of the records' ε: 0 if all are equal."),
    "weight_mean": Words("Mean weight", "The mean weight of the records: 1 without weights."),
    "tstr_top": Words(
        "TSTR, last decile",
        "AUROC on the most outlying tenth of the test records, after training on synthetic records. Larger is more useful.",
    ),
    "pairs": Words(
        "Pairs",
        "The mean total variation distance of all two-way tables between synthetic and test records: 0 is equal. Smaller is more "
        "useful.",
    ),
    "pairs_rarer": Words("Pairs, rarer class", "As pairs, for the records with the rarer label."),
    "likelihood_top_auc": Words(
        "Likelihood-ratio AUC, last decile",
        "The probability that the released model's likelihood ratio ranks a member above a non-member in the last decile. "
        "0.5 is a coin toss. Smaller is more private.",
    ),
    "spearman": Words(
        "Spearman correlation",
        "The rank correlation of the released scores with outlierness: 1 is the same order.",
    ),
    "recall": Words("Recall", "The share of the most outlying tenth that is also in the tenth with the highest released scores."),
}.items():
    METRICS.add(_column, _words, __name__)

for _kind, _meaning in {
    "(eps, delta)-DP (add/remove)": "The factor exp(ε) may fail with probability δ; neighbours have one record added or removed.",
    "per-instance": "For one record in one data set; it does not hold for another record or data set.",
}.items():
    GUARANTEES.add(_kind, _meaning, __name__)
