"""Collect: batches into one table for each scenario, and the record-level tables of its single sample."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd

from formalsynth.families import FAMILIES, Array, Draws, count
from formalsynth.scenario import DATA, PRIOR, Scenario
from formalsynth.steps.batch import SAMPLE, Arrays, draws_of
from formalsynth.steps.rows import REPLICATE_COLUMNS, replicate_table
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
    own = [column for one in tables for column in one if column not in REPLICATE_COLUMNS]
    order = {id: k for k, id in enumerate([DATA, *scenario.synthesizers])}
    table = pd.concat([*(data_rows(scenario, root, one) for one in data), *tables], ignore_index=True)
    table = table.assign(_order=table["synthesizer"].map(order)).sort_values(["replicate", "_order"], kind="stable")
    return table[[*REPLICATE_COLUMNS, *dict.fromkeys(own)]].reset_index(drop=True)


def collect_sample(
    scenario: Scenario, root: int, data: Arrays, fits: Mapping[str, Arrays], measures: Mapping[str, Arrays]
) -> dict[str, pd.DataFrame]:
    """Record-level tables of the single sample: ``records``, ``values``, ``sets`` and ``draws``.

    A synthesizer whose fit failed on the single sample is absent from them.
    """
    record = np.arange(scenario.n)
    bootstrap = dict(zip(STATISTICS, bootstrap_sets(scenario, root, data).T, strict=True))
    records, draws = [], _prior_table(scenario, root)
    values = [_labelled(DATA, record=record, value=data["x"][SAMPLE] * scenario.unit)]
    sets = [_labelled(DATA, set=np.arange(scenario.synthetic_sets), **bootstrap)]
    for one in scenario.synthesizers.values():
        fit, measure = fits[one.fit], measures[one.fit]
        if fit["status"][SAMPLE] != "ok":
            continue
        values.append(_labelled(one.id, record=record, value=measure["sample_values"][SAMPLE]))
        of_set = dict(zip(STATISTICS, measure["sample_sets"][SAMPLE].T, strict=True))
        sets.append(_labelled(one.id, set=np.arange(len(measure["sample_sets"][SAMPLE])), **of_set))
        if f"by_record:{one.id}" in measure:
            known = fit.get("found:known", np.zeros((1, scenario.n)))[SAMPLE]
            bound, weight = measure[f"by_record:{one.id}"][SAMPLE], fit["fit_weights"][SAMPLE]
            records.append(_labelled(one.id, record=record, bound=bound, weight=weight, known=known))
            draws.append(_draws_table(one.id, draws_of(fit, SAMPLE)))
    tables = {"records": records, "values": values, "sets": sets, "draws": draws}
    head = {"paper": scenario.paper, "scenario": scenario.id, "n": scenario.n, "replicate": SAMPLE}
    empty = pd.DataFrame(columns=["synthesizer"])
    return {name: _headed(pd.concat(parts or [empty], ignore_index=True), head) for name, parts in tables.items()}


def _prior_table(scenario: Scenario, root: int) -> list[pd.DataFrame]:
    """Draws from the prior where the family can give them."""
    family = FAMILIES[scenario.family]
    if not hasattr(family, "prior_draws"):
        return []
    generator = Address.of(scenario, root, SAMPLE).generator("prior")
    return [_draws_table(PRIOR, family.prior_draws(generator, scenario.priors, 1000))]


def _draws_table(id: str, draws: Draws) -> pd.DataFrame:
    """Posterior draws, one column for each scalar parameter."""
    columns = {}
    for name, values in draws.items():
        flat = values.reshape(len(values), -1)
        columns |= {name if flat.shape[1] == 1 else f"{name}_{k + 1}": flat[:, k] for k in range(flat.shape[1])}
    return _labelled(id, draw=np.arange(count(draws)), **columns)


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
        row |= {
            "synthesizer": DATA,
            "status": "ok",
            "guarantee": "none: confidential",
            **statistics(data["x"][k] * scenario.unit),
        }
        address = Address.of(scenario, root, int(replicate))
        rows.append(row | {"seed": int(address.sequence("data").generate_state(1)[0])})
    return replicate_table(rows)


def bootstrap_sets(scenario: Scenario, root: int, data: Arrays) -> Array:
    """Statistics (synthetic_sets, statistics) of bootstrap samples of the single sample's confidential data.

    They stand beside the distribution of a statistic over synthetic data sets; the papers do not say what they drew there.
    """
    generator = Address.of(scenario, root, SAMPLE).generator("bootstrap")
    x = data["x"][int(np.flatnonzero(data["replicate"] == SAMPLE)[0])] * scenario.unit
    chosen = generator.integers(len(x), size=(scenario.synthetic_sets, len(x)))
    return np.array([list(statistics(x[index]).values()) for index in chosen])
