"""Empty files, which a power cut leaves: Snakemake takes them for made."""

import pytest
from runs import prepared

from formalsynth.runtime.files import filled_folder


@pytest.mark.workflow
def test_an_empty_figure_is_named(tmp_path, repository, cmdstan, snakemake):
    name = "figures/smoke/range/fig01.svg"
    folder = prepared(tmp_path / "work", repository, cmdstan)
    path = folder / name
    path.parent.mkdir(parents=True)
    path.write_text("made", encoding="utf-8")
    assert snakemake(folder, "--dry-run", "--cores", 1).returncode == 0
    path.write_text("", encoding="utf-8")
    run = snakemake(folder, "--dry-run", "--cores", 1)
    assert run.returncode != 0
    assert f"empty, probably after a power cut: {name}; delete it and run again" in run.stdout


@pytest.mark.workflow
def test_a_damaged_page_is_named(tmp_path, repository, cmdstan, snakemake):
    folder = prepared(tmp_path / "work", repository, cmdstan)
    report = folder / "results" / "smoke" / "report"
    report.parent.mkdir(parents=True)
    with filled_folder(report) as partial:
        (partial / "index.html").write_text("made", encoding="utf-8")
    assert snakemake(folder, "--dry-run", "--cores", 1).returncode == 0
    (report / "index.html").write_text("mad", encoding="utf-8")
    run = snakemake(folder, "--dry-run", "--cores", 1)
    assert run.returncode != 0
    page = "results/smoke/report/index.html"
    assert f"missing or changed since they were written: {page}; delete results/smoke/report and run again" in run.stdout
