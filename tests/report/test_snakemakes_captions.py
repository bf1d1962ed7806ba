"""The captions of Snakemake's own report, from what it knows of a job."""

from types import SimpleNamespace

import jinja2
import pytest

PAPERS = ["range", "censor", "reweight", "zcdp", "reps"]


@pytest.fixture(scope="module")
def template(repository):
    """The caption of figures that one job drew, or of a table."""
    return jinja2.Template((repository / "workflow" / "report" / "shown.rst").read_text(encoding="utf-8"))


def rendered(template, **params):
    return template.render(snakemake=SimpleNamespace(params=params))


@pytest.mark.parametrize("key", PAPERS)
def test_every_figure_and_table_has_its_subject_and_place(template, plan_of, key):
    paper = plan_of(key).papers[key]
    for number in paper.figures:
        display = paper.figure(number, "paper")
        text = rendered(template, figures=[{"display": dict(display.plain()), "file": "", "same_as": ""}])
        assert f"**Figure {number}**: " in text
        assert paper.original(number).subject[:20] in text
        assert display.scenarios[0].place in text
        assert ("STAND-IN" in text) == display.stand_in
    for number in paper.tables:
        display = paper.table(number, "paper")
        text = rendered(template, display=dict(display.plain()))
        assert f"**Table {number}**: " in text
        assert paper.tables[number].subject[:20] in text
        assert ("STAND-IN" in text) == display.stand_in


def test_figures_of_one_job_are_named_one_by_one(template, plan_of):
    paper = plan_of("range").papers["range"]
    told = [{"display": dict(paper.figure(number, "paper").plain()), "file": "", "same_as": ""} for number in ("1", "6")]
    text = rendered(template, figures=told)
    assert [line.split("**")[1] for line in text.splitlines() if line.startswith("* ")] == ["Figure 1", "Figure 6"]
