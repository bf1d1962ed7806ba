"""Named random streams."""

import itertools

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from formalsynth.core import streams
from formalsynth.core.mechanism import MECHANISMS
from formalsynth.core.streams import OWN, STAGES, Address, parameter_words

MECHANISMS.find()
SMALL = st.integers(0, 10_000)
ADDRESSES = st.builds(Address, SMALL, SMALL, SMALL, SMALL, SMALL)
WORDS = st.lists(st.integers(0, 2**31), max_size=3).map(tuple)
KEYS = st.tuples(ADDRESSES, st.sampled_from(sorted(STAGES)), WORDS).filter(lambda key: key[1] != OWN or key[2])


def first(key):
    address, stage, words = key
    return address.generator(stage, words).integers(2**63, size=2).tolist()


@given(KEYS)
def test_a_stream_is_its_address_and_nothing_else(key):
    address, stage, words = key
    before = first(key)
    address.generator("data").standard_normal(7)
    assert first((Address(**vars(address)), stage, tuple(words))) == before


@given(KEYS, KEYS)
def test_different_addresses_have_different_streams(key, other):
    # 126 random bits: two different streams agree by chance with a probability below 1e-37
    assert (key == other) == (first(key) == first(other))


@pytest.mark.parametrize("field", ["root", "paper", "scenario", "n", "replicate"])
def test_every_part_of_an_address_counts(field):
    address = Address(1, 2, 3, 4, 5)
    changed = Address(**(vars(address) | {field: 77}))
    assert first((address, "data", ())) != first((changed, "data", ()))


def test_stage_ids_are_never_shared():
    assert len(set(STAGES.values())) == len(STAGES)


@given(ADDRESSES, WORDS)
def test_stan_accepts_every_seed(address, words):
    seed = address.stan_seed(words)
    assert isinstance(seed, int)
    assert 1 <= seed <= 2**31 - 1


def test_stan_seeds_do_not_collide_within_a_study():
    seeds = [Address(20260205, 1, 1, 2000, k).stan_seed((2,)) for k in range(100)]
    assert len(set(seeds)) == 100


def test_replicates_are_independent_normals():
    """The first normals of many replicates look like one sample: neighbouring replicates are not correlated."""
    first_of_each = np.array([Address(1, 1, 1, 100, k).generator("data").standard_normal() for k in range(2000)])
    correlation = np.corrcoef(first_of_each[:-1], first_of_each[1:])[0, 1]
    assert abs(first_of_each.mean()) < 5 / np.sqrt(2000)
    assert abs(correlation) < 5 / np.sqrt(2000)


@given(st.permutations(["a", "b", "c", "g"]))
def test_words_do_not_depend_on_the_order_of_parameters(order):
    values = {"a": 0.4, "b": 1.8, "c": 1.0, "g": 0.25}
    assert parameter_words(3, {key: values[key] for key in order}) == parameter_words(3, values)


def test_words_tell_mechanisms_and_parameters_apart():
    words = {
        parameter_words(3, {"a": 0.4, "b": 1.8}),
        parameter_words(3, {"a": 0.6, "b": 1.2}),
        parameter_words(3, {"a": 1.8, "b": 0.4}),
        parameter_words(4, {"a": 0.4, "b": 1.8}),
        parameter_words(3, {"a": 0.4}),
    }
    assert len(words) == 5


@pytest.mark.parametrize("name", MECHANISMS)
def test_words_tell_which_parameters_are_given(name):
    mechanism = MECHANISMS[name]
    names = list(mechanism.parameters.model_fields)
    chosen = [subset for size in range(len(names) + 1) for subset in itertools.combinations(names, size)]
    assert len({mechanism.words(dict.fromkeys(subset, 0.5)) for subset in chosen}) == len(chosen)


def test_mechanism_ids_are_never_shared():
    ids = [entry.id for entry in MECHANISMS.values()]
    assert len(set(ids)) == len(ids)


@given(st.floats(allow_nan=False), st.floats(allow_nan=False))
@example(4e-7, 3e-7)
@example(0.5, 0.5000004)
@example(-1e-7, 0.0)
@example(1e300, 2e300)
def test_two_values_of_a_parameter_never_share_a_stream(value, other):
    """Equal noise with different declarations would publish differences of exact counts."""
    words = [parameter_words(1, {"epsilon": number}) for number in (value, other)]
    assert (words[0] == words[1]) == (value == other)


def test_ordinary_values_have_words_in_millionths():
    """Streams of published runs rest on them."""
    assert parameter_words(7, {"a": 0.4, "b": 1.8, "c": -2, "d": 0.0498, "e": 8103.0})[1:] == (
        400_000, 1_800_000, 2**63 - 2_000_000, 49_800, 8_103_000_000,
    )  # fmt: skip


@pytest.mark.parametrize("stages", [{"new": STAGES["data"]}, {"data": 99}, {"new": 98, "newer": 98}])
def test_two_stages_never_share_a_name_or_a_number(monkeypatch, stages):
    monkeypatch.setattr(streams, "STAGES", dict(STAGES))
    with pytest.raises(ValueError, match="the name or the number is already used"):
        streams.add_stages(stages)


def test_a_stage_may_be_added_twice(monkeypatch):
    monkeypatch.setattr(streams, "STAGES", dict(STAGES))
    for _ in range(2):
        streams.add_stages({"new": 99})
    assert streams.STAGES == STAGES | {"new": 99}
