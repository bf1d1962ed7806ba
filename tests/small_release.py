"""Releases of made-up incomes and households, computed in this process."""

import incomes
import numpy as np
from households import all_pairs

from formalsynth_release.crossing import CROSSING, DECLARATIONS, declarations_of, text_of
from formalsynth_release.declarations import rows_of
from formalsynth_release.public import fill
from formalsynth_release.publish import crossing_of
from formalsynth_release.rows import clipped, used_rows
from formalsynth_release.schema import ReleaseConfig
from formalsynth_release.study import Schema
from formalsynth_release.tables import measured

COLUMNS = {
    "person": {"type": "category", "release": "suppressed"},
    "income": {"type": "whole", "lower": 1000, "upper": 500_000},
    "age": {"type": "whole", "lower": 18, "upper": 80, "release": "synthesized"},
    "region": {"type": "category", "categories": incomes.REGIONS, "release": "synthesized"},
    "sector": {"type": "category", "categories": incomes.SECTORS, "release": "synthesized"},
}
DATE = "2026-11-22"


def typed(schema, text):
    """Rows of a release from the text of a file without faults."""
    return clipped(schema, used_rows(schema, text)).reset_index(drop=True)


def a_schema(**changes):
    values = {
        "file": "income.csv", "rows": 3000, "source": "people", "protected": "person", "rows_each": 1, "neighbours": "replace",
        "outside_bounds": "clip", "missing": "drop_rows", "zeros": "refuse", "outcome": "income", "columns": COLUMNS,
        "pairs": all_pairs(changes["columns"]) if "columns" in changes else [["age", "income"]],
    }  # fmt: skip
    return Schema.model_validate(values | changes)


def a_config(**changes):
    values = {
        "sets": 2, "rows": 2900, "ceiling": 1, "budget": 3, "title": "Incomes",
        "intended_use": "teaching", "licence": "CC-BY-4.0",
        "curator": {"name": "Office of Examples", "contact": "data@office.example"},
        "analyses": {"replicates": 20},
    }  # fmt: skip
    return ReleaseConfig.model_validate(values | changes)


def typed_incomes(schema=None, seed=1):
    """Typed rows of made-up incomes."""
    return typed(schema or a_schema(), incomes.incomes(seed=seed).replace("", np.nan))


def crossing_folder(folder, schema=None, config=None, table=None, seed=1):
    """Write the crossing of a release to a folder."""
    schema, config = schema or a_schema(), config or a_config()
    table = typed_incomes(schema, seed) if table is None else table
    public = declarations_of("income", schema.public, config)
    crossing = crossing_of(public, rows_of(schema, config, len(table)), measured(schema, table, config.ceiling))
    folder.mkdir(parents=True)
    (folder / CROSSING).write_text(text_of(crossing.model_copy(update={"date": DATE})), encoding="utf-8")
    (folder / DECLARATIONS).write_text(text_of(public), encoding="utf-8")
    return folder


def made(folder, **changes):
    """Make a release in a folder."""
    given = crossing_folder(folder.parent / f"{folder.name} crossing", **changes)
    folder.mkdir()
    fill(given, folder)
    return folder


def made_tables(folder, schema, table, **config):
    """Make a release of some rows."""
    return made(folder, schema=schema, config=a_config(**{"rows": None} | config), table=table)
