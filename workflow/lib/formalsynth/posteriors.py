"""Pseudo posteriors sampled by CmdStan, for chains of synthesizers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from formalsynth.core.arrays import Draws
from formalsynth.core.family import StanData, starts
from formalsynth.core.synthesizer import SamplerSettings
from formalsynth.engine.chain import NoPosterior, PublicRequest, Request
from formalsynth.inference.goodness_of_fit import p_value
from formalsynth.stan.fit import Fit
from formalsynth.stan.sample import sample

ROUNDS = 6
"""Largest number of times that a fit to public tables is sampled."""


@dataclass(frozen=True)
class StanPosteriors:
    """Source of pseudo posteriors sampled by CmdStan."""

    executable: Path
    """Compiled Stan program of the family, or of the fit to public tables."""
    priors: Mapping[str, float]
    settings: SamplerSettings

    def posterior(self, request: Request) -> Fit:
        """Return a fit that passed the diagnostic gate.

        Raises:
            NoPosterior: it did not pass.
            ValueError: the family rejects the data.
        """
        context, form = request.context, request.form
        family = form.sensitive.of(context.family)
        data = form.sensitive.stan_data(context.family, context.records, form.weights, self.priors)
        seed = context.address.stan_seed(request.synthesizer.words)
        return self._sampled(data, starts(family, data), family.parameters, seed)

    def given_public(self, request: PublicRequest) -> Fit:
        """Return a fit to public tables that passed the diagnostic gate.

        Raises:
            NoPosterior: it did not pass.
            ValueError: the model rejects the tables, or has too few effective draws.
        """
        model, public, seed = request.model, request.public, request.address.stan_seed(request.synthesizer.words)
        for attempt in range(ROUNDS):
            data = model.stan_data(public, self.priors)
            fit = self._sampled(data, [model.inits(public, data)], model.parameters, seed)
            better = model.refined(fit.draws, public) if attempt < ROUNDS - 1 else None
            if better is None:
                break
            model = better
        draws = dict(model.draws(fit.draws, public))
        return replace(fit, draws=draws, fit_p=p_value(model, public, data, draws))

    def _sampled(self, data: StanData, inits: Sequence[StanData], parameters: tuple[str, ...], seed: int) -> Fit:
        fit = sample(self.executable, data, inits, parameters, seed, self.settings)
        if fit.status != "ok":
            raise NoPosterior(fit.reason, fit)
        return fit

    def draws(self, request: Request, posterior: Fit) -> Draws:
        """Return the draws of a fit."""
        return posterior.draws
