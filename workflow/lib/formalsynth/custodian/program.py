"""Compiled Stan program of a study, with a check of the user's own code against its contract."""

from __future__ import annotations

import contextlib
import functools
import secrets
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np

from formalsynth.audit.sampled import LARGEST_SEED
from formalsynth.contract.family import broken_family, trial
from formalsynth.contract.mechanism import check_mechanism
from formalsynth.contract.program import broken
from formalsynth.core.family import FAMILIES, StanData, program
from formalsynth.core.mechanism import MECHANISMS
from formalsynth.core.progress import tell
from formalsynth.core.registry import REPOSITORY, is_own
from formalsynth.core.tables import tabled
from formalsynth.core.text import DataError
from formalsynth.custodian.candidates import StudySetup
from formalsynth.custodian.records import made_up, records_of
from formalsynth.custodian.schema import Declared
from formalsynth.settings.messages import ConfigError
from formalsynth.stan.command import ChainFailed
from formalsynth.stan.compile import CmdStanError, build
from formalsynth.stan.generate import generate, start
from formalsynth.stan.install import ensure
from formalsynth.stan.served import ended_after


@contextlib.contextmanager
def compiled(declared: Declared, study: StudySetup) -> Iterator[Path]:
    """Compile the Stan program of a study, and check the user's own code.

    Raises:
        DataError: there is no CmdStan.
        ConfigError: the user's own code breaks its contract.
    """
    family = FAMILIES[study.family]
    with tempfile.TemporaryDirectory() as folder, ended_after():
        executable = Path(folder) / family.program
        try:
            cmdstan = ensure(REPOSITORY / ".cmdstan")
        except CmdStanError as error:
            raise DataError(str(error)) from error
        try:
            build(study.program, executable, cmdstan)
            for name in _of_tables(study):
                build(REPOSITORY / "stan" / f"{name}.stan", executable.with_name(name), cmdstan)
        except RuntimeError as error:
            raise ConfigError(str(error)) from error
        if problems := _broken(declared, study, executable):
            raise ConfigError(
                "\n".join(f"{study.program.name if study.use else study.family}: {problem}" for problem in problems)
            )
        if own := program(family):
            own.bind(functools.partial(generate, executable), study.priors, functools.partial(_start, executable, own.parameters))
        if problems := list(_broken_mechanisms(declared, study, executable)):
            raise ConfigError("\n".join(problems))
        yield executable


def _of_tables(study: StudySetup) -> set[str]:
    """List the programs that fit the family to noisy tables, other than the family's own program."""
    if tabled(FAMILIES[study.family]) is None:
        return set()
    mechanisms = (MECHANISMS[synthesizer.mechanism] for synthesizer in study.expanded.synthesizers.values())
    return {mechanism.program for mechanism in mechanisms if mechanism.fits_public}


def _start(executable: Path, parameters: Sequence[str], data: StanData) -> StanData:
    """Let Stan choose a starting point, which the custodian's chains move secretly.

    Raises:
        ValueError: Stan finds no starting point.
    """
    try:
        return start(executable, data, parameters, 1 + secrets.randbelow(LARGEST_SEED))
    except ChainFailed as error:
        raise ValueError(str(error)) from error


def _broken(declared: Declared, study: StudySetup, executable: Path) -> list[str]:
    """List violations of the contract by own code; the file is not used."""
    if study.use is not None:
        tell(f"Checking {study.program.name} against its contract")
        return broken(FAMILIES[study.family], executable, [study.use])
    if is_own(FAMILIES.module(study.family)):
        tell(f"Checking the family {study.family} against its contract")
        records = records_of(declared.schema, made_up(declared.schema, np.random.default_rng(0)))
        return broken_family(FAMILIES[study.family], records, executable, study.priors)
    return []


def _broken_mechanisms(declared: Declared, study: StudySetup, executable: Path) -> Iterator[str]:
    """Yield faults of the user's own mechanisms, found on made-up rows."""
    own = [
        synthesizer for synthesizer in study.expanded.synthesizers.values() if is_own(MECHANISMS.module(synthesizer.mechanism))
    ]
    if not own:
        return
    tell("Checking own mechanisms against their contract")
    records = records_of(declared.schema, made_up(declared.schema, np.random.default_rng(0)))
    tried = trial(FAMILIES[study.family], records, executable, study.priors)
    for synthesizer in own:
        problems = (
            [tried]
            if isinstance(tried, str)
            else check_mechanism(
                MECHANISMS[synthesizer.mechanism], synthesizer.parameters, tried.family, tried.records, tried.draws
            )
        )
        yield from (f"mechanism {synthesizer.mechanism}: {problem}" for problem in dict.fromkeys(problems))
