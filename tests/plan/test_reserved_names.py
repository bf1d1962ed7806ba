"""Names that stand for folders of the workflow are refused before any job."""

import pytest
from config_trees import CONFIG, ZCDP, assert_blames, of_papers, put, refusal, untied

from formalsynth_workflow.plan.load import REPORT


def renamed(own, name):
    """The files of a run of two papers, one of which is given another name."""
    trees = of_papers(own, "range", "zcdp")
    for part in ("papers", "claims"):
        trees[f"{part}/{name}.yaml"] = untied(trees[f"{part}/zcdp.yaml"])
    put(trees[CONFIG], "papers", ["range", name])
    return trees


def test_a_paper_cannot_have_the_name_of_the_reports_folder(own, read):
    sentence = f"papers: given '{REPORT}'; allowed: another name: this is the report's folder"
    assert_blames(refusal(read, renamed(own, REPORT)), CONFIG, sentence)


@pytest.mark.parametrize("name", ["reports", "stan", "claims", "figures"])
def test_a_paper_can_have_a_name_that_only_resembles_one(own, read, name):
    assert name in refusal(read, renamed(own, name)).papers


@pytest.mark.parametrize("scenario", ["claims", "table1", "report", "data", "batches", "study"])
def test_a_scenario_can_have_any_name(own, read, scenario):
    """Its folder has the sample size after its name, or no full stop, which the files in the same folder have."""
    trees = of_papers(own, "zcdp")
    put(trees[ZCDP], f"scenarios.{scenario}", trees[ZCDP]["scenarios"]["accounting"] | {"id": 99})
    assert any(id.startswith(scenario) for id in refusal(read, trees).papers["zcdp"].scenarios)
