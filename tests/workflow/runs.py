"""Real runs of the workflow: folders to run it in, and the command."""

import json
import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import yaml

from formalsynth_workflow.steps.fits import REST

SCALE = "smoke"
EVERY_KIND = ("range", "zcdp")
"""Papers that have every kind of job between them: fits of simulated and of real data, and studies."""
RESULTS, FIGURES = Path("results", SCALE, "range"), Path("figures", SCALE, "range")
SIMULATION = RESULTS / "simulation_n200"
# enough of the workflow to interrupt and to batch: one simulated scenario with its replicates, its single sample and a figure
PART = [str(SIMULATION / "replicates.csv"), str(FIGURES / "fig01.svg"), str(FIGURES / "fig02.svg")]
STUDIES = ("accounting", "nearly_constant", "several", "quantities")
"""Studies of the short run, which take tenths of a second."""
CLAIM = {
    "id": "range-averaged-narrower",
    "place": "Section 4.1",
    "claim": "A shorter sensitive range gives range-averaging a smaller bound.",
    "estimate": {"scenario": "simulation", "value": ["delta"], "of": ["averaged_0.4_1.8", "averaged_0.6_1.2"]},
    "test": {"kind": "order", "direction": "falling"},
}


def prepared(folder, repository, cmdstan, papers=("range",)):
    """A working folder with the repository's config and CmdStan."""
    shutil.copytree(repository / "config", folder / "config")
    run = yaml.safe_load((folder / "config" / "config.yaml").read_text(encoding="utf-8"))
    paper = yaml.safe_load((folder / "config" / "papers" / "range.yaml").read_text(encoding="utf-8"))
    write_config(folder, run | {"scale": SCALE, "papers": list(papers)}, paper)
    record = folder / ".cmdstan" / "cmdstan.json"
    record.parent.mkdir()
    record.write_text(json.dumps({"path": str(cmdstan), "version": "as found"}))
    return folder


def short(folder, repository, cmdstan, studies=STUDIES[:1], real=False):
    """A working folder whose whole run is short and has every kind of job; with `real`, also a fit of real data."""
    prepared(folder, repository, cmdstan)
    run, paper = read_config(folder)
    everyone = ["Unweighted", "Weighted", ["averaged", "truncated"]]
    simulation = paper["scenarios"]["simulation"] | {"synthesizers": ["Unweighted", "Weighted", "averaged", "truncated"]}
    scenarios = {"simulation": simulation}
    if real:
        scenarios["fatigue"] = paper["scenarios"]["fatigue"] | {"synthesizers": ["Unweighted"]}
    table = {"scenario": "simulation", "statistics": ["mean"], "synthesizers": ["Data", *everyone], "subject": "Means"}
    kept = {key: paper[key] for key in ("id", "title", "authors", "sweeps", "synthesizers")}
    shown = {"figures": {number: paper["figures"][number] for number in (1, 2)}, "tables": {1: table}}
    write_config(folder, run | {"papers": list(EVERY_KIND)}, kept | {"scenarios": scenarios} | shown)
    path = folder / "config" / "papers" / "zcdp.yaml"
    paper = yaml.safe_load(path.read_text(encoding="utf-8"))
    kept = {key: paper[key] for key in ("id", "title", "authors", "sweeps", "synthesizers")}
    kept |= {"scenarios": {name: paper["scenarios"][name] for name in studies}, "figures": {2: paper["figures"][2]}}
    path.write_text(yaml.safe_dump(kept, sort_keys=False), encoding="utf-8")
    shutil.rmtree(folder / "config" / "claims", ignore_errors=True)
    (folder / "config" / "claims").mkdir()
    (folder / "config" / "claims" / "range.yaml").write_text(yaml.safe_dump({"claims": [CLAIM]}), encoding="utf-8")
    return folder


def write_config(folder, run=None, paper=None):
    for values, name in ((run, "config.yaml"), (paper, "papers/range.yaml")):
        if values is not None:
            (folder / "config" / name).write_text(yaml.safe_dump(values, sort_keys=False), encoding="utf-8")


def read_config(folder):
    return [
        yaml.safe_load((folder / "config" / name).read_text(encoding="utf-8")) for name in ("config.yaml", "papers/range.yaml")
    ]


def write_paper(folder, paper, kept):
    """Write the range paper after some of its figures were removed; of its claims, those for which `kept` returns True."""
    paper["telling"] = [number for number in paper["telling"] if int(number) in paper["figures"]]
    write_config(folder, paper=paper)
    file = folder / "config" / "claims" / "range.yaml"
    claims = yaml.safe_load(file.read_text(encoding="utf-8"))["claims"]
    file.write_text(yaml.safe_dump({"claims": list(filter(kept, claims))}), encoding="utf-8")


def with_programs(folder, made):
    """Spare a folder the compilers: it gets the programs of one in which everything has been made."""
    for program in shutil.copytree(made / "results" / "stan", folder / "results" / "stan").iterdir():
        program.touch()  # made after CmdStan was found
    return folder


def command(folder, *arguments, snakefile):
    return [sys.executable, "-m", "snakemake", "--snakefile", str(snakefile), "--directory", str(folder), *map(str, arguments)]


def environment(**changes):
    """The environment of a run: this Python first in the path, and one thread for each job."""
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ.get("PATH", "")])
    variables = os.environ | {"PATH": path, "OMP_NUM_THREADS": "1"} | changes
    return {key: value for key, value in variables.items() if value is not None}


def start(folder, *arguments, snakefile, **changes):
    """Start a run in a process group of its own; what it prints is added to ``run.log`` in the folder."""
    with open(folder / "run.log", "ab") as log:
        return subprocess.Popen(
            command(folder, *arguments, snakefile=snakefile),
            stdout=log, stderr=subprocess.STDOUT, env=environment(**changes), start_new_session=True,
        )  # fmt: skip


def kill(process):
    """End a run and all its jobs without a chance to clean up."""
    os.killpg(process.pid, signal.SIGKILL)
    process.wait()


def files(folder):
    return sorted(path for path in folder.rglob("*") if path.is_file())


def hidden(path, folder):
    return any(part.startswith(".") for part in path.relative_to(folder).parts)


def left_over(folder):
    """Hidden files among the results and figures, without the seals of existing files."""
    made = [path for kind in ("results", "figures") for path in files(folder / kind)]
    seals = {path.with_name(f".{path.name}.sha256") for path in made}
    lists = {folder / "results" / SCALE / "report" / ".files"}  # what the next report may remove
    return [path for path in made if path not in seals | lists and hidden(path, folder)]


def results(folder):
    """Content of every result and figure, by path, without programs and the report, which has the time in it."""
    made = [path for kind in (f"results/{SCALE}", f"figures/{SCALE}") for path in files(folder / kind)]
    return {
        str(path.relative_to(folder)): content(path) for path in made if not hidden(path, folder) and "report" not in path.parts
    }


def content(path):
    """The bytes of a file, apart from the seconds that fits took."""
    if path.suffix == ".npz":
        with np.load(path) as arrays:
            made = {name: (arrays[name].dtype.str, arrays[name].tobytes()) for name in arrays.files if name != REST}
            rest = [json.loads(values) for values in arrays[REST]] if REST in arrays.files else []
        for values in rest:
            values["diagnostics"].pop("seconds", None)
        return {**made, REST: rest}
    if path.name.endswith("replicates.csv"):
        return pd.read_csv(path, dtype=str, keep_default_na=False).drop(columns="seconds").to_csv(index=False).encode()
    return path.read_bytes()
