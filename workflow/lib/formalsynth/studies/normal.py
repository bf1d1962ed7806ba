"""Synthesis of normal data with known or unknown variance (zcdp paper)."""

from __future__ import annotations

import itertools
from dataclasses import dataclass

import numpy as np
import pandas as pd

from formalsynth.allowed import Finite, Inside, Positive, Several, Whole
from formalsynth.combining import RULES, SOURCES, SYNTHESES, confidential_means, coverage_rows, exact_means, simulated_means
from formalsynth.gaussian import APPROXIMATE, LOCAL, ROUTES, UNKNOWN_VARIANCE, ZCDP, Setting, route_table, unknown_variance_table
from formalsynth.mechanisms import MECHANISMS, Context, mechanism
from formalsynth.streams import Address
from formalsynth.studies.registry import Outcome, Run, study

EMPTY = pd.DataFrame(columns=["replicate", "synthesizer"])


@dataclass(frozen=True)
class Synthesis:
    """Sets of synthetic normal data and the rule that combines them."""

    kind: str
    rule: str
    m: int
    n_syn: int


def _register_syntheses() -> None:
    """A mechanism for each synthesis and rule that combines its sets, named ``<synthesis>_<rule>``."""
    for k, (kind, rule) in enumerate(itertools.product(SYNTHESES, RULES)):

        def combined(context: Context | None, *, m: Whole, n_syn: Several, _kind: str = kind, _rule: str = rule) -> Synthesis:
            return Synthesis(_kind, _rule, int(m), int(n_syn))

        combined.__name__ = f"{kind}_{rule.lower()}"
        mechanism(20 + k, ZCDP, parents=0, study="coverage")(combined)


_register_syntheses()


@study()
def coverage(run: Run, *, d: Positive, variance: Positive = 1.0, mean: Finite = 0.0, level: Inside = 0.95) -> Outcome:
    """Intervals for the population mean from synthetic sets: one row for each replicate and synthesizer.

    The confidential mean of a replicate is shared by all synthesizers, and the synthetic data by the rules that combine them.
    """
    addresses = [Address.of(run.scenario, run.root, replicate) for replicate in run.replicates]
    parts = []
    for (kind, m, n_syn), members in _by_synthesis(run).items():
        setting = Setting(run.scenario.n, d, variance, m)
        confidential = confidential_means(setting, [one.generator("data") for one in addresses], mean)
        words = (list(SYNTHESES).index(kind), m, n_syn)
        generators = [one.generator("synthesize", words) for one in addresses]
        rules = [rule for rule, _ in members]
        rows = coverage_rows(setting, n_syn, kind, confidential, generators, mean=mean, level=level, rules=rules)
        rows = rows.assign(synthesizer=rows["rule"].map(dict(members)), replicate=np.asarray(run.replicates)[rows["replicate"]])
        parts.append(rows.drop(columns=["n", "n_syn", "m"]).assign(m=m, n_syn=n_syn))
    return Outcome(pd.concat(parts, ignore_index=True), EMPTY)


def _by_synthesis(run: Run) -> dict[tuple[str, int, int], list[tuple[str, str]]]:
    """Rules and synthesizer ids that look at the same synthetic data."""
    found: dict[tuple[str, int, int], list[tuple[str, str]]] = {}
    for one in run.scenario.synthesizers.values():
        cell: Synthesis = MECHANISMS[one.mechanism].function(None, **one.parameters)
        if cell.m >= RULES[cell.rule].sets:
            found.setdefault((cell.kind, cell.m, cell.n_syn), []).append((cell.rule, one.id))
    return found


def _register_sources() -> None:
    """Each release whose mean is looked at is a mechanism of the study ``means``."""
    for k, id in enumerate(SOURCES):

        def source(context: Context | None, *, _id: str = id) -> str:
            return _id

        source.__name__ = id
        source.__doc__ = f"Means of {SOURCES[id].label}."
        mechanism(30 + k, ZCDP, parents=0, study="means")(source)


_register_sources()


@study()
def means(run: Run, *, d: Positive, rho: Positive, variance: Positive = 1.0, m: Whole = 1, mean: Finite = 0.0) -> Outcome:
    """Means and privacy losses of releases of one mean (zcdp paper, Figure 1), with their exact densities as details."""
    setting, ids = Setting(run.scenario.n, d, variance, int(m)), _ids_by_cell(run)
    addresses = [Address.of(run.scenario, run.root, one) for one in run.replicates]
    parts = []
    for source in ids:
        generators = [one.generator("synthesize", [list(SOURCES).index(source)]) for one in addresses]
        parts.append(simulated_means(setting, rho, source, generators, mean))
    rows = pd.concat(parts, ignore_index=True)
    rows = rows.assign(replicate=np.asarray(run.replicates)[rows["replicate"]], synthesizer=rows["source"].map(ids))
    curves = [_density(one, ids[one.source]) for one in exact_means(setting, rho, ids, mean).itertuples()]
    return Outcome(rows, pd.concat(curves, ignore_index=True) if 0 in run.replicates else EMPTY)


def _ids_by_cell(run: Run) -> dict[str, str]:
    """Synthesizer ids by what their mechanisms stand for: a source of means, a route or a form."""
    return {MECHANISMS[one.mechanism].function(None): one.id for one in run.scenario.synthesizers.values()}


def _density(normal, synthesizer: str) -> pd.DataFrame:
    from scipy.stats import norm

    x = np.linspace(normal.mean - 4 * normal.sd, normal.mean + 4 * normal.sd, 161)
    density = norm(normal.mean, normal.sd).pdf(x)
    return pd.DataFrame({"replicate": 0, "synthesizer": synthesizer, "x": x, "density": density})


def _route_mechanisms() -> None:
    """Each route is a mechanism of the study ``accounting``, each form of the unknown variance one of ``unknown``."""
    tables = (("accounting", 40, APPROXIMATE, ROUTES), ("unknown", 50, LOCAL, UNKNOWN_VARIANCE))
    for name, first, guarantee, entries in tables:
        for k, id in enumerate(entries):

            def route(context: Context | None, *, _id: str = id) -> str:
                return _id

            route.__name__ = f"{name}_{id}"
            route.__doc__ = entries[id].label
            mechanism(first + k, guarantee, parents=0, study=name)(route)


_route_mechanisms()


@study()
def accounting(
    run: Run, *, d: Positive, delta: Inside, low: Whole, high: Whole, points: Whole = 25, variance: Positive = 1.0, m: Whole = 1
) -> Outcome:
    """Rho and epsilon of each route against n_syn: nothing is random, one replicate says all."""
    grid = _grid(low, high, points)
    table = route_table(Setting(run.scenario.n, d, variance, int(m)), grid, delta, _ids_by_cell(run))
    return _curve(run, table, "route")


@study()
def unknown(
    run: Run, *, d: Positive, delta: Inside, low: Whole, high: Whole, points: Whole = 25, variance: Positive = 1.0, m: Whole = 1
) -> Outcome:
    """Epsilon of plug-in synthesis with unknown variance against n_syn, as printed and as derived."""
    table = unknown_variance_table(
        [Setting(run.scenario.n, d, variance, int(m))], _grid(low, high, points), delta, _ids_by_cell(run)
    )
    return _curve(run, table, "form")


def _grid(low: float, high: float, points: int) -> np.ndarray:
    return np.unique(np.round(np.geomspace(low, high, int(points))))


def _curve(run: Run, table: pd.DataFrame, key: str) -> Outcome:
    ids = _ids_by_cell(run)
    table = table.assign(synthesizer=table[key].map(ids), replicate=0)
    summary = pd.DataFrame({"replicate": 0, "synthesizer": list(ids.values())})
    return Outcome(summary, table.drop(columns=["n"]))
