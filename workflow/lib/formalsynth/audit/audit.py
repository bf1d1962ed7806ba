"""Audit of one data set: a quick estimate for every synthesizer and neighbour, then a full computation of the largest losses.

The result is a lower bound of the epsilon that a mechanism can claim: the largest loss over the neighbours that were tried.

Both data sets use the same random numbers, an idea also of Cebere et al. 2026 (arXiv:2602.17454).
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from formalsynth.audit.attack import ERROR_RATES, Attack
from formalsynth.audit.direct import DirectLoss, attack_counts, direct_losses
from formalsynth.audit.losses import Loss, Losses
from formalsynth.audit.neighbours import Neighbour, added, moved, removed, replaced, same, to_remove
from formalsynth.audit.posterior_attack import attack_posterior
from formalsynth.audit.replay import Outcome, Replay
from formalsynth.core.arrays import Array
from formalsynth.core.mechanism import MECHANISMS
from formalsynth.core.progress import in_turn, tell
from formalsynth.core.rows import LOSSES, RELATIONS, AuditRow
from formalsynth.core.synthesizer import AuditSearch, Kind, Synthesizer

NONE = float("nan")


def audit(replay: Replay, n: int, audited: Sequence[str], settings: AuditSearch, seed: int) -> list[AuditRow]:
    """Audit synthesizers on one data set.

    A synthesizer without an outcome on D is left out, and so is a neighbour without an outcome; the rows give the reason.

    Args:
        replay: the replicate; the first n records of its universe are D, the others are candidates for addition, and last n
            copies of D for each multiple in ``settings.moves``.
        n: number of records of D.
        audited: ids of the synthesizers to audit.
        settings: extent of the search.
        seed: seed of the random removals and of the attack.

    Returns:
        A row for each synthesizer, refined neighbour, delta and number of releases.
    """
    direct = {synthesizer.id: synthesizer for synthesizer in replay.synthesizers if MECHANISMS[synthesizer.mechanism].releases}
    rows = _Audit(replay, n, settings, seed).rows([id for id in audited if id not in direct])
    for id in audited:
        if id in direct:
            try:
                rows[id] = _direct_rows(direct[id], replay, n, settings, seed)
            except ValueError as error:
                rows[id] = [_left_out(id, "same", f"left out: {error}")]
    return [row for id in audited for row in rows[id]]


@dataclass
class _Ranking:
    """Neighbours of one synthesizer, ranked by a fast estimate of their loss."""

    ranked: dict[Kind, list[tuple[float, Neighbour]]] = field(default_factory=lambda: {kind: [] for kind in LOSSES})
    """Pairs of mean loss and neighbour, by kind, in no particular order."""
    left_out: dict[Kind, list[str]] = field(default_factory=lambda: {kind: [] for kind in LOSSES})
    """Reasons for missing outcomes, by kind."""

    def worst(self, kind: Kind, most: int = 1) -> list[Neighbour]:
        """Worst neighbours of a kind, worst first."""
        ranked = sorted(self.ranked[kind], key=lambda pair: -pair[0])
        return [neighbour for _, neighbour in ranked[:most]]

    def worst_pair(self) -> tuple[int, int] | None:
        """Positions of the worst record to remove and the worst one to add."""
        remove = [neighbour.removed for neighbour in self.worst("remove")]
        add = [neighbour.added for neighbour in self.worst("add")]
        return (remove[0], add[0]) if remove and add and remove[0] is not None and add[0] is not None else None

    def note(self, kind: Kind) -> str:
        """Note on the neighbours that were left out; empty if there are none."""
        left_out = self.left_out[kind]
        return f"; {len(left_out)} left out: {left_out[0]}" if left_out else ""


class _Audit:
    """Audit of one data set, for synthesizers with a posterior."""

    def __init__(self, replay: Replay, n: int, settings: AuditSearch, seed: int) -> None:
        self._replay, self._n, self._settings, self._seed = replay, n, settings, seed
        self._data = np.arange(n)
        self._kinds = tuple(kind for kind in LOSSES if kind in settings.kinds)

    def rows(self, audited: Sequence[str]) -> dict[str, list[AuditRow]]:
        """Audit each synthesizer; return its rows."""
        if not self._settings.refined:
            return {id: [] for id in audited}
        failed: dict[str, str] = {}
        tell("Auditing: candidates on the data themselves")
        self._base = self._replay.outcomes_on(self._data, bounds=True, only=audited, failed=failed)
        ids = [id for id in audited if id in self._base]
        rankings = self._rank_neighbours(ids) if ids else {}
        refined = self._refine(rankings)
        streams = [
            self._replay.outcomes_on(self._data, stream=stream, only=ids, failed={})
            for stream in range(1, max("same" in self._settings.kinds, self._settings.streams) + 1)
        ]
        rows = {id: [_left_out(id, "same", f"left out: {failed[id]}")] for id in audited if id in failed}
        synthesizers = {synthesizer.id: synthesizer for synthesizer in self._replay.synthesizers}
        for id in ids:
            others = [outcomes[id] for outcomes in streams if id in outcomes]
            report = _Report(synthesizers[id], self._base[id], self._n, self._replay, self._settings, others, self._seed)
            by_kind = {kind: self._refined_neighbours(id, kind, rankings, refined) for kind in self._kinds}
            rows[id] = report.floor() if "same" in self._settings.kinds else []
            rows[id] += report.worst(by_kind, rankings[id])
        return rows

    def _refined_neighbours(
        self, id: str, kind: Kind, rankings: dict[str, _Ranking], refined: dict[tuple[str, Neighbour], Outcome]
    ) -> list[tuple[Neighbour, Outcome]]:
        """Worst neighbours of one kind for which a synthesizer has an outcome, with these outcomes."""
        worst = rankings[id].worst(kind, self._settings.refined)
        return [(neighbour, refined[id, neighbour]) for neighbour in worst if (id, neighbour) in refined]

    def _rank_neighbours(self, ids: Sequence[str]) -> dict[str, _Ranking]:
        """Rank every neighbour, then the replacements that combine the worst removal and the worst addition."""
        records = self._replay.universe.take(self._data)
        generator = np.random.default_rng(self._seed)
        per_reason, random, wanted = self._settings.each, self._settings.random, self._settings.kinds
        neighbours: list[Neighbour] = []
        size = len(self._replay.universe)
        first_move = size - self._n * len(self._settings.moves)
        if self._n > 1 and {"remove", "replace", "move"} & set(wanted):
            outcomes = {id: self._base[id] for id in ids}
            chosen = to_remove(self._replay.family, records, outcomes, per_reason, random, generator)
            neighbours += removed(self._n, chosen) if {"remove", "replace"} & set(wanted) else []
            neighbours += moved(self._n, first_move, size, chosen) if "move" in wanted else []
        if {"add", "replace"} & set(wanted):
            neighbours += added(self._n, first_move)
        rankings = {id: _Ranking() for id in ids}
        known = self._replay.known(self._base, self._n)
        for neighbour in in_turn(neighbours, "Auditing: a first look at neighbour"):
            self._rank_neighbour(neighbour, rankings, known)
        pairs: dict[tuple[int, int], dict[str, _Ranking]] = {}
        for id in ids if "replace" in wanted else []:
            if (pair := rankings[id].worst_pair()) is not None:
                pairs.setdefault(pair, {})[id] = rankings[id]
            else:
                rankings[id].left_out["replace"].append("no record could be removed, or none could be added")
        for (remove, add), affected in in_turn(list(pairs.items()), "Auditing: a first look at replacement"):
            self._rank_neighbour(replaced(self._n, remove, add), affected, known)
        return rankings

    def _rank_neighbour(self, neighbour: Neighbour, rankings: dict[str, _Ranking], known: dict[str, Array]) -> None:
        failed: dict[str, str] = {}
        outcomes = self._replay.outcomes_on(neighbour.index, only=list(rankings), known=known, near=self._base, failed=failed)
        for id, ranking in rankings.items():
            if id in failed:
                ranking.left_out[neighbour.kind].append(failed[id])
                continue
            try:
                loss = self._replay.divergence(self._base[id], outcomes[id])
            except (ValueError, np.linalg.LinAlgError):
                loss = math.inf
            ranking.ranked[neighbour.kind].append((math.inf if math.isnan(loss) else loss, neighbour))

    def _refine(self, rankings: dict[str, _Ranking]) -> dict[tuple[str, Neighbour], Outcome]:
        """Outcomes, with bounds, on the worst neighbours of each synthesizer and kind."""
        wanted: dict[Neighbour, list[str]] = {}
        for id, ranking in rankings.items():
            for kind in self._kinds:
                for neighbour in ranking.worst(kind, self._settings.refined):
                    wanted.setdefault(neighbour, []).append(id)
        refined = {}
        for neighbour, ids in in_turn(list(wanted.items()), "Auditing: full computation, neighbour"):
            failed: dict[str, str] = {}
            outcomes = self._replay.outcomes_on(neighbour.index, bounds=True, only=ids, failed=failed)
            for id in ids:
                if id in outcomes:
                    refined[id, neighbour] = outcomes[id]
                else:
                    rankings[id].left_out[neighbour.kind].append(failed[id])
        return refined


@dataclass(frozen=True)
class _Refined:
    """Neighbour with its full loss distribution."""

    neighbour: Neighbour
    outcome: Outcome
    losses: Loss
    claimed_larger: float
    note: str = ""
    attacked: float = NONE
    oscillation: float = NONE
    held: float = NONE


@dataclass(frozen=True)
class _Report:
    """Report rows of one synthesizer."""

    synthesizer: Synthesizer
    base: Outcome
    n: int
    replay: Replay
    settings: AuditSearch
    streams: Sequence[Outcome]
    """Outcomes of the synthesizer on D, obtained with other random numbers."""
    seed: int

    @property
    def id(self) -> str:
        """Identifier of the synthesizer."""
        return self.synthesizer.id

    def floor(self) -> list[AuditRow]:
        """Rows that compare two runs on D with different seeds; the claim is that of the first run."""
        if not self.streams:
            return [_left_out(self.id, "same", "left out: no outcome with other seeds")]
        return self._rows(self._full(same(self.n), self.streams[0], self._claimed("same", self.base)), False, (1,))

    def worst(self, by_kind: Mapping[Kind, Sequence[tuple[Neighbour, Outcome]]], ranking: _Ranking) -> list[AuditRow]:
        """Rows of the worst neighbours of each kind, also for several releases; also attacks the worst addition or removal."""
        full = {kind: self._sorted(pairs) for kind, pairs in by_kind.items()}
        delta = self.settings.deltas[0]
        leading = [ranked[0] for kind, ranked in full.items() if ranked and kind not in ("replace", "move")]
        victim = max(leading, key=lambda refined: refined.losses.epsilon(delta), default=None)
        rows: list[AuditRow] = []
        for kind, ranked in full.items():
            note = ranking.note(kind)
            if not ranked:
                rows.append(_left_out(self.id, kind, f"none{note}"))
                continue
            attacked = self._attack(ranked[0]) if ranked[0] is victim else None
            first = replace(ranked[0], note=ranked[0].note + note, attacked=attacked.epsilon if attacked else NONE)
            rows += self._rows(first, True, (1, self.settings.releases))
            rows += self._error_rates(first, attacked) if attacked else []
            for refined in ranked[1:]:
                rows += self._rows(refined, False, (1,))
            rows += self._mixed(first)
        return rows

    def _sorted(self, pairs: Sequence[tuple[Neighbour, Outcome]]) -> list[_Refined]:
        """Neighbours of one kind with their losses, worst first."""
        full = []
        for neighbour, outcome in pairs:
            claimed_larger = max(self._claimed(neighbour.kind, side) for side in (self.base, outcome))
            full.append(self._full(neighbour, outcome, claimed_larger))
        return sorted(full, key=lambda refined: -refined.losses.epsilon(self.settings.deltas[0]))

    def _error_rates(self, full: _Refined, attacked: Attack) -> list[AuditRow]:
        """Rows for the thresholds of the attack."""
        row = self._rows(full, False, (1,))[0]
        return [
            replace(row, candidate=ERROR_RATES, value=float(positive), error=float(negative), attacked=NONE)
            for positive, negative in attacked.errors
        ]

    def _mixed(self, first: _Refined) -> list[AuditRow]:
        """Rows for an attacker who does not know the random numbers of the weights; none if the weights are not random."""
        streams = len(self.streams)
        if streams < 2 or np.array_equal(self.base.weights, self.streams[0].weights):
            return []
        others = []
        for stream in range(1, streams + 1):
            outcomes = self.replay.outcomes_on(first.neighbour.index, stream, only=[self.id], failed={})
            others += [outcomes[self.id]] if self.id in outcomes else []
        losses = self.replay.losses(self.streams, others)
        return self._rows(replace(first, losses=losses, attacked=NONE), True, (1,), streams)

    def _full(self, neighbour: Neighbour, outcome: Outcome, claimed_larger: float) -> _Refined:
        try:
            losses = self.replay.losses([self.base], [outcome])
            oscillation = self.replay.oscillation(self.base, outcome)
            held = self._held(neighbour)
            return _Refined(neighbour, outcome, losses, claimed_larger, losses.note, oscillation=oscillation, held=held)
        except (ValueError, np.linalg.LinAlgError) as error:
            return _Refined(neighbour, outcome, Losses.disjoint(), claimed_larger, f"; taken as infinite: {error}")

    def _held(self, neighbour: Neighbour) -> float:
        """Audited epsilon at the first delta if a moved record keeps its weight, like all others; NaN for other neighbours."""
        left, entered = neighbour.removed, neighbour.added
        if neighbour.kind != "move" or left is None or entered is None:
            return NONE
        weights = self.base.weights.copy()
        weights[entered], weights[left] = weights[left], 0.0
        held = self.replay.fixed(self.base, weights, self.base.sensitive.threshold)
        return self.replay.losses([self.base], [held]).epsilon(self.settings.deltas[0])

    def _attack(self, full: _Refined) -> Attack | None:
        runs, sides = self.settings.attack, (self.base, full.outcome)
        if not runs:
            return None
        return attack_posterior(self.replay, self.n, full.neighbour, sides, runs, self.settings.deltas[0], self.seed)

    def _rows(self, full: _Refined, worst: bool, releases: Sequence[int], streams: int = 1) -> list[AuditRow]:
        """Rows for each delta, and at the first delta for each number of releases."""
        neighbour, losses = full.neighbour, full.losses
        value, rows = neighbour.value(self.replay.universe), []
        for delta, m, attackable in _asked(self.settings, releases):
            forward, backward = losses.epsilons(delta, m)
            rows.append(
                AuditRow(
                    self.id, neighbour.kind, neighbour.candidate + full.note, value, delta, m, streams,
                    max(forward, backward), forward, backward, losses.error(delta) if m == 1 else NONE, worst,
                    self._claimed(neighbour.kind, self.base), full.claimed_larger, full.attacked if attackable else NONE,
                    float(self.base.weights[: self.n].mean()), full.oscillation, full.held,
                )
            )  # fmt: skip
        return rows

    def _claimed(self, kind: Kind, outcome: Outcome) -> float:
        return claim(self.synthesizer, kind, outcome)


def claim(synthesizer: Synthesizer, kind: Kind, outcome: Outcome | None = None) -> float:
    """Claimed epsilon for a kind of neighbour; NaN if nothing is claimed.

    Args:
        synthesizer: the synthesizer; a strict one claims its parameter, whatever its bounds on these data.
        kind: kind of the neighbour; for ``same``, the claim is the one for the relation named in the guarantee.
        outcome: outcome with the bounds that determine the claim of other synthesizers.
    """
    mechanism = MECHANISMS[synthesizer.mechanism]
    if mechanism.strict:
        strict = mechanism.claim(synthesizer.parameters, RELATIONS.get(kind))
        return NONE if strict is None else strict
    return NONE if outcome is None or outcome.bounds is None else outcome.bounds.epsilon


def _asked(settings: AuditSearch, releases: Sequence[int]) -> Iterator[tuple[float, int, bool]]:
    """Yield delta, number of releases, and whether the attack applies; several releases at the first delta only."""
    for place, delta in enumerate(settings.deltas):
        for m in dict.fromkeys(releases) if place == 0 else (1,):
            yield delta, m, (delta, m) == (settings.deltas[0], 1)


def _left_out(id: str, kind: Kind, why: str) -> AuditRow:
    """Row without numbers, with the reason."""
    return AuditRow(id, kind, why, NONE, NONE, 1, 1, NONE, NONE, NONE, NONE, False, NONE, NONE, NONE, NONE)


def _direct_rows(synthesizer: Synthesizer, replay: Replay, n: int, settings: AuditSearch, seed: int) -> list[AuditRow]:
    """Rows of a direct release. It has no noise floor, and m synthetic data sets of one release have the same loss as one."""
    rows = []
    for loss in direct_losses(replay, synthesizer, n):
        kind, attacked = loss.neighbour.kind, NONE
        if kind not in settings.kinds:
            continue
        claimed = claim(synthesizer, kind)
        if isinstance(loss, DirectLoss) and settings.attack and kind != "replace" and 0 < loss.epsilon(0) < math.inf:
            attacked = attack_counts(loss, n, settings.attack, settings.deltas[0], seed).epsilon
        candidate = loss.neighbour.candidate + ("" if loss.same_outputs else "; taken as infinite: the number of bins differs")
        for delta, m, attackable in _asked(settings, (1, settings.releases)):
            epsilon = loss.epsilon(delta)
            rows.append(
                AuditRow(
                    synthesizer.id, kind, candidate, loss.neighbour.value(replay.universe), delta, m, 1, epsilon,
                    epsilon, epsilon, 0.0, True, claimed, claimed, attacked if attackable else NONE, NONE,
                )
            )  # fmt: skip
    return rows
