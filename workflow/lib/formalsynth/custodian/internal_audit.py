"""The audit of the internal report: what a row of the file costs under each candidate, at least, and which rows cost most."""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from formalsynth.audit.audit import ConfidentialRow, audit
from formalsynth.audit.neighbours import joined
from formalsynth.audit.replay import Replay
from formalsynth.audit.sampled import LARGEST_SEED, SampledPosteriors
from formalsynth.core.arrays import Records
from formalsynth.core.family import FAMILIES
from formalsynth.core.job import AuditSearch, SamplerSettings, Synthesizer
from formalsynth.core.mechanism import SENSITIVITY
from formalsynth.custodian.candidates import HISTOGRAM, Candidate, Study, fresh_address, strict_claim
from formalsynth.custodian.records import finished, records_of
from formalsynth.custodian.schema import Column, Declared, Schema
from formalsynth.plan.audits import EXACT
from formalsynth.plan.messages import refusal
from formalsynth.steps.sampling import cmdstan_sampler

if TYPE_CHECKING:
    import pandas as pd

DELTA = 1e-3
"""Delta of the audited epsilon; strict claims are audited at delta 0, since that is what they promise."""
ERRORS = 4.5
"""Standard errors of a sampled loss that are not counted against a strict claim."""
ROUNDING = 1e-6
"""Share of a claim that is rounding."""
LARGEST, LARGEST_SAMPLED = 20_000, 1000
"""Rows above which nothing is audited unless the study says so: with exact posteriors, and with sampled ones."""
KINDS = {"add_remove": ("remove", "add"), "replace": ("replace",)}
"""Kinds of neighbours whose loss counts."""
WORDS = {"remove": "a row is taken out", "add": "a row is added", "replace": "a row is replaced"}


@dataclass(frozen=True)
class Audited:
    """What the audit found of a candidate: confidential."""

    epsilon: float
    """Of all sets together; a lower bound. NaN where there is none."""
    neighbour: str
    """Which neighbour attains it, or why there is none."""
    tried: int = 0
    """Neighbours that were tried."""
    losses: tuple[tuple[int, float], ...] = ()
    """Rows, of those that are used, whose removal costs most, with the epsilon of one set."""
    error: float = 0.0
    """Standard error of epsilon at delta 0, where posteriors are sampled."""

    @property
    def done(self) -> bool:
        """Whether there is a number."""
        return not math.isnan(self.epsilon)

    def refutes(self, claim: float) -> bool:
        """Whether the audit found more than is claimed, beyond its own error."""
        return self.epsilon - ERRORS * self.error > claim * (1 + ROUNDING)


def audit_candidates(
    declared: Declared, study: Study, table: pd.DataFrame, found: Mapping[str, Candidate], executable: Path, sets: int
) -> dict[str, Audited]:
    """Audit the candidates that were fitted, each with all that it builds on.

    Args:
        declared: what is declared of the file.
        study: which synthesizers there are, and how hard to look.
        table: the rows.
        found: the candidates.
        executable: the compiled Stan program of the family.
        sets: how many sets are to be released.

    Returns:
        By id, with a reason where there is no number; empty where the study leaves the audit out.

    Raises:
        ConfigError: the study names a candidate that it does not have.
    """
    wished = study.audit
    if wished is None:
        return {}
    ids = [id for id in wished.synthesizers or found if id not in found or not found[id].reason]
    if unknown := [id for id in ids if id not in found]:
        raise refusal(study.file, "internal_audit.synthesizers", unknown[0], found)
    n, exact = len(table), FAMILIES[study.family].program in EXACT
    largest = wished.largest or (LARGEST if exact else LARGEST_SAMPLED)
    if n > largest:
        sampled = (
            "" if exact else f"the posterior of {study.family} is not known exactly, so that every neighbour has to be sampled; "
        )
        why = f"not audited: {sampled}{n} rows are more than {largest}: internal_audit.largest in study.yaml allows more"
        return {id: Audited(math.nan, why) for id in ids}
    universe = joined(records_of(declared.schema, table), records_of(declared.schema, additions(declared.schema, study)))
    seed, rows = int(np.random.default_rng().integers(LARGEST_SEED)), list[ConfidentialRow]()
    try:
        replay = _replay(declared, study, universe, n, executable, ids)
        for delta, members in _by_delta(declared, replay.synthesizers, ids).items():
            search = AuditSearch(
                deltas=(delta,),
                releases=sets,
                each=wished.each,
                random=wished.random,
                refined=min(wished.refined, wished.each + 5),
            )
            rows += audit(replay, n, members, search, seed)
    except (ValueError, np.linalg.LinAlgError) as error:
        return {id: Audited(math.nan, f"cannot be audited: {error}") for id in ids}
    return {id: _audited([row for row in rows if row.synthesizer == id], declared.schema, sets) for id in ids}


def audit_chosen(
    declared: Declared, study: Study, table: pd.DataFrame, candidate: Candidate, executable: Path, sets: int
) -> Audited | None:
    """The audit of the candidate that is to be released, whichever candidates the internal report audits; None without one."""
    if study.audit is None:
        return None
    alone = replace(study, audit=study.audit.model_copy(update={"synthesizers": None}))
    return audit_candidates(declared, alone, table, {candidate.synthesizer.id: candidate}, executable, sets).get(
        candidate.synthesizer.id
    )


def _by_delta(declared: Declared, synthesizers: Sequence[Synthesizer], ids: Sequence[str]) -> dict[float, list[str]]:
    """Ids by the delta at which they are audited."""
    strict = {one.id for one in synthesizers if strict_claim(one, declared.schema.neighbours) is not None}
    both = {0.0: [id for id in ids if id in strict], DELTA: [id for id in ids if id not in strict]}
    return {delta: members for delta, members in both.items() if members}


def _replay(declared: Declared, study: Study, universe: Records, n: int, executable: Path, ids: Sequence[str]) -> Replay:
    """The study on any data set of the universe, with random numbers that nobody can draw again."""
    family, sampler = FAMILIES[study.family], SamplerSettings()
    sampled = None
    if family.program not in EXACT:
        seed = 1 + int(np.random.default_rng().integers(LARGEST_SEED))
        sampled = SampledPosteriors(family, universe, study.priors, cmdstan_sampler(family, executable, sampler), seed)
    synthesizers = [_as_released(declared.schema, n, synthesizer) for synthesizer in study.chain(ids)]
    return Replay(family, study.priors, universe, synthesizers, fresh_address(n), sampler.draws, sampled)


def _as_released(schema: Schema, n: int, synthesizer: Synthesizer) -> Synthesizer:
    """A histogram with the noise and the number of bins of a release, which depend on what is declared; others as they are."""
    if synthesizer.mechanism != HISTOGRAM:
        return synthesizer
    # the mechanism's own noise is always that for a replaced record
    epsilon = synthesizer.parameters["epsilon"] * SENSITIVITY["replace"] / SENSITIVITY[schema.neighbours]
    bins = synthesizer.parameters.get("bins") or math.isqrt(n)
    return synthesizer.model_copy(update={"parameters": {**synthesizer.parameters, "epsilon": epsilon, "bins": bins}})


def additions(schema: Schema, study: Study) -> pd.DataFrame:
    """Rows to add: outcomes from one declared bound to the other, with predictors in the middle and at each of their ends."""
    import pandas as pd

    assert study.audit is not None
    low, high = schema.target.ends
    between = np.geomspace if low > 0 else np.linspace
    outcomes = np.unique(finished(schema, between(low, high, study.audit.outcomes)))
    values = {name: _values(column) for name, column in schema.predictors.items()}
    middle = {name: each[len(each) // 2] for name, each in values.items()}
    profiles = [middle, {name: each[-1] for name, each in values.items()}, {name: each[0] for name, each in values.items()}]
    profiles += [middle | {name: value} for name, each in values.items() for value in reversed(each)]
    distinct = list({tuple(profile.values()): profile for profile in profiles}.values())[: study.audit.profiles]
    rows = [{schema.outcome: outcome} | profile for profile, outcome in itertools.product(distinct, outcomes)]
    return pd.DataFrame(rows, columns=list(schema.released))


def _values(column: Column) -> list[object]:
    """Values of a predictor: its categories, or both bounds and the middle between them."""
    if column.type == "category":
        return list(column.categories or [])
    low, high = column.ends
    return [low, round((low + high) / 2, column.places), high]


def _audited(rows: Sequence[ConfidentialRow], schema: Schema, sets: int) -> Audited:
    """What the rows of one candidate say."""
    kinds = KINDS[schema.neighbours]
    counted = [row for row in rows if row.neighbour in kinds and row.releases == sets and not math.isnan(row.audited)]
    if not counted:
        return Audited(math.nan, next((row.candidate for row in rows if math.isnan(row.audited)), "no neighbour was found"))
    worst = max(counted, key=lambda row: row.audited)
    tried = {row.neighbour: row.tried for row in rows if row.neighbour in WORDS}
    removed = {
        row.removed + 1: row.audited
        for row in rows
        if row.neighbour == "remove" and row.releases == 1 and row.removed is not None and not math.isnan(row.audited)
    }
    told = f"{WORDS[worst.neighbour]} ({worst.candidate}), {schema.outcome} {worst.value:g}"
    losses = tuple(sorted(removed.items(), key=lambda pair: -pair[1]))
    errors = [row.error for row in rows if row.delta == 0 and row.neighbour == worst.neighbour and math.isfinite(row.error)]
    return Audited(worst.audited, told, sum(tried.values()), losses, sets * max(errors, default=0.0))
