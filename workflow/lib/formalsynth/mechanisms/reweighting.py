"""Synthesizers of the reweight paper (arXiv:2006.01230) that change their parents' weights."""

from __future__ import annotations

import numpy as np

from formalsynth.core.bounds import Sensitive, bound_quantile, record_bounds
from formalsynth.core.constraints import PositiveNumber, PositiveProportion
from formalsynth.core.mechanism import ASYMPTOTIC, Context, Form, mechanism


@mechanism(ASYMPTOTIC, parents=2, id=11)
def scalar_weighted(context: Context) -> Form:
    """SW: one weight for all records, the ratio of the bounds of the first and the second parent (reweight paper, Section 2.2).

    With the LW and the unweighted synthesizer as parents, this is the exponential mechanism at the LW synthesizer's epsilon.
    """
    weighted, unweighted = (float(parent.by_record.max()) for parent in context.parents)
    alpha = np.full(len(context.records.x), min(1.0, weighted / unweighted))
    return Form(alpha, Sensitive(alpha))


@mechanism(ASYMPTOTIC, id=13)
def exponential(context: Context, *, epsilon: PositiveNumber) -> Form:
    """EM: the exponential mechanism whose utility, the log-likelihood, is rescaled to epsilon (reweight paper, Section 1.3).

    Rescaling to ``epsilon / (2 Delta) u`` is one weight for all records, with the parent's bound as Delta; it is at most 1.
    """
    parent = context.parents[0]
    alpha = np.full(len(context.records.x), min(1.0, epsilon / (2 * float(parent.by_record.max()))))
    return Form(alpha, Sensitive(alpha))


@mechanism(ASYMPTOTIC, id=12)
def reweighted(context: Context, *, k: PositiveNumber, thresh: PositiveProportion = 1.0) -> Form:
    """Parent's weights moved toward its largest bound: ``min(1, k alpha_i Delta / Delta_i)`` (reweight paper, Equation 3.1).

    ``Delta`` is the maximum over the draws, or with ``thresh`` below 1 that quantile, as in the script of Supplement 1.

    ``Delta_i = alpha_i max_s |f[s, i]|``, so the old weight cancels and ``k Delta / max_s |f[s, i]|`` remains, which is used
    here: for a record with weight 0, the printed form is 0 / 0, and this is its limit. ``affected`` counts the weights that
    are cut at 1.
    """
    parent = context.parents[0]
    if context.cache.risk is None:
        plain = Sensitive(np.ones_like(parent.weights))
        context.cache.risk = record_bounds(context.family, context.records, parent.draws, [plain])[0].by_record
    delta = parent.by_record.max()
    if thresh < 1:
        delta = bound_quantile(context.family, context.records, parent.draws, parent.weights, thresh)
    raised = k * delta / context.cache.risk
    weights = np.minimum(raised, 1.0)
    return Form(weights, Sensitive(weights), affected=int((raised > 1).sum()))
