"""The plain side of the design: what a job is told, without anything that config needs to be checked or expanded."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace
from typing import Any

DATA = "Data"
"""Name and label of the confidential data where they stand beside synthesizers."""
PRIOR = "Prior"
"""Name and label of the prior where its draws stand beside posterior draws."""
STUDY = "study"
"""What stands for the fits of a scenario that a study runs."""


@dataclass(frozen=True)
class Synthesizer:
    """One synthesizer with all its parameters."""

    id: str
    mechanism: str
    parameters: dict[str, float]
    parents: list[str]
    fit: str
    """Id of the synthesizer whose fit it uses: its own id unless it shares one."""
    search: dict[str, Any] | None = None
    """Fields of :class:`SearchConfig`, or None."""

    words: list[int] = field(default_factory=list)
    """Integer words of its random streams."""


@dataclass(frozen=True)
class Look:
    """How a synthesizer is shown; apart from the synthesizer, so that a new colour or label refits nothing."""

    label: str
    colour: str


@dataclass(frozen=True)
class Scenario:
    """One data set design at one sample size."""

    paper: str
    paper_id: int
    id: str
    name: str
    number: int
    """Integer id of its random streams."""
    place: str
    label: str
    family: str
    program: str
    """Name of the family's Stan program; empty for a study."""
    priors: dict[str, float]
    population: dict[str, Any] | None
    file: dict[str, Any] | None
    stand_in: bool
    """Whether simulated data take the place of an absent file."""
    study: dict[str, Any] | None
    """Name and settings of the study that runs its replicates; None for those with fits."""
    unit: float
    n: int
    size: int
    """Sample size in config, before the scale shrinks it."""
    replicates: int
    batch_size: int
    """Replicates that one job handles."""
    synthetic_sets: int
    synthesizers: dict[str, Synthesizer] = field(repr=False)

    def fits(self) -> list[str]:
        """Ids of the synthesizers with a fit of their own; a study counts as one."""
        if self.study:
            return [STUDY]
        return [one.id for one in self.synthesizers.values() if one.fit == one.id]

    def members(self, fit: str) -> list[Synthesizer]:
        """Synthesizers that share a fit, its owner first."""
        sharing = [one for one in self.synthesizers.values() if one.fit == fit]
        return sorted(sharing, key=lambda one: one.id != fit)

    def ancestors(self, fit: str, members: bool = True) -> list[str]:
        """Ids of the fits whose results a fit needs, with or without what those that share it need."""
        chosen = self.members(fit) if members else [self.synthesizers[fit]]
        parents = [parent for one in chosen for parent in one.parents]
        return list(dict.fromkeys(self.synthesizers[parent].fit for parent in parents))

    def plain(self, fit: str | None = None, sets: bool = False, everything: bool = False, members: bool = True) -> dict[str, Any]:
        """Plain types for one job, with no more than it depends on: what is left out here reruns nothing.

        Args:
            fit: the job's fit; with it, the synthesizers that share it and those they build on are kept.
            members: whether the job looks at those that share the fit, or only at its owner.
            sets: whether the job draws synthetic data sets.
            everything: whether the job depends on every synthesizer.
        """
        needed: list[str] = list(self.synthesizers) if everything else []
        if fit:
            chosen = [one.id for one in self.members(fit)] if members else [fit]
            parents = [parent for id in chosen for parent in self.synthesizers[id].parents]
            fits = [self.synthesizers[parent].fit for parent in parents]
            needed = [id for id in self.synthesizers if id in (*chosen, *parents, *fits)]
        kept = {id: self.synthesizers[id] for id in needed}
        sets_kept = self.synthetic_sets if sets else 0
        left_out = {"place": "", "label": "", "size": 0, "replicates": 0, "batch_size": 0}
        return asdict(replace(self, **left_out, synthetic_sets=sets_kept, synthesizers=kept))

    @staticmethod
    def from_plain(values: Mapping[str, Any]) -> Scenario:
        """The inverse of :meth:`plain`."""
        synthesizers = {key: Synthesizer(**one) for key, one in values["synthesizers"].items()}
        return Scenario(**{**values, "synthesizers": synthesizers})


@dataclass(frozen=True)
class Display:
    """What one figure or table shows, in plain types: everything that its job depends on."""

    paper: str
    number: str
    scale: str
    authors: str
    source: str
    """Which collected table it reads."""
    entry: dict[str, Any]
    """The figure's or table's entry in the paper's config."""
    ids: list[str]
    """Synthesizers from left to right."""
    looks: dict[str, dict[str, str]]
    """Label, colour and kind of guarantee of each of them."""
    panels: list[dict[str, Any]]
    """Frames: their title, the ids they show, and epsilon where the frame stands for one."""
    at: dict[str, Any]
    """Which point of its line a synthesizer is, where x is a result."""
    scenarios: list[dict[str, Any]]
    """The scenarios it reads, by sample size."""

    def plain(self) -> dict[str, Any]:
        """Plain types, for passing to a job."""
        return asdict(self)
