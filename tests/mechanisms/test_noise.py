"""Noise of mechanisms: two different settings never share it, whatever a mechanism does with its address."""

import contextlib

import pytest
from example_parameters import counts, example_parameters, other_settings
from hypothesis import given
from hypothesis import strategies as st

from formalsynth.core.family import FAMILIES
from formalsynth.core.inputs import Ranges
from formalsynth.core.mechanism import ASYMPTOTIC, MECHANISMS, Context, Form, mechanism
from formalsynth.core.streams import Address

for register in (FAMILIES, MECHANISMS):
    register.find()
VALUES = st.one_of(st.sampled_from([0, 0.0, 1, 8, 0.5]), st.floats(allow_nan=False))


def data():
    """Input of a mechanism without parents."""
    return Context(FAMILIES["poisson"], Ranges(edges=(0, 5, 20)).added_to(counts()), Address(1, 1, 1, 20, 0))


@pytest.fixture
def noise(monkeypatch):
    """States of the streams from which a mechanism with some parameters draws its noise."""

    def of(name, parameters):
        used, sequence = set(), Address.sequence

        def watched(self, stage, words=()):
            made = sequence(self, stage, words)
            if stage == "mechanism":
                used.add(tuple(made.generate_state(4)))
            return made

        with monkeypatch.context() as patched:
            patched.setattr(Address, "sequence", watched)
            MECHANISMS[name].apply(data(), parameters)
        return used

    return of


@pytest.mark.parametrize("name", [name for name in MECHANISMS if not MECHANISMS[name].parents])
def test_no_two_settings_share_noise(noise, name):
    entry = MECHANISMS[name]
    base = example_parameters(entry) | ({"high": 2.0, "points": 2} if entry.selects else {})  # few candidates
    first = noise(name, base)
    if not first:
        assert not entry.releases
        assert not entry.staged
        return
    changed = set()
    for parameter in entry.parameters.model_fields:
        for other in other_settings(entry, base, parameter):
            with contextlib.suppress(ValueError):  # a setting that the mechanism refuses
                assert not noise(name, other) & first, other
                changed.add(parameter)
    assert changed == set(entry.parameters.model_fields)


@given(st.data())
def test_two_settings_have_one_key_only_if_they_are_equal(draw):
    entry = MECHANISMS[draw.draw(st.sampled_from(sorted(MECHANISMS)))]
    settings = [{name: draw.draw(VALUES) for name in entry.parameters.model_fields} for _ in range(2)]
    assert (entry.key(settings[0]) == entry.key(settings[1])) == (settings[0] == settings[1])


@pytest.mark.parametrize("name", MECHANISMS)
def test_defaults_belong_to_the_key(name):
    entry = MECHANISMS[name]
    given = example_parameters(entry)
    assert entry.key(given) == entry.key(dict(entry.parameters(**given).model_dump()))
    assert entry.key(given)[0] == entry.id


def test_a_new_mechanism_cannot_share_noise_between_its_settings():
    def drawn(context: Context, *, low: float = 0.0, high: float = 1.0) -> Form:
        seen.append(context.address.generator("mechanism").random())
        return MECHANISMS["unweighted"].function(context)

    seen = []
    with MECHANISMS.trial():
        mechanism(ASYMPTOTIC, parents=0)(drawn)
        for parameters in ({}, {"low": 0.0}, {"high": 2.0}, {"low": -1.0}):
            MECHANISMS["drawn"].apply(data(), parameters)
    assert seen[0] == seen[1]
    assert len(set(seen)) == 3


def test_noise_without_words_of_the_settings_is_impossible():
    with pytest.raises(ValueError, match="needs words of the mechanism and its settings"):
        Address(1, 1, 1, 20, 0).generator("mechanism")
