"""Claims and tidy tables for tests of the ledger."""

import numpy as np
import pandas as pd

from formalsynth_workflow.ledger.claims import Claim, ClaimScenario, Estimate
from formalsynth_workflow.ledger.judge import judge
from formalsynth_workflow.ledger.tests.base import TESTS
from formalsynth_workflow.ledger.thresholds import Thresholds

TESTS.find()
THRESHOLDS = Thresholds(within=0.05, errors=2, mostly=0.9, confidence=0.95, resamples=200)
SCENARIO = ClaimScenario(id="first_n50", name="first", stand_in=False)
ESTIMATE = {"scenario": "first", "value": ["delta"], "of": ["A", "B"]}


def claim_of(test, estimate=None, scenarios=(SCENARIO,), **fields):
    """A claim with the given parts over harmless ones; without keys of its test, it is an order."""
    rest = {"place": "Section 1", "shows": "", "claim": "So it is", "printed": "", "erratum": "", "note": "", "truth": None}
    rest |= {"kind": "test", "implied_by": "", "finding": ""}
    parts = {
        "estimate": Estimate(**ESTIMATE | (estimate or {})),
        "test": test or {"kind": "order"},
        "scenarios": tuple(scenarios),
    }
    return Claim(id="some-claim", paper="some", **(rest | fields), **parts)


def table_of(**cells):
    """A tidy table with one cell for each synthesizer."""
    parts = [
        pd.DataFrame(
            {"scenario": "first_n50", "n": 50, "synthesizer": name, "replicate": np.arange(len(values)), "delta": values}
        )
        for name, values in cells.items()
    ]
    return pd.concat(parts, ignore_index=True)


def row_of(claim, *tables, judged=True):
    """The row of a claim in the ledger."""
    return judge(claim, tables, THRESHOLDS, 1, judged)


def verdict_of(claim, *tables, judged=True):
    """The verdict of a claim on tables."""
    return row_of(claim, *tables, judged=judged).verdict


def normal(mean, sd=1.0, count=100, seed=1):
    """Values of a cell."""
    return np.random.default_rng(seed).normal(mean, sd, count)
