"""Sentences on guarantees."""

import pytest
from formalsynth.core.mechanism import STRICT_KINDS
from formalsynth.custodian.guarantees import SAMPLER, guarantee_sentence, ledger_kind


@pytest.mark.parametrize("kind", STRICT_KINDS)
@pytest.mark.parametrize(
    ("neighbours", "words"), [("replace", "one record replaced"), ("add_remove", "one record added or removed")]
)
def test_a_strict_guarantee_names_the_declared_neighbours(kind, neighbours, words):
    assert words in guarantee_sentence(kind, neighbours, noisy=True)
    assert ledger_kind(kind) == "DP"


@pytest.mark.parametrize("direct", [True, False])
def test_the_sampler_is_named_where_one_is_used(direct):
    assert (SAMPLER in guarantee_sentence("DP (replace-one)", "replace", direct)) == (not direct)


def test_other_guarantees_keep_their_kind():
    assert ledger_kind("asymptotic DP (local eps_x)") == "asymptotic DP (local eps_x)"
    assert "not a guarantee for every file" in guarantee_sentence("asymptotic DP (local eps_x)", "replace", noisy=False)
