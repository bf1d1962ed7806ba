"""The comparison: its measures, its winners, its command, and the page that it writes."""

import math
import sys
from importlib import import_module

import numpy as np
import pandas as pd
import pytest

from formalsynth.core.arrays import Records

measures = import_module("bench.competitors.measures")
tables = import_module("bench.competitors.tables")
competitors = import_module("bench.competitors.competitors")
graphical = import_module("bench.competitors.graphical")
TASKS = import_module("bench.competitors.tasks").tasks()


def test_a_data_set_has_no_error_against_itself():
    task = TASKS["lognormal"]
    records = task.draw(np.random.default_rng(1))
    assert measures.measures(task, records, records) == dict.fromkeys(measures.MEASURES, 0.0)


def test_errors_are_those_of_known_changes():
    """Outcomes twice as large: quantiles and sd are wrong by 1, and slopes of logarithms are right."""
    task = TASKS["lognormal"]
    records = task.draw(np.random.default_rng(1))
    errors = measures.measures(task, records, Records(2 * records.x, records.design))
    assert errors["mean"] == pytest.approx(records.x.mean() / records.x.std())
    assert [errors[name] for name in ("sd", "q90", "q99")] == pytest.approx([1, 1, 1])
    assert errors["slope"] == pytest.approx(0, abs=1e-12)
    squared = measures.measures(task, records, Records(records.x**2, records.design))
    least = np.linalg.lstsq(records.design, np.log(records.x), rcond=None)[0]
    assert squared["slope"] == pytest.approx(least[1])


@pytest.mark.parametrize(
    ("worse", "of", "expected"), [(5, 5, True), (4, 5, False), (14, 20, False), (15, 20, True), (0, 20, False)]
)
def test_the_sign_test_has_level_5_percent(worse, of, expected):
    """One-sided: 15 of 20 have probability 0.021, and 14 of 20 have 0.058."""
    errors = pd.Series([2.0] * worse + [1.0] * (of - worse))
    assert tables.worse(errors, pd.Series([1.5] * 20)) is expected


def tidy(values, measure="ecdf_max"):
    """Table of errors by mechanism, each a list over replicates."""
    rows = [
        ("beta", name, 0.0 if name == "unweighted" else 1.0, replicate, measure, value)
        for name, line in values.items()
        for replicate, value in enumerate(line)
    ]
    return pd.DataFrame(rows, columns=["task", "mechanism", "epsilon", "replicate", "measure", "value"])


def test_the_winner_has_a_guarantee_and_failures_lose():
    table = tidy({
        "unweighted": [0.0] * 6, "histogram": [0.3] * 6, "moments": [0.1] * 3 + [0.6] * 3,
        "divergence": [0.1] * 2 + [math.nan] * 4, "noisy_tables": [0.2] * 6,
    })  # fmt: skip
    summary = tables.summarised(table).set_index("mechanism")
    assert summary["best"].to_dict() == {
        "unweighted": "no", "histogram": "no", "moments": "tied", "divergence": "no", "noisy_tables": "yes",
    }  # fmt: skip
    assert summary.loc["divergence", ["median", "failed", "replicates"]].tolist() == [math.inf, 4, 6]


def test_every_mechanism_of_the_package_has_the_total_epsilon_of_the_comparison():
    """For adding or removing a record, whatever relation its own parameter is for."""
    from formalsynth.core.mechanism import MECHANISMS

    for name, parameters in (("noisy_tables", competitors._tables), ("perturbed_histogram", competitors._histogram)):
        for task in TASKS.values():
            assert MECHANISMS[name].claim(parameters(task, 0.5), "add_remove") == 0.5


def test_open_bins_of_opendp_fill_the_declared_bounds():
    edges = np.array([0.0, 0.25, 0.5, 2.0])
    values = np.array([-0.75, 0.25, 0.3, 0.5, 0.6, 1.5])
    np.testing.assert_allclose(graphical.inside(values, edges), [0, 0.25, 0.3, 0.5, 0.65, 2.0])


class Library:
    """Stand-in for OpenDP: records the declarations, and gives rows at 0.5 in each column."""

    def __init__(self):
        self.given, self.columns, self.Context = {}, {}, self

    def __getattr__(self, name):
        def record(*values, **named):
            self.given |= named | ({name: values[0]} if values else {})
            return self

        return record

    def DataFrame(self, columns):
        self.columns = columns
        return self

    def to_numpy(self):
        return np.full((self.given["rows"], len(self.columns)), 0.5)


def test_opendp_gets_the_declarations_and_the_total_epsilon(monkeypatch):
    library = Library()
    for name in ("opendp.prelude", "polars", "opendp.extras.mbi"):
        monkeypatch.setitem(sys.modules, name, library)
    task = TASKS["lognormal"]
    records = task.draw(np.random.default_rng(1))
    synthetic = graphical.tables(task, records, 0.5, lambda mbi, columns: mbi.MST())
    assert library.given["epsilon"] == 0.5
    assert library.given["contributions"] == 1
    assert library.given["method"] == "sample"
    np.testing.assert_allclose(library.given["cuts"]["x"], np.arange(-4, 11), atol=1e-5)
    np.testing.assert_allclose(library.given["cuts"]["z1"], np.arange(-1, 6))
    np.testing.assert_array_equal(library.columns["x"], np.log(records.x))
    np.testing.assert_array_equal(library.columns["z1"], records.design[:, 1])
    np.testing.assert_allclose(synthetic.x, np.exp(0.5))
    np.testing.assert_allclose(synthetic.design, [[1, 0.5]] * 2000)


@pytest.mark.stan
def test_noisy_tables_run_in_the_comparison():
    task = TASKS["beta"]
    records = task.draw(np.random.default_rng(1))
    trial = competitors.Trial(task, records, 1.0, 0, np.random.default_rng(2))
    synthetic = competitors.competitors()["noisy_tables"].run(trial)
    # two samples of 2000 values differ by more than 0.08 once in 100,000
    assert measures.measures(task, records, synthetic)["ecdf_max"] < 0.09
