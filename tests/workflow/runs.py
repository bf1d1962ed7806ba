"""Real runs of the workflow: folders to run it in, and the command."""

import json
import os
import shutil
import sys
from pathlib import Path

import yaml

SCALE = "smoke"


def prepared(folder, repository, cmdstan):
    """A working folder with the repository's config, the range paper alone and its contraction at two sizes, and CmdStan."""
    shutil.copytree(repository / "config", folder / "config")
    run = yaml.safe_load((folder / "config" / "config.yaml").read_text(encoding="utf-8"))
    paper = yaml.safe_load((folder / "config" / "papers" / "range.yaml").read_text(encoding="utf-8"))
    paper["scenarios"]["contraction"]["n"] = [200, 400]
    write_config(folder, run | {"scale": SCALE, "papers": ["range"]}, paper)
    record = folder / ".cmdstan" / "cmdstan.json"
    record.parent.mkdir()
    record.write_text(json.dumps({"path": str(cmdstan), "version": "as found"}))
    return folder


def write_config(folder, run=None, paper=None):
    for values, name in ((run, "config.yaml"), (paper, "papers/range.yaml")):
        if values is not None:
            (folder / "config" / name).write_text(yaml.safe_dump(values, sort_keys=False), encoding="utf-8")


def read_config(folder):
    return [
        yaml.safe_load((folder / "config" / name).read_text(encoding="utf-8")) for name in ("config.yaml", "papers/range.yaml")
    ]


def command(folder, *arguments, snakefile):
    return [sys.executable, "-m", "snakemake", "--snakefile", str(snakefile), "--directory", str(folder), *map(str, arguments)]


def environment(**changes):
    """The environment of a run: this Python first in the path, and one thread for each job."""
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ.get("PATH", "")])
    found = os.environ | {"PATH": path, "OMP_NUM_THREADS": "1"} | changes
    return {key: value for key, value in found.items() if value is not None}
