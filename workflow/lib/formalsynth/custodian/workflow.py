"""File of a study in the workflow: registered under the study's name, and read according to its schema."""

from __future__ import annotations

from pathlib import Path

from formalsynth.core.arrays import Records
from formalsynth.core.data_files import FILES, Dataset
from formalsynth.custodian.records import records_of
from formalsynth.custodian.rows import usable
from formalsynth.custodian.schema import read_declared

CODE = "records.py"
TEXT = '''"""Reader of the file of this study for the workflow, by schema.yaml in the same folder."""

from formalsynth.custodian.workflow import register

register(__file__, __name__)
'''
"""Code that is written to a study's folder."""


def register(file: str, module: str) -> None:
    """Register the confidential file of the study whose folder contains the given code.

    Args:
        file: path of that code.
        module: its name.
    """
    declared = read_declared(Path(file).parent)

    def read(_: Path) -> Records:
        return records_of(declared.schema, usable(declared).table)

    dataset = Dataset(
        str(declared.csv.resolve()), None, None, "its owner", read, declarations=declared.schema.model_dump_json()
    )  # fmt: skip
    FILES.add(declared.name, dataset, module)
