"""Intervals from synthetic data with each combining rule (zcdp paper, Section 3)."""

from __future__ import annotations

import itertools

import numpy as np

from formalsynth.core.constraints import Count, CountOfTwo, Finite, OpenProportion, PositiveNumber
from formalsynth.core.parameters import Parameters
from formalsynth_workflow.papers.zcdp.accounting import ZCDP, Setting
from formalsynth_workflow.papers.zcdp.combining import RULES, SYNTHESES, confidential_means, coverage_rows
from formalsynth_workflow.study import Arm, Outcome, Run, study


class SyntheticSets(Parameters):
    """Number of synthetic data sets and number of records in each."""

    m: Count
    n_syn: CountOfTwo


COMBINATIONS = {f"{synthesis}_{rule.lower()}": (synthesis, rule) for synthesis, rule in itertools.product(SYNTHESES, RULES)}
"""Synthesis and combining rule of each arm."""


@study(
    arms={
        name: Arm(ZCDP, f"The rule {rule} on synthetic data: {SYNTHESES[synthesis].label}.", SyntheticSets)
        for name, (synthesis, rule) in COMBINATIONS.items()
    }
)
def coverage(
    run: Run,
    *,
    d: PositiveNumber,
    variance: PositiveNumber = 1.0,
    mean: Finite = 0.0,
    level: OpenProportion = 0.95,
) -> Outcome:
    """Intervals for the population mean from synthetic sets: one row for each replicate and synthesizer.

    The confidential mean of a replicate is shared by all synthesizers, and the synthetic data by the rules that combine them.
    """
    import pandas as pd

    addresses = [run.address(replicate) for replicate in run.replicates]
    confidential = confidential_means(Setting(run.n, d, variance), [address.generator("data") for address in addresses], mean)
    parts = []
    for (synthesis, m, n_syn), ids in _ids_by_rule(run).items():
        setting = Setting(run.n, d, variance, m)
        words = (list(SYNTHESES).index(synthesis), m, n_syn)
        generators = [address.generator("synthesize", words) for address in addresses]
        rows = coverage_rows(setting, n_syn, synthesis, confidential, generators, mean=mean, level=level, rules=ids)
        rows = rows.assign(synthesizer=rows["rule"].map(ids), replicate=np.asarray(run.replicates)[rows["replicate"]])
        parts.append(rows.drop(columns=["n", "n_syn", "m"]).assign(m=m, n_syn=n_syn))
    return Outcome(pd.concat(parts, ignore_index=True))


def _ids_by_rule(run: Run) -> dict[tuple[str, int, int], dict[str, str]]:
    """Row ids by rule, for each synthesis with its numbers of sets and records; rules that need more sets are left out."""
    ids: dict[tuple[str, int, int], dict[str, str]] = {}
    for arm in run.arms:
        synthesis, rule = COMBINATIONS[arm.name]
        m, n_syn = int(arm.parameters["m"]), int(arm.parameters["n_syn"])
        if m >= RULES[rule].sets:
            ids.setdefault((synthesis, m, n_syn), {})[rule] = arm.id
    return ids
