"""The verdicts of the ledger and what they mean."""

from __future__ import annotations

REPRODUCED = "reproduced"
DIRECTION = "direction only"
NOT_REPRODUCED = "not reproduced"
CONTRADICTED = "contradicted in print"
STAND_IN = "stand-in data"
ABSENT = "data absent"
TOO_FEW = "too few replicates"
VERDICTS = {
    REPRODUCED: "the run bears the claim out within its Monte Carlo error",
    DIRECTION: "the run points the way the claim does, but not as clearly or as far",
    NOT_REPRODUCED: "the run does not bear the claim out",
    CONTRADICTED: "a printed formula or setting contradicts the paper's own results",
    STAND_IN: "simulated records stood in for absent ones, which is no evidence",
    ABSENT: "the data that the claim speaks of were absent",
    TOO_FEW: "the scale has too few replicates to judge by",
}
"""Every verdict, in the order of the ledger, with its meaning."""
