"""Collect: batches into one table for each scenario, and the record-level tables of its single sample."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd

from formalsynth.design import DATA, Scenario
from formalsynth.families import Array
from formalsynth.steps.batch import SAMPLE, Arrays, replicate_table
from formalsynth.streams import Address
from formalsynth.utility import STATISTICS, statistics


def collect_replicates(scenario: Scenario, root: int, data: Sequence[Arrays], tables: Sequence[pd.DataFrame]) -> pd.DataFrame:
    """All rows of a scenario, by replicate and then in the order of the design, the confidential data first.

    Args:
        scenario: the design.
        root: root seed.
        data: the confidential data of each batch.
        tables: the measured rows of each batch and fit.
    """
    order = {id: k for k, id in enumerate([DATA, *scenario.synthesizers])}
    table = pd.concat([*(data_rows(scenario, root, one) for one in data), *tables], ignore_index=True)
    table = table.assign(_order=table["synthesizer"].map(order)).sort_values(["replicate", "_order"], kind="stable")
    return table.drop(columns="_order").reset_index(drop=True)


def collect_sample(
    scenario: Scenario, root: int, data: Arrays, fits: Mapping[str, Arrays], measures: Mapping[str, Arrays]
) -> dict[str, pd.DataFrame]:
    """Record-level tables of the single sample: ``records``, ``values`` and ``sets``.

    A synthesizer whose fit failed on the single sample is absent from them.
    """
    records, values, sets = [], [_labelled(DATA, value=data["x"][SAMPLE])], []
    values[0].insert(1, "record", np.arange(scenario.n))
    sets.append(_labelled(DATA, **dict(zip(STATISTICS, bootstrap_sets(scenario, root, data).T, strict=True))))
    for one in scenario.synthesizers.values():
        fit, measure = fits[one.fit], measures[one.fit]
        if fit["status"][SAMPLE] != "ok":
            continue
        known = fit.get("found:known", np.zeros((1, scenario.n)))[SAMPLE]
        columns = {
            "bound": measure[f"by_record:{one.id}"][SAMPLE],
            "weight": fit["fit_weights"][SAMPLE],
            "known": known,
        }
        records.append(_labelled(one.id, record=np.arange(scenario.n), **columns))
        values.append(_labelled(one.id, record=np.arange(scenario.n), value=measure["sample_values"][SAMPLE]))
        of_set = dict(zip(STATISTICS, measure["sample_sets"][SAMPLE].T, strict=True))
        sets.append(_labelled(one.id, **of_set))
    sets = [one.assign(set=np.arange(len(one))) for one in sets]
    tables = {"records": records, "values": values, "sets": sets}
    head = {"paper": scenario.paper, "scenario": scenario.id, "n": scenario.n, "replicate": SAMPLE}
    return {name: _headed(pd.concat(parts, ignore_index=True), head) for name, parts in tables.items() if parts}


def _labelled(synthesizer: str, **columns: Array) -> pd.DataFrame:
    table = pd.DataFrame(columns)
    table.insert(0, "synthesizer", synthesizer)
    return table


def _headed(table: pd.DataFrame, head: Mapping[str, Any]) -> pd.DataFrame:
    return pd.concat([pd.DataFrame({key: [value] * len(table) for key, value in head.items()}), table], axis=1)


def data_rows(scenario: Scenario, root: int, data: Arrays) -> pd.DataFrame:
    """The confidential data's own rows: their statistics, for the figures that show them beside synthetic data."""
    rows = []
    for k, replicate in enumerate(data["replicate"]):
        row = {"paper": scenario.paper, "scenario": scenario.id, "n": scenario.n, "replicate": int(replicate)}
        row |= {"synthesizer": DATA, "status": "ok", "guarantee": "none: confidential", **statistics(data["x"][k])}
        address = Address.of(scenario, root, int(replicate))
        rows.append(row | {"seed": int(address.sequence("data").generate_state(1)[0])})
    return replicate_table(rows)


def bootstrap_sets(scenario: Scenario, root: int, data: Arrays) -> Array:
    """Statistics (synthetic_sets, statistics) of bootstrap samples of the single sample's confidential data.

    They stand beside the distribution of a statistic over synthetic data sets; the papers do not say what they drew there.
    """
    generator = Address.of(scenario, root, SAMPLE).generator("bootstrap")
    x = data["x"][int(np.flatnonzero(data["replicate"] == SAMPLE)[0])]
    chosen = generator.integers(len(x), size=(scenario.synthetic_sets, len(x)))
    return np.array([list(statistics(x[index]).values()) for index in chosen])
