"""Collect: tables of batches and synthesizers into those of a scenario, which do not depend on the batches."""

import pandas as pd
import pytest
from small_study import as_passed, collected, run_batch

from formalsynth.runtime.files import write_table
from formalsynth_workflow.steps.collect import collect_scenario, joined
from formalsynth_workflow.steps.tables import SAMPLE_TABLES


def written(scenario, folder, batches):
    """Write the files of some batches, and collect them."""
    data, replicates, sample = [], [], {name: [] for name in SAMPLE_TABLES}
    for k, numbers in enumerate(batches):
        batch = run_batch(scenario, numbers)
        data.append(folder / f"{k}.npz")
        batch.data.write(data[-1])
        for id in scenario.synthesizers:
            replicates.append(folder / f"{k}_{id}.csv")
            write_table(replicates[-1], batch.rows[id])
            for name in SAMPLE_TABLES if k == 0 else ():
                sample[name].append(folder / f"{id}_{name}.csv")
                write_table(sample[name][-1], batch.sample[id].get(name, pd.DataFrame(columns=["synthesizer"])))
    tables = collect_scenario(as_passed(scenario.collect_job()), data, replicates, [], sample)
    return {name: table.drop(columns="seconds", errors="ignore").to_csv(index=False) for name, table in tables.items()}


@pytest.mark.usefixtures("exact")
def test_the_tables_do_not_depend_on_the_batches(scenario, tmp_path):
    together = collected(scenario, run_batch(scenario, [0, 1, 2]))
    expected = {name: table.drop(columns="seconds", errors="ignore").to_csv(index=False) for name, table in together.items()}
    for batches in ([[0, 1, 2]], [[0], [1], [2]], [[0, 1], [2]]):
        assert written(scenario, tmp_path, batches) == expected


@pytest.mark.parametrize("id", ["True", "inf", "Infinity", "nan", "NA"])
def test_an_id_that_looks_like_a_value_is_text(tmp_path, id):
    write_table(tmp_path / "rows.csv", pd.DataFrame({"synthesizer": [id, id], "replicate": [0, 1]}))
    assert joined([tmp_path / "rows.csv"])["synthesizer"].tolist() == [id, id]


def test_whole_numbers_stay_whole_where_a_batch_has_no_rows(tmp_path):
    paths = [tmp_path / f"{k}.csv" for k in range(3)]
    for path, rows in zip(paths, ([], [1, 2], []), strict=True):
        write_table(path, pd.DataFrame({"synthesizer": ["a"] * len(rows), "record": rows}))
    assert joined(paths).to_csv(index=False) == "synthesizer,record\na,1\na,2\n"
    assert list(joined(paths[:1])) == ["synthesizer", "record"]


def test_numbers_are_written_alike_where_one_batch_has_whole_ones_alone(tmp_path):
    paths = [tmp_path / f"{k}.csv" for k in range(2)]
    for path, values in zip(paths, ([1, 2], [3.0, None]), strict=True):
        write_table(path, pd.DataFrame({"value": values}))
    assert joined(paths).to_csv(index=False) == 'value\n1.0\n2.0\n3.0\n""\n'
