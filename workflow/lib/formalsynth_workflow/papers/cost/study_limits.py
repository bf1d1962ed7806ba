"""Limits of noisy tables: expected errors relative to those without privacy, from declarations and a guess only."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace

from formalsynth.core.constraints import Count, PositiveNumber
from formalsynth.core.family import Family
from formalsynth.core.parameters import Parameters
from formalsynth.core.private import Bins
from formalsynth.core.tables import tabled
from formalsynth.families.beta import BetaFamily
from formalsynth.families.linear import LinearFamily
from formalsynth.families.poisson import PoissonFamily
from formalsynth.inference.density import Guess
from formalsynth.inference.expected_errors import expected_errors
from formalsynth.inference.tables_model import TablesModel
from formalsynth_workflow.study import Arm, Outcome, Run, study

OUTCOME, PREDICTOR = Bins(math.exp(-1), math.exp(7), 8, True), Bins(0, 4, 8)
"""Declared bins of outcome and predictor in the regressions."""


@dataclass(frozen=True)
class Case:
    """A model with declared bins and a guess of its parameters; the error is that of the last coefficient."""

    family: Family
    bins: tuple[Bins, ...]
    guess: Guess
    predictors: int = 0

    def factor(self, n: int, epsilon: float) -> float:
        """Compute the standard error relative to that without privacy.

        With several predictors, it is pessimistic: the coefficient is estimated from the table of its own predictor only, which
        has a share of epsilon, and other predictors add to the residual variance. All tables together contain more information.
        """
        declared = tabled(self.family)
        assert declared is not None
        model, q = TablesModel(declared), max(self.predictors, 1)
        others = self.guess.coefficient[-1] * self.guess.x_sd * math.sqrt(q - 1)
        alone = replace(self.guess, spread=math.hypot(self.guess.spread, others))
        share = epsilon / (q + q * (q - 1) // 2)
        private = expected_errors(model, self.family.priors, self.bins, alone, n, share)[-1]
        return float(private / expected_errors(model, self.family.priors, self.bins, self.guess, n, None)[-1])


def regression(predictors: int) -> Case:
    """Lognormal regression with independent predictors that together explain half of the variance."""
    guess = Guess((1.0, 1 / math.sqrt(predictors)), 1.0, 2.0, 1.0)
    return Case(LinearFamily(log=True), (OUTCOME, PREDICTOR), guess, predictors)


CASES: Mapping[int, Case] = {
    1: Case(PoissonFamily(), (Bins(0, 240, 12),), Guess((math.log(100),), 1.0)),
    2: Case(BetaFamily(), (Bins(0, 1, 10),), Guess((math.log(1 / 6),), 3.5)),
    **{2 + q: regression(q) for q in (1, 3, 6)},
}
"""Cases by number of parameters."""


class Limit(Parameters):
    """Number of parameters of the model, a key of :data:`CASES`, and the total epsilon of all tables."""

    parameters: Count
    epsilon: PositiveNumber


ARMS = {"tables": Arm("DP (add/remove)", "Noisy tables, without data.", Limit)}


@study(arms=ARMS, data=lambda settings: "exact calculation without data")
def limits(run: Run) -> Outcome:
    """Error expected with noisy tables, relative to that without privacy: the column ``factor``, the same in every replicate.

    Raises:
        ValueError: there is no case with this number of parameters.
    """
    import pandas as pd

    factors = {}
    for arm in run.arms:
        number = int(arm.parameters["parameters"])
        if number not in CASES:
            raise ValueError(f"limits of {number} parameters; allowed: {', '.join(map(str, CASES))}")
        factors[arm.id] = CASES[number].factor(run.n, arm.parameters["epsilon"])
    rows = [
        {"replicate": replicate, "synthesizer": id, "factor": factor}
        for replicate in run.replicates
        for id, factor in factors.items()
    ]
    return Outcome(pd.DataFrame(rows))
