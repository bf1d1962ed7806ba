"""Contracts of everything that is registered, and of what a run uses: wrong parts are refused before the first fit."""

import dataclasses

import numpy as np
import pytest
from example_parameters import counts, example_parameters

from formalsynth.contract.family import check_family, made_up, trial
from formalsynth.contract.mechanism import check_mechanism
from formalsynth.contract.parts import broken_parts
from formalsynth.core.arrays import Records, intercept_only
from formalsynth.core.family import FAMILIES
from formalsynth.core.inputs import Ranges
from formalsynth.core.mechanism import MECHANISMS
from formalsynth.core.tables import tabled
from formalsynth.families.beta import BetaFamily

for register in (FAMILIES, MECHANISMS):
    register.find()


@pytest.mark.stan
@pytest.mark.parametrize("columns", [1, 3])
@pytest.mark.parametrize("name", FAMILIES)
def test_every_family_keeps_to_its_contract(compiled, name, columns):
    family = FAMILIES[name]
    declared = tabled(family)
    if declared is not None and declared.predictors == 0:
        columns = 1
    tried = trial(family, made_up(family, columns), compiled(family.program), family.priors)
    assert not isinstance(tried, str), tried
    assert check_family(tried) == []


@pytest.mark.parametrize("name", MECHANISMS)
def test_every_mechanism_keeps_to_its_contract(name):
    draws = {"mu": np.random.default_rng(4).gamma(50, 0.1, 200)}
    parameters = example_parameters(MECHANISMS[name]) | ({"points": 5, "stages": 2} if MECHANISMS[name].selects else {})
    records = Ranges(edges=(0, 5, 20)).added_to(counts())
    assert check_mechanism(MECHANISMS[name], parameters, FAMILIES["poisson"], records, draws) == []


@pytest.mark.stan
def test_mechanisms_with_declared_ranges_are_tried_with_ranges(compiled):
    """An outlier outside its range has weight 0, and does not move inside it."""
    family, generator = FAMILIES["lognormal_regression"], np.random.default_rng(2)
    records = Records(generator.lognormal(2, 1, 90), np.column_stack([np.ones(90), generator.standard_normal(90)]))
    declared = Ranges(edges=(0, 10, 100)).added_to(records)
    uses = [("any_truncated", {}), ("any_averaged", {}), ("bracket_clipped", {"epsilon": 1.0})]
    for some, faults in ((declared, 0), (records, 3)):
        assert len(broken_parts("lognormal_regression", some, compiled(family.program), family.priors, uses)) == faults


class Loose(BetaFamily):
    """A program that clips at twice the threshold."""

    def stan_data(self, records, weights, priors, threshold=None):
        return super().stan_data(records, weights, priors, None if threshold is None else 2 * threshold)


CAPPED = MECHANISMS["capped"].function


def doubled_weights(context, **parameters):
    """Two times the weights."""
    form = CAPPED(context, **parameters)
    return dataclasses.replace(form, weights=np.minimum(2 * form.weights, 1))


@pytest.mark.stan
def test_a_wrong_family_of_the_package_is_refused(compiled):
    with FAMILIES.trial():
        FAMILIES.add("wrong", Loose(), "formalsynth.families.wrong")
        records = intercept_only(np.random.default_rng(3).poisson(6, 400))
        (fault,) = broken_parts("wrong", records, compiled("beta"), Loose().priors, [("unweighted", {})])
    assert fault.startswith("family wrong: its Stan program beta has a different density clipped at 0.7")


@pytest.mark.stan
def test_a_wrong_mechanism_of_the_package_is_refused(compiled, monkeypatch):
    family = FAMILIES["poisson"]
    entry = dataclasses.replace(MECHANISMS["capped"], function=doubled_weights)
    monkeypatch.setitem(MECHANISMS._entries, "capped", entry)
    (fault,) = broken_parts("poisson", counts(), compiled("poisson"), family.priors, [("unweighted", {}), ("capped", {"M": 2.0})])
    assert fault.startswith("mechanism capped: returns a sensitive range, or sensitive weights below the weights of the fit")
