"""Steps from a confidential file to a release: declarations, checks, plan, budget, release, verification and comparison."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["release"]


def release(frame: pd.DataFrame, schema: Mapping[str, object], study: Path | str, to: Path | str | None = None) -> Path:
    """Release a table from Python like the command ``formalsynth release``, with the same ledger, and return the folder.

    Args:
        frame: confidential rows.
        schema: keys of ``schema.yaml`` without those of the file's format, and those of ``release.yaml`` under ``release``.
        study: folder of the study, such as ``studies/income``, made if it is missing; the table is in it only until the end.
        to: folder of the release; by default, ``releases`` and the name of the study.

    Raises:
        ConfigError: a declaration is missing or not allowed.
        DataError: the table cannot be used, or the budget is spent.
    """
    from formalsynth_release.publish import release_table

    return release_table(frame, dict(schema), Path(study), Path(to or Path("releases") / Path(study).name))
