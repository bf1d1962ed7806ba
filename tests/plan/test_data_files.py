"""Real data that cannot be used are refused by name before any job; absent ones leave out their scenario."""

import hashlib
import os
import re
from dataclasses import replace
from pathlib import Path

import pytest
from config_trees import RANGE, of_papers, put, refusal
from made_up_displays import rows_of
from salary_file import fixed_width

from formalsynth.core import data_files as files
from formalsynth.core.text import DataError
from formalsynth_workflow.jobs.inputs import FromFile, Simulated
from formalsynth_workflow.ledger.judge import judge
from formalsynth_workflow.ledger.thresholds import Thresholds
from formalsynth_workflow.plan.jobs import Jobs
from formalsynth_workflow.report.describe import describe
from formalsynth_workflow.show import draw
from formalsynth_workflow.show.captions import STAND_IN, caption
from formalsynth_workflow.show.tidy import figure_table
from formalsynth_workflow.steps.simulate import simulate_batch
from formalsynth_workflow.steps.study import run_study


@pytest.fixture
def with_data(own, read, tmp_path):
    """Read the plan of a paper with a folder of data files of our own."""

    def with_data(paper, **contents):
        for name, content in contents.items():
            path = tmp_path / NAMES[name]
            path.write_bytes(content) if isinstance(content, bytes) else path.mkdir()
        trees = of_papers(own, paper)
        trees["config.yaml"]["data_folder"] = str(tmp_path)
        return refusal(read, trees)

    return with_data


NAMES = {"fatigue": "fatigue.csv", "sdr": "EPSD17.DAT", "margins": "sdr2017_codebook_margins.csv", "german": "german.data"}
SDR = b"SALARYP,GENDER,AGEGRP,WKSWK,EDTP,NDGMENGP\n"
TWO = SDR + b"5,M,30,52,3,12\n70000,F,40,50,3,12\n"
DATA_FILES = [
    ("range", {"fatigue": b""}, "scenarios.fatigue.file: .*fatigue.csv: sha256 is .*, the published file has"),
    ("range", {"fatigue": b"stress,cycle\n276,11500\n"}, "fatigue.csv: sha256 is"),
    ("range", {"fatigue": None}, "scenarios.fatigue.file: .*fatigue.csv: is not a file; expected the published one"),
    ("censor", {"margins": b"variable,code\n"}, "scenarios.salary.stand_in.counts: .*margins.csv: sha256 is"),
    ("reweight", {"margins": b"variable,code\n"}, "scenarios.salary.population.counts: .*margins.csv: sha256 is"),
    ("reps", {"german": b"A11 6\n"}, "scenarios.german.study: .*german.data: sha256 is"),
    ("reps", {"german": None}, "scenarios.german.study: .*german.data: is not a file"),
    ("censor", {"sdr": b""}, "scenarios.salary.file: .*EPSD17.DAT: neither a CSV with SALARYP nor fixed-width"),
    ("censor", {"sdr": b"SALARYP\n5\n"}, "EPSD17.DAT: is not in the form of 2017 Survey.*: .*columns"),
    ("censor", {"sdr": b"SALARYP;GENDER\n5;M\n"}, "EPSD17.DAT: is not in the form of"),
    ("censor", {"sdr": SDR}, "EPSD17.DAT: no record belongs to the sample"),
    ("censor", {"sdr": SDR + b"5,M,30,52,4,12\n"}, "EPSD17.DAT: no record belongs to the sample"),
    ("censor", {"sdr": SDR + b"much,M,30,52,3,12\n"}, "EPSD17.DAT: a salary, age group or number of weeks"),
    ("censor", {"sdr": SDR + b"5,M,30,52,3,12\n-5,F,30,52,3,12\n"}, "EPSD17.DAT: a salary, age group or number of weeks"),
    ("censor", {"sdr": SDR + b"5,M,31,52,3,12\n"}, "EPSD17.DAT: a salary, age group or number of weeks"),
    ("censor", {"sdr": SDR + b"5,M,30,53,3,12\n"}, "EPSD17.DAT: a salary, age group or number of weeks"),
    ("censor", {"sdr": SDR + b"5,X,30,52,3,12\n"}, "EPSD17.DAT: .*GENDER is neither M nor F"),
    ("censor", {"sdr": SDR + b"5,M,30,52,3,12\n"}, "contains 1 records"),
    ("censor", {"sdr": SDR + b"\xff,M,30,52,3,12\n"}, "EPSD17.DAT: a salary, age group or number of weeks"),
    ("censor", {"sdr": SDR + b'"5,M,30'}, "EPSD17.DAT: is not in the form of"),
    ("censor", {"sdr": b" " * 346 + b"\n"}, "EPSD17.DAT: neither a CSV with SALARYP nor fixed-width records of 347"),
    ("censor", {"sdr": b"x" * 347 + b"\n"}, "EPSD17.DAT: no record belongs to the sample"),
    ("censor", {"sdr": b"\x00" * 347}, "EPSD17.DAT: "),
    ("censor", {"sdr": None}, "EPSD17.DAT: is not a file"),
]


@pytest.mark.parametrize(("paper", "contents", "words"), DATA_FILES)
def test_a_data_file_that_cannot_be_used_is_named_before_any_job(with_data, paper, contents, words):
    message = with_data(paper, **contents)
    assert isinstance(message, str), "it was accepted"
    assert re.search(rf"papers/{paper}\.yaml: .*{words}", message), message


def test_a_file_that_is_there_is_used_with_as_many_records_as_it_has(with_data, tmp_path):
    absent = with_data("censor")
    scenario = absent.papers["censor"].of("salary")[0]
    assert scenario.stand_in
    assert isinstance(scenario.data, Simulated)
    assert any("STAND-IN" in line for line in absent.skipped)
    fixed_width(tmp_path / NAMES["sdr"])
    plan = with_data("censor")
    scenario = plan.papers["censor"].of("salary")[0]
    assert (scenario.stand_in, scenario.n, scenario.data) == (False, 3, FromFile(file="sdr2017", drop_rows=()))
    assert not any("STAND-IN" in line for line in plan.skipped)


def test_two_good_records_of_the_survey_are_enough(with_data):
    plan = with_data("censor", sdr=TWO)
    assert plan.papers["censor"].scenarios["salary"].n == 2


def test_another_number_of_records_than_the_papers_is_warned_of(with_data):
    """The file has no published checksum. A last record that was cut off, or all of them twice, is not a reason to stop."""
    plan = with_data("censor", sdr=TWO)
    doubt = "EPSD17.DAT contains 2 records, the paper has 1601: it may not be the file that the paper used"
    (warning,) = (warning for warning in plan.warnings if "(salary)" in warning)
    assert warning.startswith("censor: ")
    assert warning.endswith(f"(salary): {doubt}")
    run = describe(plan)
    assert run.warnings == run.papers[0].warnings == tuple(plan.warnings)
    paper = plan.papers["censor"]
    claims = [claim for claim in paper.claims if "salary" in {scenario.id for scenario in claim.scenarios}]
    assert claims
    assert all(doubt in claim.note for claim in claims)
    assert not any("(salary)" in warning for warning in with_data("censor", sdr=SDR + b"5,M,30,52,3,12\n" * 1601).warnings)


def test_another_content_of_a_file_makes_its_jobs_run_again(with_data, tmp_path):
    before, after = (salary_job(with_data("censor", sdr=content)) for content in (TWO, TWO + b"9,M,30,52,3,12\n"))
    assert before.plain()["files"] == {"sdr2017": hashlib.sha256(TWO).hexdigest()}
    assert before.plain()["files"] != after.plain()["files"]


def test_a_job_refuses_a_file_that_is_not_the_one_of_the_plan(with_data, tmp_path):
    job = salary_job(with_data("censor", sdr=TWO))
    assert len(simulate_batch(job).x[0]) == 2
    # as many bytes and records as before
    (tmp_path / NAMES["sdr"]).write_bytes(TWO.replace(b"70000", b"70001"))
    with pytest.raises(
        DataError, match=r"EPSD17\.DAT: sha256 \w+, but sha256 \w+ when the run was planned: give the same command"
    ):
        simulate_batch(job)


@pytest.mark.parametrize(("paper", "key"), [("censor", "stand_in"), ("reweight", "population")])
def test_salaries_are_not_drawn_without_their_published_counts(with_data, tmp_path, monkeypatch, paper, key):
    monkeypatch.setattr(files, "SHIPPED", tmp_path)
    expected = rf"papers/{paper}\.yaml: scenarios\.salary\.{key}\.counts: sdr2017_codebook_margins\.csv: not found in"
    assert re.search(expected, with_data(paper))


def test_a_study_refuses_a_file_that_is_not_the_one_of_the_plan(with_data, tmp_path, monkeypatch):
    content = b"A11 6\n"
    entry = replace(files.FILES["german_credit"], sha256=hashlib.sha256(content).hexdigest())
    monkeypatch.setitem(files.FILES._entries, "german_credit", entry)
    job = with_data("reps", german=content).papers["reps"].of("german")[0].study_job("0000-0000")
    assert job.plain()["files"] == {"german_credit": entry.sha256}
    (tmp_path / NAMES["german"]).write_bytes(b"A11 7\n")
    with pytest.raises(DataError, match=r"german\.data: sha256 \w+, but sha256 "):
        run_study(job)


def test_a_file_is_hashed_once_for_a_plan(with_data, monkeypatch):
    asked = []
    monkeypatch.setattr(files.hashlib, "file_digest", lambda *given: asked.append(given) or hashlib.sha256(b""))
    files._sha256_once.cache_clear()
    with_data("censor", sdr=TWO)
    assert len(asked) == 1


def salary_job(plan):
    return plan.papers["censor"].of("salary")[0].simulate_job("0000-0000")


def test_absent_data_skip_the_scenario_and_say_so(with_data, tmp_path, monkeypatch):
    monkeypatch.setattr(files, "SHIPPED", tmp_path)
    plan = with_data("reps")
    paper = plan.papers["reps"]
    assert not paper.of("adult")
    assert paper.of("simulated")
    assert any("adult.data" in line and line.endswith("skipped") for line in plan.skipped)
    assert 3 in paper.config.tables
    assert 3 not in paper.tables, "a table of a skipped scenario is not planned"
    (claim,) = paper.claims
    assert claim.scenarios == (), "a claim of a skipped scenario has no data to be judged by"


def test_rows_that_leave_no_records_are_refused(own, read, fatigue):
    for rows in ([1, 1], [23], list(range(1, 22))):
        trees = of_papers(own, "range")
        put(trees[RANGE], "scenarios.fatigue.file.drop_rows", rows)
        expected = "scenarios.fatigue.file.drop_rows: given .*; allowed: different rows from 1 to 22, leaving 2 or more"
        assert re.search(expected, refusal(read, trees))


def test_a_data_file_that_may_not_be_read_is_named(with_data, tmp_path, monkeypatch):
    (tmp_path / "fatigue.csv").write_text("stress,cycle\n")
    if os.geteuid() == 0:  # root may read everything

        def refuse(path, *arguments, **options):
            raise PermissionError(13, "Permission denied", str(path))

        monkeypatch.setattr(files, "open", refuse, raising=False)
    else:
        (tmp_path / "fatigue.csv").chmod(0)
    assert re.search(r"scenarios\.fatigue\.file: .*fatigue\.csv: cannot be read: Permission denied", with_data("range"))


@pytest.mark.parametrize("make", [os.mkfifo, lambda path: path.symlink_to("nowhere"), lambda path: path.symlink_to(path.name)])
def test_a_data_file_that_is_no_file_is_named(with_data, tmp_path, make):
    make(tmp_path / "fatigue.csv")
    assert re.search(r"scenarios\.fatigue\.file: .*fatigue\.csv: is not a file", with_data("range"))


def test_registered_files_have_plain_names():
    """They are joined to folders of the user."""
    assert all(Path(dataset.file).name == dataset.file for dataset in files.FILES.values())


def test_a_variable_that_names_no_folder_is_named(own, read, tmp_path, monkeypatch):
    (tmp_path / "file").touch()
    for value in (tmp_path / "nowhere", tmp_path / "file", "x" * 5000, "~", "a\nb", "$HOME"):
        monkeypatch.setenv("FORMALSYNTH_DATA", str(value))
        message = refusal(read, of_papers(own, "range"))
        assert message.startswith("environment variable FORMALSYNTH_DATA: given '")
        assert message.endswith("; allowed: an existing folder")


def test_every_stand_in_is_marked_in_the_first_lines_the_picture_the_caption_and_the_verdict(own, read, tmp_path, monkeypatch):
    """A scenario of another paper than the one that has a stand-in as shipped."""
    monkeypatch.setitem(draw.STYLE, "svg.fonttype", "none")
    trees = of_papers(own, "range")
    scenario = trees[RANGE]["scenarios"]["fatigue"]
    scenario |= {"file": {"name": "sdr2017"}, "stand_in": trees[RANGE]["scenarios"]["simulation"]["population"], "n": 30}
    put(trees[RANGE], "figures.15.scenario", "fatigue")
    plan = read(trees)
    paper = plan.papers["range"]
    assert "(fatigue): EPSD17.DAT is absent, a STAND-IN takes its place" in Jobs(plan, tmp_path).announcement("", [])
    marked = {number for number in paper.figures if STAND_IN in caption(paper.figure(number, "paper"))}
    assert marked == {"15"}
    assert {number for number in paper.tables if STAND_IN in caption(paper.table(number, "paper"))} == {3}
    display = paper.figure("15", "paper")
    rows = rows_of(display.scenarios[0], ids=display.ids, count=5, record=range(5 * len(display.ids)), bound=1.0)
    draw.draw_figure(display, figure_table(display, [rows]), [tmp_path / "fig.svg"])
    assert STAND_IN in (tmp_path / "fig.svg").read_text(encoding="utf-8")
    sets = rows.assign(set=rows["replicate"], mean=22743.0, median=15991.0)
    (claim, *_) = (claim for claim in paper.claims if claim.id == "sets-differ")
    assert judge(claim, [sets], Thresholds(), 1, True).verdict == "stand-in data"
