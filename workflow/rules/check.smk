# What everything needs: the package, and a config file that can be read. Snakemake, which reads it next, would take the last
# of two equal keys and names the file in few of its errors.
from pathlib import Path

from snakemake.exceptions import WorkflowError

try:
    from formalsynth.config import ConfigError, load_yaml
    from formalsynth.design import figure_file, read_plan
    from formalsynth.report import describe
    from formalsynth.sources import PACKAGE, sources
except ModuleNotFoundError as error:
    raise WorkflowError(f"{error}. Run `make setup` and use .venv/bin/snakemake, or `pip install -e .` in your own environment.")

try:
    if Path("config/config.yaml").exists():
        load_yaml(Path("config/config.yaml"))
except ConfigError as error:
    raise WorkflowError(str(error))
