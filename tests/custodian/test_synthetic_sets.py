"""Synthetic sets: fresh noise each time, no seed, no claim above the ceiling, no value outside the declarations."""

import json
import random
import runpy
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from formalsynth.core.text import DataError
from formalsynth.core.utility import ecdf_distances
from formalsynth.custodian.cross import check_claim, crossed
from formalsynth.custodian.noise import noisy_counts, shares
from formalsynth.custodian.records import cells, from_unit
from formalsynth.custodian.synthetic_sets import synthetic_sets
from scipy import stats
from small_release import COLUMNS, a_config, a_schema, histogram, made, typed_incomes

SYNTHESIZED = {
    name: column | {"release": "synthesized"} if column.get("release") == "as_is" else column for name, column in COLUMNS.items()
}


def drawn(schema=None, config=None, candidate=None, **changes):
    """Synthetic sets with what crossed, and the rows that they are made from."""
    schema, config, candidate = schema or a_schema(), config or a_config(**changes), candidate or histogram()
    table = typed_incomes(schema)
    numbers = crossed(schema, config, table, candidate)
    check_claim(schema, config, candidate)
    return synthetic_sets(schema.public, numbers, candidate.predictor, np.random.default_rng()), numbers, table


def test_two_releases_of_the_same_data_differ_whatever_is_seeded():
    first, second = [], []
    for sets in (first, second):
        np.random.seed(1)  # noqa: NPY002 # somebody else's habit
        random.seed(1)
        sets += drawn()[0]
    assert len(first) == len(second) == 3
    for frame, other in zip(first, second, strict=True):
        assert (frame["income"].to_numpy() != other["income"].to_numpy()).mean() > 0.9


def test_predictors_as_they_are_keep_their_rows_in_another_order():
    sets, _, table = drawn()
    names = ["age", "region", "sector"]
    for frame in sets:
        assert list(frame) == ["income", *names]
        assert frame[names].value_counts().to_dict() == table[names].value_counts().to_dict()
    assert (sets[0][names].to_numpy() != table[names].to_numpy()).any()


def test_synthesized_predictors_are_drawn_and_paid_for():
    schema = a_schema(columns=SYNTHESIZED)
    with pytest.raises(DataError, match="predictors_epsilon: is missing"):
        drawn(schema, rows=2900)
    with pytest.raises(DataError, match="rows: is missing"):  # a value that is replaced by a missing one makes a row less
        drawn(schema, predictors_epsilon=2, ceiling=3)
    sets, numbers, table = drawn(schema, predictors_epsilon=2, ceiling=3, rows=2900)
    assert {len(frame) for frame in sets} == {2900}
    assert sum(part.epsilon for part in numbers.tables) == 3
    share = (sets[0]["region"] == "North").mean()
    assert abs(share - (table["region"] == "North").mean()) < 0.1
    assert sets[0]["age"].between(18, 80).all()


def test_where_being_in_the_file_is_protected_the_number_of_rows_is_declared():
    schema = a_schema(columns=SYNTHESIZED, neighbours="add_remove")
    with pytest.raises(DataError, match="rows: is missing"):
        drawn(schema, predictors_epsilon=1, ceiling=2)
    sets, _, _ = drawn(schema, predictors_epsilon=1, ceiling=2, rows=2500)
    assert {len(frame) for frame in sets} == {2500}
    with pytest.raises(ValueError, match="cannot be add_remove where"):
        a_schema(neighbours="add_remove")


def test_more_than_the_ceiling_is_refused():
    with pytest.raises(DataError, match=r"claims more than the declared ceiling of 0\.5"):
        drawn(ceiling=0.5)


def test_noise_that_is_not_safe_is_refused():
    other = histogram()
    other = replace(other, synthesizer=other.synthesizer.model_copy(update={"mechanism": "noisy_median"}))
    with pytest.raises(DataError, match="is not safe in floating point"):
        drawn(candidate=other)
    with pytest.raises(DataError, match="could not be fitted"):
        drawn(candidate=replace(histogram(), reason="gate: 3 divergences"))


def test_noise_is_that_of_the_discrete_laplace_distribution():
    noise = np.array(noisy_counts([1000] * 4000, epsilon=0.5, sensitivity=2)) - 1000
    decay = np.exp(-0.25)
    assert noise.dtype == np.int64
    # a correct sampler is outside these bands less than once in 100,000 runs
    assert abs(noise.mean()) < 4.5 * np.sqrt(2 * decay / (1 - decay) ** 2 / 4000)
    expected = stats.dlaplace(0.25)
    for value in (0, 1, -1, 4):
        assert abs((noise == value).mean() - expected.pmf(value)) < 4.5 * np.sqrt(expected.pmf(value) / 4000)


def test_shares_of_noisy_counts():
    assert shares([3, -1, 1]).tolist() == [0.75, 0, 0.25]
    assert shares([-3, -1]).tolist() == [0.5, 0.5]
    assert shares([30, 9, -8, 10], threshold=10).tolist() == [0.75, 0, 0, 0.25]
    # hardly anything is as large as the threshold
    assert shares([6, 5, 5, -1], threshold=10).tolist() == [0.375, 0.3125, 0.3125, 0]


def lognormal_file(n=2935):
    """Incomes without rows far above the others."""
    income = np.exp(10.2 + 0.55 * np.random.default_rng(1).standard_normal(n)).round()
    return pd.DataFrame({"income": income.clip(1000, 500_000)})


def released_incomes(table, runs, **column):
    """Incomes of that many releases by a histogram of 50 bins at epsilon 1."""
    only = {"income": COLUMNS["income"] | column}
    schema, config, generator = a_schema(columns=only), a_config(sets=1, rows=len(table)), np.random.default_rng()
    return [
        synthetic_sets(schema, crossed(schema, config, table, histogram()), None, generator)[0]["income"].to_numpy()
        for _ in range(runs)
    ]


def test_noise_of_empty_bins_does_not_raise_the_mean():
    """Clamping noisy counts at 0 raises the mean of these incomes by 10.8 %; counts below 7.8 = 2 log 50 are noise."""
    table = lognormal_file()
    ratios = [income.mean() / table["income"].mean() for income in released_incomes(table, 100)]
    # over 400 runs .999 with a standard deviation of .026: the band is 7 standard errors wide on each side
    assert abs(np.mean(ratios) - 1) < 0.02


def test_bins_on_a_declared_log_scale_are_nearer_to_incomes():
    table = lognormal_file()
    distance = {
        scale: np.mean([ecdf_distances(table["income"].to_numpy(), x)[0] for x in released_incomes(table, 100, scale=scale)])
        for scale in ("linear", "log")
    }
    # over 400 runs .018 and .026, with standard deviations of .005 and .004: both are 5 standard errors from the bands
    assert distance["log"] < 0.0205
    assert distance["linear"] > 0.0235


def test_a_log_scale_is_declared_and_fits_the_bounds():
    assert a_schema().columns["income"].scale == "linear"
    with pytest.raises(ValueError, match="a lower bound above 0"):
        a_schema(columns={**COLUMNS, "income": COLUMNS["income"] | {"lower": 0, "scale": "log"}})


@pytest.mark.parametrize("scale", ["linear", "log"])
def test_bins_of_a_scale_are_equally_wide_on_it(scale):
    column = a_schema(columns={**COLUMNS, "income": COLUMNS["income"] | {"scale": scale}}).target
    edges = np.linspace(1000, 500_000, 11) if scale == "linear" else np.geomspace(1000, 500_000, 11)
    assert from_unit(column, np.linspace(0, 1, 11)) == pytest.approx(edges)
    middles = (edges[1:] + edges[:-1]) / 2
    assert cells(column, np.array([1000, *middles, 500_000]), 10).tolist() == [0, *range(10), 9]


@pytest.fixture(scope="module")
def release(tmp_path_factory):
    return made(tmp_path_factory.mktemp("whole") / "income")


def test_the_folder_describes_itself(release):
    package = json.loads((release / "datapackage.json").read_text())
    assert [resource["path"] for resource in package["resources"]] == ["synthetic_1.csv", "synthetic_2.csv", "synthetic_3.csv"]
    tables = json.loads((release / "metadata.json").read_text())["tables"]
    columns = {column["name"]: column["datatype"] for column in tables[0]["tableSchema"]["columns"]}
    assert columns["income"] == {"base": "integer", "minimum": 1000, "maximum": 500_000}
    assert list(columns) == list(pd.read_csv(release / "synthetic_1.csv"))


def test_the_code_of_readme_runs(release, monkeypatch, capsys):
    code = (release / "README.md").read_text().split("```python")[1].split("```")[0]
    monkeypatch.chdir(release)
    namespace = runpy.run_path("combine.py")
    assert len(namespace["combine"]([1.0, 3.0], [0.5, 1.5])) == 2  # no interval
    exec(code.replace("from combine import combine", ""), {"combine": namespace["combine"]})
    mean = float(capsys.readouterr().out.strip("()\n").split(",")[0])
    sets = [pd.read_csv(release / f"synthetic_{k}.csv")["income"].mean() for k in (1, 2, 3)]
    assert mean == pytest.approx(np.mean(sets))


@pytest.mark.parametrize(
    "changes", [{"lower": -1e308, "upper": 1.7e308}, {"lower": 1e-300, "scale": "log", "release": "suppressed"}, {"unit": 5e-324}]
)
def test_bounds_without_a_finite_scale_are_refused(changes):
    """Their difference or ratio is infinite, so that no bin has an edge."""
    column = COLUMNS["income"] | ({"scale": "signed_log"} if "unit" in changes else {}) | changes
    with pytest.raises(ValueError, match=r"1e[-+]?100|greater than or equal"):
        a_schema(columns={**COLUMNS, "income": column})
