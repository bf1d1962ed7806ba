"""Expected time of a run, from the times of earlier jobs."""

import pytest

from formalsynth_workflow.jobs.benchmarks import about, job_seconds


def seconds(benchmark):
    """Seconds that one job is likely to take."""
    return job_seconds([benchmark])[0]


@pytest.fixture
def benchmarks(tmp_path):
    """Benchmarks as Snakemake keeps them."""
    for name, seconds in (("range/a/0000", 10), ("range/a/0001", 20), ("range/b/0000", 60), ("zcdp/c/0000", 100)):
        benchmark(tmp_path / "simulate" / f"{name}.tsv", seconds)
    return tmp_path / "simulate"


def benchmark(path, seconds):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"s\th:m:s\tmax_rss\n{seconds}\t0:00:10\tNA\n")


def test_a_job_takes_what_it_took_or_what_those_like_it_took(benchmarks):
    assert seconds(benchmarks / "range" / "a" / "0001.tsv") == 20
    assert seconds(benchmarks / "range" / "a" / "0007.tsv") == 15
    assert seconds(benchmarks / "censor" / "x" / "0000.tsv") == 40
    assert seconds(benchmarks.parent / "study" / "censor" / "x" / "0000.tsv") is None


def test_a_fit_takes_what_its_synthesizer_took_in_other_batches(tmp_path):
    step = tmp_path / "fit"
    for name, took in (("a/seeds0000-0004/slow", 100), ("a/seeds0005-0009/slow", 120), ("a/seeds0000-0004/quick", 1)):
        benchmark(step / "range" / f"{name}.tsv", took)
    assert seconds(step / "range" / "a" / "seeds0005-0009" / "slow.tsv") == 120
    assert seconds(step / "range" / "a" / "seeds0010-0014" / "slow.tsv") == 110
    assert seconds(step / "range" / "a" / "seeds0005-0009" / "quick.tsv") == 1
    assert seconds(step / "censor" / "b" / "seeds0000-0004" / "other.tsv") == 100
    assert seconds(tmp_path / "measure" / "range" / "a" / "seeds0000-0004" / "slow.tsv") is None


@pytest.mark.parametrize("content", [b"", b"s\n", b"s\nNA\n", b"\xff\xfe", b"t\n1\n"])
def test_a_damaged_benchmark_is_none(benchmarks, content):
    (benchmarks / "range" / "a" / "0001.tsv").write_bytes(content)
    assert seconds(benchmarks / "range" / "a" / "0001.tsv") == 10


def test_expected_time_of_jobs_in_words(benchmarks):
    known = [benchmarks / "range" / "a" / "0000.tsv", benchmarks / "zcdp" / "c" / "0000.tsv"]
    assert about([], 2) == ""
    assert about(known, 1) == "about 2 minutes for the jobs of this run (2), according to earlier runs"
    assert (
        about(known, 8) == "about 2 minutes for the jobs of this run (2), according to earlier runs"
    )  # the longest is not divided
    unknown = [benchmarks.parent / "study" / "censor" / "x" / "0000.tsv"]
    assert about(unknown, 1) == "jobs to run: 1, none of them timed before"
    assert (
        about([known[0], *unknown], 1)
        == "about 20 s for the jobs of this run (2, 1 never timed before), according to earlier runs"
    )
