"""Time to read a plan: every job of a cluster reads it again."""

import subprocess
import sys

HEAVY = (
    "arviz_stats",
    "cmdstanpy",
    "matplotlib",
    "pandas",
    "scipy.optimize",
    "scipy.stats",
    "sklearn",
    "urllib.request",
)
READ = f"""
import sys
from pathlib import Path
from formalsynth_workflow.plan.load import read_plan
from formalsynth.settings.yaml_file import load_yaml
config = Path(sys.argv[1])
plan = read_plan(load_yaml(config / "config.yaml") | {{"data_folder": sys.argv[2]}}, config)
assert len(plan.papers) > 1
print(*sorted(set({HEAVY}) & set(sys.modules)))
"""


def test_a_plan_is_read_without_what_only_jobs_need(repository, tmp_path):
    command = [sys.executable, "-c", READ, str(repository / "config"), str(tmp_path)]
    run = subprocess.run(command, capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stderr
    assert run.stdout.split() == []
