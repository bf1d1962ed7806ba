"""How long a run takes is told from what earlier jobs took."""

import pytest
from formalsynth.runtime.benchmarks import about, job_seconds, tell_what_is_left


def seconds(benchmark):
    """How long one job is likely to take."""
    return job_seconds([benchmark])[0]


@pytest.fixture
def benchmarks(tmp_path):
    """Benchmarks as Snakemake keeps them."""
    for name, seconds in (("range/a/0000", 10), ("range/a/0001", 20), ("range/b/0000", 60), ("zcdp/c/0000", 100)):
        path = tmp_path / "run_batch" / f"{name}.tsv"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"s\th:m:s\tmax_rss\n{seconds}\t0:00:10\tNA\n")
    return tmp_path / "run_batch"


def test_a_job_takes_what_it_took_or_what_those_like_it_took(benchmarks):
    assert seconds(benchmarks / "range" / "a" / "0001.tsv") == 20
    assert seconds(benchmarks / "range" / "a" / "0007.tsv") == 15
    assert seconds(benchmarks / "censor" / "x" / "0000.tsv") == 40
    assert seconds(benchmarks.parent / "run_study" / "censor" / "x" / "0000.tsv") is None


@pytest.mark.parametrize("content", [b"", b"s\n", b"s\nNA\n", b"\xff\xfe", b"t\n1\n"])
def test_a_damaged_benchmark_is_none(benchmarks, content):
    (benchmarks / "range" / "a" / "0001.tsv").write_bytes(content)
    assert seconds(benchmarks / "range" / "a" / "0001.tsv") == 10


def test_jobs_together_are_told_in_words(benchmarks):
    known = [benchmarks / "range" / "a" / "0000.tsv", benchmarks / "zcdp" / "c" / "0000.tsv"]
    assert about([], 2) == ""
    assert about(known, 1) == "about 2 minutes for the jobs of this run (2), as earlier runs tell"
    assert about(known, 8) == "about 2 minutes for the jobs of this run (2), as earlier runs tell"  # the longest is not divided
    unknown = [benchmarks.parent / "run_study" / "censor" / "x" / "0000.tsv"]
    assert about(unknown, 1) == "jobs to run: 1, none of them timed before"
    assert about([known[0], *unknown], 1) == "about 20 s for the jobs of this run (2, 1 never timed before), as earlier runs tell"


def test_what_is_left_is_told_again_and_again_until_nothing_is(benchmarks, capfd):
    one, other = benchmarks / "zcdp" / "c" / "0000.tsv", benchmarks / "range" / "b" / "0000.tsv"
    rounds = iter([[one, other], RuntimeError("set changed size during iteration"), [other], []])

    def remaining():
        found = next(rounds)
        if isinstance(found, Exception):
            raise found
        return found

    tell_what_is_left(remaining, 1, every=0.001).join(timeout=60)
    assert capfd.readouterr().err == "about 3 minutes left, for 2 jobs\nabout 60 s left, for 1 job\n"


def test_nothing_is_told_of_jobs_that_were_never_timed(tmp_path, capfd):
    rounds = iter([[tmp_path / "run_batch" / "range" / "a" / "0000.tsv"], []])
    tell_what_is_left(lambda: next(rounds), 2, every=0.001).join(timeout=60)
    assert capfd.readouterr().err == ""
