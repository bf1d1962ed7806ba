"""Tests of the exact test itself: sound mechanisms hold and reach their claims, and planted violations are found."""

import numpy as np
import pytest
from violations import VIOLATIONS, sample_of, what_finds, wide_case

from formalsynth.contract.exact_test import Finding, Output, case_of, every_data_set, exact_test, largest_ratios, main
from formalsynth.contract.mechanism import check_mechanism
from formalsynth.contract.proof import PARTS, card_faults, card_of, trials
from formalsynth.core.arrays import Records
from formalsynth.core.family import FAMILIES
from formalsynth.core.mechanism import MECHANISMS, LaplaceCounts
from formalsynth.core.registry import load

for register in (MECHANISMS, FAMILIES):
    register.find()
STRICT = sorted(name for name, entry in MECHANISMS.items() if entry.strict)


def test_the_mechanisms_with_a_strict_guarantee_are_known():
    clipping = ["bracket_clipped", "censored_centred", "censored_two_stage", "censored_unweighted", "reference_censored"]
    assert sorted([*clipping, "minimum_distance", "noisy_tables", "perturbed_histogram"]) == STRICT


@pytest.mark.parametrize("name", STRICT)
def test_a_strict_guarantee_has_a_proof_card_and_an_exact_test(name):
    assert card_faults(MECHANISMS[name]) == []
    assert f"`{name}`" in card_of(MECHANISMS[name]).read_text(encoding="utf-8")
    assert trials(MECHANISMS[name])


LONG = {("censored_two_stage", "beta_regression"), ("censored_two_stage", "normal")}
"""Mechanisms and families whose exact test takes several seconds."""


OF_PLAIN_LIKELIHOODS = ("censored_unweighted", "reference_censored")


def slow(long):
    """Marks of a case: those that take long run with the slow tests."""
    return [pytest.mark.slow] if long else []


@pytest.mark.parametrize(
    ("name", "family", "parameters"),
    [
        pytest.param(name, family, parameters, marks=slow((name, family) in LONG))
        for name in STRICT
        for family, parameters in trials(MECHANISMS[name])
    ],
)
def test_no_ratio_exceeds_the_claim_and_the_largest_is_near_it(name, family, parameters):
    findings = exact_test(case_of(MECHANISMS[name], family, parameters), family)
    assert findings
    for finding in findings:
        assert finding.holds, finding
        # the claims of several selections are not reached together: their probabilities cannot all be extreme; the logarithm
        # of the probability of a count is at most 0, and without a reference a part of the interval only is reached
        plain = family in ("poisson", "negative_binomial") and name in OF_PLAIN_LIKELIHOODS
        assert finding.largest > (0.15 if plain else 0.4 if parameters.get("stages") else 0.8) * finding.claim
        assert finding.pairs > (200 if finding.relation == "move" else 500)


OWN = """
import numpy as np
from formalsynth.core.bounds import Sensitive
from formalsynth.core.mechanism import Context, Form, mechanism


@mechanism("DP (add/remove)", parents=0, censors=True, strict={"add_remove": 1.0})
def halved(context: Context, *, epsilon: float) -> Form:
    weights = np.full(len(context.records), 0.5)
    return Form(weights, Sensitive(weights, threshold=epsilon / 2))
"""


def test_an_own_strict_mechanism_needs_a_proof_card_in_its_folder(tmp_path):
    file, card = tmp_path / "mine.py", tmp_path / "halved.md"
    file.write_text(OWN)
    with MECHANISMS.trial():
        load([str(file)])

        def faults():
            generator = np.random.default_rng(1)
            draws = {"phi": generator.uniform(0.1, 0.3, 50), "lambda": generator.uniform(2, 5, 50)}
            records = Records(generator.beta(0.5, 3, 30), np.ones((30, 1)))
            return check_mechanism(MECHANISMS["halved"], {"epsilon": 1.0}, FAMILIES["beta"], records, draws)

        kind = "claims 'DP (add/remove)'"
        assert faults() == [f"{kind} but has no proof card: write {card} with the parts {', '.join(PARTS)}"]
        card.write_text("**Theorem.** It holds.\n\n**Proof.** By Theorem 1.")
        expected = "Neighbour relation, What is declared, What would break it, Exact test"
        assert faults() == [f"{kind}, but its proof card {card} lacks the parts {expected}"]
        card.write_text("\n\n".join(f"**{part}.** Text." for part in PARTS))
        assert faults() == []


def test_a_claim_that_is_exceeded_by_more_than_rounding_does_not_hold():
    assert Finding("m", "beta", "replace", 1, 1 + 5e-10, 1.0).holds
    assert not Finding("m", "beta", "replace", 1, 1 + 5e-9, 1.0).holds
    assert not Finding("m", "beta", "replace", 1, np.inf, 1.0).holds


def test_undefined_probabilities_and_counts_are_a_violation_wherever_they_are_and_other_scales_too():
    """A maximum of Python's drops what is not a number, unless it comes first."""
    masses = [Output(np.zeros(3)), Output(np.array([0.0, np.nan, 0.0]))]
    assert largest_ratios(masses, np.array([0, 0, 1]), np.array([0, 1, 0])).tolist() == [0, np.inf, np.inf]
    sound, undefined = (Output(counts=LaplaceCounts(np.array([value, 2.0]), 0.5)) for value in (1.0, np.nan))
    wider = Output(counts=LaplaceCounts(np.array([1.0, 2.0]), 1.0))
    outputs, more = [sound, undefined, wider, sound], Output(counts=LaplaceCounts(np.array([4.0, 1.0]), 0.5))
    pairs = np.array([0, 0, 0, 0, 4]), np.array([3, 1, 2, 4, 4])
    assert largest_ratios([*outputs, more], *pairs).tolist() == [0, np.inf, np.inf, 8, 0]


@pytest.mark.parametrize(("name", "value"), [("trials", []), ("card_faults", ["has no card"])])
def test_a_card_without_trials_or_no_card_is_a_failure_of_the_command(monkeypatch, capsys, name, value):
    monkeypatch.setattr(f"formalsynth.contract.exact_test.{name}", lambda mechanism: value if mechanism.strict else [])
    assert main() == 1
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == len(STRICT)
    assert all("proof card" in line or "no card" in line for line in lines)


def test_all_data_sets_of_up_to_four_of_three_values():
    """Multisets of k of 3 values: 1, 3, 6, 10 and 15."""
    sets = list(every_data_set(3, range(5)))
    assert len(sets) == len(set(sets)) == 35
    assert () in sets
    assert (0, 1, 1, 2) in sets


SEARCHED = {
    "a reference from the mean of a predictor",
    "scores summed over regions of a predictor",
    "bounds of a predictor from the data",
}
"""Violations that are searched for in a large grid, for several seconds."""


@pytest.mark.parametrize(
    "violation", [pytest.param(entry, id=entry.name, marks=slow(entry.name in SEARCHED)) for entry in VIOLATIONS]
)
def test_a_planted_violation_is_found(violation):
    assert what_finds(violation)


def test_the_contract_too_finds_a_reference_that_follows_the_records():
    """The first check that finds it is the exact test; this one needs no grid of parameters."""
    violation = next(entry for entry in VIOLATIONS if entry.name == "a reference from the mean")
    with MECHANISMS.trial():
        violation.register()
        problems = check_mechanism(MECHANISMS["broken"], {"epsilon": 1.0}, FAMILIES["beta"], *sample_of("beta"))
    assert any("gives a record a different weight when other records change" in problem for problem in problems)


def test_the_grids_of_the_bank_find_nothing_in_sound_mechanisms():
    tables = {"low": 0.0, "high": 1.0, "bins": 3.0, "x_low": -1.0, "x_high": 1.0, "x_bins": 4.0}
    case = wide_case(MECHANISMS["noisy_tables"], {"epsilon": 1.0} | tables)
    assert all(finding.holds for finding in exact_test(case))
    assert len(VIOLATIONS) >= 30
