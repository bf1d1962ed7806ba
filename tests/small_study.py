"""A small study for the tests of the steps, from config to measured batches, as the workflow runs it."""

from dataclasses import dataclass
from io import StringIO

import numpy as np
import pandas as pd
import yaml
from oracles import PRIORS, Posterior

from formalsynth.core.registry import load
from formalsynth.core.rows import audit_table
from formalsynth.core.synthesizer import SamplerSettings, ScenarioKey, Synthesizer
from formalsynth.stan.fit import Fit
from formalsynth_workflow.jobs.inputs import FitJob
from formalsynth_workflow.plan.load import read_plan
from formalsynth_workflow.steps.audit import audit_batch
from formalsynth_workflow.steps.data import DataBatch
from formalsynth_workflow.steps.fit import fit_batch
from formalsynth_workflow.steps.measure import measure_batch
from formalsynth_workflow.steps.simulate import simulate_batch
from formalsynth_workflow.steps.tables import SAMPLE_TABLES, replicates_table, sample_tables

ROOT = 7
SETTINGS = SamplerSettings(draws=200, ess_min=20, rhat_max=2)
RUN = {"papers": ["small"], "root_seed": ROOT, "scale": "paper", "scales": {"paper": {}}}
AUDIT = {
    "outcome": {"low": 0.01, "high": 1e4, "points": 2, "log": True}, "predictors": [{"low": -2, "high": 6, "points": 2}],
    "each": 1, "random": 1, "refined": 1, "synthesizers": ["Unweighted", "Weighted"],
}  # fmt: skip
"""Audit of a scenario, as config requests it."""
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


@dataclass
class Batch:
    """A measured batch: its data, and the fits, rows and parts of the single sample of each synthesizer."""

    data: DataBatch
    fits: dict
    rows: dict
    sample: dict


def run_batch(scenario, replicates, executables=None, sample=0):
    """Simulate, fit and measure a batch; each job gets what it would get from the workflow, and no more.

    ``executables`` is the compiled program of all synthesizers, or of each.
    """
    job = scenario.simulate_job("0000-0000").model_copy(update={"replicates": tuple(replicates)})
    batch = Batch(simulate_batch(as_passed(job)), {}, {}, {})
    for id, synthesizer in scenario.synthesizers.items():
        job = as_passed(scenario.fit_job(id, SETTINGS))
        parents = {parent: batch.fits[parent] for parent in synthesizer.parents}
        shared = batch.fits[synthesizer.fit] if synthesizer.fit != id else None
        executable = executables[id] if isinstance(executables, dict) else executables
        load(job.modules)
        batch.fits[id] = fit_batch(job, batch.data, parents, shared, executable)
        job = as_passed(scenario.measure_job(id)).model_copy(update={"sample": sample})
        batch.rows[id], batch.sample[id] = measure_batch(job, batch.data, batch.fits[id])
    return batch


def fit_one(mechanism, records, parents, **search):
    """Fit a mechanism without parameters to one data set, whose family is normal, given results of parents by id."""
    load(["formalsynth.families.linear"])
    key = ScenarioKey(paper="made_up", paper_id=1, scenario="three_n3", number=1, n=len(records), root=1)
    synthesizer = Synthesizer(
        id=mechanism, mechanism=mechanism, parameters={}, parents=tuple(parents), fit=mechanism, words=(5,), **search
    )
    job = FitJob(
        key=key, modules=(), family="normal", priors={"sd": 100, "shape": 0.01, "scale": 0.01}, synthesizer=synthesizer,
        sampler=SamplerSettings(),
    )  # fmt: skip
    (fit,) = fit_batch(as_passed(job), DataBatch.of([0], [records]), {id: [parent] for id, parent in parents.items()})
    return fit


def failing_sample(seed):
    """In place of CmdStan: as :func:`exact_sample`, but the fit with this seed fails."""

    def sample(executable, data, inits, parameters, given, settings):
        if given == seed:
            return Fit("failed", "gate: R-hat 1.900 above 1.05", {}, seed, 1.9, 3.0, 4.0, 7, 8, 3, 0.5)
        return exact_sample(executable, data, inits, parameters, given, settings)

    return sample


def collected(scenario, batch, audit=None):
    """Every collected table of a scenario of one batch, by name."""
    job = as_passed(scenario.collect_job())
    audit = audit_table([]) if audit is None else audit
    parts = {name: [part[name] for part in batch.sample.values() if name in part] for name in SAMPLE_TABLES}
    rows = replicates_table(job, [batch.data], list(batch.rows.values()), audit)
    return sample_tables(job, batch.data, parts) | {"replicates": rows, "audit": audit}


def audited_tables(scenario, batch=None):
    """Every collected table of a scenario with an audit, by name, read again."""
    batch = batch or run_batch(scenario, [0, 1, 2])
    job = as_passed(scenario.audit_job(f"0000-000{len(batch.data.x) - 1}", SETTINGS))
    load(job.modules)
    tables = collected(scenario, batch, audit_batch(job, batch.data, None))
    return {name: pd.read_csv(StringIO(table.to_csv(index=False))) for name, table in tables.items()}


__all__ = [
    "AUDIT", "PRIORS", "ROOT", "SETTINGS", "as_passed", "audited_tables", "collected", "exact_sample", "failing_sample",
    "fit_one", "run_batch", "small_paper",
]  # fmt: skip
