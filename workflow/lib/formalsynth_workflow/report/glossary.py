"""Explanations, in plain words, of the sections, columns and terms of the report."""

from __future__ import annotations

from formalsynth.core.words import Words

SECTIONS = {
    "ran": Words("What was run", "Scale, seed, versions, commit and date: the settings that reproduce the numbers."),
    "data": Words("Data", "The papers' real data files: where they are published, and which of them were not available."),
    "sending": Words("What may be sent", "Confidential statistics in a report, and the parts that may be shared with others."),
    "sampling": Words("How sampling went", "Did the Stan fits converge, and did any fail? Diagnostics of every MCMC run."),
    "time": Words("What it cost", "How long the run took and how much memory it needed, by step."),
}
"""Sections of the first page about the run, by their anchors, each with a sentence on its content."""

DIAGNOSTICS = {
    "fits": Words(
        "Fits", "Posteriors sampled with Stan. A fit that several synthesizers share counts once, and so does a search."
    ),
    "refits": Words("Refitted", "Fits that failed the gate at first and were sampled again, for longer."),
    "failed": Words(
        "Failed",
        "Fits that never passed, or whose search missed its target. They keep a row with the reason, but no estimate uses them.",
    ),
    "rhat_max": Words(
        "R-hat",
        "Do the parts of a chain agree? 1.00 is full agreement. Shown: the largest value over all parameters and fits.",
    ),
    "ess_bulk_min": Words(
        "Bulk ESS",
        "Effective sample size: the number of independent draws that would estimate the centre of a posterior as precisely. "
        "Shown: the smallest value.",
    ),
    "ess_tail_min": Words("Tail ESS", "The same for the 5 % and 95 % quantiles. Shown: the smallest value."),
    "divergences": Words(
        "Divergences",
        "Total number of steps in which the sampler failed to follow the posterior. Even one can mean biased draws.",
    ),
    "treedepth_hits": Words(
        "Tree depth",
        "Total number of steps that were cut off at the largest tree depth. They cost time but do not harm the draws.",
    ),
    "seconds": Words("Stan", "Time spent in Stan, over all fits."),
}
"""Diagnostics of the fits of a paper."""

LEDGER = {
    "claim": Words("Claim", "The statement of the paper, in our words, and its place in the paper."),
    "printed": Words("Printed", "The number or formula printed in the paper, if there is one."),
    "estimate": Words("Ours", "The same numbers from this run, each with a label, such as its synthesizer or sample size."),
    "mcse": Words("± MCSE", "Monte Carlo standard error: how far the estimate would move if the run had used another seed."),
    "replicates": Words("Replicates", "The number of simulated data sets that the estimate is based on."),
    "verdict": Words(
        "Verdict",
        "The verdict of this run on the claim; each verdict is explained below. “Unsteady: 60%” is the share of runs with "
        "redrawn replicates in which the verdict of the reference run stays the same.",
    ),
    "note": Words("Why", "The basis of the verdict, and anything else that a reader needs to know about it."),
    "kind": Words(
        "Kind",
        "The kind of claim; only claims of kind test count in the headline.",
    ),
    "erratum": Words("Erratum", "The error in the paper that the claim is part of; each error has one number."),
}
"""Columns of the ledger of claims."""

UNSTEADY = "Share of runs with redrawn replicates in which the verdict of the reference run stays the same."
"""Meaning of the mark “unsteady” on a verdict, which other replicates may change."""

ERRATUM = {
    "printed": "Printed",
    "derived": "What follows instead",
    "check": "Numeric check",
    "consequence": "Consequence",
    "matters": "Does it matter?",
}
"""Headings of the texts of an erratum."""

TERMS = {
    "Record": ("One person's row in the confidential data."),
    "Synthesizer": (
        "A mechanism with its settings and the model that it is applied to. It uses the confidential data and releases "
        "synthetic data."
    ),
    "Neighbour": (
        "A data set that differs in one record. *Add/remove*: one of them has an additional record. *Replace-one*: both have the "
        "same number of records, and one record differs. A guarantee of ε for add/remove implies one of 2 ε for replace-one."
    ),
    "Privacy loss, ε": (
        "How much more likely a release is with a person's record than without it, or the other way round, on a log "
        "scale. With ε = 1, an outcome is at most e = 2.72 times as likely. With ε = 5, it is at most 149 times, with ε = 10 "
        "at most 22,027 times as likely. Small is good."
    ),
    "δ": ("Roughly, the probability with which the limit ε may be exceeded."),
    "Pseudo posterior": (
        "The posterior of a model in which the likelihood of each record is raised to a weight between 0 and 1. Records "
        "with a low weight have less influence on the release."
    ),
    "Risk of a record": (
        "The largest absolute value of its log-likelihood, over the draws of the unweighted posterior. Rare records have "
        "a large risk."
    ),
    "LW (min-max) weights": (
        "The record with the largest risk gets weight 0, and the one with the smallest risk gets weight 1. The other weights "
        "are in between and fall linearly with the risk. All weights therefore depend on two records of the data."
    ),
    "CW weights": ("Weights computed from the share of records that are near each record."),
    "Lipschitz bound, Δ": (
        "The largest absolute value of a weighted log-likelihood, over records and draws. For a mechanism that "
        "draws from the pseudo posterior, ε is twice Δ. Both depend on the unit of a continuous outcome, because a density does."
    ),
    "Local ε": ("2 Δ of the data set at hand. It holds for this data set only: another data set has another Δ."),
    "Asymptotic guarantee": (
        "A guarantee that holds in the limit, as the number of records grows without bound. It means that the probability of a "
        "data set with a larger ε goes to 0."
    ),
    "Contraction": ("The values of Δ of data sets of the same size come closer together as that size grows."),
    "Sensitive range": (
        "The values around a record that must not be learned: [a x, b x] for a record x. A guarantee for the sensitive "
        "range protects only inside it. Someone may still learn that the record is there. The range itself cannot be public: "
        "divided by a, its end a x is the record."
    ),
    "Censoring": ("A record's weighted log-likelihood is cut off at −ε/2 and ε/2, so no record contributes more."),
    "Perturbed histogram (PH)": (
        "Counts in bins with random noise. It needs no model, and its guarantee holds for every data set."
    ),
    "Replicate": ("One simulated data set, with all results computed from it."),
    "Scenario": ("Replicates of one population and sample size, or of one real data file."),
    "Monte Carlo error (MCSE)": ("How far an estimate would move if the run had used other random numbers."),
    "Audited ε": (
        "The loss that the audit found between a data set and its neighbours. It is a lower bound: a neighbour that was "
        "not tried may have a larger loss."
    ),
    "zCDP, ρ": ("Another way to count privacy loss, in which losses of several releases add up. Gaussian noise has a simple ρ."),
    "Stand-in": (
        "Made-up records that replace confidential ones, which are not public. Numbers computed from them prove nothing."
    ),
}
"""Terms that a reader needs, explained in plain words; docs/GLOSSARY.md is generated from them."""
