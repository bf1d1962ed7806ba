"""CmdStan as the sampler of an audit whose family has no exact posteriors."""

from __future__ import annotations

from pathlib import Path

from formalsynth.core.arrays import Draws
from formalsynth.core.family import Family, StanData
from formalsynth.core.synthesizer import SamplerSettings
from formalsynth.engine.chain import Sampler
from formalsynth.stan.sample import sample
from formalsynth_workflow.steps.parts import CMDSTAN, SAMPLERS


def cmdstan_sampler(family: Family, executable: Path, settings: SamplerSettings) -> Sampler:
    """Return a sampler that runs the compiled program of a family.

    Args:
        family: the family.
        executable: its compiled Stan program.
        settings: lengths of the chains, and the gate that every fit has to pass.
    """

    def sampled(data: StanData, seed: int) -> tuple[Draws, float]:
        fit = sample(executable, data, family.inits(data), family.parameters, seed, settings)
        if fit.status != "ok":
            raise ValueError(f"could not be sampled ({fit.reason})")
        return fit.draws, fit.ess_bulk_min

    return sampled


SAMPLERS.add(CMDSTAN, cmdstan_sampler, __name__)
