from formalsynth import plots as plots
from formalsynth.api import (
    Posterior,
    censor,
    censor_in_brackets,
    fit,
    isolation_weights,
    lipschitz_weights,
    load,
    noisy_table,
    privacy_audit,
    range_averaged,
    record_bounds,
    reweight,
    simulate,
    synthesize,
    utility,
)

__all__ = [
    "Posterior", "censor", "censor_in_brackets", "fit", "isolation_weights", "lipschitz_weights", "load", "noisy_table", "plots",
    "privacy_audit", "range_averaged", "record_bounds", "reweight", "simulate", "synthesize", "utility",
]  # fmt: skip
__version__: str
