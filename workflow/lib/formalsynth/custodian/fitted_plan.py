"""Standard errors from a candidate's noisy tables, predicted from declarations and made-up rows alone."""

from __future__ import annotations

import numpy as np

from formalsynth.core.arrays import Records
from formalsynth.core.family import FAMILIES
from formalsynth.core.job import Synthesizer
from formalsynth.core.mechanism import MECHANISMS
from formalsynth.core.parameters import defaults
from formalsynth.core.private import PublicTables, Tables, declared_bins
from formalsynth.core.tables import tabled
from formalsynth.custodian.candidates import StudySetup
from formalsynth.custodian.schema import FITTED
from formalsynth.inference.density import Guess, TablesDensity, find_mode
from formalsynth.inference.expected_errors import error_factor
from formalsynth.inference.tables_model import TablesModel

FINEST = 30.0
"""Epsilon of the tables of made-up rows from which the parameters are guessed."""


def widths(study: StudySetup, records: Records) -> list[str]:
    """Write a line for each candidate with noisy tables: the expected standard error, relative to one without privacy.

    Args:
        study: the candidates.
        records: made-up records, in the declared number of the file's rows; their parameters are the guess.
    """
    declared = tabled(FAMILIES[study.family])
    if declared is None:
        return []
    what = "a slope" if records.design.shape[1] > 1 else "a mean"
    lines = []
    for synthesizer in study.expanded.synthesizers.values():
        if synthesizer.mechanism == FITTED:
            factor = width_factor(study, synthesizer, records)
            lines.append(
                f"{synthesizer.id}: at epsilon {synthesizer.parameters['epsilon']:g} the standard error of {what} will be "
                f"about {factor:.3g} times that without privacy, if the family fits and its parameters are like those made up."
            )
    return lines


def width_factor(study: StudySetup, synthesizer: Synthesizer, records: Records) -> float:
    """Compute the last coefficient's standard error relative to that without privacy, at the parameters of made-up records."""
    family, given = FAMILIES[study.family], defaults(MECHANISMS[FITTED].parameters) | dict(synthesizer.parameters)
    declared = tabled(family)
    assert declared is not None
    model = TablesModel(declared)
    outcome, predictors = declared_bins(given, declared.log, records.design.shape[1] - 1)
    exact = Tables.of(records, outcome, predictors)
    public = PublicTables(outcome, predictors, exact, len(exact) / FINEST, FINEST)
    density = TablesDensity(model.stan_data(public, study.priors)).without_hierarchy()
    mode = find_mode(density, density.point(model.inits(public, density.data)))[None]
    sampled = density.sampled(mode)
    guess = Guess(tuple(sampled["coefficient"][0]), float(sampled.get("spread", np.ones(1))[0]))
    if predictors:
        mean, sd = density.predictor_draws(mode)
        guess = Guess(guess.coefficient, guess.spread, float(mean[0, 0]), float(sd[0, 0]))
    return error_factor(model, study.priors, (outcome, *predictors), guess, len(records), given["epsilon"])
