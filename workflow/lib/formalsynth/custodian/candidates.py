"""Synthesizers of a study, fitted in memory to one set of records: nothing confidential is written to a file."""

from __future__ import annotations

import contextlib
import math
import secrets
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np

from formalsynth.contract.program import ProgramUse
from formalsynth.core.arrays import Array, Draws, Records
from formalsynth.core.family import FAMILIES, Predictor, StanData, program
from formalsynth.core.job import SamplerSettings, Synthesizer, with_parents
from formalsynth.core.mechanism import MECHANISMS, PER_BOUND, STRICT_KINDS, Context, DirectRelease
from formalsynth.core.neighbours import Neighbours
from formalsynth.core.private import SCALES, PublicTables
from formalsynth.core.registry import REPOSITORY
from formalsynth.core.streams import Address
from formalsynth.core.text import DataError
from formalsynth.custodian.guarantees import release_kind
from formalsynth.custodian.noise import with_safe_noise
from formalsynth.custodian.records import names_of
from formalsynth.custodian.schema import FITTED, RELEASE, STUDY, TABLES, Column, Declared, declarations
from formalsynth.engine.chain import NoPosterior, PublicPosterior, PublicRequest, Result, run_chain
from formalsynth.plan.expand import Expanded, expand
from formalsynth.plan.model import FileScenario, OwnStan, PaperConfig, find_all
from formalsynth.plan.studies import ANYWHERE, InternalAudit, load_code
from formalsynth.plan.studies import read_study as read_file
from formalsynth.settings.messages import ConfigError, Problems, refusal, validated
from formalsynth.settings.yaml_file import load_yaml
from formalsynth.stan.fit import Fit
from formalsynth.steps.fit import StanPosteriors

HISTOGRAM = "perturbed_histogram"
"""Mechanism for which a release draws new noise, safe in floating point."""
TRIALS = 3
"""Maximum number of attempts at a fit to public tables; further attempts add nothing to epsilon."""
TRIED = 10_007
"""Number of evenly spaced values between the declared bounds that a family has to accept, and of as many irregular ones."""
CELLS = 10_000
"""Largest number of cells of a noisy table to which a family is fitted."""
UNIT = {"x_low": 0.0, "x_high": 1.0, "x_closed": 1.0, "x_discrete": 0.0}
"""Settings for the bins of a predictor: the design scales its declared bounds to 0 and 1, and its values are between them."""
MOVE = 1e-10
"""Relative size of the random move of a chain's starting point; correlations of 1 stay within Stan's tolerance of 1e-8."""


@dataclass(frozen=True)
class StudySetup:
    """Settings of a study."""

    file: Path
    family: str
    priors: Mapping[str, float]
    program: Path
    """Path of the Stan program of the family."""
    use: ProgramUse | None
    """Use of the user's own program; None for a family in Python."""
    audit: InternalAudit | None
    """Settings of the audit in the internal report; None for no audit."""
    expanded: Expanded = field(repr=False)

    def ids(self) -> list[str]:
        """List the ids of its synthesizers."""
        return list(self.expanded.synthesizers)

    def chain(self, ids: Collection[str]) -> list[Synthesizer]:
        """List synthesizers with all that they build on."""
        return with_parents(ids, self.expanded.synthesizers)


@dataclass(frozen=True)
class Candidate:
    """Fitted synthesizer. All of it is confidential, except its name, guarantee and parameters."""

    synthesizer: Synthesizer
    guarantee: str
    reason: str
    """Reason for a failure; empty otherwise."""
    epsilon: float
    """Claim for one synthetic data set and the declared neighbours; confidential unless it is strict. NaN where it failed."""
    draws: Draws
    predictor: Predictor
    by_record: Array | None
    """(n,) Lipschitz bounds; None if the mechanism has none."""
    weights: Array | None
    """(n,) likelihood weights; None if the mechanism has none."""
    public: PublicTables | None = None
    """Noisy tables from which its draws are computed; None if the mechanism has none."""
    fit_p: float | None = None
    """P value of a test of fit of the family to these tables."""

    @property
    def pure(self) -> bool:
        """True if it claims a declared epsilon for every file."""
        return self.guarantee in STRICT_KINDS

    @property
    def fitted(self) -> bool:
        """True if its sets come from a family that is fitted to noisy tables."""
        return self.synthesizer.mechanism == FITTED

    @property
    def noisy(self) -> bool:
        """True if all its sets come from noisy counts, False for posterior draws of the rows."""
        return self.by_record is None

    def per_release(self, sets: int) -> float:
        """Compute the epsilon of several sets: noisy counts serve all sets, but the epsilons of posterior draws add up."""
        return self.epsilon if self.noisy else self.epsilon * sets


def strict_claim(synthesizer: Synthesizer, neighbours: Neighbours, sets: int = 1) -> float | None:
    """Return the epsilon that is guaranteed for every file, and therefore known before the file is opened; None without one."""
    mechanism = MECHANISMS[synthesizer.mechanism]
    if synthesizer.mechanism == HISTOGRAM:  # a release draws its noise for the declared neighbours
        return float(synthesizer.parameters["epsilon"])
    claim = mechanism.claim(synthesizer.parameters, neighbours)
    return None if claim is None else claim * (1 if mechanism.releases else sets)


def read_study(declared: Declared) -> StudySetup:
    """Read the study in a folder.

    Raises:
        ConfigError: there is no study, or a line for each declaration that is missing or not allowed.
    """
    find_all()
    file, release = declared.folder / STUDY, declared.folder / RELEASE
    if not file.exists():
        allowed = [TABLES, f"a synthesizer of {STUDY}, which is missing"]
        raise refusal(release, "synthesizer", load_yaml(release).get("synthesizer"), allowed)
    own = read_file(file, declarations(file))
    load_code([own])
    config = validated(PaperConfig, {**ANYWHERE, **own.tree}, file)
    scenarios = {name: entry for name, entry in config.scenarios.items() if isinstance(entry, FileScenario)}
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
        use = stan.use(len(names_of(declared.schema))).model_copy(update={"lower": lower, "upper": upper})
        study = StudySetup(file, scenario.model, stan.data, Path(stan.stan), use, own.internal_audit, expanded)
    else:
        program, priors = REPOSITORY / "stan" / f"{family.program}.stan", dict(family.priors) | scenario.priors
        study = StudySetup(file, scenario.model, priors, program, None, own.internal_audit, expanded)
    _check(declared, study, chosen.values())
    return study


def _check_program(declared: Declared, name: str, use: OwnStan, file: Path, where: str) -> None:
    """Check that the user's own program receives the numbers that it declares, and outcomes that it accepts."""
    own, ends = program(FAMILIES[name]), declared.schema.target.ends
    assert own is not None
    if sorted(use.data) != sorted(own.numbers):
        raise refusal(file, f"{where}.data", sorted(use.data), [f"those that the program declares: {own.numbers}"])
    if own.inputs or isinstance(use.upper, str):
        allowed = "none: a program receives the outcome and the design, but no other columns of a confidential file"
        raise refusal(file, f"{where}.inputs", sorted({*own.inputs, *use.inputs}), [allowed])
    if ends[0] < use.lower or ends[1] > use.upper:
        given = f"{use.lower:g} to {use.upper:g}"
        raise refusal(file, where, given, [f"lower and upper around the declared bounds, {ends[0]:g} to {ends[1]:g}"])
    if own.whole and declared.schema.target.type == "number":
        raise refusal(file, where, "a program of whole numbers", ["an outcome declared as type: whole"])


def _check(declared: Declared, study: StudySetup, chosen: Collection[Synthesizer]) -> None:
    """Check that the family accepts all declared values, histograms have the declared bounds, and strict claims apply."""
    problems = Problems()
    with problems.catch():
        _check_outcomes(declared, study)
    for synthesizer in study.expanded.synthesizers.values():
        with problems.catch():
            _check_neighbours(declared, study, synthesizer)
    for synthesizer in chosen:
        with problems.catch():
            _check_bounds(declared, study, synthesizer)
    problems.report()


def _check_outcomes(declared: Declared, study: StudySetup) -> None:
    low, high = declared.schema.target.ends
    shares = np.linspace(0, 1, TRIED)
    shares = np.concatenate([shares, np.modf(shares * math.sqrt(2))[0]])  # bounds cannot make these all whole
    inside = np.clip(low + (high - low) * shares, low, high)
    allowed = FAMILIES[study.family].outcomes
    if not allowed.holds(inside if declared.schema.target.type == "number" else np.round(inside)):
        ends = f"{study.family}, with outcomes declared from {low:g} to {high:g}"
        raise refusal(study.file, "family", ends, [f"a family for these values; this one accepts {allowed.what}"])


def _check_neighbours(declared: Declared, study: StudySetup, synthesizer: Synthesizer) -> None:
    neighbours = declared.schema.neighbours
    if MECHANISMS[synthesizer.mechanism].strict and strict_claim(synthesizer, neighbours) is None:
        where = f"synthesizers.{synthesizer.id}.mechanism"
        allowed = f"a mechanism that guarantees epsilon for neighbours: {neighbours}"
        raise refusal(study.file, where, synthesizer.mechanism, [allowed])


def _check_bounds(declared: Declared, study: StudySetup, synthesizer: Synthesizer) -> None:
    low, high = declared.schema.target.ends
    ends_of = {key: synthesizer.parameters.get(key) for key in ("low", "high")}
    if synthesizer.mechanism == HISTOGRAM and ends_of != {"low": low, "high": high}:
        where = f"synthesizers.{synthesizer.id}.parameters"
        raise refusal(study.file, where, ends_of, [f"the declared bounds, low: {low:g} and high: {high:g}"])
    if synthesizer.mechanism == FITTED:
        _check_tables(declared, study, synthesizer)


def _check_tables(declared: Declared, study: StudySetup, synthesizer: Synthesizer) -> None:
    """Check that noisy tables have bins on the declared bounds, and at most one predictor, which is a number."""
    where, (low, high) = f"synthesizers.{synthesizer.id}", declared.schema.target.ends
    predictors: dict[str, Column] = declared.schema.predictors
    if len(predictors) > 1 or any(column.type == "category" for column in predictors.values()):
        allowed = f"at most one predictor, a number; otherwise synthesizer: {TABLES} in {RELEASE}"
        raise refusal(study.file, f"{where}.mechanism", f"{FITTED} with the predictors {', '.join(predictors)}", [allowed])
    wanted = {"low": low, "high": high} | (UNIT if predictors else {})
    given = {key: synthesizer.parameters.get(key, 0.0) for key in wanted}
    if given != wanted:
        ends = ", ".join(f"{key}: {value:g}" for key, value in wanted.items())
        scale = "; the predictor is on a scale on which its declared bounds are 0 and 1" if predictors else ""
        raise refusal(study.file, f"{where}.parameters", given, [f"{ends}: the declared bounds{scale}"])
    filled = MECHANISMS[FITTED].parameters(**synthesizer.parameters).model_dump()  # adds the default of x_bins
    bins = filled["bins"] * (filled["x_bins"] if predictors else 1)
    if bins > CELLS:
        raise refusal(
            study.file, f"{where}.parameters", f"{bins:g} cells", [f"at most {CELLS}, by bins{' and x_bins' * bool(predictors)}"]
        )
    least, most = SCALES
    if not least <= 1 / synthesizer.parameters["epsilon"] <= most:
        raise refusal(
            study.file, f"{where}.parameters.epsilon", synthesizer.parameters["epsilon"], [f"{1 / most:g} to {1 / least:g}"]
        )


def fit(
    declared: Declared, study: StudySetup, records: Records, executable: Path, ids: Collection[str], sampler: SamplerSettings,
    keep: Callable[[PublicTables], None] | None = None,
) -> dict[str, Candidate]:  # fmt: skip
    """Fit synthesizers, and all that they build on, with fresh randomness from the operating system.

    Args:
        declared: declarations of the file.
        study: the synthesizers.
        records: the confidential records, or made-up ones.
        executable: the compiled Stan program of the family.
        ids: ids of the synthesizers to fit.
        sampler: settings of the sampler.
        keep: function that stores noisy tables as soon as they are drawn: their epsilon is spent, whatever happens afterwards.

    Returns:
        Candidates by id, without synthesizers that are only parents.

    Raises:
        DataError: the family does not accept the outcomes, or a release cannot use a mechanism.
    """
    check_outcomes(declared, study, records)
    chain, failed = study.chain(ids), dict[str, str]()
    for synthesizer in chain:
        mechanism = MECHANISMS[synthesizer.mechanism]
        if mechanism.selects or mechanism.staged or (mechanism.fits_public and mechanism.name != FITTED):
            raise DataError(f"{synthesizer.id}: {synthesizer.mechanism} cannot be released: a release cannot draw its noise yet")
    data = Context(FAMILIES[study.family], records, fresh_address(len(records)))
    posteriors = ReleasePosteriors(executable, study.priors, sampler, secretly_moved, keep)
    results = run_chain(chain, data, posteriors, ids, failed=failed, task="Fitting candidate", published=with_safe_noise)
    return {
        synthesizer.id: _candidate(declared, synthesizer, data, results[synthesizer.id])
        if synthesizer.id in results
        else _failed(declared, synthesizer, data, failed[synthesizer.id])
        for synthesizer in chain
        if synthesizer.id in ids
    }


def check_outcomes(declared: Declared, study: StudySetup, records: Records) -> None:
    """Check that a family accepts the outcomes of some records.

    Raises:
        DataError: it does not accept one of them.
    """
    allowed = FAMILIES[study.family].outcomes
    if not allowed.holds(records.x):
        raise DataError(f"{declared.schema.outcome}: has values that {study.family} does not accept: it accepts {allowed.what}")


@dataclass(frozen=True)
class ReleasePosteriors(StanPosteriors):
    """Posteriors of a release: a fit to public tables uses its own program, and is repeated if it fails."""

    keep: Callable[[PublicTables], None] | None = None
    """Function that stores public tables as soon as they are drawn; None for tables that spend no epsilon."""

    def given_public(self, request: PublicRequest) -> Fit:
        """Fit to public tables until a fit passes the gate of diagnostics.

        Raises:
            NoPosterior: no fit passed.
            ValueError: the model refuses the tables, or has too few effective draws.
        """
        if self.keep:
            self.keep(request.public)
        own = StanPosteriors(self.executable.with_name(request.model.program), self.priors, self.settings, self.moved)
        words = request.synthesizer.words
        first, *others = (request.synthesizer.model_copy(update={"words": (*words, trial)}) for trial in range(TRIALS))
        for synthesizer in others:
            with contextlib.suppress(NoPosterior):
                return own.given_public(replace(request, synthesizer=synthesizer))
        return own.given_public(replace(request, synthesizer=first))


def secretly_moved(inits: StanData) -> StanData:
    """Move a starting point at random: Stan's seed is visible in the list of processes, but the starting point is not.

    A tiny move is enough, because the number of random numbers that a chain uses depends on its position.
    """
    generator = np.random.default_rng()
    return {
        name: np.asarray(values, dtype=float) * (1 + MOVE * generator.standard_normal(np.shape(values)))
        for name, values in inits.items()
    }


def fresh_address(n: int) -> Address:
    """Return an address of random streams that no one can reproduce: its root seed is in no file."""
    return Address(root=secrets.randbits(256), paper=1, scenario=1, n=n, replicate=0)


def _failed(declared: Declared, synthesizer: Synthesizer, data: Context, reason: str) -> Candidate:
    guarantee, unknown = _guarantee(declared, synthesizer), np.full(len(data.records), np.nan)
    return Candidate(synthesizer, guarantee, reason, float("nan"), {}, data.family, unknown, None)


def _candidate(declared: Declared, synthesizer: Synthesizer, data: Context, result: Result[Fit]) -> Candidate:
    guarantee, neighbours = _guarantee(declared, synthesizer), declared.schema.neighbours
    claim = strict_claim(synthesizer, neighbours)
    if isinstance(result, PublicPosterior):
        assert claim is not None
        return Candidate(
            synthesizer, guarantee, "", epsilon=claim, draws=result.posterior.draws, predictor=data.family, by_record=None,
            weights=None, public=result.fit.public, fit_p=result.posterior.fit_p,
        )  # fmt: skip
    if isinstance(result, DirectRelease):
        epsilon = result.epsilon if claim is None else claim
        return Candidate(synthesizer, guarantee, "", epsilon, result.draws, result.predictor, None, None)
    assert result.bounds is not None
    computed = PER_BOUND[neighbours] * result.bounds.delta
    return Candidate(
        synthesizer, guarantee, "", epsilon=computed if claim is None else claim, draws=result.posterior.draws,
        predictor=data.family, by_record=result.bounds.by_record, weights=result.form.weights,
    )  # fmt: skip


def _guarantee(declared: Declared, synthesizer: Synthesizer) -> str:
    return release_kind(MECHANISMS[synthesizer.mechanism].guarantee, declared.schema.neighbours)
