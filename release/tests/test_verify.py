"""Verification of a release: every planted change is found, and no clean release is refused."""

import functools
import json
import os
import re
import shutil
import zlib
from functools import partial
from pathlib import Path

import households
import numpy as np
import pytest
import yaml
from small_release import COLUMNS, a_config, a_schema, made, made_tables, typed

from formalsynth.core.text import DataError
from formalsynth_release import joint
from formalsynth_release import verify as command
from formalsynth_release.command import main
from formalsynth_release.crossing import CROSSING, noise_reason, read_crossing
from formalsynth_release.public import MANIFEST, fill, seal
from formalsynth_release.tables import check_parts
from formalsynth_release.verify import verify

SET, OTHER = "synthetic_1.csv", "synthetic_2.csv"
DECLARED = "declarations.yaml"
TEXTS = "README.md", "LEGAL.md", "combine.py", "combine.R", "analyses.csv", "datapackage.json", CROSSING, DECLARED


@pytest.fixture(scope="module")
def clean(tmp_path_factory):
    return made(tmp_path_factory.mktemp("clean") / "income")


@pytest.fixture
def folder(clean, tmp_path):
    return Path(shutil.copytree(clean, tmp_path / "income"))


@pytest.fixture(scope="module", autouse=True)
def _few_rows():
    """Fit tables to fewer rows, in releases as in verifications: this takes a quarter of the time."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(joint, "POOL", 1000)
        yield


@pytest.fixture(autouse=True)
def _in_this_process(request, monkeypatch, tmp_path_factory):
    """Compute each crossing once for all tests, without a process of its own; the command is tested with one below."""
    if "own_process" in request.fixturenames:
        return
    known = tmp_path_factory.getbasetemp() / "known"

    def compute(given, to):
        key = known / "-".join(str(zlib.crc32(path.read_bytes())) for path in sorted(given.iterdir()))
        if not key.exists():
            key.mkdir(parents=True)
            fill(given, key)
        shutil.copytree(key, to, dirs_exist_ok=True)

    monkeypatch.setattr(command, "compute_release", compute)


def of_bytes(name, function):
    """Change of the bytes of a file."""

    def change(folder):
        content = (folder / name).read_bytes()
        assert function(content) != content
        (folder / name).write_bytes(function(content))

    return change


def replaced(name, old, new):
    """Change that replaces a part of a text."""
    return of_bytes(name, lambda content: content.replace(old.encode(), new.encode(), 1))


def added(name, text):
    """Change that adds text at the end of a file."""
    return of_bytes(name, lambda content: content + text.encode())


def of_lines(function):
    """Change of the lines of a data set after its header."""

    def changed(content):
        header, *lines = content.decode().splitlines()
        return "\n".join([header, *function(lines), ""]).encode()

    return of_bytes(SET, changed)


def new_file(name, content=b"30500"):
    """Change that adds a file."""

    def change(folder):
        (folder / name).parent.mkdir(exist_ok=True, parents=True)
        (folder / name).write_bytes(content)

    return change


def linked(folder):
    (folder / SET).rename(folder.parent / "other")
    (folder / SET).symlink_to(folder.parent / "other")


def swapped(folder):
    (folder / SET).rename(folder / "x")
    (folder / OTHER).rename(folder / SET)
    (folder / "x").rename(folder / OTHER)


def moved_columns(lines):
    return [",".join([*line.split(",")[1:], line.split(",")[0]]) for line in lines]


def with_value(place, function):
    """Change one value of the first rows."""

    def change(lines):
        cells = lines[0].split(",")
        cells[place] = function(cells[place])
        return [",".join(cells), *lines[1:]]

    return of_lines(change)


def bits_in_order(lines):
    """Hide bits in the order of pairs of rows."""
    pairs = (sorted(lines[k : k + 2], reverse=bool(k % 4)) for k in range(0, len(lines), 2))
    return [line for pair in pairs for line in pair]


def sealed_again(folder):
    """Renew the checksums, if all entries are files: a pipe would never end."""
    if not all(path.is_file() and not path.is_symlink() for path in folder.iterdir()):
        return
    (folder / MANIFEST).unlink(missing_ok=True)
    seal(folder)
    (folder / MANIFEST).chmod(0o644)


CHANGES = {
    "a value": with_value(0, lambda v: str(int(v) + 1)),
    "Arabic digits": with_value(0, lambda v: v.translate({48 + k: 0x660 + k for k in range(10)})),
    "wide digits": with_value(0, lambda v: v.translate({48 + k: 0xFF10 + k for k in range(10)})),
    "another letter that looks the same": with_value(2, lambda v: v.translate({97: 0x430, 101: 0x435, 111: 0x43E})),
    "capital letters": with_value(2, str.upper), "a missing value": with_value(0, lambda _: ""),
    **{f"{written.format('value')} for a value": with_value(place, written.format)
       for place, written in ((0, "0{}"), (0, "{}.0"), (0, "{} "), (2, '"{}"'), (2, "{}\u200b"))},
    "a row more": of_lines(lambda lines: [*lines, lines[0]]), "a row less": of_lines(lambda lines: lines[1:]),
    "the order of rows": of_lines(lambda lines: lines[::-1]), "sorted rows": of_lines(sorted),
    "bits in the order of rows": of_lines(bits_in_order), "columns in another order": of_lines(moved_columns),
    "two sets swapped": swapped, "a set twice": lambda folder: shutil.copyfile(folder / SET, folder / OTHER),
    "a set of another release": lambda folder: (
        made(folder.parent / "another", seed=2) and shutil.copyfile(folder.parent / "another" / SET, folder / SET)
    ),
    "no line at the end": of_bytes(SET, lambda b: b[:-1]), "a byte order mark": of_bytes(SET, lambda b: b"\xef\xbb\xbf" + b),
    "another encoding": of_bytes(SET, lambda b: b.decode().encode("utf-16")),
    "another delimiter": of_bytes(SET, lambda b: b.replace(b",", b";")), "a symbolic link": linked,
    **{f"{more!r} at the end of a set": added(SET, more) for more in ("\n", "\x00" * 40, "# 30500\n")},
    **{f"a file {name!r}": new_file(name) for name in ("notes.txt", ".hidden", ".DS_Store", "synthetic_9.csv", "README.md ",
                                                       "readme.md", "rows/30500.csv", "30500_41200_28800")},
    "an archive": new_file("income.zip", b"PK\x03\x04"), "one file less": lambda folder: (folder / OTHER).unlink(),
    "a folder": lambda folder: (folder / "rows").mkdir(), "a pipe": lambda folder: os.mkfifo(folder / "pipe"),
    "a name that looks the same": lambda folder: (folder / "README.md").rename(folder / "READM\u0395.md"),
    "checksums in capitals": of_bytes(MANIFEST, bytes.upper), "a line more in the manifest": added(MANIFEST, "30500\n"),
    "a sum in the manifest": of_bytes(MANIFEST, lambda b: b[::-1]), "no manifest": lambda folder: (folder / MANIFEST).unlink(),
    "the order of the manifest": of_bytes(MANIFEST, lambda b: b"\n".join(sorted(b.split(b"\n")))),
    "sorted keys": of_bytes("datapackage.json", lambda b: json.dumps(json.loads(b), indent=2, sort_keys=True).encode() + b"\n"),
    "the declarations written in another way": of_bytes(DECLARED, lambda b: yaml.safe_dump(yaml.safe_load(b)).encode()),
    "a key of the crossing twice": added(CROSSING, "crossing: 3\n"),
    "a number less of the crossing": of_bytes(CROSSING, lambda b: re.sub(rb"- \[-?\d+, ", b"- [", b, count=1)),
    "another seed": of_bytes(CROSSING, lambda b: re.sub(rb"seed: .", b"seed: 0", b)),
    "many rows": of_bytes(CROSSING, lambda b: re.sub(rb"\nrows: \d+", b"\nrows: 999999999999", b)),
    "one line of Windows in the declarations": of_bytes(DECLARED, lambda b: b.replace(b"\n", b"\r\n", 1)),
    "lines of an old Macintosh in the declarations": of_bytes(DECLARED, lambda b: b.replace(b"\n", b"\r")),
    **{f"lines of Windows in {name}": of_bytes(name, lambda b: b.replace(b"\n", b"\r\n")) for name in (SET, DECLARED, CROSSING)},
    **{f"{new!r} in {name}": replaced(name, old, new) for name, old, new in [
        ("README.md", " ", "\t"), ("LEGAL.md", " ", "\u2009"), ("combine.py", "import csv", "import csv, os"),
        ("combine.R", "mean(estimates)", "30500"), ("LEGAL.md", "Epsilon is at most 1 ", "Epsilon is at most 0.1 "),
        ("LEGAL.md", "**What is not protected.**", "**Protected.**"), ("datapackage.json", "{", '{"note": "30500",'),
        ("datapackage.json", "  ", "   "), (DECLARED, "are replaced", "are added or removed"), (DECLARED, "CC-BY-4.0", "CC0"),
        (CROSSING, "crossing: 3", "crossing: &a 3"), (CROSSING, "scale: 20.0", "scale: 20.00"), (CROSSING, "- [", "- [1"),
        (CROSSING, "crossing: 3", "crossing: 3 # 30500"), (CROSSING, "2026-11-22", "2025-11-22"),
        (CROSSING, "compared: false", "compared: true"), (CROSSING, "2026-11-22", "2026-13-77"),
        (CROSSING, "budgets: [3.0]", "budgets: [9.0]"), (CROSSING, "releases: []", "releases: [{date: 2026-13-77, epsilon: 1}]"),
        (CROSSING, "Epsilon is at most 1 ", "Epsilon is at most 1 (30500) "), (CROSSING, "formalsynth: ", "formalsynth: 30500 "),
        (CROSSING, "costs epsilon 0.1.", "costs epsilon 0.1: 30500."), (CROSSING, "scale: 20.0", "scale: 10.0"),
    ]},
}  # fmt: skip
CHANGES |= {f"{more!r} at the end of {name}": added(name, more) for name in TEXTS for more in ("30500\n", " ")}
OF_MANIFEST = {"checksums in capitals", "a line more in the manifest", "a sum in the manifest", "no manifest",
               "the order of the manifest"}  # fmt: skip
"""Changes that new checksums undo."""


@pytest.mark.parametrize("kind", CHANGES)
def test_a_planted_change_is_found_with_and_without_new_checksums(folder, kind):
    CHANGES[kind](folder)
    with pytest.raises(DataError):
        verify(folder)
    if kind not in OF_MANIFEST:
        sealed_again(folder)
        with pytest.raises(DataError):
            verify(folder)


@pytest.mark.parametrize(("kind", "says"), [
    ("a value", f"{SET}: does not match its checksum in MANIFEST.sha256. Do not send or trust this folder: it was changed"),
    ("a file 'notes.txt'", r"notes\.txt: is not a file of this release"), ("one file less", f"{OTHER}: is missing"),
])  # fmt: skip
def test_checksums_are_compared_before_anything_is_computed(folder, kind, says, monkeypatch):
    CHANGES[kind](folder)
    monkeypatch.setattr(command, "compute_release", None)
    with pytest.raises(DataError, match=says):
        verify(folder)


def income(neighbours="replace", **keys):
    """Schema of incomes alone with other declarations."""
    return a_schema(neighbours=neighbours, columns={"income": COLUMNS["income"] | keys})


def made_households(folder, names=("region", "age"), seed=1, rows=400, income=households.COLUMNS["income"], **schema):
    """Release of some columns of made-up households."""
    columns = {name: households.COLUMNS[name] for name in ("id", *names)} | {"income": income}
    declared = a_schema(**households.DECLARED | {"rows": rows, "columns": columns} | schema)
    config = {"analyses": {"replicates": 20}} | ({"rows": 300} if declared.hides_rows else {})
    return made_tables(folder, declared, typed(declared, households.households(rows, seed).replace("", np.nan)), **config)


PAIRS = [["region", "income"], ["education", "income kind"], ["hours", "income"], ["hours kind", "income"]]
FEW = [["region", "age"], ["age", "income"], ["age", "income kind"]]
WITHOUT_MISSING = {"type": "whole", "lower": -50_000, "upper": 500_000}
RELEASES = {
    "tables": partial(made_households, names=("region", "education", "hours"), pairs=PAIRS, accept_noise=PAIRS),
    "tables for add_remove": partial(made_households, neighbours="add_remove", seed=4, pairs=FEW),
    "tables of declared pairs": partial(made_households, pairs=FEW),
    "tables without pairs": partial(made_households, pairs=[], seed=3),
    "tables of few rows": partial(made_households, rows=30, seed=6),
    "tables without missing values": partial(made_households, income=WITHOUT_MISSING, missing="drop_rows", seed=5),
    **{f"epsilon {e}": partial(made, config=a_config(ceiling=e, budget=20)) for e in (0.01, 0.1, 10)},
    **{f"{bins} bins": partial(made, schema=income(bins=bins)) for bins in (1, 2, 499)},
    **{f"{sets} sets": partial(made, config=a_config(sets=sets)) for sets in (1, 9)},
    "a log scale": partial(made, schema=income(scale="log")), "another file": partial(made, seed=2),
    **{f"{places} decimals": partial(made, schema=income(type="number", decimals=places)) for places in (0, 2, 5)},
    **{f"{first} and {second}": partial(made, schema=a_schema(columns={name: COLUMNS[name] for name in (first, second)}))
       for first, second in (("income", "age"), ("region", "income"))},
    **{f"{rows} rows": partial(made, schema=income("add_remove"), config=a_config(rows=rows)) for rows in (5, 2500)},
    **{title: partial(made, config=a_config(title=title), schema=income()) for title in ("seed: 7", "Ünïcödé 日本", "50")},
}  # fmt: skip


@pytest.fixture(scope="module")
def other(tmp_path_factory):
    """Function that returns the release of a kind, which is made once."""
    folder = tmp_path_factory.mktemp("others")
    return functools.cache(lambda kind: RELEASES[kind](folder / kind / "income"))


@pytest.mark.parametrize("kind", RELEASES)
def test_a_clean_release_is_never_refused(other, tmp_path, kind):
    sent = Path(shutil.copytree(other(kind), tmp_path / "sent", copy_function=shutil.copyfile))
    for folder in (other(kind), sent):
        assert "byte by byte" in verify(folder)[0]


@pytest.mark.slow
@pytest.mark.timeout(1200)
@pytest.mark.parametrize("kind", ["tables", "tables for add_remove"])
def test_planted_changes_are_found_in_releases_of_households(tmp_path, other, kind, capsys):
    """Those that a release of the kind can have: not all have the same words."""
    clean, unfound, unlike = other(kind), [], []
    for number, (name, change) in enumerate(CHANGES.items()):
        folder = Path(shutil.copytree(clean, tmp_path / f"{number}" / "income"))
        try:
            change(folder)
        except (AssertionError, OSError, IndexError, ValueError):  # no such file, word or column
            unlike.append(name)
            continue
        for again in (False, True):
            try:
                sealed_again(folder) if again and name not in OF_MANIFEST else None
                verify(folder)
                unfound.append(name)
            except DataError:
                continue
    with capsys.disabled():
        print(f"\n{kind}: {len(CHANGES) - len(unlike)} changes, {len(unfound)} not found; of another kind: {', '.join(unlike)}")
    assert unfound == []
    assert len(unlike) < 20


def with_scores(change, pairs_only=False):
    """Change of the scores of parts."""

    def of_part(part):
        scores = part.scores if pairs_only and len(part.columns) == 1 else {k: change(v) for k, v in part.scores.items()}
        return part.model_copy(update={"scores": scores})

    return lambda parts: tuple(map(of_part, parts))


def with_largest(part):
    update = {"largest": 1, "reason": noise_reason(2, part.scale, part.epsilon)}
    return part.model_copy(update=update) if part.largest > 1 else part


PARTS = {
    "all ages of one person": lambda parts: (
        *parts, parts[0].model_copy(update={"name": "ages of Bob", "epsilon": 1e-9, "scale": 3e9})
    ),
    "no part": lambda parts: (),
    "a pair with a smaller largest sum": lambda parts: tuple(map(with_largest, parts)),
    "scores of another number of levels": with_scores(lambda scores: scores[:-1]),
    "reversed scores": with_scores(lambda scores: scores[::-1]),
    "scores of a pair from its exact sums": with_scores(lambda scores: tuple(min(k + 3, 20) for k in scores), True),
    "scores where no pair has any": lambda parts: tuple(
        part.model_copy(update={"scores": part.scores or {"x": (1,)}}) for part in parts
    ),
    "another epsilon": lambda parts: (parts[0].model_copy(update={"epsilon": parts[0].epsilon * 2}), *parts[1:]),
}  # fmt: skip


@pytest.mark.parametrize("change", PARTS)
def test_parts_that_the_declarations_do_not_ask_for_are_refused(other, change):
    crossing, public = read_crossing(other("tables"))
    check_parts(crossing, public)
    parts = PARTS[change](crossing.tables)
    assert parts != crossing.tables
    with pytest.raises(DataError, match="is not what the declarations require"):
        check_parts(crossing.model_copy(update={"tables": parts}), public)


def test_other_software_is_named(folder, monkeypatch):
    here = command.software()
    monkeypatch.setattr(command, "software", lambda: here | {"numpy": "0"})
    assert "The crossing names other software (numpy" in verify(folder)[2]
    CHANGES["a value"](folder)
    sealed_again(folder)
    with pytest.raises(DataError, match=r"made with other software \(numpy "):
        verify(folder)
    monkeypatch.setattr(command, "software", lambda: here | {"another": "1"})
    with pytest.raises(DataError, match=r"cannot be computed here\. The release was made with other software"):
        verify(folder)


def test_a_whole_other_release_is_found_by_the_ledger(folder, tmp_path, income_study):
    """Everything was computed again from other numbers: only the ledger of the office knows it."""
    another = made(tmp_path / "another", seed=2)
    verify(another)
    with pytest.raises(DataError, match="is not the crossing of a release in the ledger"):
        verify(another, income_study)


def test_what_is_no_release_is_named(tmp_path):
    with pytest.raises(DataError, match="is not a folder"):
        verify(tmp_path / "nowhere")
    with pytest.raises(DataError, match=CROSSING):
        verify(tmp_path)


@pytest.mark.usefixtures("own_process")
def test_the_command_computes_in_a_process_of_its_own(tmp_path, capsys):
    folder = made(tmp_path / "income", schema=income())
    assert main(["verify", str(folder)]) == 0
    assert "ask the office that published the data" in capsys.readouterr().out
    CHANGES["a value"](folder)
    assert main(["verify", str(folder)]) == 1
    assert f"{SET}: does not match its checksum" in capsys.readouterr().err
    sealed_again(folder)
    assert main(["verify", str(folder)]) == 1
    assert f"{SET}: does not follow from crossing.yaml" in capsys.readouterr().err
