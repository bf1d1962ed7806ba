"""Steps from a confidential file to a release: declarations, checks, plan, budget, release, verification and comparison."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["release"]


def release(frame: pd.DataFrame, schema: Mapping[str, object], study: Path | str, to: Path | str | None = None) -> Path:
    """Release a table from Python, like the command ``formalsynth release``, with the same ledger.

    Args:
        frame: confidential rows.
        schema: keys of ``schema.yaml`` without those of the file's format, and those of ``release.yaml`` under ``release``.
        study: folder of the study, such as ``studies/income``, made if it is missing; the table is in it only until the end.
        to: folder of the release; by default, ``releases`` and the name of the study.

    Returns:
        The folder of the release.

    Raises:
        ConfigError: a declaration is missing or not allowed.
        DataError: the table cannot be used, or the budget is spent.
    """
    from formalsynth.core.progress import tell
    from formalsynth.core.yaml_text import yaml_text
    from formalsynth.runtime.private import forbid_core_dumps, private_folder, write_private
    from formalsynth_release import publish
    from formalsynth_release.ledger import CONFIDENTIAL
    from formalsynth_release.schema import RELEASE, SCHEMA
    from formalsynth_release.study import read_declared

    forbid_core_dumps()
    study = private_folder(Path(study))
    table, to = private_folder(study / CONFIDENTIAL) / "frame.csv", Path(to or Path("releases") / study.name)
    declared = {"file": f"{CONFIDENTIAL}/{table.name}", "rows": len(frame)} | dict(schema)
    write_private(study / RELEASE, yaml_text(declared.pop("release", {}), flow=None))
    write_private(study / SCHEMA, yaml_text(declared, flow=None))
    try:
        write_private(table, frame.to_csv(index=False, lineterminator="\n"))
        for line in publish.release(read_declared(study), to):
            tell(line)
    finally:
        table.unlink(missing_ok=True)
    return to
