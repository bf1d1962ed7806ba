"""The workflow with real Snakemake and real CmdStan, in a temporary folder, at scale smoke and smaller still."""

import shutil
import time
import xml.etree.ElementTree as ElementTree
import zipfile
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from html_pages import assert_links_resolve, pages
from runs import (
    FIGURES,
    PART,
    RESULTS,
    SCALE,
    SIMULATION,
    content,
    files,
    kill,
    left_over,
    read_config,
    short,
    start,
    write_config,
)

from formalsynth.core.model import DATA
from formalsynth_workflow.jobs.commit import commit
from formalsynth_workflow.plan.load import read_plan

pytestmark = [pytest.mark.workflow, pytest.mark.stan]

STUDY_OF_RECORDS = [SIMULATION / "records.csv", FIGURES / "fig01.csv", FIGURES / "fig02.csv"]


def papers_of(folder):
    """The papers in the plan of a folder."""
    return read_plan(read_config(folder)[0], folder / "config").papers


def range_paper(folder):
    """The range paper in the plan of a folder."""
    return papers_of(folder)["range"]


def planned(output):
    """Jobs by rule, from the table that a dry run prints."""
    lines = output.splitlines()
    if "Job stats:" not in lines:
        return {}
    table = [line.split() for line in lines[lines.index("Job stats:") + 3 :]]
    end = next(k for k, row in enumerate(table) if row[:1] == ["total"])
    return {rule: int(count) for rule, count in table[:end]}


def snapshot(folder):
    """Content and time of every result."""
    return {path: (path.stat().st_mtime_ns, path.read_bytes()) for kind in (FIGURES, RESULTS) for path in files(folder / kind)}


def assert_same_results(folder, reference):
    for path in (*STUDY_OF_RECORDS, *map(Path, PART)):
        assert content(folder / path) == content(reference / path), path


@pytest.mark.parametrize(
    ("key", "figures"), [("range", {"1", "2", "3", "4", "5", "15", "16", "19", "20"}), ("zcdp", {"1", "2", "3", "4", "5", "6"})]
)
def test_every_figure_and_table_of_the_plan_is_made_with_its_caption(finished, key, figures):
    paper = papers_of(finished)[key]
    assert figures <= set(paper.figures)
    for number in paper.figures:
        stem = finished / "figures" / SCALE / key / f"fig{number:0>2}"
        table = pd.read_csv(stem.with_suffix(".csv"))
        assert len(table) > 0
        assert np.isfinite(table["value"].dropna()).all()
        assert table["value"].notna().any()
        assert ElementTree.parse(stem.with_suffix(".svg")).getroot().tag.endswith("svg")
        png = stem.with_suffix(".png").read_bytes()
        assert png.startswith(b"\x89PNG")
        assert int.from_bytes(png[16:20], "big") > 400
        assert not stem.with_suffix(".pdf").exists()
        assert stem.with_suffix(".txt").read_text(encoding="utf-8").startswith(f"Figure {number}.")
        command = f"snakemake --cores 1 figures/{SCALE}/{key}/{stem.name}.png"
        original = getattr(paper.figures[number], "same_as", "") or number
        drawn = f"snakemake --cores 1 figures/{SCALE}/{key}/fig{original:0>2}.png"
        for suffix, words in ((".txt", command), (".svg", drawn), (".png", drawn)):
            assert words.encode() in stem.with_suffix(suffix).read_bytes(), suffix
    for number in paper.tables:
        stem = finished / "results" / SCALE / key / f"table{number}"
        assert len(pd.read_csv(stem.with_suffix(".csv"))) > 0
        assert stem.with_suffix(".txt").read_text(encoding="utf-8").startswith(f"Table {number}.")
    assert paper.tables


def test_the_pdf_of_a_figure_is_drawn_on_request_from_its_table(again, completed):
    assert planned(completed(again, "--cores", 1, FIGURES / "fig02.pdf")) == {"draw_pdf": 1}
    assert (again / FIGURES / "fig02.pdf").read_bytes().startswith(b"%PDF")


def test_no_temporary_file_is_left(finished):
    """Every name among the results is one that a rule promised or the seal of one, and the temporary folder is empty again."""
    assert left_over(finished) == []
    assert list((finished / "temporary").iterdir()) == []


def test_every_replicate_of_every_synthesizer_has_a_row(finished):
    for id, scenario in range_paper(finished).scenarios.items():
        table = pd.read_csv(finished / RESULTS / id / "replicates.csv")
        ids = [DATA, *scenario.synthesizers]
        assert table["synthesizer"].tolist() == ids * scenario.replicates
        assert table["replicate"].tolist() == [k for k in range(scenario.replicates) for _ in ids]
        assert table["status"].isin(["ok", "failed"]).all()
        failed = table[table["status"] == "failed"]
        assert failed["reason"].notna().all()
        fits = table[(table["status"] == "ok") & (table["synthesizer"] != DATA)]
        assert (fits["rhat_max"] <= 1.05).all()
        # a record that moves inside its brackets changes two clipped terms
        terms = np.where(fits["guarantee"].str.startswith("DP (moves)"), 2, 1)
        assert (fits["epsilon"] == 2 * terms * fits["delta"]).all()
        assert (fits["ecdf_avg"] <= fits["ecdf_max"] ** 2 + 1e-12).all()
        # of the plain posterior no fit may fail; of a pseudo posterior of 19 or 20 records one may
        assert (table.loc[table["synthesizer"] == "Unweighted", "status"] == "ok").all()


def test_every_replicate_of_every_arm_of_a_study_has_a_row(finished):
    scenarios = papers_of(finished)["zcdp"].scenarios
    for id, scenario in scenarios.items():
        table = pd.read_csv(finished / "results" / SCALE / "zcdp" / id / "replicates.csv")
        assert set(zip(table["replicate"], table["synthesizer"], strict=True)) == {
            (k, arm) for k in range(scenario.replicates) for arm in scenario.arms
        }


def test_the_table_of_the_fatigue_data(finished):
    """Range paper, Table 1: its row Data, and the truncated columns equal to the weighted one."""
    table = pd.read_csv(finished / RESULTS / "table1.csv").set_index(["statistic", "synthesizer"])
    data = {name: table.loc[(name, DATA), "estimate"] for name in ("mean", "median", "q90")}
    assert {name: round(value) for name, value in data.items()} == {"mean": 57771, "median": 15616, "q90": 165385}
    for statistic in ("mean", "median", "q90"):
        for id in ("truncated_0.4_1.8", "truncated_0.6_1.2"):
            assert table.loc[(statistic, id), "estimate"] == table.loc[(statistic, "Weighted"), "estimate"]


def test_jobs_leave_a_log_and_what_they_cost(finished):
    for step, output in (("simulate", "data.npz"), ("fit", "*/fit.npz"), ("measure", "*/values.csv"), ("study", "details.csv")):
        made = list((finished / "results" / SCALE).glob(f"*/*/seeds*/{output}"))
        assert len(made) >= 5
        assert len(files(finished / "logs" / SCALE / step)) == len(made)
        assert len([path for path in files(finished / "benchmarks" / SCALE / step) if path.suffix == ".tsv"]) == len(made)


def test_the_report_names_the_commit_that_was_run(finished, repository):
    page = (finished / "results" / SCALE / "report" / "index.html").read_text(encoding="utf-8")
    assert f"<dt>commit</dt><dd>{commit(repository).split(',')[0]}" in page


def test_every_link_of_the_report_leads_somewhere(finished):
    folder = finished / "results" / SCALE / "report"
    links = [attributes for page in pages(folder).values() for tag, attributes in page.elements if tag == "a"]
    assert sum("href" in attributes for attributes in links) > 200
    assert_links_resolve(folder)


def test_snakemakes_own_report_has_every_figure_and_table_with_a_caption(finished, completed, tmp_path):
    completed(finished, "--report", tmp_path / "report.zip")
    with zipfile.ZipFile(tmp_path / "report.zip") as archive:
        names = {Path(name).name for name in archive.namelist()}
        page = archive.read("report/report.html").decode()
    paper = range_paper(finished)
    assert {f"fig{number:0>2}.svg" for number in paper.figures} | {f"table{number}.csv" for number in paper.tables} <= names
    for number in paper.figures:
        assert f"<strong>Figure {number}</strong>" in page
    assert "<strong>Table 1</strong>" in page
    assert paper.config.title in page
    assert "system-message" not in page  # the message of docutils about an invalid caption


def test_a_second_run_does_nothing(finished, completed):
    """Not even after the folder was copied to another place, as this one was."""
    before = snapshot(finished)
    said = completed(finished, "--cores", 2)
    assert "Nothing to be done" in said
    assert snapshot(finished) == before


def test_every_entry_plans_the_same_jobs(tmp_path, repository, cmdstan, completed):
    """The one for plain `snakemake`, the workflow itself, and a project that has it as a module, as snakedeploy writes it."""
    folder = short(tmp_path / "work", repository, cmdstan)
    itself, module = repository / "workflow" / "Snakefile", folder / "workflow" / "Snakefile"
    module.parent.mkdir()
    module.write_text(
        f'configfile: "config/config.yaml"\nmodule formalsynth:\n    snakefile: "{itself}"\n    config: config\n'
        "use rule * from formalsynth\n"
    )
    plans = []
    for snakefile in (repository / "Snakefile", itself, module):
        plans.append(planned(completed(folder, "--dry-run", "--cores", 2, snakefile=snakefile)))
    everything, all_of_them, deployed = plans
    assert everything.pop("everything") == all_of_them.pop("all") == deployed.pop("all") == 1
    assert everything == all_of_them == deployed
    scenarios = range_paper(folder).scenarios.values()
    assert everything["simulate"] == everything["collect"] == len(scenarios)
    assert everything["fit"] == everything["measure"] == sum(len(scenario.synthesizers) for scenario in scenarios)
    assert everything["plot"] == sum(len(paper.figures) for paper in papers_of(folder).values())


def test_a_paper_is_a_target(folder, completed):
    assert planned(completed(folder, "--dry-run", "--cores", 2, "range"))["plot"] == len(range_paper(folder).figures)


def test_one_figure_plans_only_what_it_needs(folder, completed):
    said = completed(folder, "--dry-run", "--cores", 2, FIGURES / "fig02.png")
    fits = len(range_paper(folder).scenarios[SIMULATION.name].synthesizers)
    made = {"simulate": 1, "check_contracts": 1, "fit": fits, "measure": fits, "collect": 1, "plot": 1}
    assert planned(said) == made
    for what in ("fatigue", "contraction", "no figure"):
        assert what not in said


def test_a_run_of_one_paper_keeps_the_other_papers_in_the_report_and_the_ledger(again, completed, snakemake):
    """If their results are complete; a paper with a missing table is left out."""
    alone = ("--cores", 2, "--config", "papers=[zcdp]")
    assert "Nothing to be done" in snakemake(again, "--dry-run", *alone).stdout
    results_ = again / "results" / SCALE
    (results_ / "report" / "index.html").unlink()
    said = completed(again, *alone)
    assert set(planned(said)) == {"write_report", "everything"}
    assert {path.name for path in (results_ / "report" / "papers").glob("*.html")} == {"range.html", "zcdp.html"}
    assert set(pd.read_csv(results_ / "claims.csv")["paper"]) == {"range", "zcdp"}
    (again / RESULTS / "table1.csv").unlink()
    assert set(planned(snakemake(again, "--dry-run", *alone).stdout)) == {"join_verdicts", "write_report", "everything"}


def test_all_output_is_deleted_but_not_the_record_of_set_up(again, completed):
    completed(again, "--cores", 1, "--delete-all-output")
    assert (again / ".cmdstan" / "cmdstan.json").is_file()
    assert not (again / RESULTS / "table1.csv").exists()


def test_a_new_colour_or_label_only_redraws(again, snakemake):
    run, paper = read_config(again)
    paper["synthesizers"]["averaged"] |= {"colours": ["#112233"], "label": "averaged ({a}, {b})"}
    write_config(again, run, paper)
    dry = snakemake(again, "--dry-run", "--cores", 2)
    # the ledger names the cells of a claim by their labels
    assert set(planned(dry.stdout)) == {"plot", "tabulate", "judge", "join_verdicts", "write_report", "everything"}


def test_more_replicates_leave_the_other_scenarios_alone(again, snakemake):
    run, paper = read_config(again)
    paper["scenarios"]["simulation"]["replicates"] = 1
    write_config(again, run, paper)
    dry = snakemake(
        again, "--dry-run", "--cores", 2, RESULTS / "fatigue" / "replicates.csv", RESULTS / "contraction_n20" / "replicates.csv"
    )
    assert "Nothing to be done" in dry.stdout


def test_a_new_range_fits_nothing_that_was_fitted(again, completed):
    run, paper = read_config(again)
    paper["sweeps"]["range"].append({"a": 0.9, "b": 1.1})
    write_config(again, run, paper)
    said = completed(again, "--cores", 1, SIMULATION / "replicates.csv")
    # the averaged and the truncated synthesizer of the new range
    assert planned(said) == {"fit": 2, "measure": 2, "collect": 1}


def test_a_fit_of_one_replicate_may_be_requested_and_is_the_same(again, finished, completed):
    alone = SIMULATION / "seeds0001-0001" / "Weighted" / "replicates.csv"
    assert planned(completed(again, "--cores", 1, alone)) == {"simulate": 1, "fit": 2, "measure": 1}
    together = pd.read_csv(finished / SIMULATION / "seeds0000-0001" / "Weighted" / "replicates.csv").drop(columns="seconds")
    row = pd.read_csv(again / alone).drop(columns="seconds")
    assert row.iloc[0].dropna().equals(together.iloc[1].dropna())


def test_code_that_is_edited_while_its_job_runs_is_picked_up_by_the_next_run(tmp_path, repository, snakemake):
    """The files that the job makes are newer than the edit, so their times do not tell; those of a checkout do not either."""
    skipped = shutil.ignore_patterns("__pycache__", "*.egg-info")
    for name in ("workflow", "config", "stan", "profiles", "resources"):
        shutil.copytree(repository / name, tmp_path / name, ignore=skipped)
    shutil.copy(repository / "Snakefile", tmp_path)
    target = Path("results", SCALE, "zcdp", "accounting_n1000", "replicates.csv")
    given = ("--cores", 1, "--config", f"scale={SCALE}", "papers=[zcdp]", "--", target)
    script, rule = tmp_path / "workflow" / "scripts" / "study.py", tmp_path / "workflow" / "rules" / "study.smk"
    module = tmp_path / "workflow" / "lib" / "formalsynth_workflow" / "papers" / "zcdp" / "study_accounting.py"
    assert snakemake(tmp_path, *given, snakefile=tmp_path / "Snakefile").returncode == 0

    def appended(line, *paths):
        for path in paths:
            path.write_text(path.read_text(encoding="utf-8") + line, encoding="utf-8")
        return snakemake(tmp_path, "--dry-run", *given, snakefile=tmp_path / "Snakefile").stdout

    assert "Nothing to be done" in appended("# a comment\n", script, rule, module)
    for path in files(tmp_path / "results"):
        path.touch()
    for edited in (script, module):
        before = edited.read_text(encoding="utf-8")
        assert planned(appended("EDITED = True\n", edited)) == {"study": 1, "collect_study": 1}
        edited.write_text(before, encoding="utf-8")


def test_numbers_do_not_depend_on_cores_or_batches(folder, finished, completed):
    """One core and a replicate in each batch, against two cores and all replicates in one."""
    completed(folder, "--cores", 1, "--config", "batch_size=1", "--", *PART)
    assert len(list((folder / SIMULATION).glob("seeds*"))) == 2
    assert len(list((finished / SIMULATION).glob("seeds*"))) == 1
    assert_same_results(folder, finished)


@pytest.mark.parametrize(("given", "batches"), [([], 2), (["batch_size=500"], 4), (["batch_size=2000"], 1)])
def test_the_command_line_sets_the_batch_size_of_a_scenario_with_its_own(given, batches, tmp_path, repository, snakemake):
    """The scenario has 2000 replicates, and 1000 in a batch."""
    target = "results/paper/zcdp/coverage_n1000/replicates.csv"
    run = snakemake(tmp_path, "--dry-run", "--config", "scale=paper", "papers=[zcdp]", *given, "--", target)
    assert planned(run.stdout) == {"study": batches, "collect_study": 1}, run.stdout[-3000:]


def test_a_killed_run_resumes_and_ends_in_the_same_bytes(folder, finished, repository, completed):
    """SIGKILL to the whole process group with jobs at work; then the same command until it ends."""
    same = ("--cores", 2, "--", *PART)
    for path in kill_when(folder, 7, same, repository / "Snakefile"):
        with np.load(path) as arrays:
            assert arrays.files  # what has its name is whole
    assert not (folder / PART[0]).exists()
    before = {path: path.stat().st_mtime_ns for path in arrays_in(folder)}
    completed(folder, *same)
    repeated = [path for path, made in before.items() if path.stat().st_mtime_ns != made]
    # of each core, the file whose job had not ended when it was killed
    assert len(before) - len(repeated) >= 5
    assert len(repeated) <= 2
    assert_same_results(folder, finished)
    assert left_over(folder) == []


def kill_when(folder, enough, arguments, snakefile):
    """Start a run and kill it with all its jobs when there are enough arrays; return those there are."""
    process = start(folder, *arguments, snakefile=snakefile)
    try:
        deadline = time.monotonic() + 600
        while len(arrays_in(folder)) < enough:
            assert process.poll() is None, (folder / "run.log").read_text()[-3000:]
            assert time.monotonic() < deadline, (folder / "run.log").read_text()[-3000:]
            time.sleep(0.02)
    finally:
        kill(process)
    return arrays_in(folder)


def arrays_in(folder):
    """The arrays that have their names; one that is being written has a folder of its own, whose name starts with a dot."""
    return [*(folder / SIMULATION).glob("seeds*/data.npz"), *(folder / SIMULATION).glob("seeds*/*/fit.npz")]


def without_file(folder):
    """Both scenarios with a file read one that is absent."""
    run, paper = read_config(folder)
    for name in ("fatigue", "fatigue_alone"):
        paper["scenarios"][name]["file"] = {"name": "sdr2017"}
    write_config(folder, run, paper)


def test_absent_data_are_named_and_skipped_and_the_run_succeeds(again, completed):
    """With everything else made, only a figure that was removed is drawn again; no job asks for the absent data."""
    (again / FIGURES / "fig05.svg").unlink()
    without_file(again)
    said = completed(again, "--cores", 1)
    assert "SKIPPED" in said
    assert "EPSD17.DAT is absent" in said
    assert (again / FIGURES / "fig05.svg").is_file()
    # claims about them are judged as what they are now: without data
    assert set(planned(said)) == {"plot", "judge", "join_verdicts", "write_report", "everything"}
    report = (again / "results" / SCALE / "report" / "index.html").read_text(encoding="utf-8")
    assert "EPSD17.DAT is absent, skipped" in report
    assert "data absent" in (again / RESULTS / "claims.csv").read_text(encoding="utf-8")


def test_results_without_their_data_are_named(folder, snakemake):
    without_file(folder)
    run = snakemake(folder, "--cores", 1, FIGURES / "fig15.svg")
    assert run.returncode != 0
    assert "Traceback (most recent call last)" not in run.stdout
    # two scenarios read the file
    for part, times in (("no figure range/fig15", 1), ("EPSD17.DAT is absent", 2)):
        assert run.stdout.count(part) == times, run.stdout
    assert len(run.stdout.splitlines()) < 40, run.stdout
