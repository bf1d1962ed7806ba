"""Types of columns in metadata of other programs, for the draft of a schema: SDV's JSON, and synthpop's codebook as CSV.

Both programs detect bounds and categories in the data. So none of these are read: they are left open, to be declared.
"""

from __future__ import annotations

import csv
import json
from collections.abc import Mapping
from pathlib import Path

from formalsynth.core.text import DataError
from formalsynth.settings.messages import ConfigError
from formalsynth.settings.yaml_file import check_size

SDV = {"numerical": "number", "categorical": "category", "boolean": "category", "datetime": "date", "id": "suppressed"}
SYNTHPOP = {
    "numeric": "number", "integer": "whole", "factor": "category", "ordered": "category", "character": "category",
    "logical": "category", "Date": "date",
}  # fmt: skip
"""Types of columns, by their name in each format."""


def read_types(path: Path) -> Mapping[str, str]:
    """Read the type of each column: number, whole, category, date or suppressed.

    Raises:
        DataError: the file is missing, or in neither format.
    """
    try:
        text = check_size(path).read_text(encoding="utf-8-sig")
        return _of_sdv(json.loads(text)) if path.suffix == ".json" else _of_synthpop(text)
    except ConfigError as error:
        raise DataError(str(error)) from error
    except (OSError, ValueError, TypeError, KeyError, AttributeError, RecursionError, csv.Error):
        what = "metadata of SDV (JSON) or a codebook of synthpop (CSV with variable and class)"
        raise DataError(f"{path}: cannot be read as {what}, of one table") from None  # the error may quote a confidential file


def _of_sdv(tree: Mapping[str, Mapping[str, Mapping[str, Mapping[str, Mapping[str, str]]]]]) -> dict[str, str]:
    (table,) = tree["tables"].values()
    types = {}
    for name, column in table["columns"].items():
        whole = str(column.get("computer_representation", "")).startswith(("Int", "UInt"))
        types[str(name)] = "whole" if whole else SDV.get(column["sdtype"], "suppressed")  # names, addresses and others
    return types


def _of_synthpop(text: str) -> dict[str, str]:
    return {row["variable"]: SYNTHPOP[row["class"].split()[0]] for row in csv.DictReader(text.splitlines())}
