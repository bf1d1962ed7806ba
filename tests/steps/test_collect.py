"""Collect: tables of batches into one that does not depend on how the replicates were batched."""

import pandas as pd
import pytest
from formalsynth.runtime.files import check_made_from, write_table
from formalsynth.steps import fit as fit_step
from formalsynth.steps.collect import collect_tables
from small_study import collected, exact_sample, run_batch, small_paper


@pytest.fixture
def written(tmp_path, monkeypatch):
    """Write the tables of some batches of the small study; the collected tables, by name."""
    monkeypatch.setattr(fit_step, "sample", exact_sample)
    scenario = small_paper(tmp_path).scenarios["skewed_n60"]

    def written(*batches):
        tables = [collected(scenario, *run_batch(scenario, batch)) for batch in batches]
        contents = {}
        for name in tables[0]:
            paths = [tmp_path / f"{k}" / f"{name}.csv" for k in range(len(batches))]
            for path, table in zip(paths, tables, strict=True):
                write_table(path, table[name])
            collect_tables(paths, tmp_path / f"{name}.csv", "this")
            check_made_from([tmp_path / f"{name}.csv"], ["this"])
            contents[name] = (tmp_path / f"{name}.csv").read_bytes()
        return contents

    return written


def test_the_tables_do_not_depend_on_the_batches(written):
    together = written([0, 1, 2])
    assert set(together) == {"replicates", "records", "values", "sets", "draws"}
    for batches in ([[0], [1], [2]], [[0, 1], [2]]):
        assert written(*batches) == together


def test_whole_numbers_stay_whole_where_a_batch_has_no_rows(tmp_path):
    """As the tables of the single sample in all batches but one."""
    paths = [tmp_path / f"{k}.csv" for k in range(3)]
    for path, rows in zip(paths, ([], [1, 2], []), strict=True):
        write_table(path, pd.DataFrame({"synthesizer": ["a"] * len(rows), "record": rows}))
    collect_tables(paths, tmp_path / "all.csv", "")
    assert (tmp_path / "all.csv").read_text() == "synthesizer,record\na,1\na,2\n"


def test_numbers_are_written_alike_where_one_batch_has_whole_ones_alone(tmp_path):
    paths = [tmp_path / f"{k}.csv" for k in range(2)]
    for path, values in zip(paths, ([1, 2], [3.0, None]), strict=True):
        write_table(path, pd.DataFrame({"value": values}))
    collect_tables(paths, tmp_path / "all.csv", "")
    assert (tmp_path / "all.csv").read_text() == 'value\n1.0\n2.0\n3.0\n""\n'
