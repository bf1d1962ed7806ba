"""From a declared study to a folder that may be sent: the whole way of a release."""

from __future__ import annotations

import contextlib
import itertools
import os
import shutil
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import get_args

import numpy as np
import pandas as pd

from formalsynth.contract.family import LENGTHS, RECORDS
from formalsynth.core.arrays import Array, Draws, Records, count
from formalsynth.core.job import SamplerSettings, Synthesizer
from formalsynth.core.mechanism import MECHANISMS, STRICT_KINDS
from formalsynth.core.words import counted
from formalsynth.custodian.budget import Spent, finish, read_ledger, start, today
from formalsynth.custodian.candidates import Candidate, Study, fit, read_study, strict_claim
from formalsynth.custodian.compare import REPORT
from formalsynth.custodian.csv_file import Written, read_text
from formalsynth.custodian.guarantees import Audit
from formalsynth.custodian.internal_audit import Audited, audit_chosen
from formalsynth.custodian.leak_scan import MANIFEST, PICTURE, Confidential, check, manifest_text
from formalsynth.custodian.program import compiled
from formalsynth.custodian.records import made_up, records_of
from formalsynth.custodian.rows import usable
from formalsynth.custodian.schema import RELEASE, Column, Declared, ReleaseConfig, read_release
from formalsynth.custodian.synthetic_sets import ROUNDING, Drawn, check_draft, draw_sets, rows_of, with_predictors
from formalsynth.custodian.texts import Telling, card, combine_code, datapackage, dictionary, legal, readme
from formalsynth.data.files import DataError
from formalsynth.plan.messages import refusal
from formalsynth.runtime.files import checksum
from formalsynth.runtime.private import private_folder
from formalsynth.runtime.progress import tell
from formalsynth.runtime.scratch import scratch_folder

OPEN_FOLDER, OPEN_FILE = 0o755, 0o644
REHEARSED = 1000
"""Rows of a rehearsed data set, at most."""
SPARE = 1.5
"""Factor by which the rows of a release may be longer than those of its rehearsal."""


def release(declared: Declared, to: Path) -> list[str]:
    """Make a release.

    Args:
        declared: the study.
        to: folder of the release; it must not be there.

    Returns:
        What was done, in sentences.

    Raises:
        ConfigError: something is not declared yet, or not allowed; among this every seed.
        DataError: the file cannot be used, the budget is spent, the ceiling is too low, or the gate found something.
    """
    config, study = read_release(declared.folder), read_study(declared)
    synthesizer = chosen_synthesizer(declared, config, study)
    _check_ceiling(declared, config, synthesizer)
    check_draft(declared.schema, config)
    _check_rows(declared, config)
    _check_place(to)
    table = usable(declared)
    telling = telling_of(declared, config, synthesizer, rows_of(declared.schema, config, table), read_ledger(declared.folder))
    confidential = confidential_content(declared, config, table, published([telling]))
    entry = Spent(
        date=telling.date, synthesizer=config.synthesizer, guarantee=telling.guarantee, neighbours=declared.schema.neighbours,
        sets=config.sets, epsilon=config.ceiling, outcome="started",
    )  # fmt: skip
    # own code that breaks its contract, and what is declared, stop a release before anything counts as spent
    with compiled(declared, study) as executable:
        rehearse(telling, synthesizer, to)
        if not telling.direct:
            _rehearse_fit(declared, study, config, executable)
        place = start(declared.folder, entry, config.budget)
        try:
            telling = replace(telling, earlier=tuple(read_ledger(declared.folder)[:place]))
            records = records_of(declared.schema, table)
            candidate = fit(declared, study, records, executable, [config.synthesizer], SamplerSettings())[config.synthesizer]
            drawn = draw_sets(declared, config, table, candidate)
            audit = _audit(config, candidate, audit_chosen(declared, study, table, candidate, executable, config.sets))
            arrays = candidate.by_record, candidate.weights, *candidate.draws.values()
            secrets = [array for array in arrays if array is not None]
            confidential = replace(confidential, secrets=secrets, published=published([telling]))
            _publish(replace(telling, audit=audit, uses_predictors=drawn.uses_predictors), drawn, confidential, to)
        except BaseException:  # whatever it was, it may have depended on the data
            with contextlib.suppress(OSError, DataError):
                finish(declared.folder, place, "stopped")
            raise
    finish(declared.folder, place, "released")
    return [
        f"Released: {to}. No seed was used, and nothing that it was drawn from is kept.",
        f"Let somebody else read it before it is sent, {to / 'LEGAL.md'} first.",
        f"What was spent on the file: formalsynth budget {declared.folder}",
    ]


def _check_ceiling(declared: Declared, config: ReleaseConfig, chosen: Synthesizer) -> None:
    """Check a claim that is known before the file is opened.

    Raises:
        ConfigError: it is more than the declared ceiling.
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


def _check_rows(declared: Declared, config: ReleaseConfig) -> None:
    """Check that the declared number of synthetic rows does not give that of the file away.

    Raises:
        ConfigError: it is the same.
    """
    if declared.schema.neighbours == "add_remove" and config.rows == declared.schema.rows:
        allowed = ["a number that does not depend on the file: that of its rows is confidential with neighbours: add_remove"]
        raise refusal(declared.folder / RELEASE, "rows", config.rows, allowed)


def _audit(config: ReleaseConfig, candidate: Candidate, audited: Audited | None) -> Audit:
    """The outcome of an audit, which depends on the data: it comes after the entry in the ledger.

    Raises:
        DataError: the audit found more than is claimed, and nobody has accepted that.
    """
    if audited is None or not audited.done:
        return "none"
    if not audited.refutes(candidate.per_release(config.sets)):
        return "passed"
    if not config.accept_refuted:
        raise DataError(
            f"{candidate.synthesizer.id}: the audit found more on this file than is claimed; nothing is released. The report of "
            "formalsynth compare shows how much. Choose another candidate, or set accept_refuted: true in release.yaml: every "
            "text of the release then says that the claim does not hold"
        )
    return "refuted"


def chosen_synthesizer(declared: Declared, config: ReleaseConfig, study: Study) -> Synthesizer:
    """The synthesizer that is released.

    Raises:
        ConfigError: the study does not have it.
    """
    if config.synthesizer not in study.expanded.synthesizers:
        raise refusal(declared.folder / RELEASE, "synthesizer", config.synthesizer, study.ids())
    return study.expanded.synthesizers[config.synthesizer]


def telling_of(
    declared: Declared, config: ReleaseConfig, synthesizer: Synthesizer, rows: int, earlier: Sequence[Spent], date: str = ""
) -> Telling:
    """The facts that the texts of a release state; the audit's and the use of predictors are known when it is drawn."""
    mechanism = MECHANISMS[synthesizer.mechanism]
    pure = mechanism.guarantee in STRICT_KINDS
    return Telling(
        declared.name, declared, config, mechanism.name, mechanism.guarantee, pure, synthesizer.parameters if pure else {}, rows,
        date or today(), mechanism.releases, "none", False, (declared.folder / REPORT).exists(), tuple(earlier),
    )  # fmt: skip


def rehearse(telling: Telling, synthesizer: Synthesizer, to: Path) -> None:
    """Make a release from made-up rows, have the gate look at it, and remove it.

    What fails here fails for other reasons than the data: declarations that contradict each other, a text that the gate stops,
    a library that is missing, a full disk.

    Args:
        telling: facts that the texts state.
        synthesizer: the synthesizer; it is not fitted, and what would be drawn from a posterior is uniform.
        to: folder of the release.

    Raises:
        DataError: something has to be corrected first.
    """
    tell("Rehearsing the release with made-up rows")
    declared, config = telling.declared, telling.config
    whole = declared.schema
    schema = whole.model_copy(update={"rows": min(telling.rows, REHEARSED), "columns": whole.released})
    small, config = replace(declared, schema=schema), config.model_copy(update={"rows": schema.rows})
    table, claim = made_up(schema, np.random.default_rng()), strict_claim(synthesizer, schema.neighbours)
    candidate = Candidate(
        synthesizer, telling.guarantee, "", claim or 0.0, {"made_up": np.zeros((config.sets, 1))}, _MadeUp(schema.target),
        None if telling.direct else np.zeros(len(table)), None,
    )  # fmt: skip
    drawn = draw_sets(small, config, table, candidate)
    with _beside(to) as folder:
        write(folder, telling, drawn)
        _check_room(folder, telling, schema.rows)
        check(folder, Confidential(small, table, table.astype(str), (), published([telling]), config.sets, config.figure))


def _rehearse_fit(declared: Declared, study: Study, config: ReleaseConfig, executable: Path) -> None:
    """Fit the synthesizer to a few made-up rows; whether its diagnostics are good does not matter."""
    schema = declared.schema.model_copy(update={"rows": RECORDS})
    records = records_of(schema, made_up(schema, np.random.default_rng()))
    fit(declared, study, records, executable, [config.synthesizer], LENGTHS)


def _check_room(folder: Path, telling: Telling, rows: int) -> None:
    """Check that the disk has room for the sets of a release, by those of ``rows`` made-up rows in a folder.

    Raises:
        DataError: it has not.
    """
    needed = sum((folder / name).stat().st_size for name in telling.files) / rows * telling.rows * SPARE
    free = shutil.disk_usage(folder).free
    if needed > free:
        raise DataError(
            f"{folder.parent.parent}: has room for {free / 1e6:.0f} MB, and the release needs about {needed / 1e6:.0f} MB: make "
            "room, choose another folder with --to, or release fewer sets or rows"
        )


@dataclass(frozen=True)
class _MadeUp:
    """Outcomes between the declared bounds, in place of those of a posterior."""

    column: Column

    def predict(self, generator: np.random.Generator, records: Records, draws: Draws) -> Array:
        """One data set (n,) for each draw."""
        return generator.uniform(*self.column.ends, (count(draws), len(records)))


def _publish(telling: Telling, drawn: Drawn, confidential: Confidential, to: Path) -> None:
    """Fill a folder that only its owner can enter, have the gate look at it, and put it in its place."""
    with _beside(to) as folder:
        write(folder, telling, drawn)
        check(folder, confidential)
        for path in folder.iterdir():
            path.chmod(OPEN_FILE)
        folder.rename(to)
    to.chmod(OPEN_FOLDER)


def _check_place(to: Path) -> None:
    """Check, before anything counts as spent, that a folder can be made.

    Raises:
        DataError: it is there.
        OSError: it cannot be made.
    """
    if os.path.lexists(to):
        raise DataError(
            f"{to}: is there already; a release is never written over: move it away, or choose another folder with --to"
        )
    with _beside(to):
        pass


@contextlib.contextmanager
def _beside(to: Path) -> Iterator[Path]:
    """A folder beside the one of a release, to be filled before it goes there; nothing stays where no release came to be."""
    made = not to.parent.exists()
    if made:
        private_folder(to.parent)
    try:
        with scratch_folder(to.parent, "release") as scratch:
            folder = scratch / to.name
            folder.mkdir(mode=0o700)
            yield folder
    finally:
        if made:
            with contextlib.suppress(OSError):  # it holds the release
                to.parent.rmdir()


def confidential_content(declared: Declared, config: ReleaseConfig, table: pd.DataFrame, published: str) -> Confidential:
    """What must not go out."""
    schema = declared.schema
    text = read_text(declared.csv, Written(schema.encoding, schema.delimiter, schema.decimal))
    return Confidential(declared, table, text, (), published, config.sets, config.figure)


def write(folder: Path, telling: Telling, drawn: Drawn) -> None:
    """Write every file of a release, the manifest last."""
    schema = telling.declared.schema
    for name, one in zip(telling.files, drawn.sets, strict=True):
        columns = {column: _text(schema.columns[column].places, schema.columns[column].type, one[column]) for column in one}
        pd.DataFrame(columns).to_csv(folder / name, index=False, lineterminator="\n")
    for name, text in _texts(telling).items():
        (folder / name).write_text(text, encoding="utf-8")
    if telling.config.figure:
        _draw(folder / PICTURE, schema.outcome, [one[schema.outcome].to_numpy(dtype=float) for one in drawn.sets])
    sums = {path.name: checksum(path) for path in folder.iterdir()}
    (folder / MANIFEST).write_text(manifest_text(sums), encoding="utf-8")


def _texts(telling: Telling) -> dict[str, str]:
    """The texts of a release by file."""
    return {
        "metadata.json": dictionary(telling), "datapackage.json": datapackage(telling), "README.md": readme(telling),
        "combine.py": combine_code(telling), "deployment.yaml": card(telling), "LEGAL.md": legal(telling),
    }  # fmt: skip


def published(tellings: Sequence[Telling]) -> str:
    """Everything that texts of releases may contain, whatever is found out when they are drawn, with the names of their files."""
    open_facts = list(itertools.product(get_args(Audit), (False, True), (False, True)))
    texts = [
        _texts(replace(telling, audit=audit, uses_predictors=used, compared=compared)) | dict.fromkeys(telling.files, "")
        for telling in tellings
        for audit, used, compared in open_facts
    ]
    return "\n".join([MANIFEST, PICTURE, *(f"{name}\n{text}" for files in texts for name, text in files.items())])


def _text(places: int, kind: str, values: pd.Series) -> pd.Series:
    return values if kind == "category" else values.map(lambda value: f"{value:.{places}f}")


def _draw(path: Path, outcome: str, sets: list[np.ndarray]) -> None:
    """The distribution functions of the synthetic outcomes, without metadata."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    figure = Figure(figsize=(6, 4), layout="constrained")
    FigureCanvasAgg(figure)
    axes = figure.subplots()
    for values in sets:
        axes.ecdf(values, color="#0072b2", alpha=0.5)
    axes.set_xlabel(outcome)
    axes.set_ylabel("share of synthetic values up to here")
    figure.savefig(path, dpi=150, metadata={"Software": None})
