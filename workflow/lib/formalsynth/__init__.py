"""Formally private synthetic data: mechanisms, bounds, weights, audits, and what is drawn from them.

Nothing in this package knows a paper, a config file or Snakemake: formalsynth_workflow and formalsynth_release use it.
"""

from importlib import import_module

__version__ = "1.0.0"
__all__ = [
    "Posterior", "censor", "censor_in_brackets", "fit", "isolation_weights", "lipschitz_weights", "load", "noisy_table", "plots",
    "privacy_audit", "range_averaged", "record_bounds", "reweight", "simulate", "synthesize", "utility",
]  # fmt: skip


def __getattr__(name: str) -> object:
    """Import a public name from :mod:`formalsynth.api` when it is first used, so importing the package takes no time."""
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return import_module("formalsynth.plots") if name == "plots" else getattr(import_module("formalsynth.api"), name)
