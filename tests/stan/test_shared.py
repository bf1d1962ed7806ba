"""One CmdStan for all users of a machine: another one who may read it and not write to it compiles and samples with it."""

import json
import os
import subprocess
import sys

import pytest

READER = """
import os, sys, tempfile
from pathlib import Path
from landlock import FSAccess, Ruleset

home, cmdstan, program = map(Path, sys.argv[1:])
tempfile.tempdir = str(home)
reading = FSAccess.EXECUTE | FSAccess.READ_FILE | FSAccess.READ_DIR
rules = Ruleset()
rules.allow("/", rules=reading)
rules.allow(str(home))
rules.allow(os.devnull, rules=FSAccess.READ_FILE | FSAccess.WRITE_FILE)
rules.apply()
try:
    (cmdstan / "written").touch()
except PermissionError:
    from formalsynth.stan.compile import build
    from formalsynth.stan.install import ensure

    assert ensure(home / ".cmdstan") == cmdstan
    build(program, home / program.stem, cmdstan)
    print("compiled")
"""


@pytest.mark.slow
@pytest.mark.stan
@pytest.mark.skipif(sys.platform != "linux", reason="Landlock is of Linux")
def test_a_user_who_cannot_write_to_cmdstan_compiles_with_it(tmp_path, cmdstan, repository):
    cache = {"HOME": str(tmp_path), "XDG_CACHE_HOME": str(tmp_path / "cache"), "TMPDIR": str(tmp_path), "CMDSTAN": str(cmdstan)}
    command = [sys.executable, "-c", READER, str(tmp_path), str(cmdstan), str(repository / "stan" / "poisson.stan")]
    ran = subprocess.run(command, env=os.environ | cache, capture_output=True, text=True, check=False, timeout=1800)
    assert ran.stdout == "compiled\n", ran.stderr
    data, output = tmp_path / "data.json", tmp_path / "output.csv"
    sums = {"weight_total": 50, "weighted_sum": 5000, "prior_shape": 1, "prior_rate": 1}
    uncensored = {"n": 0, "terms": [], "group": [], "threshold": 0}
    no_ranges = {"m": 0, "low": [], "high": [], "at": [], "times": []}
    data.write_text(json.dumps(sums | uncensored | no_ranges))
    words = ["sample", "num_samples=10", "num_warmup=10", "data", f"file={data}", "output", f"file={output}"]
    sampled = subprocess.run([str(tmp_path / "poisson"), *words], capture_output=True, text=True, check=False, timeout=600)
    assert sampled.returncode == 0, sampled.stdout + sampled.stderr
    assert len([line for line in output.read_text().splitlines() if line[0] != "#"]) == 11
