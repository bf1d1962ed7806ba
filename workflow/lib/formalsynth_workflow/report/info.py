"""Input of the report from the plan: everything on its pages except the results of the run."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from formalsynth.core.model import JobInput
from formalsynth.core.synthesizer import SamplerSettings
from formalsynth_workflow.ledger.errata import Erratum


class SizeInfo(JobInput):
    """Size of the run relative to the papers' own sizes."""

    replicates: int | None
    """Largest number of replicates; None for the papers' own numbers."""
    shrink: float
    """Divisor of simulated sample sizes."""
    judged: bool
    """True if the ledger judges claims at this scale."""


class FileInfo(JobInput):
    """A real data file that the papers use."""

    file: str
    source: str
    """Place where it is published."""
    available: bool


class DisplayInfo(JobInput):
    """Description of a figure or table."""

    ledger_name: str
    """Name in the ledger, such as ``figure 2``."""
    file: str
    """Folder and file name, without the extension."""
    subject: str
    stand_in: bool
    """True if it shows stand-in data."""
    columns: tuple[str, ...]
    """Columns that it shows, by their names in :data:`formalsynth.core.words.METRICS`."""
    guarantees: tuple[str, ...]
    """Kinds of guarantee of its privacy numbers; empty if it shows no such numbers."""
    confidential: Literal["", "statistics", "records"] = ""
    """Content from unpublished data files: statistics, records (or a number for each record), or none."""
    published: tuple[str, ...] = ()
    """Published data files whose records it shows in the role of confidential data."""
    kind: str = ""
    """Kind in config."""
    same_as: str = ""
    """Number of the figure that it repeats; empty if it repeats none."""
    alt: str = ""
    """Alternative text of a figure, for readers who cannot see it."""
    headings: dict[str, str] = Field(default_factory=dict)
    """Name of each statistic of a table in plain words."""

    @property
    def number(self) -> str:
        """Printed number."""
        return self.ledger_name.split()[1]


class PaperInfo(JobInput):
    """A paper of the run."""

    key: str
    title: str
    authors: str
    source: str = ""
    """Address of the paper, and words about what is there; empty if its config has none."""
    scenarios: tuple[str, ...]
    """Ids of the scenarios that were run."""
    confidential: tuple[str, ...] = ()
    """Unpublished data files of the paper."""
    confidential_claims: tuple[str, ...] = ()
    """Ids of the claims about unpublished data files."""
    mechanisms: dict[str, tuple[str, ...]] = Field(default_factory=dict)
    """Mechanisms that a claim is about, by its id."""
    left_out: tuple[str, ...]
    """Figures and tables whose data are missing, such as ``figure 4``."""
    skipped: tuple[str, ...]
    """Sentences about parts that are left out because their data are missing."""
    warnings: tuple[str, ...]
    """Warnings about data files that may differ from those used in the paper."""
    question: str = ""
    """Question that the paper answers; empty if its config has none."""
    answer: tuple[str, ...] = ()
    """Ids of the claims that answer the question."""
    seen: dict[str, tuple[str, ...]] = Field(default_factory=dict)
    """Ids of the claims at the start of a figure's caption, by number, for figures without claims of their own."""
    questions: dict[str, tuple[str, ...]] = Field(default_factory=dict)
    """Further questions of readers, each with the claims, figures and tables that answer it."""
    figures: tuple[DisplayInfo, ...]
    tables: tuple[DisplayInfo, ...]

    @property
    def shown(self) -> tuple[DisplayInfo, ...]:
        """Figures and tables of the paper."""
        return (*self.figures, *self.tables)

    def asked(self, what: str) -> str:
        """List the questions that a claim, figure or table answers."""
        questions = {self.question: self.answer} | self.questions
        return " ".join(text for text, names in questions.items() if what in names)


class RunInfo(JobInput):
    """Description of a run."""

    scale: str
    size: SizeInfo
    root_seed: int
    sampler: SamplerSettings
    data: tuple[FileInfo, ...]
    skipped: tuple[str, ...]
    """Sentences about parts that are left out because their data are missing."""
    warnings: tuple[str, ...]
    """Warnings about data files that may differ from those used in the papers."""
    papers: tuple[PaperInfo, ...]
    errata: tuple[Erratum, ...]
    """Errors in the printed papers of the run."""

    @property
    def confidential(self) -> tuple[str, ...]:
        """Unpublished data files of the run."""
        return tuple(dict.fromkeys(file for paper in self.papers for file in paper.confidential))

    @property
    def confidential_claims(self) -> frozenset[str]:
        """Ids of the claims about unpublished data files."""
        return frozenset(id for paper in self.papers for id in paper.confidential_claims)

    @property
    def mechanisms(self) -> dict[str, tuple[str, ...]]:
        """Mechanisms that claims are about, by the claim's id."""
        return {id: names for paper in self.papers for id, names in paper.mechanisms.items()}
