"""Judge the claims of one paper."""

from pathlib import Path

from formalsynth.claims import Claim
from formalsynth.files import read_table, write_table
from formalsynth.jobs import log_to
from formalsynth.steps.judge import ledger

log_to(snakemake.log[0])

write_table(
    snakemake.output.ledger,
    ledger(
        [Claim(**one) for one in snakemake.params.claims],
        {(Path(path).parent.name, Path(path).stem): read_table(path) for path in snakemake.input.tables},
        snakemake.params.thresholds,
        snakemake.params.root,
        snakemake.params.judged,
    ),
)
