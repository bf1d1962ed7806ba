"""Write the report of the run."""

import json
from dataclasses import asdict
from datetime import datetime
from pathlib import Path

import pandas as pd
from formalsynth.jobs import log_to
from formalsynth.provenance import commit, costs, losses, read_rows, sampling, versions
from formalsynth.report import Files, Ran, write_report

log_to(snakemake.log[0])


def by_name(paths):
    """Paths by folder and name, which is what the report calls them."""
    return {"/".join(Path(path).parts[-2:]): Path(path) for path in paths}


told = snakemake.params.told
tables = {}
for path in snakemake.input.replicates:
    tables.setdefault(Path(path).parts[-3], []).append(read_rows(path))
tables = {key: pd.concat(parts, ignore_index=True) for key, parts in tables.items()}
steps, seconds = costs(Path(snakemake.params.benchmarks), [(one["key"], id) for one in told["papers"] for id in one["scenarios"]])
repository = Path(snakemake.scriptdir).resolve().parents[1]
facts = {"commit": commit(repository), "written": f"{datetime.now().astimezone():%Y-%m-%d %H:%M %Z}"}
if snakemake.input.cmdstan:
    facts["CmdStan"] = json.loads(Path(snakemake.input.cmdstan[0]).read_text())["version"]
makers = {kind: by_name(snakemake.input[f"{kind}_by"]) for kind in ("figures", "tables", "claims")}

write_report(
    Path(snakemake.output.index).parent,
    told,
    Ran(
        facts | versions(),
        {key: row for key, row in ((key, sampling(table)) for key, table in tables.items()) if row["fits"]},
        {key: rows for key, rows in ((key, losses(table)) for key, table in tables.items()) if rows},
        [asdict(one) for one in steps],
        seconds,
    ),
    Files(
        by_name(snakemake.input.shown),
        Path(snakemake.input.ledger[0]) if snakemake.input.ledger else None,
        by_name(snakemake.input.config) | {name: path for made in makers.values() for name, path in made.items()},
        {kind: list(made) for kind, made in makers.items()},
    ),
    [Path(path) for path in snakemake.input.templates],
)
