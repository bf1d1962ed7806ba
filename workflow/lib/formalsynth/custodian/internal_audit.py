"""Audit of the internal report: for each candidate, a lower bound on the privacy loss of a row, and the rows that lose most."""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from formalsynth.audit.audit import ConfidentialRow, audit
from formalsynth.audit.replay import Replay
from formalsynth.audit.sampled import LARGEST_SEED, SampledPosteriors
from formalsynth.core.arrays import Records, joined
from formalsynth.core.family import FAMILIES
from formalsynth.core.job import AuditSearch, SamplerSettings, Synthesizer
from formalsynth.core.mechanism import SENSITIVITY
from formalsynth.core.rows import RELATIONS
from formalsynth.custodian.candidates import HISTOGRAM, Candidate, StudySetup, fresh_address, strict_claim
from formalsynth.custodian.guarantees import DELTA
from formalsynth.custodian.records import finished, records_of
from formalsynth.custodian.schema import Column, Declared, Schema
from formalsynth.plan.audits import EXACT
from formalsynth.settings.messages import refusal
from formalsynth.steps.sampling import cmdstan_sampler

if TYPE_CHECKING:
    import pandas as pd

ERRORS = 4.5
"""Tolerance of a strict claim, in standard errors of a sampled loss."""
ROUNDING = 1e-6
"""Tolerance for rounding, as a share of the claim."""
LARGEST, LARGEST_SAMPLED = 20_000, 1000
"""Default of the largest number of rows that are audited, with exact posteriors and with sampled ones."""
WORDS = {"remove": "a row is taken out", "add": "a row is added", "replace": "a row is replaced"}


@dataclass(frozen=True)
class AuditResult:
    """Result of the audit of a candidate; confidential."""

    epsilon: float
    """Lower bound on epsilon for all sets together; NaN if there is none."""
    neighbour: str
    """Neighbour that attains it, or the reason for NaN."""
    tried: int = 0
    """Number of neighbours that were tried."""
    losses: tuple[tuple[int, float], ...] = ()
    """Used rows whose removal shows most, each with the audited epsilon of one set."""
    error: float = 0.0
    """Standard error of epsilon at delta 0, where posteriors are sampled."""

    @property
    def done(self) -> bool:
        """True if there is an audited epsilon."""
        return not math.isnan(self.epsilon)

    def refutes(self, claim: float) -> bool:
        """Return True if the audited epsilon exceeds the claim by more than its own error."""
        return self.epsilon - ERRORS * self.error > claim * (1 + ROUNDING)


def audit_candidates(
    declared: Declared, study: StudySetup, table: pd.DataFrame, candidates: Mapping[str, Candidate], executable: Path, sets: int
) -> dict[str, AuditResult]:
    """Audit the fitted candidates, each with all that it builds on.

    Args:
        declared: declarations of the file.
        study: synthesizers, and settings of the audit.
        table: rows of the file.
        candidates: fitted candidates by id.
        executable: compiled Stan program of the family.
        sets: number of sets of the release.

    Returns:
        Results by id, with a reason instead of a missing number; empty if the study has no audit.

    Raises:
        ConfigError: the audit section of the study names an unknown candidate.
    """
    wished = study.audit
    if wished is None:
        return {}
    ids = [id for id in wished.synthesizers or candidates if id not in candidates or not candidates[id].reason]
    if unknown := [id for id in ids if id not in candidates]:
        raise refusal(study.file, "internal_audit.synthesizers", unknown[0], candidates)
    n, exact = len(table), FAMILIES[study.family].program in EXACT
    largest = wished.largest or (LARGEST if exact else LARGEST_SAMPLED)
    if n > largest:
        sampled = "" if exact else f"the posterior of {study.family} is not known exactly, so every neighbour has to be sampled; "
        why = f"not audited: {sampled}{n} rows are more than {largest}: internal_audit.largest in study.yaml allows more"
        return {id: AuditResult(math.nan, why) for id in ids}
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
        return {id: AuditResult(math.nan, f"cannot be audited: {error}") for id in ids}
    return {id: _audited([row for row in rows if row.synthesizer == id], declared.schema, sets) for id in ids}


def audit_chosen(
    declared: Declared, study: StudySetup, table: pd.DataFrame, candidate: Candidate, executable: Path, sets: int
) -> AuditResult | None:
    """Audit the candidate of the release, even if the internal report leaves it out; None if the study has no audit."""
    if study.audit is None:
        return None
    alone = replace(study, audit=study.audit.model_copy(update={"synthesizers": None}))
    return audit_candidates(declared, alone, table, {candidate.synthesizer.id: candidate}, executable, sets).get(
        candidate.synthesizer.id
    )


def _by_delta(declared: Declared, synthesizers: Sequence[Synthesizer], ids: Sequence[str]) -> dict[float, list[str]]:
    """Group the ids of candidates by the delta of their audit."""
    strict = {synthesizer.id for synthesizer in synthesizers if strict_claim(synthesizer, declared.schema.neighbours) is not None}
    both = {0.0: [id for id in ids if id in strict], DELTA: [id for id in ids if id not in strict]}
    return {delta: members for delta, members in both.items() if members}


def _replay(declared: Declared, study: StudySetup, universe: Records, n: int, executable: Path, ids: Sequence[str]) -> Replay:
    """Prepare the study for any data set of the universe, with random numbers that no one can reproduce."""
    family, sampler = FAMILIES[study.family], SamplerSettings()
    sampled = None
    if family.program not in EXACT:
        seed = 1 + int(np.random.default_rng().integers(LARGEST_SEED))
        sampled = SampledPosteriors(family, universe, study.priors, cmdstan_sampler(family, executable, sampler), seed)
    synthesizers = [_as_released(declared.schema, n, synthesizer) for synthesizer in study.chain(ids)]
    return Replay(family, study.priors, universe, synthesizers, fresh_address(n), sampler.draws, sampled)


def _as_released(schema: Schema, n: int, synthesizer: Synthesizer) -> Synthesizer:
    """Give a histogram the noise and number of bins of a release, which depend on declarations; return others unchanged."""
    if synthesizer.mechanism != HISTOGRAM:
        return synthesizer
    # the mechanism's own noise is always that for a replaced record
    epsilon = synthesizer.parameters["epsilon"] * SENSITIVITY["replace"] / SENSITIVITY[schema.neighbours]
    bins = synthesizer.parameters.get("bins") or math.isqrt(n)
    return synthesizer.model_copy(update={"parameters": {**synthesizer.parameters, "epsilon": epsilon, "bins": bins}})


def additions(schema: Schema, study: StudySetup) -> pd.DataFrame:
    """Make up rows to add: outcomes from one declared bound to the other, with predictors in the middle and at their ends."""
    import pandas as pd

    assert study.audit is not None
    low, high = schema.target.ends
    between = np.geomspace if low > 0 else np.linspace
    outcomes = np.unique(finished(schema, between(low, high, study.audit.outcomes)))
    values = {name: _values(column) for name, column in schema.predictors.items()}
    middle = {name: options[len(options) // 2] for name, options in values.items()}
    profiles = [
        middle,
        {name: options[-1] for name, options in values.items()},
        {name: options[0] for name, options in values.items()},
    ]
    profiles += [middle | {name: value} for name, options in values.items() for value in reversed(options)]
    distinct = list({tuple(profile.values()): profile for profile in profiles}.values())[: study.audit.profiles]
    rows = [{schema.outcome: outcome} | profile for profile, outcome in itertools.product(distinct, outcomes)]
    return pd.DataFrame(rows, columns=list(schema.released))


def _values(column: Column) -> list[object]:
    """List values of a predictor: its categories, or both bounds and the middle between them."""
    if column.type == "category":
        return list(column.categories or [])
    low, high = column.ends
    return [low, round((low + high) / 2, column.places), high]


def _audited(rows: Sequence[ConfidentialRow], schema: Schema, sets: int) -> AuditResult:
    """Summarize the audit of one candidate."""
    kinds = [kind for kind, relation in RELATIONS.items() if relation == schema.neighbours]
    counted = [row for row in rows if row.neighbour in kinds and row.releases == sets and not math.isnan(row.audited)]
    if not counted:
        return AuditResult(math.nan, next((row.candidate for row in rows if math.isnan(row.audited)), "no neighbour was found"))
    worst = max(counted, key=lambda row: row.audited)
    tried = {row.neighbour: row.tried for row in rows if row.neighbour in WORDS}
    removed = {
        row.removed + 1: row.audited
        for row in rows
        if row.neighbour == "remove" and row.releases == 1 and row.removed is not None and not math.isnan(row.audited)
    }
    neighbour = f"{WORDS[worst.neighbour]} ({worst.candidate}), {schema.outcome} {worst.value:g}"
    losses = tuple(sorted(removed.items(), key=lambda pair: -pair[1]))
    errors = [row.error for row in rows if row.delta == 0 and row.neighbour == worst.neighbour and math.isfinite(row.error)]
    return AuditResult(worst.audited, neighbour, sum(tried.values()), losses, sets * max(errors, default=0.0))
