"""Judge the claims of one paper."""

from pathlib import Path

from formalsynth.core.registry import load
from formalsynth.runtime.files import read_table, write_table
from formalsynth_workflow.jobs.begin import begin
from formalsynth_workflow.ledger.claims import Claim
from formalsynth_workflow.ledger.judge import ledger
from formalsynth_workflow.ledger.thresholds import Thresholds

begin(snakemake)
load(snakemake.params.modules)

write_table(
    snakemake.output.ledger,
    ledger(
        [Claim.of(claim) for claim in snakemake.params.claims],
        {(Path(path).parent.name, Path(path).stem): read_table(path) for path in snakemake.input.tables},
        Thresholds(**snakemake.params.thresholds),
        snakemake.params.root,
        snakemake.params.judged,
    ),
)
