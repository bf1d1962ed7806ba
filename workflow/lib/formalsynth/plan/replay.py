"""Rerun of one replicate that keeps everything from which its row in ``replicates.csv`` was made.

Run as ``python -m formalsynth.plan.replay <paper or study file> <scenario> <replicate> --to <folder>``. Random streams belong to
the replicate, so the result is the same as in the whole run.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence
from pathlib import Path

from formalsynth.core.job import BatchJob
from formalsynth.core.registry import REPOSITORY, load
from formalsynth.plan.load import plan_of
from formalsynth.plan.messages import ConfigError, refusal
from formalsynth.plan.paper import Plan
from formalsynth.plan.scenario import Scenario
from formalsynth.runtime.files import write_table
from formalsynth.stan.compile import compile_program
from formalsynth.stan.install import ensure
from formalsynth.steps.batch import MeasureBatch
from formalsynth.steps.data import DataBatch
from formalsynth.steps.run import run_batch


def replay(plan: Plan, scenario: Scenario, replicate: int, folder: Path) -> None:
    """Rerun one replicate of a scenario with fits.

    Args:
        plan: the plan.
        scenario: one of its scenarios.
        replicate: number of the replicate.
        folder: output folder for the data, every synthesizer's draws, weights and bounds, and the tables of the replicate.

    Raises:
        ConfigError: the scenario has no such replicate, or is run by a study.
    """
    where = f"scenario {scenario.id}"
    if scenario.study or replicate not in range(scenario.replicates):
        allowed = "a scenario with fits" if scenario.study else f"0 to {scenario.replicates - 1}"
        raise ConfigError(f"{where}: given {replicate}; allowed: {allowed}")
    batch = f"{replicate // scenario.batch_size:04d}"
    job = scenario.batch_job(batch, plan.config.sampler)
    simulate = job.simulate.model_copy(update={"replicates": (replicate,)})
    measures = tuple(measure.model_copy(update={"sample": replicate}) for measure in job.measures)
    job = job.model_copy(update={"simulate": simulate, "measures": measures})
    load(job.modules)
    folder.mkdir(parents=True, exist_ok=True)
    executable, *public = (folder / name for name in (scenario.program, *scenario.public_programs))
    for path in (executable, *public):
        compile_program(plan.source_of(path.name), path, ensure(REPOSITORY / ".cmdstan"))
    for name, table in run_batch(job, folder, executable, public).items():
        write_table(folder / f"{name}.csv", table)
    _write_records(job, folder)


def _write_records(job: BatchJob, folder: Path) -> None:
    """Write the records, each with its weight and bound under every synthesizer."""
    import pandas as pd

    records = DataBatch.read(folder / "data.npz").records(0)
    columns = {"x": records.x} | {f"design_{k + 1}": column for k, column in enumerate(records.design.T)}
    columns |= {f"input {name}": column for name, column in records.inputs.items()}
    for fit in job.fits:
        sample = MeasureBatch.read(folder / f"{fit.synthesizer.id}.measure.npz").sample
        if sample is not None and sample.by_record:
            columns |= {f"weight {fit.synthesizer.id}": sample.weights}
            columns |= {f"bound {id}": bounds for id, bounds in sample.by_record.items()}
    write_table(folder / "by_record.csv", pd.DataFrame(columns))


def main(arguments: Sequence[str] | None = None) -> int:
    """Command line: rerun one replicate."""
    parser = argparse.ArgumentParser(
        prog="python -m formalsynth.plan.replay", description="Rerun one replicate and keep everything."
    )
    parser.add_argument("of", help="key of a paper, or a study file")
    parser.add_argument("scenario", help="scenario, as named in paths, such as simulation_n2000")
    parser.add_argument("replicate", type=int, help="number of the replicate, from 0")
    parser.add_argument("--to", type=Path, required=True, help="output folder")
    parser.add_argument("--scale", default="paper", help="scale of the run (default: paper)")
    options = parser.parse_args(arguments)
    os.umask(0o077)
    chosen = {"study": options.of, "papers": []} if options.of.endswith(".yaml") else {"papers": [options.of]}
    try:
        plan = plan_of(REPOSITORY / "config", **chosen, scale=options.scale)
        (paper,) = plan.papers.values()
        if options.scenario not in paper.scenarios:
            raise refusal(paper.files[0], "scenarios", options.scenario, paper.scenarios)
        replay(plan, paper.scenarios[options.scenario], options.replicate, options.to)
    except ConfigError as error:
        print(error, file=sys.stderr)
        return 1
    print(f"All files of replicate {options.replicate} of {options.scenario} are in {options.to}; only you can read them.")
    return 0


if __name__ == "__main__":
    sys.exit(main())
