"""Plain words for the columns of the report's own tables."""

from __future__ import annotations

from formalsynth.core.words import Words

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
    "printed": Words("Printed (our paraphrase)", "The number or formula in the paper, where it has one."),
    "estimate": Words("Ours", "The same numbers from this run, each with the name of what it belongs to."),
    "mcse": Words("± MCSE", "Monte Carlo standard error: how far the estimate would move if the run had another seed."),
    "replicates": Words("Replicates", "How many simulated data sets the estimate rests on."),
    "verdict": Words("Same?", "What this run says of the claim; each verdict is explained below."),
    "note": Words("Why", "What the verdict rests on, and what a reader has to know of it."),
    "kind": Words("Kind", "What the verdict says of the paper; only claims of kind test count in the headline."),
    "erratum": Words("Erratum", "Something printed that does not hold, and that the claim is part of; each slip has one number."),
}
"""Columns of the ledger of claims."""

ERRATUM = {
    "printed": "Printed",
    "derived": "What follows instead",
    "check": "Numeric check",
    "consequence": "Consequence",
    "matters": "Does it matter?",
}
"""The texts of an erratum."""
