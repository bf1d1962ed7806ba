# Load the package, and check that the config file can be read. Snakemake reads it next, but silently uses the last of two equal
# keys, and rarely names the file in its errors.
import sys
from pathlib import Path

from snakemake.exceptions import WorkflowError

# The package is in the workflow's folder and need not be installed; jobs find it the same way.
HOME = Path(workflow.current_basedir.get_path_or_uri(secret_free=True)).resolve().parents[1]
LIBRARY = str(HOME / "workflow" / "lib")
if LIBRARY not in sys.path:
    sys.path.insert(0, LIBRARY)
# The papers in the working folder, or if it has none, those supplied with the workflow.
CONFIG = (Path() if Path("config", "papers").is_dir() else HOME).absolute() / "config"

LACKING = "The package cannot be loaded ({}): is memory limited (ulimit -v), or the number of open files (ulimit -n)?"
MISSING = "The Python package {} is missing. Run `make setup` and use .venv/bin/snakemake, or `pip install -e . -e workflow` in your own environment."

try:
    from formalsynth_workflow.jobs.begin import add_to_python_path

    add_to_python_path(LIBRARY)
    from formalsynth_workflow.plan.jobs import Jobs, code_of, join_names
    from formalsynth_workflow.plan.load import read_plan
    from formalsynth.settings.messages import ConfigError, blame_command_line
    from formalsynth_workflow.plan.paper import figure_file
    from formalsynth.settings.yaml_file import load_yaml
    from formalsynth_workflow.report.closing import closing
    from formalsynth_workflow.report.describe import describe
    from formalsynth_workflow.jobs.benchmarks import about
    from formalsynth.runtime.files import check_filled, check_folder
    from formalsynth_workflow.jobs.locked import other_versions
    from formalsynth.runtime.private import private_folder
    from formalsynth_workflow.jobs.slurm import NoStatusError, check_status, watch_status
    from formalsynth_workflow.jobs.sources import code_digest
    from formalsynth.stan.compile import MAIN
except ModuleNotFoundError as error:
    raise WorkflowError(MISSING.format(error.name))
except (ImportError, MemoryError, OSError) as error:
    raise WorkflowError(LACKING.format(error))

try:
    if (CONFIG / "config.yaml").exists():
        load_yaml(CONFIG / "config.yaml")
except ConfigError as error:
    raise WorkflowError(str(error))
