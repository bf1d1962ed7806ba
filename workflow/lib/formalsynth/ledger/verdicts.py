"""The verdicts of the ledger and what they mean."""

from __future__ import annotations

REPRODUCED = "reproduced"
DIRECTION = "direction only"
UNDETERMINED = "undetermined"
NOT_REPRODUCED = "not reproduced"
MISPRINT = "misprint"
REFUTED = "refuted"
NO_ROWS = "no rows"
STAND_IN = "stand-in data"
ABSENT = "data absent"
TOO_FEW = "too few replicates"
VERDICTS = {
    REPRODUCED: "the run supports the claim within its Monte Carlo error",
    DIRECTION: "the run points the way the claim does, but not as clearly or as far",
    UNDETERMINED: "what the run shows is within chance of no difference, so that it speaks neither for the claim nor against it",
    NOT_REPRODUCED: "the run contradicts the claim, or is far from what it says",
    MISPRINT: "what is printed contradicts other statements, formulas or results of the paper; its conclusions do not rest on it",
    REFUTED: "a derivation or an audit shows that the statement, or a step that it rests on, does not hold",
    STAND_IN: "simulated records stood in for absent ones, which is no evidence",
    ABSENT: "the data that the claim speaks of were absent",
    NO_ROWS: "a synthesizer that the claim speaks of has no finite result, in most cases because all its fits failed",
    TOO_FEW: "the scale has too few replicates to judge by",
}
"""Every verdict, in the order of the ledger, with its meaning."""
