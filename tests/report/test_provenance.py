import math
import os
import subprocess
from dataclasses import fields

import numpy as np
import pandas as pd
import pytest

from formalsynth.core.rows import replicate_table
from formalsynth.runtime.files import write_table
from formalsynth_workflow.jobs.commit import commit
from formalsynth_workflow.report.glossary import DIAGNOSTICS
from formalsynth_workflow.report.provenance import (
    PACKAGES,
    ROWS,
    Loss,
    Sampling,
    costs,
    losses,
    read_rows,
    sampling,
    versions,
)

HEADER = "s\th:m:s\tmax_rss\tmax_vms\tmax_uss\tmax_pss\tio_in\tio_out\tmean_load\tcpu_time\n"


@pytest.fixture
def checkout(tmp_path):
    """A git repository with one commit."""
    identity = ["-c", "user.name=somebody", "-c", "user.email=somebody@example.org"]
    for command in (["init", "-q"], ["add", "file"], [*identity, "commit", "-q", "-m", "first"]):
        (tmp_path / "file").write_text("text\n")
        subprocess.run(["git", *command], cwd=tmp_path, check=True)
    return tmp_path


def test_the_commit_of_a_clean_checkout(checkout):
    full = subprocess.run(["git", "rev-parse", "HEAD"], cwd=checkout, capture_output=True, text=True, check=True).stdout.strip()
    assert full.startswith(commit(checkout))
    assert len(commit(checkout)) >= 7


def test_uncommitted_changes_are_named(checkout):
    clean = commit(checkout)
    (checkout / "file").write_text("changed\n")
    assert commit(checkout) == f"{clean}, with uncommitted changes"


def test_the_commit_is_that_of_the_folder_whatever_repository_the_environment_names(checkout, tmp_path_factory, monkeypatch):
    expected = commit(checkout)
    other = tmp_path_factory.mktemp("other")
    subprocess.run(["git", "init", "-q", "--bare", str(other)], check=True)
    monkeypatch.setenv("GIT_DIR", str(other))
    monkeypatch.setenv("GIT_WORK_TREE", str(other))
    assert commit(checkout) == expected


def test_files_that_git_does_not_track_are_no_changes(checkout):
    clean = commit(checkout)
    (checkout / "results.csv").write_text("made by a run\n")
    assert commit(checkout) == clean
    assert "changes" not in clean
    subprocess.run(["git", "add", "results.csv"], cwd=checkout, check=True)
    assert commit(checkout) == f"{clean}, with uncommitted changes"


def test_no_checkout_has_no_commit(tmp_path, checkout, monkeypatch):
    inner = checkout / "unpacked"
    inner.mkdir()
    assert commit(inner) == "unknown"
    assert commit(tmp_path / "absent") == "unknown"
    monkeypatch.setenv("PATH", "")
    assert commit(checkout) == "unknown"


def test_versions_of_what_is_installed():
    values = versions()
    assert values["numpy"] == np.__version__
    assert values["pandas"] == pd.__version__
    assert set(values) == {"Python", "machine", *PACKAGES}


def benchmark(path, seconds, memory, processor, end):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"{HEADER}{seconds}\t0:00:01\t{memory}\t1\t1\t1\t0\t0\t1\t{processor}\n")
    os.utime(path, (end, end))


def test_costs_are_summed_by_step_and_pauses_left_out(tmp_path):
    benchmark(tmp_path / "fit" / "range" / "kept_n2" / "0000" / "a.tsv", 10, 100, 9, end=1000)
    benchmark(tmp_path / "fit" / "range" / "kept_n2" / "0000" / "b.tsv", 4, "NA", 3, end=998)  # side by side with the first
    benchmark(tmp_path / "fit" / "range" / "left_n2" / "0000" / "a.tsv", 500, 900, 500, end=2000)  # of an earlier run
    benchmark(tmp_path / "fit" / "other" / "kept_n2" / "0000" / "a.tsv", 500, 900, 500, end=2000)
    benchmark(tmp_path / "compile" / "beta.tsv", 0.5, "-", "NA", end=5000)
    step_costs, seconds = costs(tmp_path, [("range", "kept_n2")])
    steps = {cost.step: cost for cost in step_costs}
    assert set(steps) == {"fit", "compile"}
    assert (steps["fit"].jobs, steps["fit"].seconds, steps["fit"].processor_seconds, steps["fit"].memory_mb) == (2, 14, 12, 100)
    assert (steps["compile"].jobs, steps["compile"].seconds, steps["compile"].processor_seconds) == (1, 0.5, 0)
    assert math.isnan(steps["compile"].memory_mb)
    assert seconds == pytest.approx(10 + 0.5)


def test_no_benchmark_files_cost_nothing(tmp_path):
    assert costs(tmp_path / "absent", []) == ([], 0)


def rows(*changes):
    plain = {"scenario": "one", "replicate": 0, "synthesizer": "a", "seed": 1, "status": "ok", "reason": None, "attempts": 1.0}
    plain |= {
        "rhat_max": 1.01,
        "ess_bulk_min": 500.0,
        "ess_tail_min": 450.0,
        "divergences": 0.0,
        "treedepth_hits": 0.0,
        "seconds": 2.0,
    }
    return pd.DataFrame([plain | change for change in changes])


def test_rows_are_read_with_what_is_looked_at(tmp_path):
    table = replicate_table([{"paper": "one", "status": "ok", "reason": "", "seed": 2**31, "mean": 1.5}])
    write_table(tmp_path / "replicates.csv", table)
    values = read_rows(tmp_path / "replicates.csv")
    assert set(values) == set(ROWS)
    assert values["seed"].tolist() == [2**31]
    assert values["reason"].isna().all()
    with open(tmp_path / "replicates.csv", "a") as file:
        file.write("one more\n")
    with pytest.raises(OSError, match="damaged"):
        read_rows(tmp_path / "replicates.csv")


def test_sampling_counts_each_fit_once():
    nothing = {"rhat_max": np.nan, "ess_bulk_min": np.nan, "ess_tail_min": np.nan}
    table = rows(
        {},
        {"synthesizer": "shares the fit"},
        {"seed": 2, "attempts": 2.0, "rhat_max": 1.03, "ess_tail_min": 401.0, "divergences": 0.0},
        {"seed": 3, "attempts": 3.0, "status": "failed", "rhat_max": 1.4, "divergences": 7.0},
        {"synthesizer": "Data", "seed": 4, "attempts": np.nan, **nothing},
        {"synthesizer": "histogram", "seed": 5, **nothing},
        {"replicate": 1, "seed": 6, "ess_bulk_min": 410.0, "treedepth_hits": 3.0},
    )
    assert sampling(table) == Sampling(
        fits=4, refits=2, failed=1, rhat_max=1.03, ess_bulk_min=410.0, ess_tail_min=401.0, divergences=0.0, treedepth_hits=3.0,
        seconds=6.0,
    )  # fmt: skip


def test_the_report_has_words_for_all_that_is_said_of_sampling():
    assert set(DIAGNOSTICS) == {field.name for field in fields(Sampling)}


def test_losses_name_what_failed_of_how_many():
    table = rows({}, {"replicate": 1, "status": "failed", "reason": "gate: R-hat"}, {"synthesizer": "b"})
    assert losses(table) == [Loss("one", "a", failed=1, rows=2, reason="gate: R-hat")]
    assert losses(rows({"status": "failed"}))[0].reason == ""
    assert losses(rows({})) == []
