"""A report of a run that never was: two papers, every verdict, a stand-in, a repeated figure and texts that look like HTML."""

import csv
from pathlib import Path

import matplotlib.image
import numpy as np
import pandas as pd

from formalsynth.core.synthesizer import SamplerSettings
from formalsynth_workflow.ledger.errata import Erratum
from formalsynth_workflow.ledger.judge import COLUMNS, LedgerRow
from formalsynth_workflow.ledger.verdicts import VERDICTS
from formalsynth_workflow.report.contents import Files
from formalsynth_workflow.report.copies import SHARP
from formalsynth_workflow.report.info import DisplayInfo, FileInfo, PaperInfo, RunInfo, SizeInfo
from formalsynth_workflow.report.pages import Ran, write_report
from formalsynth_workflow.report.provenance import Loss

TEMPLATES = sorted(Path(__file__).parents[1].joinpath("workflow", "report").iterdir())
NASTY = '<script>alert("x")</script> & "quotes" <b>'
WIDE, NARROW = (30, 90), (60, 90)


def figure(number, **changes):
    plain = {
        "ledger_name": f"figure {number}", "file": f"first/fig{int(number):02d}", "subject": f"Bounds {NASTY}", "stand_in": False,
        "columns": ["delta", "epsilon"], "guarantees": ["asymptotic DP (local eps_x)", "DP | fixed weights"],
        "alt": f"Violin plots: Bounds {NASTY}. The caption has more.",
    }  # fmt: skip
    return DisplayInfo(**plain | changes)


def table(number, **changes):
    plain = {
        "ledger_name": f"table {number}", "file": f"first/table{number}", "subject": f"Means {NASTY}", "stand_in": False,
        "columns": ["mean"], "guarantees": [], "headings": {"mean": f"Mean {NASTY}"},
    }  # fmt: skip
    return DisplayInfo(**plain | changes)


def paper(key, **changes):
    plain = {"key": key, "title": f"Paper {key} {NASTY}", "authors": "Somebody (2026)", "scenarios": ["simulation_n20"]}
    nothing = dict.fromkeys(("left_out", "skipped", "warnings", "figures", "tables"), ())
    return PaperInfo(**plain | nothing | changes)


def changed(info, **changes):
    """Input of the report, with some of it changed."""
    return type(info)(**dict(info) | changes)


FIRST = paper(
    "first",
    source=f"https://doi.org/10.1/first {NASTY}",
    question=f"Does it hold? {NASTY}",
    answer=["first-0", "first-4"],
    seen={"2": ["first-4"]},
    mechanisms={"first-0": ("weighted", "range averaged")},
    figures=[figure("1", kind="contraction"), figure("2", stand_in=True), figure("3", same_as="1")],
    tables=[table("1"), table("2", columns=["affected"], headings={"mean": "mean"})],
    left_out=["figure 4"],
    skipped=["first: Section 5 (salary): salary.csv is absent, a STAND-IN takes its place"],
    warnings=[f"first: Section 6 (wages): wages.csv gives 2 records, the paper has 7 {NASTY}"],
)
ERRATA = [
    Erratum(
        id="E1", kind="misprint", title=f"A wrong sign {NASTY}", also=["E7"],
        places=[{"paper": "first", "place": f"Equation 1 {NASTY}"}, {"paper": "second", "place": "Section 2"}],
        printed=f"−x {NASTY}", derived="x", check="1.5 against −1.5",
    ),
    Erratum(id="E2", kind="refuted", title="A bound that is none", places=[{"paper": "first", "place": "Theorem 1"}]),
    Erratum(id="E3", kind="refuted", title="A slip of no claim", places=[{"paper": "first", "place": "Theorem 2"}]),
]  # fmt: skip
INFO = RunInfo(
    scale="smoke",
    size=SizeInfo(replicates=2, shrink=10.0, judged=False),
    root_seed=20260205,
    sampler=SamplerSettings(),
    data=[
        FileInfo(file="there.csv", source=f"an agency {NASTY}", available=True),
        FileInfo(file="salary.csv", source="", available=False),
    ],
    skipped=FIRST.skipped,
    warnings=FIRST.warnings,
    papers=[FIRST, paper("second")],
    errata=ERRATA,
)
RAN = Ran(
    facts={"commit": "abc1234, with uncommitted changes", "CmdStan": "2.27.0", "Python": "3.11"},
    sampling={
        "first": {
            "fits": 40, "refits": 3, "failed": 1, "rhat_max": 1.01, "ess_bulk_min": 512.3, "ess_tail_min": 430.0,
            "divergences": 0, "treedepth_hits": 0, "seconds": 75.0,
        }
    },
    losses={"first": [Loss(scenario="scaled", synthesizer="solved", failed=1, rows=2, reason=f"no {NASTY}")]},
    costs=pd.DataFrame(
        [{"step": "fit_batch", "jobs": 4, "seconds": 80.0, "processor_seconds": 75.0, "memory_mb": 150.2}]
    ),
    seconds=45.0,
)  # fmt: skip


def claim(k, verdict):
    """A row of the ledger; the first belongs to figure 1, the second to a figure that was left out, the rest to none."""
    row = dict.fromkeys(COLUMNS, "") | {"id": f"first-{k}", "paper": "first", "place": f"Section {k}", "verdict": verdict}
    row |= {"claim": f"Claim number{k} {NASTY}", "estimate": "0.1 / 0.2", "mcse": "0.01 / 0.02", "replicates": "2"}
    row |= {"shows": {0: "figure 1", 1: "figure 4"}.get(k, ""), "erratum": {"misprint": "E1", "refuted": "E2"}.get(verdict, "")}
    return row | {"test": "order", "note": NASTY, "kind": "test"}


KINDS = (
    "recovered",
    "drawn records",
    "by construction",
    "implied by first-0",
    "another reading of first-0",
    "ours",
    "settings lost",
)


def claim_row(k=0, verdict="reproduced", **fields):
    """A row of the ledger as the report reads it."""
    return LedgerRow(**claim(k, verdict) | {"replicates": 2} | fields)


def claims():
    """One claim of the first paper for each verdict and each kind, and one of the second."""
    rows = [claim(k, verdict) for k, verdict in enumerate(VERDICTS)]
    for kind in KINDS:
        rows.append(claim(len(rows), next(iter(VERDICTS))) | {"kind": kind})
    return [*rows, claim(0, next(iter(VERDICTS))) | {"id": "second-0", "paper": "second", "claim": "Another matter", "shows": ""}]


def made(folder, papers, ledger):
    """The files of the run."""
    shown = {}
    for info in papers:
        for item in (*info.figures, *info.tables):
            for ending, text in {"csv": TIDY, "txt": f"Caption of {item.file} {NASTY}\n", "svg": SVG}.items():
                shown[f"{item.file}.{ending}"] = write(folder / f"{item.file}.{ending}", text)
        for k, item in enumerate(info.figures):
            if k == 2:  # too large for a page
                shown[f"{item.file}.svg"].write_text(SVG + "<!-- -->" * SHARP, encoding="utf-8")
            matplotlib.image.imsave(folder / f"{item.file}.png", np.ones((*(WIDE if k else NARROW), 3)))
            shown[f"{item.file}.png"] = folder / f"{item.file}.png"
    sources = {f"papers/{info.key}.yaml": write(folder / f"{info.key}.yaml", CONFIG) for info in papers}
    sources |= {
        f"claims/{key}.yaml": write(folder / f"claims-{key}.yaml", claims_yaml(ledger, key))
        for key in {c["paper"] for c in ledger}
    }
    sources["config/errata.yaml"] = write(folder / "errata.yaml", "errata:\n  - id: E1\n  - id: E2\n")
    makers = {kind: [f"scripts/{kind}.py"] for kind in ("figures", "tables", "claims")}
    sources |= {name: write(folder / name, f"# {NASTY}\n") for names in makers.values() for name in names}
    if ledger:
        with open(folder / "claims.csv", "w", encoding="utf-8", newline="") as file:
            writer = csv.DictWriter(file, COLUMNS)
            writer.writeheader()
            writer.writerows(ledger)
    turning = (
        "id,verdict,stays,otherwise,reproduced\nfirst-0,reproduced,0.6,undetermined,y\nfirst-1,reproduced,0.6,undetermined,y\n"
    )
    steadiness = write(folder / "steadiness.csv", turning)
    return Files(shown, folder / "claims.csv" if ledger else None, sources, steadiness, makers)


SVG = '<svg xmlns="http://www.w3.org/2000/svg" width="10" height="6"><rect width="10" height="6"/></svg>'
TIDY = """statistic,synthesizer,label,guarantee,epsilon,n_syn,estimate,mcse,from,printed,difference
mean,Data,Data,none: confidential,,,57771.2,0.0,1,57771.0,0.2
mean,a_1,same,DP | fixed weights,0.5,100.0,0.12345,,2,,
mean,a_2,same,DP | fixed weights,0.5,100.0,-3.5e-7,inf,2,,
mean,a_3,same,DP | fixed weights,2.0,100.0,1.5,,2,,
"""
CONFIG = """# the figures of a paper
figures:
  1: { kind: violin }
  "2": { kind: violin }
tables:
  1: { kind: sample }
"""


def claims_yaml(ledger, key):
    return "claims:\n" + "".join(f"  - id: {claim['id']}\n" for claim in ledger if claim["paper"] == key)


def write(path, text):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    return path


def report(folder, info=INFO, ran=RAN, ledger=None, templates=TEMPLATES):
    """Write the report of the run below ``folder`` and return where it is."""
    files = made(folder / "run", info.papers, claims() if ledger is None else ledger)
    write_report(folder / "report", info, ran, files, templates)
    return folder / "report"
