"""Write the report of the run."""

import json
from datetime import datetime
from pathlib import Path

import pandas as pd

from formalsynth.core.registry import load
from formalsynth.runtime.files import read_table
from formalsynth_workflow.jobs.begin import begin
from formalsynth_workflow.jobs.commit import commit
from formalsynth_workflow.jobs.sources import code_digest
from formalsynth_workflow.report.contents import Files
from formalsynth_workflow.report.info import RunInfo
from formalsynth_workflow.report.pages import Ran, write_report
from formalsynth_workflow.report.provenance import ROWS, costs, losses, sampling, versions

begin(snakemake)
if code_digest(snakemake.input.config) != snakemake.params.config:
    raise SystemExit(
        "config was edited during the run: the report would show new settings with older results. Give the same command again"
    )
load(snakemake.params.modules)


def by_name(paths):
    """Return paths by folder and name, as the report refers to them."""
    return {"/".join(Path(path).parts[-2:]): Path(path) for path in paths}


run = RunInfo.of(snakemake.params.run_info)
rows: dict[str, list[pd.DataFrame]] = {}
for path in snakemake.input.replicates:
    rows.setdefault(Path(path).parts[-3], []).append(read_table(path, ROWS))
tables = {key: pd.concat(parts, ignore_index=True) for key, parts in rows.items()}
steps, seconds = costs(Path(snakemake.params.benchmarks), [(paper.key, id) for paper in run.papers for id in paper.scenarios])
repository = Path(snakemake.scriptdir).resolve().parents[1]
facts = {"commit": commit(repository), "written": f"{datetime.now().astimezone():%Y-%m-%d %H:%M %Z}"}
if snakemake.input.cmdstan:
    facts["CmdStan"] = json.loads(Path(snakemake.input.cmdstan[0]).read_text())["version"]
steadiness = repository / "docs" / "reference" / "steadiness.csv"
makers = {kind: by_name(snakemake.input[f"{kind}_by"]) for kind in ("figures", "tables", "claims")}

write_report(
    Path(snakemake.output.index).parent,
    run,
    Ran(
        facts=facts | versions(),
        sampling={key: summary for key, table in tables.items() if (summary := sampling(table))["fits"]},
        losses={key: lost for key, table in tables.items() if (lost := losses(table))},
        costs=steps,
        seconds=seconds,
    ),
    Files(
        shown=by_name(snakemake.input.shown),
        ledger=Path(snakemake.input.ledger[0]) if snakemake.input.ledger else None,
        sources=by_name(snakemake.input.config) | {name: path for made in makers.values() for name, path in made.items()},
        steadiness=steadiness if steadiness.exists() else None,
        makers={kind: list(made) for kind, made in makers.items()},
    ),
    [Path(path) for path in snakemake.input.templates],
    snakemake.params.sent,
)
