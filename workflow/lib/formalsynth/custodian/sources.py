"""Sources of a release's numbers: a synthesizer that is fitted to the rows, or noisy tables of all columns."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

import numpy as np

from formalsynth.contract.family import LENGTHS, RECORDS
from formalsynth.core.family import FAMILIES
from formalsynth.core.job import SamplerSettings, Synthesizer
from formalsynth.core.mechanism import MECHANISMS, STRICT_KINDS, Context
from formalsynth.core.private import PrivateFit, PublicTables
from formalsynth.core.registry import is_own
from formalsynth.core.text import DataError
from formalsynth.core.words import counted
from formalsynth.custodian.analyses import check_analyses
from formalsynth.custodian.candidates import Candidate, StudySetup, check_outcomes, fit, fresh_address, read_study, strict_claim
from formalsynth.custodian.cross import (
    check_claim,
    check_draft,
    check_rows_declared,
    crossed,
    crossed_tables,
    fitted_part,
    with_predictors,
)
from formalsynth.custodian.crossing import REHEARSED, ROUNDING, Declarations, OwnCode, Part
from formalsynth.custodian.guarantees import RELEASE_KIND, Audit, release_kind
from formalsynth.custodian.internal_audit import AuditResult, audit_chosen
from formalsynth.custodian.noise import with_safe_noise
from formalsynth.custodian.program import compiled
from formalsynth.custodian.records import made_up, records_of
from formalsynth.custodian.schema import FITTED, RELEASE, SCHEMA, TABLES, Declared, ReleaseConfig, Schema
from formalsynth.custodian.synthetic_sets import Crossed, MadeUpOutcomes
from formalsynth.custodian.tables import check_numbers
from formalsynth.runtime.files import checksum
from formalsynth.settings.messages import refusal

if TYPE_CHECKING:
    import pandas as pd


class Source(Protocol):
    """Source of the numbers of a release."""

    @property
    def declarations(self) -> Declarations:
        """Return the public declarations of the release."""

    @property
    def own(self) -> Path | None:
        """File of the user's own code that the public side needs; None for none."""

    def ready(self) -> AbstractContextManager[None]:
        """Prepare programs, and check the user's own code against its contract; the file is not used."""

    def rehearsed(self, schema: Schema, config: ReleaseConfig) -> tuple[Crossed, Declarations]:
        """Compute numbers from made-up rows, and declarations for their release."""

    def check(self, table: pd.DataFrame) -> None:
        """Check, before anything counts as spent, that the rows are acceptable.

        Raises:
            DataError: they are not.
        """

    def crossed(self, table: pd.DataFrame, keep: Callable[[Part], None]) -> tuple[Crossed, Audit]:
        """Compute numbers from the confidential rows, and the outcome of their audit.

        Args:
            table: the confidential rows.
            keep: function that stores noisy counts before a family is fitted to them: their epsilon is spent from then on.
        """


def source(declared: Declared, config: ReleaseConfig) -> Source:
    """Return the source of a release, with its declarations checked.

    Raises:
        ConfigError: a declaration is missing or not allowed.
        DataError: declarations contradict each other.
    """
    return _tables(declared, config) if config.synthesizer == TABLES else _candidate(declared, config)


@dataclass(frozen=True)
class TablesSource:
    """Noisy tables of all columns."""

    declared: Declared
    config: ReleaseConfig
    declarations: Declarations
    own: None = None

    def ready(self) -> AbstractContextManager[None]:
        """Prepare nothing."""
        return contextlib.nullcontext()

    def rehearsed(self, schema: Schema, config: ReleaseConfig) -> tuple[Crossed, Declarations]:
        """Count made-up rows."""
        rows = made_up(schema, np.random.default_rng())
        return crossed_tables(schema, config, rows), self.declarations

    def check(self, table: pd.DataFrame) -> None:
        """Check nothing: all declared values are accepted."""

    def crossed(self, table: pd.DataFrame, keep: Callable[[Part], None]) -> tuple[Crossed, Audit]:
        """Count the rows; the guarantee has a proof and an exact test, but no audit."""
        del keep  # the counts are the crossing, which is stored at once
        return crossed_tables(self.declared.schema, self.config, table), "none"


def _tables(declared: Declared, config: ReleaseConfig) -> TablesSource:
    """Return the source of noisy tables.

    Raises:
        ConfigError: a column is released as it is.
        DataError: the number of synthetic rows is not declared, or an analysis is not possible.
    """
    schema = declared.schema
    kept = [name for name, column in schema.predictors.items() if column.release != "synthesized"]
    if kept:
        allowed = [f"synthesized or suppressed, where release.yaml has synthesizer: {TABLES}"]
        raise refusal(declared.folder / SCHEMA, f"columns.{kept[0]}.release", schema.columns[kept[0]].release, allowed)
    if config.predictors_epsilon is not None:
        allowed = [f"no value with synthesizer: {TABLES}, whose epsilon is the ceiling"]
        raise refusal(declared.folder / RELEASE, "predictors_epsilon", config.predictors_epsilon, allowed)
    check_rows_declared(schema, config)
    check_analyses(schema, config.analyses)
    check_numbers(schema)
    public = Declarations(
        name=declared.name, schema=schema.public, release=config, mechanism=TABLES, guarantee=RELEASE_KIND[schema.neighbours],
        parameters={"epsilon": config.ceiling}, claim=config.ceiling,
    )  # fmt: skip
    return TablesSource(declared, config, public)


@dataclass
class CandidateSource:
    """A synthesizer of the study."""

    declared: Declared
    study: StudySetup
    config: ReleaseConfig
    synthesizer: Synthesizer
    declarations: Declarations
    executable: Path = field(default=Path(), init=False)
    """Compiled Stan program of the family, set by :meth:`ready`."""

    @property
    def direct(self) -> bool:
        """True if all sets come from noisy tables, False if they need draws of a family."""
        return self.declarations.family is None

    @property
    def own(self) -> Path | None:
        """File of the user's own code that the public side needs; None for none."""
        return Path(FAMILIES.module(self.study.family)) if self.declarations.own else None

    @contextlib.contextmanager
    def ready(self) -> Iterator[None]:
        """Compile the Stan program, and check the user's own code against its contract."""
        with compiled(self.declared, self.study) as executable:
            self.executable = executable
            yield

    def rehearsed(self, schema: Schema, config: ReleaseConfig) -> tuple[Crossed, Declarations]:
        """Fit made-up rows; outcomes are uniform if the posterior of so few rows has poor diagnostics.

        Noisy tables of so few rows are not fitted, because the sampler would take minutes.
        """
        candidate, public = None if self.declarations.noisy else self._fitted(), self.declarations
        if self.synthesizer.mechanism == FITTED:
            self._tabled()
        if candidate is None or candidate.reason:
            candidate = self._made_up()
            public = public.model_copy(update={"own": None} | ({} if self.direct else {"family": REHEARSED}))
        return crossed(schema, config, made_up(schema, np.random.default_rng()), candidate), public

    def _fitted(self) -> Candidate:
        """Fit the synthesizer to a few made-up rows."""
        schema, id = self.declared.schema.model_copy(update={"rows": RECORDS}), self.synthesizer.id
        records = records_of(schema, made_up(schema, np.random.default_rng()))
        return fit(self.declared, self.study, records, self.executable, [id], LENGTHS)[id]

    def _tabled(self) -> None:
        """Count a few made-up rows, with noise, and prepare the sampler's input without fitting it.

        Raises:
            DataError: the family cannot be fitted to the declared tables.
        """
        schema = self.declared.schema.model_copy(update={"rows": RECORDS})
        records = records_of(schema, made_up(schema, np.random.default_rng()))
        context = Context(FAMILIES[self.study.family], records, fresh_address(len(records)))
        try:
            tables = MECHANISMS[FITTED].apply(context, self.synthesizer.parameters)
            assert isinstance(tables, PrivateFit)
            tables.model.stan_data(with_safe_noise(tables).public, self.study.priors)
        except (ValueError, RuntimeError) as error:
            raise DataError(f"{self.synthesizer.id}: {self.study.family} cannot be fitted to its tables: {error}") from error

    def _made_up(self) -> Candidate:
        """Make a candidate with outcomes that are uniform between the declared bounds."""
        schema, draws = self.declared.schema, {"made_up": np.zeros((self.config.sets, 1))}
        claim = strict_claim(self.synthesizer, schema.neighbours)
        return Candidate(
            self.synthesizer, self.declarations.guarantee, "", claim or 0.0, draws,
            MadeUpOutcomes(schema.target), None if self.declarations.noisy else np.zeros(schema.rows), None,
        )  # fmt: skip

    def check(self, table: pd.DataFrame) -> None:
        """Check the outcomes against the family: it may not accept some value between those that were tried.

        Raises:
            DataError: it does not accept one of them.
        """
        check_outcomes(self.declared, self.study, records_of(self.declared.schema, table))

    def crossed(self, table: pd.DataFrame, keep: Callable[[Part], None]) -> tuple[Crossed, Audit]:
        """Fit the rows, draw the noise, and audit a synthesizer with posterior draws of the rows.

        The guarantee of noisy counts has a proof and an exact test. An audit on the file would add nothing, and whether it is
        possible depends on the number of rows.

        Raises:
            DataError: it claims more than the ceiling, or the audit found a larger epsilon than it claims.
        """
        schema, id = self.declared.schema, self.synthesizer.id
        records = records_of(schema, table)

        def keep_tables(tables: PublicTables) -> None:
            keep(fitted_part(schema, tables))

        candidate = fit(self.declared, self.study, records, self.executable, [id], SamplerSettings(), keep_tables)[id]
        numbers = crossed(schema, self.config, table, candidate)
        check_claim(schema, self.config, candidate)
        if candidate.noisy:
            return numbers, "none"
        audited = audit_chosen(self.declared, self.study, table, candidate, self.executable, self.config.sets)
        return numbers, _audit(self.config, candidate, audited)


def _candidate(declared: Declared, config: ReleaseConfig) -> CandidateSource:
    """Return the source of a synthesizer.

    Raises:
        ConfigError: the synthesizer is not declared, or a column may have missing values, which no model supports.
    """
    if gaps := [name for name, column in declared.schema.released.items() if column.may_be_missing]:
        allowed = [
            f"false, where release.yaml has synthesizer: {config.synthesizer}; only synthesizer: {TABLES} draws missing values"
        ]
        raise refusal(declared.folder / SCHEMA, f"columns.{gaps[0]}.may_be_missing", True, allowed)
    study = read_study(declared)
    synthesizer = chosen_synthesizer(declared, config, study)
    _check_ceiling(declared, config, synthesizer)
    check_draft(declared.schema, config)
    return CandidateSource(declared, study, config, synthesizer, declarations_of(declared, config, study, synthesizer))


def declarations_of(declared: Declared, config: ReleaseConfig, study: StudySetup, synthesizer: Synthesizer) -> Declarations:
    """Collect the declarations that are published."""
    mechanism = MECHANISMS[synthesizer.mechanism]
    guarantee = release_kind(mechanism.guarantee, declared.schema.neighbours)
    family = None if mechanism.releases and not mechanism.fits_public else study.family
    own = None
    if family is not None and is_own(module := FAMILIES.module(family)):
        own = OwnCode(file=Path(module).name, data=dict(study.priors) if study.use else {})
    return Declarations(
        name=declared.name, schema=declared.schema.public, release=config, mechanism=mechanism.name, guarantee=guarantee,
        parameters=synthesizer.parameters if mechanism.guarantee in STRICT_KINDS else {}, family=family, own=own,
        claim=strict_claim(synthesizer, declared.schema.neighbours, config.sets), own_mechanism=_own_mechanism(mechanism.name),
    )  # fmt: skip


def _own_mechanism(name: str) -> str | None:
    """Return the file name and checksum of a user's own mechanism; None for a mechanism of the package."""
    module = MECHANISMS.module(name)
    return f"{Path(module).name}, sha256 {checksum(Path(module))}" if is_own(module) else None


def _check_ceiling(declared: Declared, config: ReleaseConfig, chosen: Synthesizer) -> None:
    """Check a claim that is known before the file is opened.

    Raises:
        ConfigError: it exceeds the declared ceiling.
    """
    claim = strict_claim(chosen, declared.schema.neighbours, config.sets)
    if claim is None:
        return
    epsilon = with_predictors(declared.schema, config, claim)
    if epsilon > config.ceiling * ROUNDING:
        allowed = (
            f"at least {epsilon:g}, which {chosen.id} claims for {counted(config.sets, 'set')} and neighbours: "
            f"{declared.schema.neighbours}"
        )
        raise refusal(declared.folder / RELEASE, "ceiling", config.ceiling, [allowed])


def _audit(config: ReleaseConfig, candidate: Candidate, audited: AuditResult | None) -> Audit:
    """Return the outcome of an audit, which depends on the data: the release is already recorded in the ledger.

    Raises:
        DataError: the audit found a larger epsilon than was claimed, and accept_refuted is not set.
    """
    if audited is None or not audited.done:
        return "none"
    if not audited.refutes(candidate.per_release(config.sets)):
        return "passed"
    if not config.accept_refuted:
        raise DataError(
            f"{candidate.synthesizer.id}: the audit found a larger epsilon on this file than is claimed; nothing is released. "
            "The report of formalsynth compare shows how large. Choose another candidate, or set accept_refuted: true in "
            "release.yaml: every text of the release then states that the claim does not hold"
        )
    return "refuted"


def chosen_synthesizer(declared: Declared, config: ReleaseConfig, study: StudySetup) -> Synthesizer:
    """Return the synthesizer of the release.

    Raises:
        ConfigError: the study does not have it.
    """
    if config.synthesizer not in study.expanded.synthesizers:
        raise refusal(declared.folder / RELEASE, "synthesizer", config.synthesizer, study.ids())
    return study.expanded.synthesizers[config.synthesizer]
