"""Tables: the numbers of each kind with their Monte Carlo errors, and the printed values next to them."""

import numpy as np
import pandas as pd
import pytest
from made_up_displays import audit_of, rows_of, scenario_of, table_display

from formalsynth.core.statistics import jackknife, quantile_error, standard_error
from formalsynth_workflow.show.tidy import table_of

SCENARIO = scenario_of("first", replicates=50)


def cells(kind, statistics, tables, ids=("A", "B"), scenarios=(SCENARIO,), **entry):
    """Estimate, error and number by statistic and synthesizer."""
    display = table_display(ids=ids, scenarios=list(scenarios), kind=kind, statistics=statistics, **entry)
    return table_of(display, tables).set_index(["statistic", "synthesizer"])[["estimate", "mcse", "from"]]


def test_a_table_has_the_printed_values_next_to_ours():
    display = table_display(statistics=["mean"], printed={"B": {"mean": 12.5}})
    table = table_of(display, {"sets": rows_of(SCENARIO, mean=[1.0] * 50 + [2.0] * 50)})
    assert list(table) == ["statistic", "synthesizer", "label", "guarantee", "estimate", "mcse", "from", "printed", "difference"]
    assert table["label"].tolist() == ["label A", "label B"]
    assert table["estimate"].tolist() == [1.0, 2.0]
    assert table[["printed", "difference"]].to_numpy().tolist()[1] == [12.5, -10.5]
    assert table[["printed", "difference"]].iloc[0].isna().all()


def test_parameters_that_differ_under_one_label_are_columns():
    display = table_display(statistics=["mean"]).model_copy(update={"parameters": {"A": {"epsilon": 2.0}, "B": {}}})
    table = table_of(display, {"sets": rows_of(SCENARIO, mean=1.0)})
    assert list(table)[4] == "epsilon"
    assert table["epsilon"].tolist()[0] == 2 and pd.isna(table["epsilon"][1])


def test_the_confidential_data_of_a_sample_are_exact():
    values = pd.DataFrame({"synthesizer": "Data", "value": [1.0, 2.0, 6.0]})
    table = cells("sample", ["mean", "median"], {"sets": rows_of(SCENARIO), "values": values}, ids=("Data",))
    assert table[["estimate", "from"]].to_numpy().tolist() == [[3.0, 1.0], [2.0, 1.0]]
    assert table["mcse"].isna().all()


def test_a_sample_has_medians_over_its_sets_with_their_errors():
    sets = rows_of(SCENARIO, mean=np.random.default_rng(1).normal(size=100))
    values = sets.loc[sets["synthesizer"] == "A", "mean"].to_numpy()
    table = cells("sample", ["mean"], {"sets": sets})
    assert table.loc["mean", "A"].tolist() == [np.median(values), quantile_error(values, 0.5), 50]


def test_an_interval_has_the_quantiles_of_the_sets_and_half_a_rank_as_their_error():
    sets = rows_of(SCENARIO, ids=("A",), q15=np.arange(50.0)[::-1])
    table = cells("interval", ["q15_low", "q15_high"], {"sets": sets}, ids=("A",))
    values, error = sets["q15"], np.sqrt(0.025 * 0.975 / 50)
    assert table.loc["q15_high", "A"]["estimate"] == values.quantile(0.975)
    half = (values.quantile(0.025 + error) - values.quantile(0.025 - error)) / 2
    assert table.loc["q15_low", "A"].tolist() == [values.quantile(0.025), pytest.approx(half), 50]


def test_a_spread_has_the_numbers_of_pandas_to_the_last_bit():
    rows = rows_of(SCENARIO)
    names = ["min", "q1", "median", "mean", "q3", "max", "sd"]
    table = cells("spread", names, {"replicates": rows}, value="delta")
    for id in ("A", "B"):
        values = rows.loc[rows["synthesizer"] == id, "delta"]
        quartiles = values.quantile([0, 0.25, 0.5, 0.75, 1]).to_list()
        expected = [*quartiles[:3], values.mean(), *quartiles[3:], values.std()]
        assert table.xs(id, level="synthesizer")["estimate"].tolist() == expected
        errors = table.xs(id, level="synthesizer")["mcse"]
        assert errors[["min", "max"]].isna().all()
        for name in ("q1", "median", "mean", "q3", "sd"):
            assert errors[name] == standard_error(values.to_numpy(), name) > 0


def test_a_quantile_among_ties_has_no_error_instead_of_none_at_all():
    rows = rows_of(SCENARIO, ids=("A",)).assign(delta=np.repeat([0.0, 7.0], [40, 10]))
    table = cells("spread", ["median", "mean"], {"replicates": rows}, ids=("A",), value="delta")
    assert table.loc["median", "A"]["estimate"] == 0
    assert np.isnan(table.loc["median", "A"]["mcse"])
    assert table.loc["mean", "A"]["mcse"] > 0


def test_means_have_standard_errors_and_medians_their_own():
    rows = rows_of(SCENARIO, covered=np.tile(["True", "False"], 50))
    values = rows.loc[rows["synthesizer"] == "A", "delta"]
    table = cells("means", ["covered", "delta"], {"replicates": rows}, medians=["delta"])
    assert table.loc["covered", "A"].tolist() == [0.5, pytest.approx(np.sqrt(0.25 / 49)), 50]
    assert table.loc["delta", "A"].tolist() == [values.median(), quantile_error(values.to_numpy(), 0.5), 50]
    table = cells("means", ["delta"], {"replicates": rows})
    assert table.loc["delta", "A"].tolist() == [values.mean(), values.sem(), 50]


def test_results_are_those_of_the_first_replicate():
    rows = rows_of(SCENARIO)
    table = cells("results", ["delta"], {"replicates": rows})
    assert table.loc["delta", "B"]["estimate"] == rows.loc[rows["synthesizer"] == "B", "delta"].iloc[0]
    assert np.isnan(table.loc["delta", "B"]["mcse"])


@pytest.mark.parametrize(("largest", "slope", "last"), [(1600, -0.5, -0.5), (400, -0.25, 0.0)])
def test_a_rate_is_the_slope_of_the_standard_deviation_on_the_sample_size(largest, slope, last):
    """A standard deviation that halves with four times the records has the slope -1/2."""
    sizes = [scenario_of("first", n=n, replicates=30) for n in (100, 400, 1600)]
    rows = pd.concat([rows_of(scenario) for scenario in sizes], ignore_index=True)
    rows["delta"] = rows["delta"] / np.sqrt(np.minimum(rows["n"], largest))
    table = cells("rate", ["slope", "last_slope"], {"replicates": rows}, scenarios=sizes, value="delta")
    x = np.log([100, 400, 1600]) - np.log(400)
    parts = [part["delta"].to_numpy()[:, None] for _, part in rows[rows["synthesizer"] == "A"].groupby("n")]
    errors = np.array([jackknife(part, "sd").error(np.log)[0] for part in parts])
    error = np.sqrt(np.sum((x * errors) ** 2)) / np.sum(x**2)
    assert table.loc["slope", "A"].tolist() == pytest.approx([slope, error, 3])
    assert table.loc["last_slope", "A"][["estimate", "from"]].tolist() == pytest.approx([last, 2], abs=1e-9)
    few = cells("rate", ["slope"], {"replicates": rows[rows["replicate"] < 9]}, scenarios=sizes, value="delta")
    assert few[["estimate", "mcse"]].isna().all(axis=None)


COSTS = {
    "claimed": 1, "claimed_larger": 3, "weight": 0.7, "audited": 10, "remove": 0.2, "add": 2, "replace": 10, "strict": 20,
    "strict_remove": 0.4, "strict_add": 4, "strict_replace": 20, "pure": 30, "composed": 100, "attacked": 0.6, "floor": 0.02,
}  # fmt: skip
"""Rows of the median data set of :func:`made_up_displays.audit_of`, whose cost is 2 for A and 4 for B."""


def test_an_audit_is_summarized_over_data_sets_by_kind_of_neighbour_and_delta():
    replicates = rows_of(SCENARIO, ids=("A",), count=5, ecdf_max=np.arange(5.0))
    tables = {"audit": audit_of(SCENARIO), "replicates": replicates}
    table = cells("audited", [*COSTS, "ecdf_max"], tables)
    assert table.xs("A", level="synthesizer")["estimate"].to_dict() == pytest.approx(COSTS | {"ecdf_max": 1})
    doubled = {name: value if name == "weight" else 2 * value for name, value in COSTS.items()}
    assert table.xs("B", level="synthesizer")["estimate"].dropna().to_dict() == pytest.approx(doubled)
    assert (table.xs("A", level="synthesizer")["from"] == 3).all()
    for summary, audited in (("min", 5), ("max", 15)):
        assert cells("audited", ["audited"], tables, summary=summary)["estimate"].tolist() == [audited, 2 * audited]


def test_a_data_set_that_could_not_be_audited_counts_as_none():
    audit, failed = audit_of(SCENARIO), pd.DataFrame([{"replicate": 99, "synthesizer": "A", "reason": "no posterior"}])
    more = cells("audited", list(COSTS), {"audit": pd.concat([audit, failed], ignore_index=True)})
    pd.testing.assert_frame_equal(more, cells("audited", list(COSTS), {"audit": audit}))
    none = cells("audited", list(COSTS), {"audit": failed.reindex(columns=audit.columns)})
    assert (none["from"] == 0).all()
    assert none["estimate"].isna().all()


@pytest.mark.parametrize("kind", ["sample", "interval", "spread", "results", "means", "rate"])
def test_a_synthesizer_without_numbers_has_none_in_a_table(kind):
    """All its replicates failed."""
    more = {"value": "delta"} if kind in ("spread", "rate") else {}
    names = {"interval": ["mean_low"], "spread": ["min", "sd", "mean"], "rate": ["slope"]}.get(kind, ["mean"])
    rows = rows_of(SCENARIO, mean=1.0)
    rows.loc[rows["synthesizer"] == "A", ["delta", "mean"]] = np.nan
    table = cells(kind, names, {"sets": rows, "replicates": rows}, **more)
    assert table.xs("A", level="synthesizer")["estimate"].isna().all()


def test_a_single_replicate_has_no_standard_deviation():
    table = cells("spread", ["sd", "max"], {"replicates": rows_of(SCENARIO, count=1)}, value="delta")
    assert np.isnan(table.loc["sd", "A"]["estimate"])
    assert table.loc["max", "A"]["estimate"] > 0


def test_a_table_of_stand_in_data_is_marked():
    sets = rows_of(SCENARIO, mean=1.0)
    assert "data" not in table_of(table_display(statistics=["mean"]), {"sets": sets})
    for marks in ([True], [False, True]):
        scenarios = [scenario_of("first", n=20 + k, stand_in=mark) for k, mark in enumerate(marks)]
        table = table_of(table_display(scenarios=scenarios, statistics=["mean"]), {"sets": sets})
        assert table["data"].tolist() == ["STAND-IN"] * 2
