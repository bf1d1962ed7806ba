"""The package where nobody installed it: jobs find it as the workflow did, beside its rules."""

from __future__ import annotations

import os


def tell_jobs(folder: str) -> None:
    """Have the programs that this process starts look for packages in a folder first."""
    others = [other for other in os.environ.get("PYTHONPATH", "").split(os.pathsep) if other and other != folder]
    os.environ["PYTHONPATH"] = os.pathsep.join([folder, *others])
