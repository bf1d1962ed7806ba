"""A small audited study that several tests share."""

import numpy as np

from formalsynth.audit.neighbours import additions
from formalsynth.audit.replay import Replay
from formalsynth.core.arrays import Records, intercept_only, joined
from formalsynth.core.family import FAMILIES
from formalsynth.core.mechanism import MECHANISMS
from formalsynth.core.streams import Address
from formalsynth.core.synthesizer import Search, Synthesizer

for register in (FAMILIES, MECHANISMS):
    register.find()
N = 60


def synthesizer(id, mechanism, parents=(), search=None, **parameters):
    """A synthesizer with a fit of its own."""
    words = MECHANISMS[mechanism].words(parameters)
    return Synthesizer(id=id, mechanism=mechanism, parameters=parameters, parents=parents, fit=id, words=words, search=search)


PLAIN = synthesizer("plain", "unweighted")
LW = synthesizer("lw", "weighted", ("plain",))
SCALED = synthesizer("scaled", "declared_scale", ("plain",), scale=20.0)
CAPPED = synthesizer("capped", "capped", ("plain",), M=3.0)
FINAL = synthesizer("final", "reweighted", ("lw",), search=Search(parameter="k", target="parent", high=0.95, lower_by=0.05))
FIXED = synthesizer("fixed", "reference", scale=8.0, theta1=1.0, theta2=1.0, theta3=1.0)
CENSORED = synthesizer("censored", "reference_censored", epsilon=1.0, scale=5.0, theta1=0.2, theta2=3.0)
CENTRED = synthesizer("centred", "censored_centred", epsilon=1.0, theta1=0.2, theta2=3.0)
TWO_STAGE = synthesizer("two_stage", "censored_two_stage", epsilon=1.0, share=0.6, low=0.0, high=1.0, bins=5)
CENSORED_LW = synthesizer("censored_lw", "censored_weighted", ("lw",), epsilon=1.0)


def linear(synthesizers=(PLAIN, LW, SCALED, CAPPED, FIXED), n=N, seed=1, draws=200, outcomes=(0.01, 20.0, 20_000.0)):
    """A replay of the lognormal regression."""
    generator = np.random.default_rng(seed)
    z = generator.normal(2, 1, n)
    records = Records(np.exp(1 + z + generator.standard_normal(n)), np.column_stack([np.ones(n), z]))
    universe = joined(records, additions(records, np.array(outcomes), [np.array([0.0, 4.0])]))
    family = FAMILIES["lognormal_regression"]
    return Replay(family, family.priors, universe, synthesizers, Address(1, 2, 3, n, seed), draws)


def shares(synthesizers=(PLAIN, LW, CENSORED, CENTRED, CENSORED_LW), n=N, seed=1, draws=200):
    """A replay of the Beta family."""
    generator = np.random.default_rng(seed)
    records = intercept_only(generator.beta(0.5, 3, n))
    family = FAMILIES["beta"]
    universe = joined(records, additions(records, np.array([1e-6, 0.5, 1 - 1e-6])))
    return Replay(family, family.priors, universe, synthesizers, Address(1, 2, 4, n, seed), draws)
