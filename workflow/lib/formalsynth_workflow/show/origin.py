"""Origin of a figure or table: what is needed to make it again, in its caption and in the metadata of drawings."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from formalsynth_workflow.show.figure import FigureDisplay
from formalsynth_workflow.show.table import TableDisplay


@dataclass(frozen=True)
class Origin:
    """Software, seed, configuration and command that make the files of one figure or table."""

    title: str
    software: str
    """Name, version and commit."""
    words: str
    """One sentence with everything."""

    @classmethod
    def of(cls, run: Mapping[str, str], display: FigureDisplay | TableDisplay, path: str) -> Origin:
        """Return the origin of a figure or table.

        Args:
            run: description of the run by :meth:`formalsynth_workflow.plan.jobs.PaperJobs.origin`.
            display: the figure or table.
            path: path of one of its files, relative to the working folder.
        """
        subject = display.figure.subject if isinstance(display, FigureDisplay) else ""
        words = (
            f"Made by {run['software']} with root seed {run['seed']} from {display.NAME.lower()} {display.number} in the config "
            f"of {display.paper} (sha256 {run['config']}) at scale {display.scale}: snakemake --cores 1 {path}{run['options']}"
        )
        return cls(f"{display.NAME} {display.number} of {display.paper}. {subject}".strip(), run["software"], words)

    def metadata(self, suffix: str) -> dict[str, str | None]:
        """Return the metadata of a drawing in matplotlib's terms; without the time, so the bytes are the same in each run.

        Args:
            suffix: end of the file's name, such as ``.png``.
        """
        if suffix == ".png":
            return {"Title": self.title, "Software": self.software, "Description": self.words}
        if suffix == ".svg":
            return {"Title": self.title, "Creator": self.software, "Description": self.words, "Date": None}
        return {"Title": self.title, "Creator": self.software, "Subject": self.words, "CreationDate": None, "Producer": None}


UNKNOWN = Origin("", "formalsynth", "")
"""Origin of a drawing made outside the workflow."""
