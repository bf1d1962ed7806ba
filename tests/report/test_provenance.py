"""Versions, commit, costs and diagnostics of a run."""

import os
import subprocess

import numpy as np
import pandas as pd
import pytest

from formalsynth.settings.yaml_file import load_yaml
from formalsynth_workflow.jobs.commit import commit
from formalsynth_workflow.report.provenance import PACKAGES, ROWS, Loss, costs, losses, sampling, versions

HEADER = "s\th:m:s\tmax_rss\tmax_vms\tmax_uss\tmax_pss\tio_in\tio_out\tmean_load\tcpu_time\n"


@pytest.fixture
def checkout(tmp_path):
    """A git repository with one commit."""
    identity = ["-c", "user.name=somebody", "-c", "user.email=somebody@example.org"]
    for command in (["init", "-q"], ["add", "file"], [*identity, "commit", "-q", "-m", "first"]):
        (tmp_path / "file").write_text("text\n")
        subprocess.run(["git", *command], cwd=tmp_path, check=True)
    return tmp_path


def test_a_commit_is_that_of_the_folder_with_tracked_changes_alone(checkout, tmp_path_factory, monkeypatch):
    clean = commit(checkout)
    full = subprocess.run(["git", "rev-parse", "HEAD"], cwd=checkout, capture_output=True, text=True, check=True).stdout.strip()
    assert full.startswith(clean)
    assert len(clean) >= 7
    other = tmp_path_factory.mktemp("other")
    subprocess.run(["git", "init", "-q", "--bare", str(other)], check=True)
    with monkeypatch.context() as patch:  # another repository, in the environment
        patch.setenv("GIT_DIR", str(other))
        patch.setenv("GIT_WORK_TREE", str(other))
        assert commit(checkout) == clean
    (checkout / "results.csv").write_text("made by a run\n")
    assert commit(checkout) == clean
    subprocess.run(["git", "add", "results.csv"], cwd=checkout, check=True)
    assert commit(checkout) == f"{clean}, with uncommitted changes"
    subprocess.run(["git", "reset", "-q"], cwd=checkout, check=True)
    (checkout / "file").write_text("changed\n")
    assert commit(checkout) == f"{clean}, with uncommitted changes"
    (checkout / "unpacked").mkdir()
    assert commit(checkout / "unpacked") == commit(checkout / "absent") == "unknown"
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
    steps, seconds = costs(tmp_path, [("range", "kept_n2")])
    expected = [["compile", 1, 0.5, 0, np.nan], ["fit", 2, 14, 12, 100]]
    pd.testing.assert_frame_equal(steps, pd.DataFrame(expected, columns=list(steps)), check_dtype=False)
    assert seconds == pytest.approx(10 + 0.5)
    nothing, none = costs(tmp_path / "absent", [])
    assert (len(nothing), none) == (0, 0)


def rows(*changes):
    plain = dict(zip(ROWS, ["one", 0, "a", 1, "ok", None, 1.0, 1.01, 500.0, 450.0, 0.0, 0.0, 2.0], strict=True))
    return pd.DataFrame([plain | change for change in changes])


def test_sampling_counts_each_fit_once_and_the_report_explains_its_diagnostics(repository):
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
    assert sampling(table) == {
        "fits": 4, "refits": 2, "failed": 1, "rhat_max": 1.03, "ess_bulk_min": 410.0, "ess_tail_min": 401.0,
        "divergences": 0.0, "treedepth_hits": 3.0, "seconds": 6.0,
    }  # fmt: skip
    assert list(sampling(table)) == list(load_yaml(repository / "workflow" / "report" / "glossary.yaml")["diagnostics"])


def test_losses_name_what_failed_of_how_many():
    table = rows({}, {"replicate": 1, "status": "failed", "reason": "gate: R-hat"}, {"synthesizer": "b"})
    assert losses(table) == [Loss("one", "a", failed=1, rows=2, reason="gate: R-hat")]
    assert losses(rows({"status": "failed"}))[0].reason == ""
    assert losses(rows({})) == []
