"""The unweighted synthesizer, and LW: weights from Lipschitz bounds.

Sources: Savitsky, Williams and Hu 2022 (arXiv:1909.11796); range paper (arXiv:2602.04124), Section 1.1.
"""

from __future__ import annotations

import numpy as np

from formalsynth.core.bounds import Sensitive
from formalsynth.core.constraints import Finite, NonNegative
from formalsynth.core.mechanism import ASYMPTOTIC, Context, Form, mechanism
from formalsynth.core.weights import lipschitz_weights


@mechanism(ASYMPTOTIC, parents=0, id=1)
def unweighted(context: Context) -> Form:
    """Plain posterior: all weights 1."""
    ones = np.ones(len(context.records.x))
    return Form(ones, Sensitive(ones))


@mechanism(ASYMPTOTIC, id=2)
def weighted(context: Context, *, c: NonNegative = 1.0, g: Finite = 0.0) -> Form:
    """LW weights from the risks of the parent, the unweighted synthesizer (range paper, Section 1.1)."""
    alpha = lipschitz_weights(context.parents[0].by_record, c, g)
    return Form(alpha, Sensitive(alpha))
