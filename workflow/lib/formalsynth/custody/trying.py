"""The candidates of a study tried out: on made-up rows without opening the file, or on the file for the internal report."""

from __future__ import annotations

import contextlib
import functools
import tempfile
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from formalsynth.contract.family import broken_family, trial
from formalsynth.contract.mechanism import check_mechanism
from formalsynth.contract.program import broken
from formalsynth.core.family import FAMILIES, program
from formalsynth.core.job import SamplerSettings
from formalsynth.core.mechanism import MECHANISMS
from formalsynth.core.registry import is_own
from formalsynth.custody.auditing import audit_candidates
from formalsynth.custody.candidates import REPOSITORY, Study, fit, read_study
from formalsynth.custody.checking import check_file, usable
from formalsynth.custody.comparing import compare, recommend
from formalsynth.custody.drawing import check_draft
from formalsynth.custody.page import Run, page
from formalsynth.custody.records import made_up, records_of
from formalsynth.custody.schema import DECLARE, RELEASE, Analyses, Declared, ReleaseDraft
from formalsynth.data.files import DataError
from formalsynth.plan.messages import ConfigError, validated
from formalsynth.plan.yaml_file import load_yaml
from formalsynth.runtime.private import private_folder, write_private
from formalsynth.runtime.progress import tell
from formalsynth.stan.build import build
from formalsynth.stan.generate import generate
from formalsynth.stan.install import CmdStanError, ensure

if TYPE_CHECKING:
    import pandas as pd

REPORT = "confidential/CONFIDENTIAL-report.html"
DRY_REPORT = "plan.html"
SETS = 5


def read_draft(folder: Path) -> ReleaseDraft:
    """The parts of ``release.yaml`` that a comparison needs.

    Raises:
        ConfigError: the analyses are not what they have to be.
    """
    tree = load_yaml(folder / RELEASE)
    sets, ceiling, rows, epsilon = (tree.get(key) for key in ("sets", "ceiling", "rows", "predictors_epsilon"))
    analyses = tree.get("analyses")
    return ReleaseDraft(
        sets if isinstance(sets, int) and 1 <= sets <= 100 else SETS,
        float(ceiling) if isinstance(ceiling, int | float) else None,
        validated(Analyses, {} if analyses in (None, DECLARE) else analyses, folder / RELEASE, "analyses"),
        rows if isinstance(rows, int) and rows > 0 else None,
        float(epsilon) if isinstance(epsilon, int | float) and epsilon > 0 else None,
    )


def dry_run(declared: Declared) -> list[str]:
    """Try the candidates on made-up rows; the file is not opened.

    Returns:
        What came of it, in sentences.

    Raises:
        ConfigError: something is not declared yet, or not allowed.
        DataError: there is no CmdStan.
    """
    study = read_study(declared)
    table = made_up(declared.schema, np.random.default_rng())
    seconds, failed = _run(declared, study, table, declared.folder / DRY_REPORT, (), made=True)
    return [
        f"The dry run worked on {len(table)} made-up rows; {declared.schema.file} was not opened.",
        *(f"{id} failed on made-up rows: {reason}" for id, reason in failed),
        f"The same on the file will take about {max(seconds, 1):.0f} seconds. What its report will look like: "
        f"{declared.folder / DRY_REPORT}",
        f"Next: formalsynth compare {declared.folder}",
    ]


def internal_run(declared: Declared) -> list[str]:
    """Try the candidates on the file, for the internal report.

    Returns:
        What came of it, in sentences that say nothing of the data.

    Raises:
        ConfigError: something is not declared yet, or not allowed.
        DataError: the file cannot be used, or there is no CmdStan.
    """
    study, table = read_study(declared), usable(declared)
    private_folder((declared.folder / REPORT).parent)
    _run(declared, study, table, declared.folder / REPORT, check_file(declared).warnings, made=False)
    return [
        f"The internal report is {declared.folder / REPORT}: CONFIDENTIAL, only you can read it.",
        f"Next: read it, choose in {declared.folder / RELEASE}, then formalsynth release {declared.folder}",
    ]


def _run(
    declared: Declared, study: Study, table: pd.DataFrame, to: Path, warnings: Sequence[str], made: bool
) -> tuple[float, list[tuple[str, str]]]:
    """Write the report: how many seconds it took, and which candidates failed why."""
    draft, start, schema = read_draft(declared.folder), time.monotonic(), declared.schema
    check_draft(schema, draft)
    with compiled(declared, study) as executable:
        found = fit(declared, study, records_of(schema, table), executable, study.ids(), SamplerSettings())
        audited = audit_candidates(declared, study, table, found, executable, draft.sets)
        tell("Comparing synthetic data with the rows")
        compared = compare(schema, table, found, audited, draft)
    chosen, seconds = recommend(compared, draft.ceiling), time.monotonic() - start
    run = Run(
        declared.name, schema.protected, schema.neighbours, len(table), draft.sets, made, seconds, draft.ceiling, warnings
    )  # fmt: skip
    write_private(to, page(run, compared, chosen))
    return seconds, [(one.id, one.reason) for one in compared if one.reason]


@contextlib.contextmanager
def compiled(declared: Declared, study: Study) -> Iterator[Path]:
    """The compiled Stan program of a study; one of the user's own, or of a family of theirs, keeps to its contract.

    Raises:
        DataError: there is no CmdStan.
        ConfigError: own code does not keep to its contract.
    """
    family = FAMILIES[study.family]
    with tempfile.TemporaryDirectory() as folder:
        executable = Path(folder) / family.program
        try:
            cmdstan = ensure(REPOSITORY / ".cmdstan")
        except CmdStanError as error:
            raise DataError(str(error)) from error
        try:
            build(study.program, executable, cmdstan)
        except RuntimeError as error:
            raise ConfigError(str(error)) from error
        if problems := _broken(declared, study, executable):
            raise ConfigError("\n".join(f"{study.program.name if study.use else study.family}: {each}" for each in problems))
        if own := program(family):
            own.bind(functools.partial(generate, executable), study.priors)
        if problems := list(_broken_mechanisms(declared, study, executable)):
            raise ConfigError("\n".join(problems))
        yield executable


def _broken(declared: Declared, study: Study, executable: Path) -> list[str]:
    """What own code does not keep to; nothing of the file is used for it."""
    if study.use is not None:
        tell(f"Checking {study.program.name} against its contract")
        return broken(FAMILIES[study.family], executable, [study.use])
    if is_own(FAMILIES.module(study.family)):
        tell(f"Checking the family {study.family} against its contract")
        records = records_of(declared.schema, made_up(declared.schema, np.random.default_rng(0)))
        return broken_family(FAMILIES[study.family], records, executable, study.priors)
    return []


def _broken_mechanisms(declared: Declared, study: Study, executable: Path) -> Iterator[str]:
    """Faults of the user's own mechanisms on made-up rows."""
    own = [one for one in study.expanded.synthesizers.values() if is_own(MECHANISMS.module(one.mechanism))]
    if not own:
        return
    tell("Checking own mechanisms against their contract")
    records = records_of(declared.schema, made_up(declared.schema, np.random.default_rng(0)))
    tried = trial(FAMILIES[study.family], records, executable, study.priors)
    for one in own:
        problems = (
            [tried]
            if isinstance(tried, str)
            else check_mechanism(MECHANISMS[one.mechanism], one.parameters, tried.family, tried.records, tried.draws)
        )
        yield from (f"mechanism {one.mechanism}: {problem}" for problem in dict.fromkeys(problems))
