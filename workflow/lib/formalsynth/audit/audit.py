"""The audit of one data set: every synthesizer on every neighbour, and the largest losses again with more draws.

What is reported is a lower bound of the epsilon that a mechanism can claim: the largest loss over the neighbours that were tried.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, replace
from functools import cached_property

import numpy as np

from formalsynth.audit.losses import Losses
from formalsynth.audit.neighbours import Kind, Neighbour, added, removed, replaced, same, to_remove
from formalsynth.audit.release import attack
from formalsynth.audit.replay import Outcome, Replay
from formalsynth.core.rows import Row

Tried = dict[Kind, list[tuple[float, Neighbour]]]
"""Neighbours of each kind with their losses, largest first."""


@dataclass(frozen=True)
class AuditSettings:
    """How hard the audit looks."""

    deltas: tuple[float, ...] = (1e-3, 1e-5)
    """The first one ranks the neighbours."""
    releases: int = 5
    """m: the worst neighbours are also reported for so many released draws."""
    each: int = 3
    """Removals for each reason and synthesizer."""
    random: int = 5
    """Removals at random."""
    refined: int = 2
    """Worst neighbours of each kind and synthesizer that are computed again in full."""
    streams: int = 0
    """Streams over which the random weights of the worst neighbour are mixed; 0 leaves that out."""
    attack: int = 0
    """Runs of the attack on the worst addition and the worst removal; 0 leaves it out."""


@dataclass(frozen=True)
class AuditRow:
    """The loss of one synthesizer on one neighbour at one delta."""

    synthesizer: str
    neighbour: Kind
    candidate: str
    """Why the neighbour was tried."""
    value: float
    """Outcome of the record that is added, else of the one that is removed; NaN for the same data."""
    delta: float
    releases: int
    streams: int
    """1 where both runs have the same random numbers, as if they were told; more where the weights' randomness is not told."""
    audited: float
    """The audited epsilon: the larger of both directions."""
    forward: float
    """Under D."""
    backward: float
    """Under D'."""
    error: float
    """Monte Carlo standard error of ``audited``."""
    worst: bool
    """Whether it is the worst of its kind."""
    claimed: float
    """Twice the Lipschitz bound on D."""
    claimed_larger: float
    """The larger of the claims on D and on D'."""
    attacked: float
    """What an attack on one synthetic data set shows of it: a lower bound with 95 % confidence. NaN where none was run."""
    weight: float
    """Mean weight on D."""

    def row(self) -> Row:
        """As a row of a table."""
        return {field.name: getattr(self, field.name) for field in fields(self)}


def audit(replay: Replay, n: int, audited: Sequence[str], settings: AuditSettings, seed: int) -> list[AuditRow]:
    """Audit synthesizers on one data set.

    Args:
        replay: the replicate; the first n records of its universe are D, the others are the ones to add.
        n: records of D.
        audited: ids of the synthesizers to audit.
        settings: how hard to look.
        seed: of the removals at random, and of the attack.

    Returns:
        A row for each synthesizer, refined neighbour, delta and number of releases.
    """
    base = replay.run(np.arange(n), bounds=True)
    records = replay.universe.take(np.arange(n))
    generator = np.random.default_rng(seed)
    chosen = to_remove(replay.family, records, {id: base[id] for id in audited}, settings.each, settings.random, generator)
    neighbours = [*removed(n, chosen), *added(n, len(replay.universe))]
    tried = _tried(replay, base, audited, neighbours, settings.deltas[0])
    pairs = {pair for id in audited if (pair := _worst_pair(tried[id])) is not None}
    changed = [replaced(n, *pair) for pair in sorted(pairs)]
    for id, more in _tried(replay, base, audited, changed, settings.deltas[0]).items():
        tried[id] |= more
    streams = [replay.run(np.arange(n), stream=stream) for stream in range(1, max(1, settings.streams) + 1)]
    rows: list[AuditRow] = []
    for id in audited:
        report = _Report(id, base[id], n, replay, settings, [each[id] for each in streams], seed)
        rows += report.of(report.floor, False, (1,))
        for kind in tried[id]:
            rows += report.worst(tried[id][kind])
    return rows


def _worst_pair(tried: Tried) -> tuple[int, int] | None:
    if not (tried.get("remove") and tried.get("add")):
        return None
    remove, add = tried["remove"][0][1].removed, tried["add"][0][1].added
    return None if remove is None or add is None else (remove, add)


def _tried(
    replay: Replay, base: Mapping[str, Outcome], audited: Sequence[str], neighbours: Sequence[Neighbour], delta: float
) -> dict[str, Tried]:
    """A first look at every neighbour: by synthesizer and kind, the largest loss first."""
    found: dict[str, Tried] = {id: {} for id in audited}
    for neighbour in neighbours:
        there = replay.run(neighbour.index)
        for id in audited:
            loss = replay.losses([base[id]], [there[id]], fine=False).epsilon(delta)
            found[id].setdefault(neighbour.kind, []).append((loss, neighbour))
    for kinds in found.values():
        for ranked in kinds.values():
            ranked.sort(key=lambda pair: -pair[0])
    return found


@dataclass(frozen=True)
class _Full:
    """A neighbour with its loss in full."""

    neighbour: Neighbour
    losses: Losses
    claimed_larger: float
    attacked: float = float("nan")


@dataclass(frozen=True)
class _Report:
    """Rows of one synthesizer."""

    id: str
    base: Outcome
    n: int
    replay: Replay
    settings: AuditSettings
    streams: Sequence[Outcome]
    """The synthesizer on D with other random numbers."""
    seed: int

    @cached_property
    def floor(self) -> _Full:
        """Between two runs on D with other seeds; the claim stays that of the first."""
        return _Full(same(self.n), self.replay.losses([self.base], [self.streams[0]]), self.claimed)

    def worst(self, ranked: Sequence[tuple[float, Neighbour]]) -> list[AuditRow]:
        """Rows of the worst neighbours of one kind, computed in full; the worst of them for several releases and streams too."""
        delta = self.settings.deltas[0]
        full = []
        for _, neighbour in ranked[: self.settings.refined]:
            there = self._there(neighbour, 0)
            full.append(_Full(neighbour, self.replay.losses([self.base], [there]), max(self.claimed, claim(there))))
        full.sort(key=lambda each: -each.losses.epsilon(delta))
        full[:1] = [self._attacked(each) for each in full[:1]]
        rows = []
        for place, each in enumerate(full):
            releases = (1, self.settings.releases) if place == 0 else (1,)
            rows += self.of(each, place == 0, releases)
        if len(self.streams) > 1 and full and self.floor.losses.epsilon(0) > 0:
            theirs = [self._there(full[0].neighbour, stream) for stream in range(1, len(self.streams) + 1)]
            mixed = replace(full[0], losses=self.replay.losses(self.streams, theirs), attacked=float("nan"))
            rows += self.of(mixed, True, (1,), len(self.streams))
        return rows

    def _attacked(self, full: _Full) -> _Full:
        runs, neighbour = self.settings.attack, full.neighbour
        if not runs or neighbour.kind not in ("add", "remove"):
            return full
        found = attack(self.replay, self.n, self.id, neighbour, runs, self.settings.deltas[0], self.seed)
        return replace(full, attacked=found.epsilon)

    def _there(self, neighbour: Neighbour, stream: int) -> Outcome:
        """With the bounds of stream 0, which the claim is made of."""
        return self.replay.run(neighbour.index, stream, bounds=stream == 0, only=self.id)[self.id]

    def of(self, full: _Full, worst: bool, releases: Sequence[int], streams: int = 1) -> list[AuditRow]:
        """A row for each delta and number of releases."""
        neighbour, losses = full.neighbour, full.losses
        position = neighbour.removed if neighbour.added is None else neighbour.added
        value = float("nan") if position is None else float(self.replay.universe.x[position])
        rows = []
        for delta in self.settings.deltas:
            for m in releases:
                forward, backward = losses.forward.epsilon(delta, m), losses.backward.epsilon(delta, m)
                rows.append(
                    AuditRow(
                        self.id, neighbour.kind, neighbour.candidate, value, delta, m, streams, max(forward, backward),
                        forward, backward, losses.error(delta) if m == 1 else float("nan"), worst, self.claimed,
                        full.claimed_larger, full.attacked if (delta, m) == (self.settings.deltas[0], 1) else float("nan"),
                        float(self.base.weights[: self.n].mean()),
                    )
                )  # fmt: skip
        return rows

    @property
    def claimed(self) -> float:
        """Twice the Lipschitz bound on D."""
        return claim(self.base)


def claim(outcome: Outcome) -> float:
    """Twice the Lipschitz bound of an outcome that has bounds, NaN of one without."""
    return float("nan") if outcome.bounds is None else outcome.bounds.epsilon
