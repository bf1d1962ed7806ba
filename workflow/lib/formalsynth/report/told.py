"""What the report is told of the plan: everything that its pages say beside what the run made."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from formalsynth.core.job import SamplerSettings
from formalsynth.core.model import JobInput
from formalsynth.ledger.errata import Erratum


class ToldSize(JobInput):
    """How large the run is, against the papers' own sizes."""

    replicates: int | None
    """Replicates at most; None for the papers' own."""
    shrink: float
    """What simulated sample sizes are divided by."""
    judged: bool
    """Whether the ledger judges claims at this scale."""


class ToldFile(JobInput):
    """A real data file that the papers use."""

    file: str
    source: str
    """Where it is published."""
    found: bool


class ToldShown(JobInput):
    """What a figure and a table have in common."""

    number: str
    """As printed."""
    file: str
    """Folder and file name without its ending."""
    subject: str
    stand_in: bool
    """Whether stand-in data are among what it shows."""
    columns: tuple[str, ...]
    """What it shows, by the names of :data:`formalsynth.core.words.METRICS`."""
    guarantees: tuple[str, ...]
    """Kinds of guarantee behind its numbers; none where it shows no privacy number."""
    confidential: Literal["", "statistics", "records"] = ""
    """What it holds of data files that are not published: statistics, records or a number for each of them, or nothing."""
    published: tuple[str, ...] = ()
    """The published data files whose records it shows as the confidential data of the example."""


class ToldFigure(ToldShown):
    """A figure."""

    same_as: str
    """Number of the figure that it prints again; empty for one of its own."""
    kind: str = ""
    """What is drawn, as config names it."""
    alt: str
    """What is to be seen, for those who cannot see it."""


class ToldTable(ToldShown):
    """A table."""

    headings: dict[str, str]
    """Name of each of its statistics in plain words."""


class ToldPaper(JobInput):
    """A paper of the run."""

    key: str
    title: str
    authors: str
    scenarios: tuple[str, ...]
    """Ids of the scenarios that were run."""
    confidential: tuple[str, ...] = ()
    """Its data files that are not published."""
    confidential_claims: tuple[str, ...] = ()
    """Ids of the claims that speak of them."""
    mechanisms: dict[str, tuple[str, ...]] = Field(default_factory=dict)
    """The mechanisms that a claim speaks of, by its id."""
    left_out: tuple[str, ...]
    """Figures and tables that need data which are absent, as in ``figure 4``."""
    skipped: tuple[str, ...]
    """What is left out because its data are absent, each a sentence."""
    warnings: tuple[str, ...]
    """What speaks against data files being those of the paper, each a sentence."""
    telling: tuple[str, ...] = ()
    """Numbers of the figures that say the most."""
    figures: tuple[ToldFigure, ...]
    tables: tuple[ToldTable, ...]


class ToldRun(JobInput):
    """The whole run."""

    scale: str
    size: ToldSize
    root_seed: int
    sampler: SamplerSettings
    data: tuple[ToldFile, ...]
    skipped: tuple[str, ...]
    """What is left out because its data are absent, each a sentence."""
    warnings: tuple[str, ...]
    """What speaks against data files being those of the papers, each a sentence."""
    papers: tuple[ToldPaper, ...]
    errata: tuple[Erratum, ...]
    """What is printed in these papers and does not hold."""

    @property
    def confidential(self) -> tuple[str, ...]:
        """The data files of the run that are not published."""
        return tuple(dict.fromkeys(file for paper in self.papers for file in paper.confidential))

    @property
    def confidential_claims(self) -> frozenset[str]:
        """Ids of the claims that speak of them."""
        return frozenset(id for paper in self.papers for id in paper.confidential_claims)

    @property
    def mechanisms(self) -> dict[str, tuple[str, ...]]:
        """The mechanisms that claims speak of, by the claim's id."""
        return {id: names for paper in self.papers for id, names in paper.mechanisms.items()}
