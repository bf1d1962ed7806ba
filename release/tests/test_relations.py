"""Relations between columns that a release keeps, at a large epsilon."""

import functools

import households
import numpy as np
import pandas as pd
import pytest

from formalsynth_release.analyses import estimates
from formalsynth_release.associations import associations
from formalsynth_release.intervals import simulated_noise
from formalsynth_release.layout import Layout
from formalsynth_release.model import Model
from formalsynth_release.schema import Analyses
from formalsynth_release.study import Schema
from formalsynth_release.tables import measured

SCHEMA = Schema.model_validate({
    "file": "households.csv", "rows": 4000, "source": "households", "protected": "household", "rows_each": 1,
    "neighbours": "replace", "outside_bounds": "clip", "missing": "refuse", "zeros": "keep", "outcome": "income",
    "pairs": households.PAIRS,
    "columns": households.COLUMNS,
}).public  # fmt: skip
REGRESSION = Analyses.model_validate({"regressions": [{"predictors": ["age", "education"], "log": True}]})


@pytest.mark.parametrize("population", ["households", "workers"])
def test_relations_and_quantiles_are_those_of_the_file(population):
    """Bands are twice as wide as 40 seeds of the noise need. In "workers", columns that are not paired depend on another one."""
    text = getattr(households, population)(4000, 7).drop(columns="id")
    rows = text.assign(**{name: pd.to_numeric(text[name]) for name in text if name not in ("region", "sex", "education")})
    generator = np.random.default_rng(1)
    model = Model.of(SCHEMA, measured(SCHEMA, rows, 200.0, functools.partial(simulated_noise, generator, {})))
    sets = [model.rows(len(rows), generator) for _ in range(2)]
    pairs = [tuple(pair) for pair in SCHEMA.pairs]
    kept = np.mean([associations(Layout(SCHEMA), drawn, pairs) for drawn in sets], axis=0)
    errors = np.abs(kept - associations(Layout(SCHEMA), rows, pairs))
    assert np.median(errors) < 0.03
    assert errors.max() < 0.2
    if population == "households":
        drawn, income = pd.concat(sets)["income"], rows["income"]
        for share in (lambda x: (x == 0).mean(), lambda x: (x < 0).mean(), lambda x: x.isna().mean()):
            assert abs(share(drawn) - share(income)) < 0.03
        np.testing.assert_allclose(drawn.quantile([0.9, 0.99]), income.quantile([0.9, 0.99]), rtol=0.2)
        slopes = [estimates(SCHEMA, REGRESSION, table) for table in (rows, *sets)]
        for name, (slope, error) in slopes[0].items():
            if ": " in name:
                assert abs(np.mean([table[name][0] for table in slopes[1:]]) - slope) < 5 * error
