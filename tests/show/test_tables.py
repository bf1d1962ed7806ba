"""Tables: each kind's numbers and Monte Carlo errors, the printed values next to them, and refused input."""

import numpy as np
import pandas as pd
import pytest
from formalsynth.core.statistics import jackknife, quantile_error, standard_error
from formalsynth.core.utility import UTILITY
from formalsynth.displays.display import TableDisplay
from formalsynth.displays.table import TABLES
from formalsynth.show.tidy import table_of
from made_up_displays import rows_of, scenario_of, table_display
from pydantic import ValidationError

ENTRY = {"scenario": "first", "subject": "Numbers", "synthesizers": ["A"], "statistics": ["mean"]}
SCENARIO = scenario_of("first", replicates=50)


def cells(display, table):
    return table_of(display, table).set_index(["statistic", "synthesizer"])


def pandas_summaries(values):
    """The rows of a spread as pandas has them."""
    return {"min": values.min(), "q1": values.quantile(0.25), "median": values.median(), "mean": values.mean(),
            "q3": values.quantile(0.75), "max": values.max(), "sd": values.std()}  # fmt: skip


def test_a_table_has_the_printed_values_next_to_ours():
    sets = rows_of(SCENARIO, mean=1.0)
    table = table_of(table_display(statistics=["mean"], printed={"B": {"mean": 12.5}}), {"sets": sets})
    assert list(table) == ["statistic", "synthesizer", "label", "guarantee", "estimate", "mcse", "from", "printed", "difference"]
    assert table["printed"].tolist()[1] == 12.5
    assert table["printed"].notna().sum() == 1


def test_the_confidential_data_of_a_sample_are_exact():
    values = pd.DataFrame({"synthesizer": "Data", "value": [1.0, 2.0, 6.0]})
    table = cells(table_display(ids=("Data",), statistics=["mean", "median"]), {"sets": rows_of(SCENARIO), "values": values})
    assert table[["estimate", "from"]].to_numpy().tolist() == [[3.0, 1.0], [2.0, 1.0]]
    assert table["mcse"].isna().all()


def test_a_sample_has_medians_over_its_sets_with_their_errors():
    sets = rows_of(SCENARIO, mean=np.random.default_rng(1).normal(size=100))
    table = cells(table_display(statistics=["mean"]), {"sets": sets})
    values = sets.loc[sets["synthesizer"] == "A", "mean"].to_numpy()
    assert table.loc[("mean", "A"), ["estimate", "mcse", "from"]].tolist() == [np.median(values), quantile_error(values, 0.5), 50]


def test_an_interval_has_the_quantiles_of_the_sets_and_half_a_rank_as_their_error():
    sets = rows_of(SCENARIO, ids=("A",), q15=np.arange(50.0)[::-1])
    table = cells(table_display(ids=("A",), kind="interval", statistics=["q15_low", "q15_high"]), {"sets": sets})
    values = sets["q15"]
    assert table.loc[("q15_low", "A"), "estimate"] == values.quantile(0.025)
    assert table.loc[("q15_high", "A"), "estimate"] == values.quantile(0.975)
    error = np.sqrt(0.025 * 0.975 / 50)
    assert table.loc[("q15_low", "A"), "mcse"] == pytest.approx(
        (values.quantile(0.025 + error) - values.quantile(0.025 - error)) / 2
    )
    assert TABLES["interval"].heading("q15_low") == "15 % quantile, low end"


def test_a_spread_has_the_numbers_of_pandas_to_the_last_bit():
    rows = rows_of(SCENARIO)
    display = table_display(kind="spread", value="delta", statistics=["min", "q1", "median", "mean", "q3", "max", "sd"])
    table = cells(display, {"replicates": rows})
    for id in ("A", "B"):
        values = rows.loc[rows["synthesizer"] == id, "delta"]
        assert table.xs(id, level="synthesizer")["estimate"].to_dict() == pandas_summaries(values)
        errors = table.xs(id, level="synthesizer")["mcse"]
        assert errors[["min", "max"]].isna().all()
        for name in ("q1", "median", "mean", "q3", "sd"):
            assert errors[name] == standard_error(values.to_numpy(), name) > 0
    assert list(display.entry.rows_allowed()) == display.entry.statistics


def test_a_quantile_among_ties_has_no_error_instead_of_none_at_all():
    rows = rows_of(scenario_of("first", replicates=100), ids=("A",))
    rows["delta"] = np.repeat([0.0, 7.0], [80, 20])
    table = cells(table_display(ids=("A",), kind="spread", value="delta", statistics=["median", "mean"]), {"replicates": rows})
    assert table.loc[("median", "A"), "estimate"] == 0
    assert np.isnan(table.loc[("median", "A"), "mcse"])
    assert table.loc[("mean", "A"), "mcse"] > 0


def test_means_have_standard_errors_and_medians_their_own():
    rows = rows_of(SCENARIO, covered=np.tile(["True", "False"], 50))
    display = table_display(kind="means", statistics=["covered", "delta"], medians=["delta"])
    table = cells(display, {"replicates": rows})
    values = rows.loc[rows["synthesizer"] == "A", "delta"]
    assert table.loc[("covered", "A"), ["estimate", "from"]].tolist() == [0.5, 50]
    assert table.loc[("covered", "A"), "mcse"] == pytest.approx(np.sqrt(0.25 / 49))
    assert table.loc[("delta", "A"), ["estimate", "mcse"]].tolist() == [values.median(), quantile_error(values.to_numpy(), 0.5)]
    means = cells(table_display(kind="means", statistics=["delta"]), {"replicates": rows})
    assert means.loc[("delta", "A"), ["estimate", "mcse"]].tolist() == [values.mean(), values.sem()]


def test_results_are_those_of_the_first_replicate():
    rows = rows_of(SCENARIO)
    table = cells(table_display(kind="results", statistics=["delta"]), {"replicates": rows})
    assert table.loc[("delta", "B"), "estimate"] == rows.loc[rows["synthesizer"] == "B", "delta"].iloc[0]
    assert np.isnan(table.loc[("delta", "B"), "mcse"])


def test_a_rate_is_the_slope_of_the_standard_deviation_on_the_sample_size():
    """A standard deviation that halves with four times the records has the slope -1/2."""
    sizes = [scenario_of("first", n=n, replicates=30) for n in (100, 400, 1600)]
    rows = pd.concat([rows_of(scenario) for scenario in sizes], ignore_index=True)
    rows["delta"] = rows["delta"] / np.sqrt(rows["n"])
    display = table_display(scenarios=sizes, kind="rate", value="delta", statistics=["slope"])
    table = cells(display, {"replicates": rows})
    assert table.loc[("slope", "A"), "estimate"] == pytest.approx(-0.5)
    x = np.log([100, 400, 1600]) - np.log(400)
    parts = [part["delta"].to_numpy()[:, None] for _, part in rows[rows["synthesizer"] == "A"].groupby("n")]
    errors = np.array([jackknife(part, "sd").error(np.log)[0] for part in parts])
    assert table.loc[("slope", "A"), "mcse"] == pytest.approx(np.sqrt(np.sum((x * errors) ** 2)) / np.sum(x**2))
    assert table.loc[("slope", "A"), "from"] == 3
    few = cells(display, {"replicates": rows[rows["replicate"] < 9]})
    assert few[["estimate", "mcse"]].isna().all(axis=None)


def test_a_rate_between_the_two_largest_sizes_forgets_the_others():
    sizes = [scenario_of("first", n=n, replicates=30) for n in (100, 400, 1600)]
    rows = pd.concat([rows_of(scenario) for scenario in sizes], ignore_index=True)
    rows["delta"] = rows["delta"] / np.sqrt(np.minimum(rows["n"], 400))
    display = table_display(scenarios=sizes, kind="rate", value="delta", statistics=["slope", "last_slope"])
    table = cells(display, {"replicates": rows})
    assert table.loc[("slope", "A"), "estimate"] == pytest.approx(-0.25)
    assert table.loc[("last_slope", "A"), "estimate"] == pytest.approx(0, abs=1e-9)
    assert table.loc[("last_slope", "A"), "from"] == 2


@pytest.mark.parametrize("kind", ["sample", "interval", "spread", "results", "means", "rate"])
def test_a_synthesizer_without_numbers_has_none_in_a_table(kind):
    """All its replicates failed."""
    more = {"value": "delta"} if kind in ("spread", "rate") else {}
    names = {"interval": ["mean_low"], "spread": ["min", "sd", "mean"], "rate": ["slope"]}.get(kind, ["mean"])
    rows = rows_of(SCENARIO, mean=1.0)
    rows.loc[rows["synthesizer"] == "A", ["delta", "mean"]] = np.nan
    table = cells(table_display(kind=kind, statistics=names, **more), {"sets": rows, "replicates": rows})
    assert table.xs("A", level="synthesizer")["estimate"].isna().all()


def test_a_single_replicate_has_no_standard_deviation():
    display = table_display(kind="spread", value="delta", statistics=["sd", "max"])
    table = cells(display, {"replicates": rows_of(SCENARIO, count=1)})
    assert np.isnan(table.loc[("sd", "A"), "estimate"])
    assert table.loc[("max", "A"), "estimate"] > 0


def test_a_table_of_stand_in_data_is_marked():
    sets = rows_of(SCENARIO, mean=1.0)
    assert "data" not in table_of(table_display(statistics=["mean"]), {"sets": sets})
    for marks in ([True], [False, True]):
        scenarios = [scenario_of("first", n=20 + k, stand_in=mark) for k, mark in enumerate(marks)]
        table = table_of(table_display(scenarios=scenarios, statistics=["mean"]), {"sets": sets})
        assert table["data"].tolist() == ["STAND-IN"] * 2


def test_every_kind_has_its_rows_and_tables():
    def made(kind, **more):
        return TABLES[kind](**ENTRY, kind=kind, **more)

    assert (made("sample").tables(), made("sample").rows_allowed()) == (["sets", "values"], UTILITY)
    assert (made("interval").tables(), made("interval").rows_allowed()[:2]) == (["sets"], ("mean_low", "mean_high"))
    assert (made("rate", value="delta").table, made("rate", value="delta").rows_allowed()) == (
        "replicates",
        ("slope", "last_slope"),
    )
    assert made("rate", value="delta").columns() == ["slope", "delta"]
    assert made("spread", value="delta").columns() == ["delta"]
    assert made("means").rows_allowed() is made("results").rows_allowed() is None
    assert made("means").columns() == ["mean"]


@pytest.mark.parametrize(
    ("entry", "wrong"),
    [
        ({"kind": "spread"}, "value"),
        ({"kind": "rate"}, "value"),
        ({"kind": "rate", "value": ""}, "value"),
        ({"kind": "sample", "value": "delta"}, "value"),
        ({"kind": "results", "medians": ["mean"]}, "medians"),
        ({"kind": "means", "medians": ["median"]}, "medians"),
        ({"kind": "means", "statistics": ...}, "statistics"),
    ],
)
def test_what_a_kind_cannot_lay_out_is_refused(entry, wrong):
    given = {key: value for key, value in (ENTRY | entry).items() if value is not ...}
    with pytest.raises(ValidationError) as refused:
        TABLES[entry["kind"]](**given)
    assert {error["loc"][0] for error in refused.value.errors()} == {wrong}


def test_a_display_comes_back_from_plain_data_with_the_kind_of_its_table():
    display = table_display(kind="spread", value="delta", statistics=["min"])
    assert TableDisplay.of(display.plain()) == display
    assert type(TableDisplay.of(display.plain()).entry) is TABLES["spread"]
