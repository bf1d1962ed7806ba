"""A small study for the tests of the steps, from config to measured batches, as the workflow runs it."""

import numpy as np
import yaml
from formalsynth.core.job import SamplerSettings
from formalsynth.core.rows import audit_table
from formalsynth.engine.chain import children_of
from formalsynth.plan.load import read_plan
from formalsynth.stan.fit import Fit
from formalsynth.steps.batch import Fitted
from formalsynth.steps.fit import fit_batch
from formalsynth.steps.measure import measure_batch
from formalsynth.steps.simulate import simulate_batch
from formalsynth.steps.tables import replicates_table, sample_parts, sample_tables
from oracles import PRIORS, Posterior

ROOT = 7
SETTINGS = SamplerSettings(draws=200, ess_min=20, rhat_max=2)
RUN = {"papers": ["small"], "root_seed": ROOT, "scale": "paper", "scales": {"paper": {}}}
EVERYONE = ["Unweighted", "Weighted", ["averaged", "truncated"]]
PAPER = {
    "id": 99,
    "title": "A small study",
    "authors": "Somebody (2026)",
    "sweeps": {"range": [{"a": 0.4, "b": 1.8}]},
    "synthesizers": {
        "Unweighted": {"mechanism": "unweighted", "colours": ["#8c8c8c"]},
        "Weighted": {"mechanism": "weighted", "parents": ["Unweighted"], "label": "(-Inf, Inf)", "colours": ["#d55e00"]},
        "averaged": {"mechanism": "range_averaged", "parents": ["Unweighted"], "over": ["range"], "label": "({a}, {b}) avg"},
        "truncated": {
            "mechanism": "range_truncated", "parents": ["Unweighted"], "fit": "Weighted", "over": ["range"],
            "label": "({a}, {b}) trunc",
        },
        "nothing": {"mechanism": "weighted", "parents": ["Unweighted"], "parameters": {"c": 0}},
    },
    "scenarios": {
        "skewed": {
            "id": 1,
            "place": "Section 1",
            "family": "lognormal_regression",
            "population": {"name": "lognormal_on_normal", "predictor_mean": 2, "predictor_sd": 1, "intercept": 1, "sigma": 1},
            "n": 60,
            "replicates": 3,
            "synthetic_sets": 12,
            "synthesizers": ["Unweighted", "Weighted", "averaged", "truncated", "nothing"],
        },
    },
    "figures": {
        1: {
            "scenario": "skewed", "table": "records", "value": "bound", "synthesizers": EVERYONE,
            "y": "bound", "subject": "Bounds of the records",
        },
        2: {
            "scenario": "skewed", "table": "replicates", "value": "q90", "synthesizers": ["Data", *EVERYONE],
            "y": "90 % quantile", "subject": "Quantiles", "note": "That is all.",
        },
    },
    "tables": {
        1: {
            "scenario": "skewed", "statistics": ["mean", "q90"], "synthesizers": ["Data", *EVERYONE],
            "subject": "Statistics", "printed": {"Weighted": {"mean": 12.5}},
        },
    },
}  # fmt: skip


def small_paper(folder, **changes):
    """The plan of the small study; ``changes`` are to its scenario."""
    paper = PAPER | {"scenarios": {"skewed": PAPER["scenarios"]["skewed"] | changes}}
    (folder / "papers").mkdir(exist_ok=True)
    (folder / "papers" / "small.yaml").write_text(yaml.safe_dump(paper, sort_keys=False), encoding="utf-8")
    return read_plan(RUN, folder).papers["small"]


def exact_sample(executable, data, inits, parameters, seed, settings):
    """In place of CmdStan: independent draws from the exact posterior that the Stan data describe."""
    factor = np.linalg.inv(data["inverse_factor"])
    squares = data["weight_total"] * factor.T @ factor
    estimate = data["inverse_factor"] @ data["theta_hat"]
    prior = np.eye(data["p"]) / data["prior_sd"] ** 2
    mean = np.linalg.solve(squares + prior, squares @ estimate)
    residual = data["residual_squares"] + (estimate - mean) @ squares @ (estimate - mean) + mean @ prior @ mean
    shape = data["prior_shape"] + data["weight_total"] / 2
    exact = Posterior(mean, squares + prior, shape, data["prior_scale"] + residual / 2)
    draws = exact.draws(np.random.default_rng(seed), settings.draws)
    return Fit("ok", "", draws, seed, 1.0, 200.0, 200.0, attempts=1, seconds=0.1)


def as_passed(job):
    """A job's model as it arrives in the job: plain data in between."""
    return type(job).of(job.plain())


def run_batch(scenario, replicates, executable=None, sample=0, everyone=True):
    """Simulate, fit and measure a batch; each job gets what it would get from the workflow, and no more.

    With ``everyone`` the record-level arrays of all synthesizers are kept, not just of those that others build on.
    """
    job = scenario.simulate_job("0000").model_copy(update={"replicates": tuple(replicates)})
    data = simulate_batch(as_passed(job))
    fitted, rows, chain = {}, {}, list(scenario.synthesizers.values())
    for id in scenario.fits_in_turn():
        fit_job, measure_job = as_passed(scenario.fit_job(id, SETTINGS)), as_passed(scenario.measure_job(id))
        parents = tuple(member.id for member in measure_job.members) if everyone else measure_job.parents
        measure_job = measure_job.model_copy(update={"parents": parents, "sample": sample})
        fit = fit_batch(fit_job, data, {parent: fitted[parent] for parent in fit_job.fits.values()}, executable)
        parents = {parent: fitted[parent] for parent in measure_job.fits.values()}
        rows[id], measured = measure_batch(measure_job, data, fit, parents)
        fitted[id] = Fitted(fit, measured, children_of(id, chain))
    return data, fitted, rows


def collected(scenario, data, fitted, rows):
    """Every collected table of a scenario of one batch, by name."""
    job = as_passed(scenario.tables_job())
    parts = {id: part for fit, result in fitted.items() for id, part in sample_parts(job, fit, data, result).items()}
    return sample_tables(job, data, parts) | {"replicates": replicates_table(job, data, list(rows.values()), audit_table([]))}


__all__ = ["PRIORS", "ROOT", "SETTINGS", "as_passed", "collected", "exact_sample", "run_batch", "small_paper"]
