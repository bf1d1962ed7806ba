"""Centred clipping around a reference from a private first stage, a noisy table, whose epsilon is added.

Proof and exact test: ``docs/proofs/censored_two_stage.md``.
"""

from __future__ import annotations

import contextlib
from functools import lru_cache

import numpy as np

from formalsynth.core.bounds import Sensitive
from formalsynth.core.centring import Reference, log_likelihood_at
from formalsynth.core.constraints import CountOfTwo, Finite, OpenProportion, PositiveNumber
from formalsynth.core.mechanism import Context, Form, mechanism
from formalsynth.core.private import Bins, DiscreteLaplaceCounts, PublicTables, Tables, declared_bins
from formalsynth.core.tables import Tabled, tabled
from formalsynth.inference.density import TablesDensity, find_mode
from formalsynth.inference.tables_model import TablesModel

FULL = 3.0
"""Epsilon at and above which log-likelihood ratios are used in full; below it, they are scaled by epsilon / 3."""


@mechanism("DP (add/remove)", parents=0, censors=True, strict={"add_remove": 1.0, "replace": 2.0}, staged=True)
def censored_two_stage(
    context: Context, *, epsilon: PositiveNumber, low: Finite, high: Finite, bins: CountOfTwo,
    x_low: Finite = -1.0, x_high: Finite = 1.0, x_bins: CountOfTwo = 8, share: OpenProportion = 0.5,
) -> Form:  # fmt: skip
    """Centred clipping whose ``theta_0`` is the mode of the posterior given noisy tables, which use the ``share`` of epsilon.

    No guess is needed; bounds and bins are declared as for ``noisy_tables``. The rest of epsilon is for clipping
    ``factor (log p(x | theta) - log p(x | theta_0))`` of each record, with factor epsilon / 3, at most 1. Strict for adding or
    removing a record, 2 epsilon for replacing one. ``affected`` counts the records without a density at ``theta_0``. Source:
    ours.

    Raises:
        ValueError: the family cannot be fitted to noisy tables, or not with so many predictors.
    """
    declared = tabled(context.family)
    if declared is None:
        raise ValueError("this family cannot be fitted to noisy tables")
    settings = {"low": low, "high": high, "bins": bins, "x_low": x_low, "x_high": x_high, "x_bins": x_bins}
    outcome, predictors = declared_bins(settings, declared.log, context.records.design.shape[1] - 1)
    exact, first = Tables.of(context.records, outcome, predictors), share * epsilon
    counts = DiscreteLaplaceCounts(exact.flat, len(exact) / first)
    if context.cache.noisy is None:
        context.cache.noisy = counts.noisy(context.address.generator("mechanism"), 1)[0]
    priors = tuple(context.family.priors.items())
    reference = reference_of(declared, priors, outcome, predictors, tuple(context.cache.noisy), counts.scale)
    undefined = np.isnan(log_likelihood_at(context.family, context.records, reference.draws))
    weights = np.where(undefined, 0.0, min(epsilon / FULL, 1.0))
    sensitive = Sensitive(weights, threshold=(epsilon - first) / 2, reference=reference)
    return Form(weights, sensitive, affected=int(undefined.sum()), counts=counts)


@lru_cache(maxsize=64)
def reference_of(
    declared: Tabled,
    priors: tuple[tuple[str, float], ...],
    outcome: Bins,
    predictors: tuple[Bins, ...],
    noisy: tuple[float, ...],
    scale: float,
) -> Reference:
    """Find the mode of the posterior given noisy counts (cells,), or moments of the tables if that fails; uses no records.

    Raises:
        ValueError: the family has no model of such tables.
    """
    height, pairs = predictors[0].number if predictors else 1, len(predictors) * (len(predictors) - 1) // 2
    shape = (max(len(predictors), 1), height, outcome.number)
    form = Tables(np.zeros(shape), np.zeros((pairs, height, height)))
    public = PublicTables(outcome, predictors, form.with_counts(np.array(noisy)), scale, len(form) / scale)
    model = TablesModel(declared)
    density = TablesDensity(model.stan_data(public, dict(priors)))
    point = density.point(model.inits(public, density.data))
    with contextlib.suppress(np.linalg.LinAlgError):
        point = find_mode(density, point)
    return Reference.of(model.draws(density.sampled(point[None]), public))
