"""From a declared study to a folder that may be sent: the whole way of a release."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
import pandas as pd

from formalsynth import __version__
from formalsynth.core.arrays import Array
from formalsynth.core.job import SamplerSettings
from formalsynth.core.mechanism import MECHANISMS
from formalsynth.custody.budget import Spent, finish, read_ledger, start, today
from formalsynth.custody.candidates import Candidate, fit, read_study
from formalsynth.custody.checking import usable
from formalsynth.custody.reading import Written, read_text
from formalsynth.custody.records import records_of
from formalsynth.custody.schema import RELEASE, STUDY, Declared, ReleaseConfig, read_release
from formalsynth.custody.trying import compiled
from formalsynth.data.files import DataError
from formalsynth.plan.messages import ConfigError, message
from formalsynth.plan.yaml_file import load_yaml
from formalsynth.release.describing import Telling, card, combine_code, datapackage, dictionary, legal, readme
from formalsynth.release.drawing import Drawn, draw_sets
from formalsynth.release.gate import MANIFEST, PICTURE, Confidential, check, manifest_text
from formalsynth.runtime.files import checksum
from formalsynth.runtime.private import private_folder
from formalsynth.runtime.scratch import scratch_folder

OPEN_FOLDER, OPEN_FILE = 0o755, 0o644


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
    if config.synthesizer not in study.expanded.synthesizers:
        raise ConfigError(message(declared.folder / RELEASE, "synthesizer", config.synthesizer, study.ids()))
    _check_place(to)
    table = usable(declared)
    mechanism = MECHANISMS[study.expanded.synthesizers[config.synthesizer].mechanism]
    entry = Spent(
        date=today(),
        synthesizer=config.synthesizer,
        guarantee=mechanism.guarantee,
        neighbours=declared.schema.neighbours,
        sets=config.sets,
        epsilon=config.ceiling,
        outcome="started",
    )
    # own code that does not keep to its contract stops before anything counts as spent
    with compiled(declared, study) as executable:
        place = start(declared.folder, entry, config.budget)
        try:
            records = records_of(declared.schema, table)
            candidate = fit(declared, study, records, executable, [config.synthesizer], SamplerSettings())[config.synthesizer]
            _publish(declared, config, table, candidate, draw_sets(declared, config, table, candidate), to)
        except DataError as error:
            finish(declared.folder, place, "stopped")
            raise DataError(
                f"{error}\nIts epsilon of {config.ceiling:g} counts as spent, since the outcome depends on the data."
            ) from error
    finish(declared.folder, place, "released")
    return [
        f"Released: {to}. No seed was used, and nothing that it was drawn from is kept.",
        f"Let somebody else read it before it is sent, {to / 'LEGAL.md'} first.",
        f"What was spent on the file: formalsynth budget {declared.folder}",
    ]


def _publish(
    declared: Declared, config: ReleaseConfig, table: pd.DataFrame, candidate: Candidate, drawn: Drawn, to: Path
) -> None:
    """Fill a folder that only its owner can enter, have the gate look at it, and put it in its place."""
    telling = Telling(
        declared.name, declared, config, candidate.synthesizer.mechanism, candidate.guarantee, candidate.pure,
        {} if not candidate.pure else candidate.synthesizer.parameters, len(drawn.sets[0]), today(),
    )  # fmt: skip
    secrets = [array for array in (candidate.by_record, candidate.weights, *candidate.draws.values()) if array is not None]
    confidential = _confidential(declared, config, table, f"{telling.rows} {telling.date}", secrets)
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


def _confidential(
    declared: Declared, config: ReleaseConfig, table: pd.DataFrame, more: str, secrets: Sequence[Array] = ()
) -> Confidential:
    """What must not go out; ``more`` is published beside what is declared."""
    schema, study = declared.schema, dict(load_yaml(declared.folder / STUDY))
    text = read_text(declared.csv, Written(schema.encoding, schema.delimiter, schema.decimal))
    published = f"{config.model_dump()} {study.get('synthesizers')} {more} {more.replace('-', ' ')} {__version__}"
    return Confidential(declared, table, text, secrets, published, config.sets, config.figure)


def look_again(declared: Declared, folder: Path) -> list[str]:
    """Have the gate look at a release that was made before; weights, bounds and draws are known no more.

    Returns:
        What was found, which is nothing.

    Raises:
        ConfigError: something is not declared.
        DataError: something has no place in it, or the folder is none.
    """
    if not folder.is_dir():
        raise DataError(f"{folder}: is no folder; give that of a release")
    config, table = read_release(declared.folder), usable(declared)
    dates = " ".join(entry.date for entry in read_ledger(declared.folder))
    check(folder, _confidential(declared, config, table, dates))
    return [f"{folder}: nothing was found that has no place in a release. That nothing was found is no proof."]


def write(folder: Path, telling: Telling, drawn: Drawn) -> None:
    """Write every file of a release, the manifest last."""
    schema = telling.declared.schema
    for name, one in zip(telling.files, drawn.sets, strict=True):
        columns = {column: _text(schema.columns[column].places, schema.columns[column].type, one[column]) for column in one}
        pd.DataFrame(columns).to_csv(folder / name, index=False, lineterminator="\n")
    texts = {
        "metadata.json": dictionary(telling), "datapackage.json": datapackage(telling), "README.md": readme(telling),
        "combine.py": combine_code(telling), "deployment.yaml": card(telling), "LEGAL.md": legal(telling),
    }  # fmt: skip
    for name, text in texts.items():
        (folder / name).write_text(text, encoding="utf-8")
    if telling.config.figure:
        _draw(folder / PICTURE, schema.outcome, [one[schema.outcome].to_numpy(dtype=float) for one in drawn.sets])
    sums = {path.name: checksum(path) for path in folder.iterdir()}
    (folder / MANIFEST).write_text(manifest_text(sums), encoding="utf-8")


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
