"""The synthesizers of a study, fitted to one set of records in memory: nothing that is confidential goes to a file."""

from __future__ import annotations

import secrets
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np

from formalsynth.contract.program import ProgramUse
from formalsynth.core.arrays import Array, Draws, Records
from formalsynth.core.family import FAMILIES, Predictor, StanData, program
from formalsynth.core.job import FitJob, SamplerSettings, ScenarioKey, Synthesizer
from formalsynth.core.mechanism import MECHANISMS, PER_BOUND, STRICT_KINDS, DirectRelease, FitCache, Neighbours
from formalsynth.custodian.records import names_of
from formalsynth.custodian.schema import STUDY, Declared, declarations
from formalsynth.data.files import DataError
from formalsynth.plan.expand import Expanded, expand
from formalsynth.plan.messages import ConfigError, refusal, validated
from formalsynth.plan.model import FileScenario, OwnStan, PaperConfig, find_all
from formalsynth.plan.scenario import Scenario
from formalsynth.plan.studies import ANYWHERE, InternalAudit, load_code
from formalsynth.plan.studies import read_study as read_file
from formalsynth.runtime.progress import in_turn
from formalsynth.steps.batch import FitBatch, Fitted
from formalsynth.steps.data import DataBatch
from formalsynth.steps.fit import fit_batch
from formalsynth.steps.measure import measure_batch
from formalsynth.steps.replicate import context_of, form_of

REPOSITORY = Path(__file__).parents[4]
HISTOGRAM = "perturbed_histogram"
"""The mechanism whose noise a release draws anew."""
MOVE = 1e-10
"""Relative move of a chain's starting point; correlations of 1 stay within Stan's tolerance of 1e-8."""
SENSITIVITY = {"add_remove": 1.0, "replace": 2.0}
"""L1 sensitivity of counts."""


@dataclass(frozen=True)
class Study:
    """What a study compares."""

    file: Path
    family: str
    priors: Mapping[str, float]
    program: Path
    """The Stan program of the family."""
    use: ProgramUse | None
    """How it uses a program of the user's own; None for a family in Python."""
    audit: InternalAudit | None
    """The audit of the internal report; None for none."""
    expanded: Expanded = field(repr=False)

    def ids(self) -> list[str]:
        """Ids of its synthesizers."""
        return list(self.expanded.synthesizers)

    def needed(self, id: str) -> set[str]:
        """A synthesizer with all that it builds on."""
        synthesizer = self.expanded.synthesizers[id]
        below = {*synthesizer.parents, synthesizer.fit} - {id}
        return {id}.union(*(self.needed(other) for other in below))


@dataclass(frozen=True)
class Candidate:
    """A synthesizer that was fitted. All of it but its name, guarantee and parameters is confidential."""

    synthesizer: Synthesizer
    guarantee: str
    reason: str
    """Why it failed; empty where it did not."""
    epsilon: float
    """Claim for one synthetic data set and the declared neighbours; confidential unless it is strict. NaN where it failed."""
    draws: Draws
    predictor: Predictor
    by_record: Array | None
    """(n,) Lipschitz bounds; None for a mechanism without."""
    weights: Array | None
    """(n,) likelihood weights; None for a mechanism without."""

    @property
    def pure(self) -> bool:
        """Whether it claims a declared epsilon for every file."""
        return self.guarantee in STRICT_KINDS

    @property
    def direct(self) -> bool:
        """Whether all its sets come from one noisy table, and not from posterior draws."""
        return self.by_record is None

    def per_release(self, sets: int) -> float:
        """Epsilon of some sets: one noisy table serves them all, posterior draws add up."""
        return self.epsilon if self.direct else self.epsilon * sets


def strict_claim(synthesizer: Synthesizer, neighbours: Neighbours, sets: int = 1) -> float | None:
    """Epsilon of a release that is guaranteed for every file and known before the file is opened; None where there is none."""
    mechanism = MECHANISMS[synthesizer.mechanism]
    if synthesizer.mechanism == HISTOGRAM:  # a release draws its noise for the declared neighbours
        return float(synthesizer.parameters["epsilon"])
    claim = mechanism.claim(synthesizer.parameters, neighbours)
    return None if claim is None else claim * (1 if mechanism.releases else sets)


def read_study(declared: Declared) -> Study:
    """The study in a folder.

    Raises:
        ConfigError: a line for each thing that is not declared yet or not allowed.
    """
    find_all()
    file = declared.folder / STUDY
    own = read_file(file, declarations(file))
    load_code([own])
    config = validated(PaperConfig, {**ANYWHERE, **own.tree}, file)
    scenarios = {name: one for name, one in config.scenarios.items() if isinstance(one, FileScenario)}
    if len(scenarios) != 1:
        raise ConfigError(f"{file}: scenarios: given {', '.join(config.scenarios)}; allowed: one scenario with a file")
    name, scenario = next(iter(scenarios.items()))
    if scenario.model not in FAMILIES:
        raise refusal(file, f"scenarios.{name}.family", scenario.family, FAMILIES)
    expanded, stan, family = expand(config, file), scenario.family, FAMILIES[scenario.model]
    chosen = {id: expanded.synthesizers[id] for entry in scenario.synthesizers for id in expanded.groups.get(entry, [])}
    if isinstance(stan, OwnStan):
        _check_program(declared, scenario.model, stan, file, f"scenarios.{name}.family")
        lower, upper = declared.schema.target.ends
        use = ProgramUse(data=stan.data, lower=lower, upper=upper, predictors=len(names_of(declared.schema)))
        study = Study(file, scenario.model, stan.data, Path(stan.stan), use, own.internal_audit, expanded)
    else:
        program, priors = REPOSITORY / "stan" / f"{family.program}.stan", dict(family.priors) | scenario.priors
        study = Study(file, scenario.model, priors, program, None, own.internal_audit, expanded)
    _check(declared, study, chosen.values())
    return study


def _check_program(declared: Declared, name: str, use: OwnStan, file: Path, where: str) -> None:
    """Check that a program of the user's own gets its numbers, and outcomes that it takes."""
    own, ends = program(FAMILIES[name]), declared.schema.target.ends
    assert own is not None
    if sorted(use.data) != sorted(own.numbers):
        raise refusal(file, f"{where}.data", sorted(use.data), [f"those that the program declares: {own.numbers}"])
    if ends[0] < use.lower or ends[1] > use.upper:
        given = f"{use.lower:g} to {use.upper:g}"
        raise refusal(file, where, given, [f"lower and upper around the declared bounds, {ends[0]:g} to {ends[1]:g}"])
    if own.whole and declared.schema.target.type == "number":
        raise refusal(file, where, "a program of whole numbers", ["an outcome that is declared as type: whole"])


def _check(declared: Declared, study: Study, chosen: Collection[Synthesizer]) -> None:
    """Check that the family takes all declared values, that histograms have the declared bounds, and that strict claims apply."""
    low, high = declared.schema.target.ends
    inside = np.array([low, (low + high) / 2, high])
    allowed = FAMILIES[study.family].outcomes
    if not allowed.holds(inside if declared.schema.target.type == "number" else np.round(inside)):
        ends = f"{study.family}, with outcomes declared from {low:g} to {high:g}"
        raise refusal(study.file, "family", ends, [f"a family of these values; this one takes {allowed.what}"])
    neighbours = declared.schema.neighbours
    for synthesizer in study.expanded.synthesizers.values():
        if MECHANISMS[synthesizer.mechanism].strict and strict_claim(synthesizer, neighbours) is None:
            where = f"synthesizers.{synthesizer.id}.mechanism"
            raise refusal(
                study.file,
                where,
                synthesizer.mechanism,
                [f"a mechanism that guarantees epsilon for neighbours: {neighbours}"],
            )
    for synthesizer in chosen:
        ends_of = {key: synthesizer.parameters.get(key) for key in ("low", "high")}
        if synthesizer.mechanism == HISTOGRAM and ends_of != {"low": low, "high": high}:
            where = f"synthesizers.{synthesizer.id}.parameters"
            raise refusal(study.file, where, ends_of, [f"the declared bounds, low: {low:g} and high: {high:g}"])


def fit(
    declared: Declared, study: Study, records: Records, executable: Path, ids: Collection[str], sampler: SamplerSettings
) -> dict[str, Candidate]:
    """Fit synthesizers, and all that they build on, with fresh randomness of the operating system.

    Args:
        declared: what is declared of the file.
        study: which synthesizers there are.
        records: the confidential records, or made-up ones.
        executable: the compiled Stan program of the family.
        ids: which synthesizers.
        sampler: how they are sampled.

    Returns:
        Each by its id, without those that others build on only.

    Raises:
        DataError: the family cannot take the outcomes.
    """
    allowed = FAMILIES[study.family].outcomes
    if not allowed.holds(records.x):
        raise DataError(f"{declared.schema.outcome}: has values that {study.family} does not take: it takes {allowed.what}")
    scenario = fresh_scenario(declared, study, len(records), set().union(*(study.needed(id) for id in ids)))
    data, fitted, found = DataBatch.of([0], [records]), dict[str, Fitted](), dict[str, Candidate]()
    for own in in_turn(scenario.fits_in_turn(), "Fitting candidate"):
        job, measure_job = scenario.fit_job(own, sampler), scenario.measure_job(own)
        batch = fit_batch(job, data, fitted, executable, secretly_moved)
        table, measured = measure_batch(measure_job, data, batch, fitted)
        fitted[own] = Fitted(batch, measured)
        deltas = dict(zip(table["synthesizer"], table["delta"], strict=True))
        for member in measure_job.members:
            found[member.id] = _candidate(declared, job, member, data, fitted, float(deltas[member.id]))
    return {id: found[id] for id in found if id in ids}


def secretly_moved(inits: StanData) -> StanData:
    """A starting point that nobody can draw again: Stan's seed is seen in the list of processes, and this file is not.

    The smallest move is enough, since the number of random numbers that a chain uses depends on where it is.
    """
    generator = np.random.default_rng()
    return {
        name: np.asarray(values, dtype=float) * (1 + MOVE * generator.standard_normal(np.shape(values)))
        for name, values in inits.items()
    }


def fresh_scenario(declared: Declared, study: Study, n: int, ids: Collection[str]) -> Scenario:
    """A scenario whose random streams nobody can draw again: its root seed is in no file."""
    key = ScenarioKey(paper=declared.name, paper_id=1, scenario=declared.name, number=1, n=n, root=secrets.randbits(256))
    synthesizers = {id: one for id, one in study.expanded.synthesizers.items() if id in ids}
    return Scenario(
        key=key, name=declared.name, place="own data", label="", family=study.family, priors=dict(study.priors), data=None,
        stand_in=False, study=None, unit=1.0, size=n, replicates=1, batch_size=1, synthetic_sets=1, centre_sets=0,
        data_folder="", files={}, doubt="", use=study.use, audit=None, exact=False, synthesizers=synthesizers, arms={},
    )  # fmt: skip


def _candidate(
    declared: Declared, job: FitJob, member: Synthesizer, data: DataBatch, fitted: Mapping[str, Fitted], delta: float
) -> Candidate:
    batch: FitBatch = fitted[member.fit].fit
    mechanism = MECHANISMS[member.mechanism]
    candidate = Candidate(member, mechanism.guarantee, "", float("nan"), {}, FAMILIES[job.family], None, None)
    claim = strict_claim(member, declared.schema.neighbours)
    if not batch.ok(0):
        return replace(candidate, reason=str(batch.reason[0]), by_record=data.records(0).x * float("nan"))
    if mechanism.releases:
        form = form_of(member, context_of(job, member, data, 0, fitted, FitCache()))
        assert isinstance(form, DirectRelease)
        return replace(candidate, epsilon=form.epsilon if claim is None else claim, draws=form.draws, predictor=form.predictor)
    sample = fitted[member.fit].measure.sample
    assert sample is not None
    computed = PER_BOUND[declared.schema.neighbours] * delta
    return replace(
        candidate, epsilon=computed if claim is None else claim, draws=batch.draws_of(0),
        by_record=sample.by_record[member.id], weights=sample.weights,
    )  # fmt: skip
