"""House rules of drawn figures: nothing is cut, crossed or on top of something else, and none is too tall."""

import pytest
from figure_faults import TALLER, faults, redrawn
from runs import EVERY_KIND, SCALE

from formalsynth_workflow.show.figure import Repeat

PAPERS = ("range", "censor", "reweight", "zcdp", "reps", "cost")


def faults_of(paper, scale, folder):
    """Faults of the figures of a paper that have a tidy table in a folder, by number."""
    numbers = [number for number, figure in paper.figures.items() if not isinstance(figure, Repeat)]
    drawn = [number for number in numbers if (folder / f"fig{int(number):02d}.csv").exists()]
    by_number = {number: faults(redrawn(paper, number, scale, folder), (paper.key, number)) for number in drawn}
    return drawn, {number: wrong for number, wrong in by_number.items() if wrong}


@pytest.mark.workflow
@pytest.mark.stan
@pytest.mark.parametrize("key", EVERY_KIND)
def test_figures_of_a_run_are_legible(finished, plan_of, key):
    drawn, wrong = faults_of(plan_of(key, SCALE).papers[key], SCALE, finished / "figures" / SCALE / key)
    assert len(drawn) > 5
    assert wrong == {}


@pytest.mark.slow
@pytest.mark.parametrize("key", PAPERS)
def test_figures_at_scale_paper_are_legible(repository, plan_of, key):
    folder = repository / "figures" / "paper" / key
    if not folder.exists():
        pytest.skip("no run at scale paper")
    drawn, wrong = faults_of(plan_of(key).papers[key], "paper", folder)
    assert drawn
    assert wrong == {}
    assert {number for paper, number in TALLER if paper == key} <= set(drawn)
