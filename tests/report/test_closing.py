"""Last paragraph of a run."""

import pandas as pd
from made_up_report import FIRST, INFO, changed

from formalsynth.runtime.files import write_table
from formalsynth_workflow.report.closing import closing
from formalsynth_workflow.report.provenance import ROWS


def info_of(*left_out):
    return changed(INFO, papers=[changed(FIRST, left_out=left_out), *INFO.papers[1:]])


def table_of(folder, scenario, lost):
    rows = [{"scenario": scenario, "replicate": k, "synthesizer": id, "status": "ok"} for id in "AB" for k in range(10)]
    table = pd.DataFrame(rows).reindex(columns=ROWS).astype({"status": object, "reason": object})
    failed = (table["synthesizer"] == "B") & (table["replicate"] < lost)
    table.loc[failed, ["status", "reason"]] = ["failed", "R-hat 1.31 is above 1.05"]
    path = folder / "first" / scenario / "replicates.csv"
    path.parent.mkdir(parents=True)
    write_table(path, table)
    return str(path)


def test_a_run_ends_with_each_failure_and_what_could_not_be_made(tmp_path):
    paths = [table_of(tmp_path, "some_n20", 3), table_of(tmp_path, "all_n20", 10), table_of(tmp_path, "none_n20", 0)]
    info = info_of("figure 15", "table 1", "figure 16b")
    assert closing(info, [*paths, str(tmp_path / "first" / "absent_n20" / "replicates.csv")]) == [
        "FAILED: first some_n20: B in 3 of 10 replicates: R-hat 1.31 is above 1.05",
        "FAILED: first all_n20: B in 10 of 10 replicates: R-hat 1.31 is above 1.05",
        "NOT MADE: first: figures 15, 16b; table 1: data are absent",
        "STAND-IN: first: figure 2: made from simulated data",
    ]
    assert closing(info, []) == []  # nothing of the paper was requested


def test_a_table_that_cannot_be_read_does_not_hide_the_other_lines(tmp_path):
    path = tmp_path / "first" / "some_n20" / "replicates.csv"
    path.parent.mkdir(parents=True)
    path.write_text("damaged")
    assert [line.partition(":")[0] for line in closing(info_of("table 1"), [str(path)])] == ["NOT MADE", "STAND-IN"]
