"""Verdicts in the ledger, with their meanings."""

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
    DIRECTION: "the run shows the claimed direction, but less clearly or less strongly than claimed",
    UNDETERMINED: "the difference in the run is within chance, so the run neither supports nor contradicts the claim",
    NOT_REPRODUCED: "the run contradicts the claim, or is far from it",
    MISPRINT: "the printed text contradicts other statements or results of the paper, whose conclusions do not depend on it",
    REFUTED: "a derivation or an audit shows that the statement, or a step that it depends on, does not hold",
    STAND_IN: "simulated records replaced absent data, so the run does not test the claim",
    ABSENT: "the data of the claim were absent",
    NO_ROWS: "a synthesizer of the claim has no finite result, usually because all its fits failed",
    TOO_FEW: "the scale has too few replicates for a verdict",
}
"""Meaning of each verdict, in the order of the ledger."""
