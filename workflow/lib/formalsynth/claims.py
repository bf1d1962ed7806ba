"""Claims: what a paper says about a number of the run, and whether the run bears it out.

A claim names cells of a tidy table (synthesizers, sample sizes, columns, ...), a statistic of each cell over its units
(replicates, records, synthetic data sets, ...) and a test. A handful of tests serve every claim, and each verdict stands on
the Monte Carlo error of what it judges.
"""

from __future__ import annotations

import itertools
import zlib
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from formalsynth.populations import truth
from formalsynth.scenario import DATA

Array = npt.NDArray[np.float64]

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

STATISTICS: dict[str, Callable[[Array], Array]] = {
    "mean": lambda x: x.mean(axis=0),
    "median": lambda x: np.median(x, axis=0),
    "sd": lambda x: x.std(axis=0, ddof=1),
    "min": lambda x: x.min(axis=0),
    "max": lambda x: x.max(axis=0),
    "spread": lambda x: np.ptp(x, axis=0),
    "iqr": lambda x: np.subtract(*np.quantile(x, [0.75, 0.25], axis=0)),
    "q2.5": lambda x: np.quantile(x, 0.025, axis=0),
    "q15": lambda x: np.quantile(x, 0.15, axis=0),
    "q90": lambda x: np.quantile(x, 0.9, axis=0),
    "q97.5": lambda x: np.quantile(x, 0.975, axis=0),
}
"""Statistics of a cell: from values (units, cells) to one number for each cell."""
PAIRED = ("mean", "median")
"""Statistics whose order is also judged unit by unit."""
RANDOM = ("replicate", "record", "set", "draw")
"""Units that chance draws; others, such as the points of a grid, have no Monte Carlo error."""


class ClaimError(ValueError):
    """A claim speaks of something that the tables do not have."""


@dataclass(frozen=True)
class Claim:
    """One claim, with everything that config leaves to be looked up."""

    id: str
    paper: str
    place: str
    shows: str
    """Figure or table that it belongs to, as ``figure 2`` or ``table 1``; empty for none."""
    claim: str
    printed: str
    erratum: str
    note: str
    estimate: dict[str, Any]
    """Fields of :class:`formalsynth.config.EstimateConfig`, with the ids of the cells spelled out."""
    test: dict[str, Any]
    """Fields of :class:`formalsynth.config.TestConfig`."""
    scenarios: list[dict[str, Any]]
    """Id, name, population and stand-in of the scenarios it speaks of; empty when their data are absent."""

    def plain(self) -> dict[str, Any]:
        """Plain types, for passing to a job."""
        return asdict(self)


@dataclass(frozen=True)
class Thresholds:
    """When an estimate agrees; the fields of :class:`formalsynth.config.VerdictConfig`."""

    within: float
    errors: float
    mostly: float
    confidence: float
    resamples: int


@dataclass(frozen=True)
class Judgement:
    """What a test says of the cells' statistics."""

    verdict: str
    note: str = ""


def judge(claim: Claim, tables: Sequence[pd.DataFrame], thresholds: Thresholds, root: int, judged: bool) -> dict[str, Any]:
    """The ledger's row of a claim.

    Args:
        claim: the claim.
        tables: the collected table that it speaks of, for each of its scenarios.
        thresholds: when an estimate agrees.
        root: root seed, for the resampling.
        judged: whether the scale is large enough to judge by.

    Raises:
        ClaimError: the tables lack what the claim speaks of.
    """
    row = {"id": claim.id, "paper": claim.paper, "place": claim.place, "claim": claim.claim, "printed": claim.printed}
    last = {"shows": claim.shows, "erratum": claim.erratum, "test": claim.test["kind"]}
    if not tables:
        return row | {"verdict": ABSENT, "note": _sentences(claim.note, "the records are not there")} | last
    values, replicates = cells(claim, tables)
    generator = np.random.default_rng([root, zlib.crc32(claim.id.encode())])
    statistic = STATISTICS[claim.estimate["statistic"]]
    resampled = _resampled(values, statistic, thresholds.resamples, generator)
    by_chance = len(values) > 1 and claim.estimate["by"] in RANDOM
    errors = _errors(resampled, values) if by_chance else np.full(values.shape[1], np.nan)
    found = TESTS[claim.test["kind"]](values, statistic(values), resampled, claim, thresholds)
    if any(one["stand_in"] for one in claim.scenarios):
        verdict = STAND_IN
    elif not judged:
        verdict = TOO_FEW
    else:
        verdict = CONTRADICTED if claim.erratum and found.verdict != REPRODUCED else found.verdict
    return (
        row
        | {"estimate": _joined(statistic(values)), "mcse": _joined(errors), "replicates": replicates}
        | {"verdict": verdict, "note": _sentences(claim.note, found.note, _units(claim, values))}
        | last
    )


def cells(claim: Claim, tables: Sequence[pd.DataFrame]) -> tuple[Array, int]:
    """Values (units, cells) that a claim compares, units with a value in every cell only, and the number of replicates.

    Raises:
        ClaimError: a column, a cell or every unit is missing.
    """
    of = claim.estimate
    names = {one["id"]: one["name"] for one in claim.scenarios}
    table = pd.concat(tables, ignore_index=True)
    table = table.assign(scenario=table["scenario"].map(names)) if "scenario" in table else table
    for column, value in of["rows"].items():
        table = table[_column(claim, table, column) == value]
    replicates = int(table["replicate"].nunique()) if "replicate" in table else 0
    if of["over"] == "value":
        table = table.melt([of["by"]], list(of["value"]), var_name="value_of", value_name="one")
        table = table.rename(columns={"value_of": "value", "one": "it"})
        wanted: list[Any] = list(of["value"])
    else:
        table = table.assign(it=_column(claim, table, of["value"][0]))
        wanted = of["of"] or sorted(_column(claim, table, of["over"]).unique())
    by = _column(claim, table, of["by"])
    wide = table.assign(unit=by).pivot_table(index="unit", columns=of["over"], values="it", aggfunc="mean", sort=False)
    needed = [*wanted, DATA] if of["distance"] == DATA and DATA not in wanted else wanted
    missing = [str(one) for one in needed if one not in wide]
    if missing:
        raise ClaimError(f"{claim.id}: no rows for {of['over']} {', '.join(missing)}; there are {', '.join(map(str, wide))}")
    wide = wide[needed].replace([np.inf, -np.inf], np.nan).dropna()
    if wide.empty:
        raise ClaimError(f"{claim.id}: no {of['by']} has a value in every cell")
    values = _against(claim, wide)[wanted].to_numpy(float)
    return values, len(wide) if of["by"] == "replicate" or not replicates else replicates


def _column(claim: Claim, table: pd.DataFrame, column: str) -> pd.Series:
    if column not in table:
        raise ClaimError(f"{claim.id}: no column {column!r}; there are {', '.join(table)}")
    return table[column]


def _against(claim: Claim, wide: pd.DataFrame) -> pd.DataFrame:
    """Values as the claim wants them: as they are, as distances to a reference, or as shares of each cell's largest."""
    of = claim.estimate
    reference = of["distance"]
    if reference == DATA:
        data = wide[DATA] if of["by"] == "replicate" else wide[DATA].median()
        return wide.sub(data, axis=0).abs() if of["by"] == "replicate" else (wide - data).abs()
    if reference == "population":
        return (wide - truth(claim.scenarios[0]["population"], of["value"][0])).abs()
    if reference is not None:
        return (wide - reference).abs()
    if of["of_largest"]:
        return wide / wide.max()
    if of["above"] is not None:
        return (wide > of["above"]).astype(float)
    return wide


def _resampled(values: Array, statistic: Callable[[Array], Array], count: int, generator: np.random.Generator) -> Array:
    """The statistic (count, cells) of resampled units, the same units in every cell."""
    chosen = generator.integers(len(values), size=(count, len(values)))
    return np.array([statistic(values[index]) for index in chosen])


def share_interval(share: float, units: int, confidence: float) -> tuple[float, float]:
    """Wilson's interval of a share of units; half units, from ties, are rounded."""
    from scipy.stats import binomtest

    interval = binomtest(round(share * units), units).proportion_ci(confidence, method="wilson")
    return float(interval.low), float(interval.high)


def _value(values: Array, estimates: Array, resampled: Array, claim: Claim, thresholds: Thresholds) -> Judgement:
    """The statistics agree with printed numbers, up to a relative distance and the Monte Carlo error."""
    printed = np.array(claim.test["printed"], dtype=float)
    errors = _errors(resampled, values)
    within = claim.test["tolerance"] if claim.test["tolerance"] is not None else thresholds.within
    near = np.abs(estimates - printed) <= within * np.abs(printed) + thresholds.errors * errors
    note = "" if near.all() else f"beyond {within:.0%}: {_joined(estimates[~near])} against {_joined(printed[~near])}"
    if near.all():
        return Judgement(REPRODUCED)
    pairs = list(itertools.combinations(range(len(printed)), 2))
    ordered = [np.sign(printed[b] - printed[a]) == np.sign(estimates[b] - estimates[a]) for a, b in pairs]
    return Judgement(DIRECTION if pairs and all(ordered) else NOT_REPRODUCED, note)


def _within(values: Array, estimates: Array, resampled: Array, claim: Claim, thresholds: Thresholds) -> Judgement:
    """The statistics, or with ``share`` that share of the units, lie between two limits."""
    low, high = claim.test["low"], claim.test["high"]
    low, high = -np.inf if low is None else low, np.inf if high is None else high
    least = _least(claim, thresholds)
    if least is None:
        slack = thresholds.errors * _errors(resampled, values)
        inside = (estimates >= low - slack) & (estimates <= high + slack)
        return Judgement(REPRODUCED if inside.all() else NOT_REPRODUCED)
    inside = ((values >= low) & (values <= high)).mean(axis=0)
    enough = [share_interval(one, len(values), thresholds.confidence)[1] >= least for one in inside]
    note = f"share between the limits {_joined(inside)}"
    if all(enough):
        return Judgement(REPRODUCED, note)
    median = np.median(values, axis=0)
    return Judgement(DIRECTION if ((median >= low) & (median <= high)).all() else NOT_REPRODUCED, note)


def _order(values: Array, estimates: Array, resampled: Array, claim: Claim, thresholds: Thresholds) -> Judgement:
    """The cells rise (or fall) from left to right, each by more than the margin, on the statistic and in most of the units.

    The order of a statistic that has no value for a single unit, such as a standard deviation, is judged on its resamples.
    """
    sign, margin = (1 if claim.test["direction"] == "rising" else -1), claim.test["margin"]
    pairs = list(itertools.pairwise(range(values.shape[1])))
    if claim.test["pairs"] == "first":
        pairs = [(0, k) for k in range(1, values.shape[1])]
    by_unit = claim.estimate["statistic"] in PAIRED and claim.estimate["above"] is None
    states, shares = [], []
    for a, b in pairs:
        steps = sign * ((values[:, b] - values[:, a]) if by_unit else (resampled[:, b] - resampled[:, a])) - margin
        share = float((steps > 0).mean() + (steps == 0).mean() / 2)
        ordered = sign * (estimates[b] - estimates[a]) > margin
        states.append(_state(share, len(values) if by_unit else 0, bool(ordered), _least(claim, thresholds), thresholds))
        shares.append(share)
    what = f"of {_unit_name(claim)}" if by_unit else "of the resamples"
    note = f"in this order in {' / '.join(f'{one:.2f}' for one in shares)} {what}"
    if all(one == "holds" for one in states):
        return Judgement(REPRODUCED, note)
    if "fails" in states or "holds" not in states:
        return Judgement(NOT_REPRODUCED, note)
    return Judgement(DIRECTION, note)


def _least(claim: Claim, thresholds: Thresholds) -> float | None:
    """The share of the units that a claim needs, where it needs one."""
    return thresholds.mostly if claim.test["share"] == "mostly" else claim.test["share"]


def _state(share: float, units: int, ordered: bool, least: float | None, thresholds: Thresholds) -> str:
    """Whether one step of an order holds, fails, or cannot be told from none."""
    if units == 1:
        return "holds" if ordered else "fails"
    low, high = (share, share) if not units else share_interval(share, units, thresholds.confidence)
    sure = 0.5 if units else 0.5 + thresholds.confidence / 2
    if least is not None:
        return "holds" if ordered and high >= least else "unclear" if ordered else "fails"
    if ordered and low > sure:
        return "holds"
    return "fails" if not ordered and high < 1 - sure else "unclear"


def _equal(values: Array, estimates: Array, resampled: Array, claim: Claim, thresholds: Thresholds) -> Judgement:
    """All cells are the first one: unit by unit, or with a tolerance on the statistic."""
    within = claim.test["tolerance"]
    if not within:
        apart = float(np.abs(values - values[:, :1]).max())
        return Judgement(REPRODUCED if apart == 0 else NOT_REPRODUCED, "" if apart == 0 else f"up to {apart:.4g} apart")
    errors = _errors(resampled - resampled[:, :1], values)
    apart = np.abs(estimates - estimates[0])
    near = apart <= within * np.abs(estimates[0]) + thresholds.errors * errors
    return Judgement(REPRODUCED if near.all() else NOT_REPRODUCED, f"up to {apart.max() / abs(estimates[0]):.1%} apart")


def _trend(values: Array, estimates: Array, resampled: Array, claim: Claim, thresholds: Thresholds) -> Judgement:
    """The slope of the log statistic on the log of the cells (sample sizes, say) lies between two limits and is not zero.

    A slope outside them points the way the claim does where it is surely of their sign and at least half as steep.
    """
    x = np.log(np.array(claim.estimate["of"], dtype=float))
    x = (x - x.mean()) / np.sum((x - x.mean()) ** 2)
    slope, error = float(np.log(estimates) @ x), float((np.log(resampled) @ x).std(ddof=1))
    low, high = claim.test["low"], claim.test["high"]
    slack = thresholds.errors * error
    note = f"slope {slope:.3f} (standard error {error:.3f})"
    sign = np.sign(low + high)
    sure = sign * slope > slack
    if sure and low - slack <= slope <= high + slack:
        return Judgement(REPRODUCED, note)
    return Judgement(DIRECTION if sure and sign * slope >= min(sign * low, sign * high) / 2 else NOT_REPRODUCED, note)


TESTS: dict[str, Callable[[Array, Array, Array, Claim, Thresholds], Judgement]] = {
    "value": _value,
    "within": _within,
    "order": _order,
    "equal": _equal,
    "trend": _trend,
}
"""Every test: from values (units, cells), their statistics, the resampled statistics, the claim and the thresholds."""


def _errors(resampled: Array, values: Array) -> Array:
    """Monte Carlo errors: none where all resamples are equal, where a standard deviation is the rounding of their mean."""
    varies = np.ptp(resampled, axis=0) > 0
    return np.where(varies, resampled.std(axis=0, ddof=1), 0.0) if len(values) > 1 else np.zeros(resampled.shape[1])


def _joined(numbers: Array) -> str:
    """Four significant digits, but all before the point of numbers that are written out in print."""
    texts = ["" if np.isnan(one) else f"{one:.0f}" if 1e4 <= abs(one) < 1e7 else f"{one:.4g}" for one in np.atleast_1d(numbers)]
    return " / ".join(texts).strip(" /")


def _unit_name(claim: Claim) -> str:
    return {"set": "synthetic data sets", "draw": "posterior draws"}.get(claim.estimate["by"], f"{claim.estimate['by']}s")


def _units(claim: Claim, values: Array) -> str:
    return "" if claim.estimate["by"] == "replicate" else f"over {len(values)} {_unit_name(claim)}"


def _sentences(*parts: str) -> str:
    return "; ".join(one.rstrip(".") for one in parts if one)
