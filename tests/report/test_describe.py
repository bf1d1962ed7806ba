"""Description of a plan for the report."""

import json
import shutil
from dataclasses import replace

import pytest
import yaml

from formalsynth.core import data_files as files
from formalsynth.core.data_files import FILES
from formalsynth.core.mechanism import MECHANISMS
from formalsynth.core.words import GUARANTEES, METRICS
from formalsynth_workflow.plan import scenario
from formalsynth_workflow.plan.load import read_plan
from formalsynth_workflow.report.describe import describe
from formalsynth_workflow.report.info import RunInfo
from formalsynth_workflow.study import STUDIES


@pytest.fixture(scope="module")
def plan(repository):
    return read_plan(yaml.safe_load((repository / "config" / "config.yaml").read_text()), repository / "config")


@pytest.fixture(scope="module")
def info(plan):
    return describe(plan)


def test_the_description_comes_back_from_plain_data(info):
    plain = info.plain()
    assert RunInfo.of(plain) == info
    assert RunInfo.of(json.loads(json.dumps(plain))) == info


def test_every_figure_and_table_is_described(plan, info):
    headings, columns = {}, {}
    assert [paper.key for paper in info.papers] == list(plan.papers)
    for paper in info.papers:
        own = plan.papers[paper.key]
        assert [item.ledger_name for item in paper.shown] == [
            *(f"figure {number}" for number in own.figures), *(f"table {number}" for number in own.tables),
        ]  # fmt: skip
        for figure in paper.figures:
            original = own.original(figure.number)
            assert figure.alt == original.alt()
            assert figure.subject in figure.alt
            assert not figure.same_as or original == own.original(figure.same_as)
        columns |= {(paper.key, item.ledger_name): item.columns for item in paper.shown}
        headings |= {(paper.key, table.number): table.headings for table in paper.tables}
        assert all(list(table.headings) == own.tables[int(table.number)].statistics for table in paper.tables)
    assert any(figure.same_as for paper in info.papers for figure in paper.figures)
    assert headings["reweight", "1"]["q15_low"] == "15 % quantile, low end"
    assert headings["censor", "1"]["median"] == "median"
    assert headings["zcdp", "1"]["covered"] == "Coverage"
    # a column with words of its own in one table has those
    assert columns["zcdp", f"figure {next(iter(plan.papers['zcdp'].figures))}"] == ("replicates.value",)
    assert columns["censor", "figure 9"] == ("value",)


def test_there_are_words_for_all_that_is_shown(info):
    items = [item for paper in info.papers for item in (*paper.figures, *paper.tables)]
    assert {column for item in items for column in item.columns} <= set(METRICS)
    arms = [arm for study in STUDIES.values() for arm in study.arms.values()]
    kinds = {guaranteed.guarantee.partition(" | ")[0] for guaranteed in (*MECHANISMS.values(), *arms)}
    assert {kind.partition(" | ")[0] for item in items for kind in item.guarantees} <= kinds
    assert kinds <= set(GUARANTEES)


def test_a_lipschitz_bound_is_a_claim_and_no_measure_of_privacy(plan):
    figures = [paper.original(number) for paper in plan.papers.values() for number in paper.figures]
    parts = [part for figure in figures for part in (figure, *getattr(figure, "parts", {}).values())]
    labels = {part.y for part in parts if {"bound", "delta"} & set(part.columns())}
    assert {"Lipschitz bound Δ (claimed ε is 2 Δ)", "Lipschitz bound of a record (claimed ε is 2 × the largest)"} <= labels
    texts = [*labels, *(METRICS[column].meaning for column in ("bound", "delta", "epsilon"))]
    assert not [text for text in texts if "more private" in text or "how far any one record can" in text]
    assert all("2 Δ" in METRICS[column].meaning for column in ("bound", "delta", "epsilon"))
    audited, attacked = METRICS["audited"].meaning, METRICS["attacked"].meaning
    assert audited.startswith("A lower bound on the cost of a record")
    assert attacked.startswith("A lower bound on ε")
    assert "knows both neighbouring data sets" in attacked


def test_missing_data_are_reported(repository, monkeypatch, tmp_path):
    monkeypatch.setattr(files, "SHIPPED", tmp_path)
    shutil.copy(repository / "resources" / "sdr2017_codebook_margins.csv", tmp_path)
    config = yaml.safe_load((repository / "config" / "config.yaml").read_text()) | {"data_folder": str(tmp_path)}
    info = describe(read_plan(config, repository / "config"))
    assert [file.file for file in info.data if file.available] == ["sdr2017_codebook_margins.csv"]
    assert {"fatigue.csv", "EPSD17.DAT", "adult.data"} <= {file.file for file in info.data}
    papers = {paper.key: paper for paper in info.papers}
    assert {"figure 15", "table 1"} <= set(papers["range"].left_out)
    assert "figure 2" not in papers["range"].left_out
    assert any("fatigue.csv is absent" in sentence for sentence in papers["range"].skipped)
    assert {figure.number: figure.stand_in for figure in papers["censor"].figures}["9"]


def test_stand_in_data_in_any_scenario_mark_what_shows_it(plan_of):
    plan = plan_of("reps")
    paper = plan.papers["reps"]
    absent = paper.of("breast_cancer")[0]
    drawn = replace(paper, scenarios=paper.scenarios | {absent.id: replace(absent, stand_in=True)})
    info = describe(replace(plan, papers={"reps": drawn})).papers[0]
    for figure in info.figures:
        scenarios = drawn.figure(figure.number, "paper").scenarios
        assert figure.stand_in == (absent.id in [scenario.id for scenario in scenarios])
    marked = [drawn.figure(figure.number, "paper") for figure in info.figures if figure.stand_in]
    assert any(not figure.scenarios[0].stand_in for figure in marked)


def test_what_is_made_from_published_files_is_named_and_not_confidential(info):
    range_, censor = (next(paper for paper in info.papers if paper.key == key) for key in ("range", "censor"))
    assert info.confidential == ()
    assert not info.confidential_claims
    assert {item.confidential for paper in info.papers for item in (*paper.figures, *paper.tables)} == {""}
    published = {figure.number: figure.published for figure in range_.figures}
    assert published["1"] == ()
    assert ("fatigue.csv",) in published.values()
    assert {figure.published for figure in censor.figures} <= {(), ("EPSD17.DAT",)}


def test_what_is_made_from_other_files_is_confidential(plan, monkeypatch):
    monkeypatch.setattr(scenario, "FILES", {name: replace(file, confidential="fatigue" in name) for name, file in FILES.items()})
    info = describe(plan)
    range_ = next(paper for paper in info.papers if paper.key == "range")
    assert info.confidential == range_.confidential == ("fatigue.csv",)
    kinds = {figure.number: figure.confidential for figure in range_.figures}
    assert kinds["1"] == ""
    assert set(kinds.values()) == {"", "records"}
    assert {table.confidential for table in range_.tables} == {"", "statistics"}
    assert info.confidential_claims
    assert all(id.startswith("range-") for id in info.confidential_claims)
    assert files.Dataset("mine.csv", None, None, "me", lambda path: None).confidential  # unless declared otherwise


def test_claims_name_the_mechanisms_that_they_speak_of(info):
    mechanisms = info.mechanisms
    assert mechanisms["range-delta-order"] == ("weighted", "range truncated", "range averaged")
    assert mechanisms["range-contraction-weighted"] == ("weighted",)  # named by its rows
    assert len(mechanisms["zcdp-figure-one-sd"]) == 2  # arms of a study, by their labels


def test_a_report_has_the_names_of_data_files_without_the_folder_of_a_confidential_one(plan, info):
    assert files.Dataset("/srv/secret/project/income.csv", None, None, "its owner", lambda _: None).shown == "income.csv"
    assert [file.file for file in info.data] == [file.shown for file, _ in plan.data_files()]
