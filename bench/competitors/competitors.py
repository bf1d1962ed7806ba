"""Mechanisms of the comparison, one line each."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from formalsynth.core.arrays import Draws, Records
from formalsynth.core.family import FAMILIES
from formalsynth.core.mechanism import MECHANISMS as PACKAGED
from formalsynth.core.tables import NORMAL

from . import divergence, graphical, moments, tukey
from .packaged import Parameters, fitted, predicted
from .tasks import Task


@dataclass(frozen=True)
class Trial:
    """One data set of a task, with the budget and random numbers of a mechanism."""

    task: Task
    records: Records
    epsilon: float
    """Total epsilon for adding or removing a record."""
    replicate: int
    generator: np.random.Generator


@dataclass(frozen=True)
class Competitor:
    """A mechanism of the comparison."""

    label: str
    guarantee: str
    run: Callable[[Trial], Records]
    """Function that makes a synthetic data set; a ValueError is a failure of this replicate."""
    suits: Callable[[Task], bool] = lambda task: True
    private: bool = True
    """True if it has a guarantee; only such mechanisms can win."""
    costly: bool = False
    """True if a run takes many seconds; such a mechanism gets fewer replicates."""

    @property
    def short(self) -> str:
        """Label, marked if the guarantee has a delta or assumes exact draws."""
        return self.label + ("†" if "delta" in self.guarantee else "") + ("‡" if "exact draws" in self.guarantee else "")


def packaged(label: str, mechanism: str, parameters: Parameters, private: bool = True) -> Competitor:
    """Make the competitor that runs a mechanism of the package without parents.

    Args:
        label: name of the mechanism in tables.
        mechanism: its registered name.
        parameters: function from the declarations, and epsilon for adding or removing a record, to the mechanism's parameters.
        private: True if it has a guarantee.
    """

    def run(trial: Trial) -> Records:
        given = parameters(trial.task, trial.epsilon)
        predictor, draws = fitted(mechanism, given, trial.task, trial.records, trial.replicate)
        return predicted(predictor, draws, trial.records, trial.generator)

    PACKAGED.find()
    return Competitor(label, PACKAGED[mechanism].guarantee if private else "none", run, private=private)


Estimate = Callable[[Task, Records, float, np.random.Generator], Draws]
"""Function that returns one draw of a family's parameters."""


def estimated(label: str, guarantee: str, estimate: Estimate, suits: Callable[[Task], bool] = lambda task: True) -> Competitor:
    """Make the competitor of a mechanism in this folder that estimates parameters of the family."""

    def run(trial: Trial) -> Records:
        draws = estimate(trial.task, trial.records, trial.epsilon, trial.generator)
        return predicted(FAMILIES[trial.task.family], draws, trial.records, trial.generator)

    return Competitor(label, guarantee, run, suits)


def tabulated(label: str, algorithm: graphical.Algorithm, least: int = 0) -> Competitor:
    """Make the competitor of tables with a graphical model, for tasks with at least ``least`` predictors."""

    def run(trial: Trial) -> Records:
        return graphical.tables(trial.task, trial.records, trial.epsilon, algorithm)

    def suits(task: Task) -> bool:
        return graphical.available() and predictors(task) >= least

    return Competitor(label, "DP (add/remove)", run, suits, costly=True)


def predictors(task: Task) -> int:
    """Count the predictors of a task, in one of its data sets."""
    return int(task.draw(np.random.default_rng(0)).design.shape[1]) - 1


def is_regression(task: Task) -> bool:
    """Check that a task is a linear regression."""
    return task.tabled.kind == NORMAL and predictors(task) > 0


SHARED_BINS = 6, 4
"""Numbers of bins of the outcome and of each predictor if several tables share epsilon."""


def _tables(task: Task, epsilon: float) -> Mapping[str, float]:
    """Parameters of noisy tables; the bins are coarse for several predictors, which need several tables that share epsilon."""
    low, high, bins = task.outcome
    x_low, x_high, x_bins = task.predictor
    if predictors(task) > 1:
        bins, x_bins = SHARED_BINS
    return {
        "epsilon": epsilon, "low": low, "high": high, "bins": bins, "x_low": x_low, "x_high": x_high, "x_bins": x_bins,
    }  # fmt: skip


def _histogram(task: Task, epsilon: float) -> Mapping[str, float]:
    """Parameters of the histogram; its epsilon is for replacing a record, twice that for adding or removing one."""
    low, high, bins = task.histogram
    return {"epsilon": 2 * epsilon, "low": low, "high": high, "bins": bins}


def _pairs(mbi: Any, columns: list[str]) -> Any:
    """Make a fixed workload with a table for each pair of columns, or the table of a single column."""
    return mbi.Fixed(queries=[mbi.Count(by=pair) for pair in itertools.combinations(columns, min(2, len(columns)))])


APPROXIMATE = "(eps, delta)-DP (add/remove), delta = 1e-5"
PURE = "DP (add/remove)"


def competitors() -> Mapping[str, Competitor]:
    """List the mechanisms by name; to add a mechanism of the package, add a line."""
    return {
        "unweighted": packaged("Without privacy", "unweighted", lambda task, epsilon: {}, private=False),
        "noisy_tables": packaged("Noisy tables", "noisy_tables", _tables),
        "histogram": packaged("Histogram", "perturbed_histogram", _histogram),
        "moments": estimated("Noisy moments", PURE, moments.noisy_moments),
        "adassp": estimated("AdaSSP", APPROXIMATE, moments.adassp, is_regression),
        "tukey": estimated("TukeyEM", APPROXIMATE, tukey.tukey_em, is_regression),
        "divergence": estimated("Beta divergence", f"{PURE} | exact draws", divergence.beta_divergence),
        "pairs": tabulated("OpenDP pairs", _pairs),
        "aim": tabulated("OpenDP AIM", lambda mbi, columns: mbi.AIM(queries=2), least=1),
        "mst": tabulated("OpenDP MST", lambda mbi, columns: mbi.MST(), least=1),
    }
