"""Audited data sets that nobody audited, for the tests of what shows them."""

import numpy as np
import pandas as pd

from formalsynth.audit.attack import ERROR_RATES
from formalsynth.core.rows import AUDIT_COLUMNS, REPLICATE_COLUMNS

COSTS = {"same": 0.01, "remove": 0.1, "add": 1.0, "replace": 0.9}
"""Epsilon of each kind of neighbour, as a share of the audited epsilon."""


def made_up_audits(scenario, data_sets=12):
    """The collected tables of an audited scenario: the k-th synthesizer claims k + 1, and a record costs it 2 (k + 1)."""
    generator = np.random.default_rng(1)
    rows, audits = [], []
    for replicate in range(data_sets):
        head = {"paper": "cost", "scenario": scenario.id, "n": scenario.n, "replicate": replicate}
        for k, id in enumerate(scenario.ids):
            cost, noise = 2.0 * (k + 1), np.exp(generator.normal(0, 0.1))
            row = head | {"synthesizer": id, "status": "ok", "delta": noise * (k + 1) / 2, "epsilon": k + 1.0}
            rows.append(row | {"audited": cost, "ecdf_max": 0.02 * noise, "ecdf_avg": 1e-4 * noise})
            if scenario.audit and id in scenario.audit.audited:
                claims = {"claimed": k + 1.0, "claimed_larger": 3.0 * (k + 1), "weight": 0.7, "streams": 1}
                audits += [head | {"synthesizer": id} | claims | row for row in _neighbours(scenario.audit, cost)]
    return {
        "replicates": pd.DataFrame(rows).reindex(columns=list(REPLICATE_COLUMNS)),
        "audit": pd.DataFrame(audits, columns=list(AUDIT_COLUMNS)),
    }


def _neighbours(audit, cost):
    for kind, share in COSTS.items():
        for place, delta in enumerate(audit.search.deltas):
            for releases in (1, audit.search.releases) if place == 0 else (1,):
                first = place == 0 and releases == 1
                attacked = 0.3 * cost * share if first and kind in ("add", "remove") else np.nan
                yield {
                    "neighbour": kind, "candidate": "grid", "value": 1.0, "delta": delta, "releases": releases,
                    "audited": cost * share * releases * (1 + place), "worst": kind != "same", "attacked": attacked,
                }  # fmt: skip
    for share in (0.0, 0.01, 0.1, 1.0) if audit.search.attack else ():
        yield {
            "neighbour": "add", "candidate": ERROR_RATES, "value": share, "delta": audit.search.deltas[0], "releases": 1,
            "audited": cost, "error": (1 - share) ** 2, "worst": False,
        }  # fmt: skip
    for value in audit.outcomes if audit.curve else ():
        yield {
            "neighbour": "add", "candidate": "curve", "value": value, "delta": audit.search.deltas[0], "releases": 1,
            "audited": 9 * cost, "held": cost, "worst": False,
        }  # fmt: skip
