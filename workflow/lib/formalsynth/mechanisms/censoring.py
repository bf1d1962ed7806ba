"""Synthesizers of the censor paper (arXiv:2205.05003) that cut or clip the contribution of a record."""

from __future__ import annotations

import numpy as np

from formalsynth.core.bounds import Sensitive
from formalsynth.core.constraints import PositiveNumber
from formalsynth.core.mechanism import ASYMPTOTIC, Context, Form, mechanism


@mechanism(ASYMPTOTIC, parents=2, id=6)
def weighted_e(context: Context, *, epsilon: PositiveNumber) -> Form:
    """First parent's weights, but 0 if weight times risk under the second, unweighted, parent exceeds epsilon / 2.

    Source: censor paper, Section 2.2. It does not state under which fit the log-likelihood is compared; with min-max weights, the
    unweighted fit gives numbers of cut records near those of Table 1 (erratum E16). A record with weight 0 is not counted as cut.
    """
    weighted, unweighted = context.parents
    risk = np.where(weighted.weights > 0, unweighted.by_record, 0.0)
    cut = weighted.weights * risk > epsilon / 2
    kept = np.where(cut, 0.0, weighted.weights)
    return Form(kept, Sensitive(kept), affected=int(cut.sum()))


@mechanism("DP (add/remove)", parents=0, censors=True, id=7, strict={"add_remove": 1.0, "replace": 2.0})
def censored_unweighted(context: Context, *, epsilon: PositiveNumber) -> Form:
    """Censor_uw: every log-likelihood clipped to ``[-epsilon / 2, epsilon / 2]`` (censor paper, Equations 3.5 and 3.6).

    The bound is strict for adding or removing a record; for replacing one, as in the paper's Definition 1, it is
    2 epsilon (erratum E5).
    """
    ones = np.ones(len(context.records.x))
    return Form(ones, Sensitive(ones, threshold=epsilon / 2))


@mechanism("DP | fixed weights", censors=True, id=9)
def censored_weighted(context: Context, *, epsilon: PositiveNumber) -> Form:
    """Censor_w: the parent's weighted log-likelihood clipped to ``[-epsilon / 2, epsilon / 2]`` (censor paper, as above).

    Strict only if the weights of the other records stay the same; they do not if they are recomputed on a neighbouring data
    set (erratum E6).
    """
    weights = context.parents[0].weights
    return Form(weights, Sensitive(weights, threshold=epsilon / 2))
