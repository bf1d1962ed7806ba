"""Readings of what a paper leaves open: every claim that they change is judged under each, and captions name them."""

import pytest

from formalsynth.settings.messages import ConfigError
from formalsynth_workflow.show.captions import details

MIN_MAX, RE_WEIGHTED = (f"{weights} weights in Weighted, Weighted-e and Censor_w" for weights in ("min-max", "re-weighted"))


@pytest.fixture(scope="module")
def paper(plan_of):
    return plan_of("censor").papers["censor"]


def test_a_claim_that_a_reading_changes_compares_synthesizers_of_one_reading(paper):
    claims = {claim.id: claim for claim in paper.claims}
    first, other = claims["censor-weighted-best-max-5"], claims["censor-weighted-best-max-5-re-weighted"]
    assert first.estimate.of == ["Weighted", "Weighted_e_5", "Censor_w_5", "Censor_uw_5", "PH_5"]
    assert other.estimate.of == ["Weighted_final", "Weighted_e_final_5", "Censor_w_final_5", "Censor_uw_5", "PH_5"]
    assert (first.reading_of, other.reading_of) == ("", first.id)
    assert first.note.endswith(f"The paper is read as having {MIN_MAX}.")
    assert other.note.endswith(f"The paper is read as having {RE_WEIGHTED}.")
    replaced = paper.replaced("re_weighted")
    for claim in paper.claims:
        cells = set(map(str, claim.estimate.of))
        assert not (cells & set(replaced) and cells & set(replaced.values())), claim.id
        if claim.reading_of:
            assert [replaced.get(str(cell), cell) for cell in claims[claim.reading_of].estimate.of] == claim.estimate.of
        elif cells & set(replaced):
            assert f"{claim.id}-re-weighted" in claims
    assert "censor-uw-counts-re-weighted" not in claims


def test_the_weights_of_a_reading_are_those_of_all_its_synthesizers(paper):
    """Weighted had min-max weights and Censor_w re-weighted ones, which the text excludes."""
    made = paper.expanded.synthesizers
    for weighted, others in (
        ("Weighted", ("Weighted_e_4", "Censor_w_4")),
        ("Weighted_final", ("Weighted_e_final_4", "Censor_w_final_4")),
    ):
        assert all(made[other].parents[0] == weighted for other in others)


def test_captions_name_the_readings_that_are_shown(paper):
    assert f" We read the paper as: {MIN_MAX}. " in details(paper.figure("3", "paper"))
    assert f" We read the paper as: {MIN_MAX}; or: {RE_WEIGHTED}. " in details(paper.table(1, "paper"))
    assert "Reading" not in details(paper.figure("1", "paper"))


def test_a_claim_may_name_its_only_reading(read, own):
    trees = own | {"claims/censor.yaml": {"claims": [claim(reading="re_weighted")]}}
    claims = read(trees).papers["censor"].claims
    assert [(judged.id, judged.estimate.of, judged.reading_of) for judged in claims] == [("one", ["Weighted_final", "PH_5"], "")]


def test_a_claim_about_a_bound_names_the_unit(paper, plan_of):
    notes = {claim.id: claim.note for claim in (*paper.claims, *plan_of("reweight").papers["reweight"].claims)}
    assert notes["censor-salary-bounds"].startswith("Bounds are those of the outcome divided by 509,000.")
    assert "Bounds are those" not in notes["censor-weighted-best-max-5"]  # a utility
    assert "Bounds are those" not in notes["reweight-lw-bound-kept"]  # counts


def claim(**changes):
    estimate = {"scenario": "simulation", "value": ["ecdf_max"], "of": ["Weighted", "PH_5"]}
    return {"id": "one", "place": "Section 4", "claim": "It is.", "estimate": estimate, "test": {"kind": "order"}} | changes


def test_an_unknown_reading_of_a_claim_is_refused(read, own):
    trees = own | {"claims/censor.yaml": {"claims": [claim(reading="final")]}}
    with pytest.raises(ConfigError, match=r"claims\.one\.reading: given 'final'; allowed: min_max, re_weighted"):
        read(trees)
