"""Release of a table from Python."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from formalsynth.core.progress import tell
from formalsynth.core.yaml_text import yaml_text
from formalsynth.runtime.private import forbid_core_dumps, private_folder, write_private
from formalsynth_release.ledger import CONFIDENTIAL
from formalsynth_release.publish import release
from formalsynth_release.schema import RELEASE, SCHEMA
from formalsynth_release.study import read_declared

if TYPE_CHECKING:
    import pandas as pd

TABLE = f"{CONFIDENTIAL}/frame.csv"


def release_frame(frame: pd.DataFrame, schema: Mapping[str, object], study: Path, to: Path) -> Path:
    """Release a table; see :func:`formalsynth_release.release`."""
    forbid_core_dumps()
    private_folder(study)
    private_folder(study / CONFIDENTIAL)
    declared = {"file": TABLE, "rows": len(frame)} | {key: value for key, value in schema.items() if key != "release"}
    write_private(study / SCHEMA, yaml_text(declared, flow=None))
    write_private(study / RELEASE, yaml_text(schema.get("release", {}), flow=None))
    try:
        write_private(study / TABLE, frame.to_csv(index=False, lineterminator="\n"))
        for line in release(read_declared(study), to):
            tell(line)
    finally:
        (study / TABLE).unlink(missing_ok=True)
    return to
