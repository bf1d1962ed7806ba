"""Accounts of a finished run: sums by paper of what the logs of jobs have."""

from importlib import import_module

import pytest

LOGS = {
    "fit/range/a/seeds0000-0099/x.log": (0.25, 6.0, 2.0),
    "study/cost/b/seeds0000-0099.log": (0.25, 3.0, 0.0),
    "plot/range/fig01.log": (0.5, 1.0, 0.0),
    "judge/range.log": (1.0, 0.0, 0.0),
    "compile/beta.log": (0.1, 0.2, 30.0),
    "write_report.log": (0.25, 1.5, 0.0),
}


@pytest.fixture
def bench(repository, monkeypatch):
    """The benchmark, which is run as a script and so imports those next to it."""
    monkeypatch.syspath_prepend(repository / "bench")
    return import_module("bench.accounts")


def test_the_seconds_of_a_paper_are_those_of_its_jobs(bench, tmp_path):
    for name, (start, job, programs) in LOGS.items():
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"a word\nprocessor seconds: start {start}, job {job}, programs {programs}\n")
    (tmp_path / "join_verdicts.log").write_text("killed before its account\n")
    given = bench.accounts(tmp_path)
    assert given == {"range": (1.75, 7.0, 2.0), "cost": (0.25, 3.0, 0.0), "": (0.35, 1.7, 30.0)}
    assert ["`range`", "11", "2"] in bench.by_paper(given)
    assert ["Stan programs", "19 %", "0 %"] in bench.by_part(given)


def test_the_largest_memory_of_a_rule_is_that_of_its_jobs(bench, tmp_path):
    for name, size in {"plot/a.tsv": "90.5", "plot/b/c.tsv": "120.25", "fit/d.tsv": "NA", "fit/e.tsv": "80"}.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(f"s\tmax_rss\n1.0\t{size}\n")
    assert bench.memory(tmp_path) == {"plot": 120.25, "fit": 80.0}
