"""The audit of one data set: every synthesizer on every neighbour, and the largest losses again with more draws.

What is reported is a lower bound of the epsilon that a mechanism can claim: the largest loss over the neighbours that were tried.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace

import numpy as np

from formalsynth.audit.attack import ERROR_RATES, Attack
from formalsynth.audit.direct import attack_counts, direct_losses
from formalsynth.audit.losses import Loss, Losses
from formalsynth.audit.neighbours import Neighbour, added, removed, replaced, same, to_remove
from formalsynth.audit.release import attack
from formalsynth.audit.replay import Outcome, Replay
from formalsynth.core.arrays import Array
from formalsynth.core.job import AuditSearch, Kind, Synthesizer
from formalsynth.core.mechanism import MECHANISMS, Neighbours
from formalsynth.core.rows import Row
from formalsynth.runtime.progress import in_turn, tell

KINDS: tuple[Kind, ...] = ("remove", "add", "replace")
RELATIONS: Mapping[Kind, Neighbours] = {"remove": "add_remove", "add": "add_remove", "replace": "replace"}
"""Neighbour relation of each kind; the same data have none."""
NONE = float("nan")


@dataclass(frozen=True)
class AuditRow:
    """The loss of one synthesizer on one neighbour at one delta."""

    synthesizer: str
    neighbour: Kind
    candidate: str
    """Why the neighbour was tried; behind it, how many neighbours of its kind were left out, or why there is no finite loss."""
    value: float
    """Outcome of the record that is added, else of the one that is removed; NaN for the same data. On the rows of an attack,
    those with the candidate :data:`formalsynth.audit.attack.ERROR_RATES`, the share of false positives."""
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
    """Monte Carlo standard error of ``audited``; on the rows of an attack the share of false negatives."""
    worst: bool
    """Whether it is the worst of its kind."""
    claimed: float
    """Claim of a strict mechanism for this kind of neighbour, of others twice the Lipschitz bound on D; NaN without a claim."""
    claimed_larger: float
    """The larger of the claims on D and on D'."""
    attacked: float
    """What an attack on one synthetic data set shows of it: a lower bound with 95 % confidence. NaN where none was run."""
    weight: float
    """Mean weight on D; NaN for a direct release."""

    def row(self) -> Row:
        """As a row of a table."""
        return {field.name: getattr(self, field.name) for field in fields(AuditRow)}


@dataclass(frozen=True)
class Found(AuditRow):
    """A row with what is told to the owner of the data alone."""

    removed: int | None = None
    """Position of the record that D' lacks."""
    tried: int = 0
    """Neighbours of the kind that were tried."""


def audit(replay: Replay, n: int, audited: Sequence[str], settings: AuditSearch, seed: int) -> list[Found]:
    """Audit synthesizers on one data set.

    A synthesizer that has no outcome on D, and a neighbour on which it has none, are left out; the rows say so and why.

    Args:
        replay: the replicate; the first n records of its universe are D, the others are the ones to add.
        n: records of D.
        audited: ids of the synthesizers to audit.
        settings: how hard to look.
        seed: of the removals at random, and of the attack.

    Returns:
        A row for each synthesizer, refined neighbour, delta and number of releases.
    """
    direct = {each.id: each for each in replay.synthesizers if MECHANISMS[each.mechanism].releases}
    found = _Audit(replay, n, settings, seed).rows([id for id in audited if id not in direct])
    for id in audited:
        if id in direct:
            try:
                found[id] = _direct_rows(direct[id], replay, n, settings, seed)
            except ValueError as error:
                found[id] = [_left_out(id, "same", f"left out: {error}")]
    return [row for id in audited for row in found[id]]


@dataclass
class _Looked:
    """A first look at the neighbours of one synthesizer."""

    ranked: dict[Kind, list[tuple[float, Neighbour]]] = field(default_factory=lambda: {kind: [] for kind in KINDS})
    """With their mean losses; the largest first, when they are sorted."""
    left_out: dict[Kind, list[str]] = field(default_factory=lambda: {kind: [] for kind in KINDS})
    """Why there is no outcome on some."""

    def worst(self, kind: Kind, most: int = 1) -> list[Neighbour]:
        """The worst neighbours of a kind."""
        ranked = sorted(self.ranked[kind], key=lambda pair: -pair[0])
        return [neighbour for _, neighbour in ranked[:most]]

    def worst_pair(self) -> tuple[int, int] | None:
        """Positions of the worst record to remove and the worst one to add."""
        remove = [each.removed for each in self.worst("remove")]
        add = [each.added for each in self.worst("add")]
        return (remove[0], add[0]) if remove and add and remove[0] is not None and add[0] is not None else None

    def note(self, kind: Kind) -> str:
        """What to say of those that were left out."""
        left_out = self.left_out[kind]
        return f"; {len(left_out)} left out: {left_out[0]}" if left_out else ""


class _Audit:
    """The audit of one data set."""

    def __init__(self, replay: Replay, n: int, settings: AuditSearch, seed: int) -> None:
        self._replay, self._n, self._settings, self._seed = replay, n, settings, seed
        self._data = np.arange(n)
        self._kinds = tuple(kind for kind in KINDS if kind in settings.kinds)

    def rows(self, audited: Sequence[str]) -> dict[str, list[Found]]:
        """The rows of each synthesizer."""
        if not self._settings.refined:
            return {id: [] for id in audited}
        failed: dict[str, str] = {}
        tell("Auditing: candidates on the data themselves")
        self._base = self._replay.run(self._data, bounds=True, only=audited, failed=failed)
        ids = [id for id in audited if id in self._base]
        looked = self._look(ids) if ids else {}
        there = self._refined(looked)
        streams = [
            self._replay.run(self._data, stream=stream, only=ids, failed={})
            for stream in range(1, max("same" in self._settings.kinds, self._settings.streams) + 1)
        ]
        found = {id: [_left_out(id, "same", f"left out: {failed[id]}")] for id in audited if id in failed}
        synthesizers = {each.id: each for each in self._replay.synthesizers}
        for id in ids:
            others = [each[id] for each in streams if id in each]
            report = _Report(synthesizers[id], self._base[id], self._n, self._replay, self._settings, others, self._seed)
            near = {kind: self._near(id, kind, looked, there) for kind in self._kinds}
            found[id] = report.floor() if "same" in self._settings.kinds else []
            found[id] += report.worst(near, looked[id])
        return found

    def _near(
        self, id: str, kind: Kind, looked: dict[str, _Looked], there: dict[tuple[str, Neighbour], Outcome]
    ) -> list[tuple[Neighbour, Outcome]]:
        """The worst neighbours of one kind that a synthesizer has an outcome on."""
        return [(each, there[id, each]) for each in looked[id].worst(kind, self._settings.refined) if (id, each) in there]

    def _look(self, ids: Sequence[str]) -> dict[str, _Looked]:
        """A first look at every neighbour, and then at the replacements that the worst ones make."""
        records = self._replay.universe.take(self._data)
        generator = np.random.default_rng(self._seed)
        each, random, wanted = self._settings.each, self._settings.random, self._settings.kinds
        neighbours: list[Neighbour] = []
        if self._n > 1 and {"remove", "replace"} & set(wanted):
            chosen = to_remove(self._replay.family, records, {id: self._base[id] for id in ids}, each, random, generator)
            neighbours += removed(self._n, chosen)
        if {"add", "replace"} & set(wanted):
            neighbours += added(self._n, len(self._replay.universe))
        looked = {id: _Looked() for id in ids}
        known = self._replay.known(self._base, self._n)
        for neighbour in in_turn(neighbours, "Auditing: a first look at neighbour"):
            self._try(neighbour, looked, known)
        pairs: dict[tuple[int, int], dict[str, _Looked]] = {}
        for id in ids if "replace" in wanted else []:
            if (pair := looked[id].worst_pair()) is not None:
                pairs.setdefault(pair, {})[id] = looked[id]
            else:
                looked[id].left_out["replace"].append("no record could be removed, or none added")
        for (remove, add), theirs in in_turn(list(pairs.items()), "Auditing: a first look at replacement"):
            self._try(replaced(self._n, remove, add), theirs, known)
        return looked

    def _try(self, neighbour: Neighbour, looked: dict[str, _Looked], known: dict[str, Array]) -> None:
        failed: dict[str, str] = {}
        there = self._replay.run(neighbour.index, only=list(looked), known=known, near=self._base, failed=failed)
        for id, found in looked.items():
            if id in failed:
                found.left_out[neighbour.kind].append(failed[id])
                continue
            try:
                loss = self._replay.divergence(self._base[id], there[id])
            except (ValueError, np.linalg.LinAlgError):
                loss = math.inf
            found.ranked[neighbour.kind].append((math.inf if math.isnan(loss) else loss, neighbour))

    def _refined(self, looked: dict[str, _Looked]) -> dict[tuple[str, Neighbour], Outcome]:
        """The outcomes, with bounds, on the worst neighbours of each synthesizer and kind."""
        wanted: dict[Neighbour, list[str]] = {}
        for id, each in looked.items():
            for kind in self._kinds:
                for neighbour in each.worst(kind, self._settings.refined):
                    wanted.setdefault(neighbour, []).append(id)
        found = {}
        for neighbour, ids in in_turn(list(wanted.items()), "Auditing: in full, neighbour"):
            failed: dict[str, str] = {}
            there = self._replay.run(neighbour.index, bounds=True, only=ids, failed=failed)
            for id in ids:
                if id in there:
                    found[id, neighbour] = there[id]
                else:
                    looked[id].left_out[neighbour.kind].append(failed[id])
        return found


@dataclass(frozen=True)
class _Full:
    """A neighbour with its loss in full."""

    neighbour: Neighbour
    outcome: Outcome
    losses: Loss
    claimed_larger: float
    note: str = ""
    attacked: float = NONE
    tried: int = 1


@dataclass(frozen=True)
class _Report:
    """Rows of one synthesizer."""

    synthesizer: Synthesizer
    base: Outcome
    n: int
    replay: Replay
    settings: AuditSearch
    streams: Sequence[Outcome]
    """The synthesizer on D with other random numbers."""
    seed: int

    @property
    def id(self) -> str:
        """Id of the synthesizer."""
        return self.synthesizer.id

    def floor(self) -> list[Found]:
        """Between two runs on D with other seeds; the claim stays that of the first."""
        if not self.streams:
            return [_left_out(self.id, "same", "left out: no outcome with other seeds")]
        return self._rows(self._full(same(self.n), self.streams[0], self._claimed("same", self.base)), False, (1,))

    def worst(self, near: Mapping[Kind, Sequence[tuple[Neighbour, Outcome]]], looked: _Looked) -> list[Found]:
        """Rows of the worst neighbours of each kind, for several releases too; the worst one that joins or leaves is attacked."""
        full = {kind: self._ranked(pairs, len(looked.ranked[kind])) for kind, pairs in near.items()}
        delta = self.settings.deltas[0]
        leading = [ranked[0] for kind, ranked in full.items() if ranked and kind != "replace"]
        victim = max(leading, key=lambda each: each.losses.epsilon(delta), default=None)
        rows: list[Found] = []
        for kind, ranked in full.items():
            note = looked.note(kind)
            if not ranked:
                rows.append(_left_out(self.id, kind, f"none{note}"))
                continue
            attacked = self._attack(ranked[0]) if ranked[0] is victim else None
            first = replace(ranked[0], note=ranked[0].note + note, attacked=attacked.epsilon if attacked else NONE)
            rows += self._rows(first, True, (1, self.settings.releases))
            rows += self._error_rates(first, attacked) if attacked else []
            for each in ranked[1:]:
                rows += self._rows(each, False, (1,))
            rows += self._mixed(first)
        return rows

    def _ranked(self, near: Sequence[tuple[Neighbour, Outcome]], tried: int) -> list[_Full]:
        """Neighbours of one kind with their losses, the worst first."""
        full = [
            replace(self._full(each, there, max(self._claimed(each.kind, side) for side in (self.base, there))), tried=tried)
            for each, there in near
        ]
        return sorted(full, key=lambda each: -each.losses.epsilon(self.settings.deltas[0]))

    def _error_rates(self, full: _Full, attacked: Attack) -> list[Found]:
        """A row for each threshold of the attack."""
        row = self._rows(full, False, (1,))[0]
        return [
            replace(row, candidate=ERROR_RATES, value=float(positive), error=float(negative), attacked=NONE)
            for positive, negative in attacked.errors
        ]

    def _mixed(self, first: _Full) -> list[Found]:
        """Rows for an attacker who is not told the random numbers behind the weights, where there are any."""
        streams = len(self.streams)
        if streams < 2 or np.array_equal(self.base.weights, self.streams[0].weights):
            return []
        theirs = []
        for stream in range(1, streams + 1):
            found = self.replay.run(first.neighbour.index, stream, only=[self.id], failed={})
            theirs += [found[self.id]] if self.id in found else []
        losses = self.replay.losses(self.streams, theirs)
        return self._rows(replace(first, losses=losses, attacked=NONE), True, (1,), streams)

    def _full(self, neighbour: Neighbour, there: Outcome, claimed_larger: float) -> _Full:
        try:
            losses = self.replay.losses([self.base], [there])
            return _Full(neighbour, there, losses, claimed_larger, losses.note)
        except (ValueError, np.linalg.LinAlgError) as error:
            return _Full(neighbour, there, Losses.apart(), claimed_larger, f"; taken as infinite: {error}")

    def _attack(self, full: _Full) -> Attack | None:
        runs, sides = self.settings.attack, (self.base, full.outcome)
        if not runs:
            return None
        return attack(self.replay, self.n, self.id, full.neighbour, runs, self.settings.deltas[0], self.seed, outcomes=sides)

    def _rows(self, full: _Full, worst: bool, releases: Sequence[int], streams: int = 1) -> list[Found]:
        """A row for each delta, and at the first one for each number of releases."""
        neighbour, losses = full.neighbour, full.losses
        value, rows = neighbour.value(self.replay.universe), []
        for delta, m, attackable in _asked(self.settings, releases):
            forward, backward = losses.epsilons(delta, m)
            rows.append(
                Found(
                    self.id, neighbour.kind, neighbour.candidate + full.note, value, delta, m, streams,
                    max(forward, backward), forward, backward, losses.error(delta) if m == 1 else NONE, worst,
                    self._claimed(neighbour.kind, self.base), full.claimed_larger, full.attacked if attackable else NONE,
                    float(self.base.weights[: self.n].mean()), neighbour.removed, full.tried,
                )
            )  # fmt: skip
        return rows

    def _claimed(self, kind: Kind, outcome: Outcome) -> float:
        return claim(self.synthesizer, kind, outcome)


def claim(synthesizer: Synthesizer, kind: Kind, outcome: Outcome | None = None) -> float:
    """Claimed epsilon for a kind of neighbour; NaN without a claim.

    Args:
        synthesizer: a strict one claims its parameter, whatever its bounds on these data.
        kind: of the neighbour; for the same data the claim is that of the relation that the kind of guarantee names.
        outcome: its outcome, with the bounds from which others claim.
    """
    mechanism = MECHANISMS[synthesizer.mechanism]
    if mechanism.strict:
        strict = mechanism.claim(synthesizer.parameters, RELATIONS.get(kind))
        return NONE if strict is None else strict
    return NONE if outcome is None or outcome.bounds is None else outcome.bounds.epsilon


def _asked(settings: AuditSearch, releases: Sequence[int]) -> Iterator[tuple[float, int, bool]]:
    """Every delta with the releases that are reported at it: several at the first alone, where one release is also attacked."""
    for place, delta in enumerate(settings.deltas):
        for m in dict.fromkeys(releases) if place == 0 else (1,):
            yield delta, m, (delta, m) == (settings.deltas[0], 1)


def _left_out(id: str, kind: Kind, why: str) -> Found:
    """A row without numbers."""
    return Found(id, kind, why, NONE, NONE, 1, 1, NONE, NONE, NONE, NONE, False, NONE, NONE, NONE, NONE)


def _direct_rows(synthesizer: Synthesizer, replay: Replay, n: int, settings: AuditSearch, seed: int) -> list[Found]:
    """Rows of a direct release. It has no floor, and m synthetic data sets of one release cost what one costs."""
    rows = []
    for loss in direct_losses(replay, synthesizer, n):
        kind, attacked = loss.neighbour.kind, NONE
        if kind not in settings.kinds:
            continue
        claimed = claim(synthesizer, kind)
        if settings.attack and kind != "replace" and 0 < loss.epsilon(0) < math.inf:
            attacked = attack_counts(loss, n, settings.attack, settings.deltas[0], seed).epsilon
        candidate = loss.neighbour.candidate + ("; taken as infinite: another number of bins" if loss.more is None else "")
        for delta, m, attackable in _asked(settings, (1, settings.releases)):
            epsilon = loss.epsilon(delta)
            rows.append(
                Found(
                    synthesizer.id, kind, candidate, loss.neighbour.value(replay.universe), delta, m, 1, epsilon,
                    epsilon, epsilon, 0.0, True, claimed, claimed, attacked if attackable else NONE, NONE,
                    loss.neighbour.removed, loss.tried,
                )
            )  # fmt: skip
    return rows
