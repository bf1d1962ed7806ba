"""Verification of a release: every planted change is found, and no clean release is refused."""

import functools
import json
import os
import re
import shutil
import zlib
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
from formalsynth_release.expected_parts import check_parts
from formalsynth_release.public import fill
from formalsynth_release.release_folder import MANIFEST, seal
from formalsynth_release.study import Schema
from formalsynth_release.verify import verify

SET, OTHER = "synthetic_1.csv", "synthetic_2.csv"
DECLARED = "declarations.yaml"
TEXTS = (
    "README.md", "LEGAL.md", "combine.py", "combine.R", "analyses.csv", "datapackage.json", CROSSING, DECLARED,
)  # fmt: skip


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


def replaced(name, old, new):
    """Change that replaces a part of a text."""

    def change(folder):
        text = (folder / name).read_text(encoding="utf-8")
        assert old in text, name
        (folder / name).write_text(text.replace(old, new, 1), encoding="utf-8")

    return change


def added(name, text):
    """Change that adds text at the end of a file."""

    def change(folder):
        with open(folder / name, "ab") as file:
            file.write(text if isinstance(text, bytes) else text.encode())

    return change


def of_bytes(name, function):
    """Change of the bytes of a file."""

    def change(folder):
        content = (folder / name).read_bytes()
        assert function(content) != content
        (folder / name).write_bytes(function(content))

    return change


def of_lines(function):
    """Change of the lines of a data set after its header."""

    def change(folder):
        header, *lines = (folder / SET).read_text().splitlines()
        changed = function(lines)
        assert changed != lines
        (folder / SET).write_text("\n".join([header, *changed]) + "\n")

    return change


def new_file(name, content=b"30500"):
    """Change that adds a file."""

    def change(folder):
        (folder / name).parent.mkdir(exist_ok=True, parents=True)
        (folder / name).write_bytes(content)

    return change


def reordered(name):
    """Change the order of the keys of a file in JSON."""
    return of_bytes(name, lambda b: json.dumps(dict(reversed(json.loads(b).items())), indent=2).encode() + b"\n")


def linked(symbolic):
    """Change that puts a link in place of a file."""

    def change(folder):
        other = folder.parent / "other"
        (folder / SET).rename(other)
        (folder / SET).symlink_to(other) if symbolic else os.link(other, folder / SET)

    return change


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


def consistent(folder):
    """Change the crossing, and compute everything else from it: what only the ledger of the office shows."""
    crossing = folder / CROSSING
    crossing.write_text(crossing.read_text().replace("compared: false", "compared: true"))


CHANGES = {
    "a value": with_value(0, lambda v: str(int(v) + 1)),
    "Arabic digits": with_value(0, lambda v: v.translate({48 + k: 0x660 + k for k in range(10)})),
    "wide digits": with_value(0, lambda v: v.translate({48 + k: 0xFF10 + k for k in range(10)})),
    "a zero in front": with_value(0, lambda v: f"0{v}"),
    "decimal places": with_value(0, lambda v: f"{v}.0"),
    "a space": with_value(0, lambda v: f"{v} "),
    "quotes": with_value(2, lambda v: f'"{v}"'),
    "a sign of no width": with_value(2, lambda v: f"{v}\u200b"),
    "another letter that looks the same": with_value(2, lambda v: v.translate({97: 0x430, 101: 0x435, 111: 0x43E})),
    "capital letters": with_value(2, str.upper),
    "a missing value": with_value(0, lambda _: ""),
    "a row more": of_lines(lambda lines: [*lines, lines[0]]),
    "a row less": of_lines(lambda lines: lines[1:]),
    "the order of rows": of_lines(lambda lines: lines[::-1]),
    "bits in the order of rows": of_lines(bits_in_order),
    "sorted rows": of_lines(sorted),
    "columns in another order": of_lines(moved_columns),
    "two sets swapped": swapped,
    "a set twice": lambda folder: shutil.copyfile(folder / SET, folder / OTHER),
    "lines of Windows": of_bytes(SET, lambda b: b.replace(b"\n", b"\r\n")),
    "no line at the end": of_bytes(SET, lambda b: b[:-1]),
    "a line more at the end": added(SET, "\n"),
    "a byte order mark": of_bytes(SET, lambda b: b"\xef\xbb\xbf" + b),
    "another encoding": of_bytes(SET, lambda b: b.decode().encode("utf-16")),
    "another delimiter": of_bytes(SET, lambda b: b.replace(b",", b";")),
    "bytes after the end": added(SET, b"\x00" * 40),
    "a comment in a set": added(SET, "# 30500\n"),
    "one file less": lambda folder: (folder / OTHER).unlink(),
    "one file more": new_file("notes.txt"),
    "a hidden file": new_file(".hidden"),
    "a file of a system": new_file(".DS_Store"),
    "a set more": new_file("synthetic_9.csv"),
    "an archive": new_file("income.zip", b"PK\x03\x04"),
    "a name with a space at the end": new_file("README.md "),
    "a name in capitals": new_file("readme.md"),
    "a folder": lambda folder: (folder / "rows").mkdir(),
    "a file in a folder": new_file("rows/30500.csv"),
    "a name that tells": new_file("30500_41200_28800"),
    "a symbolic link": linked(True),
    "a pipe": lambda folder: os.mkfifo(folder / "pipe"),
    "checksums in capitals": of_bytes(MANIFEST, bytes.upper),
    "a line more in the manifest": added(MANIFEST, "30500\n"),
    "keys of the dictionary in another order": reordered("datapackage.json"),
    "the declarations written in another way": of_bytes(DECLARED, lambda b: yaml.safe_dump(yaml.safe_load(b)).encode()),
    "a key of the crossing twice": added(CROSSING, "crossing: 3\n"),
    "a reference in the crossing": replaced(CROSSING, "crossing: 3", "crossing: &a 2"),
    "a number of the crossing written in another way": replaced(CROSSING, "scale: 20.0", "scale: 20.00"),
    "a number less of the crossing": of_bytes(CROSSING, lambda b: re.sub(rb"- \[-?\d+, ", b"- [", b, count=1)),
    "tabs for spaces in the notes": of_bytes("README.md", lambda b: b.replace(b" ", b"\t", 1)),
    "spaces of another width in the promise": of_bytes("LEGAL.md", lambda b: b.replace(b" ", "\u2009".encode(), 1)),
    "a name that looks the same": lambda folder: (folder / "README.md").rename(folder / "READM\u0395.md"),
    "a set of another release": lambda folder: (
        made(folder.parent / "another", seed=2) and shutil.copyfile(folder.parent / "another" / SET, folder / SET)
    ),
    "code": replaced("combine.py", "import csv", "import csv, os"),
    "a constant of the code": replaced("combine.R", "mean(estimates)", "30500"),
    "a sum in the manifest": of_bytes(MANIFEST, lambda b: b[::-1]),
    "no manifest": lambda folder: (folder / MANIFEST).unlink(),
    "the order of the manifest": of_bytes(MANIFEST, lambda b: b"\n".join(sorted(b.split(b"\n")))),
    "a smaller epsilon in the promise": replaced("LEGAL.md", "Epsilon is at most 1 ", "Epsilon is at most 0.1 "),
    "a statement that is left out": replaced("LEGAL.md", "**What is not protected.**", "**Protected.**"),
    "a key in the dictionary": replaced("datapackage.json", "{", '{"note": "30500",'),
    "spaces in the dictionary": replaced("datapackage.json", "  ", "   "),
    "a number of the crossing": replaced(CROSSING, "- [", "- [1"),
    "a comment in the crossing": replaced(CROSSING, "crossing: 3", "crossing: 3 # 30500"),
    "another seed": of_bytes(CROSSING, lambda b: b.replace(b"seed: ", b"seed: 0", 1).replace(b"0\nrows", b"\nrows", 1)),
    "an earlier date": replaced(CROSSING, "2026-11-22", "2025-11-22"),
    "another guarantee": replaced(DECLARED, "are replaced", "are added or removed"),
    "another licence": replaced(DECLARED, "CC-BY-4.0", "CC0"),
    "a change of the crossing alone": consistent,
    "lines of Windows in the declarations": of_bytes(DECLARED, lambda b: b.replace(b"\n", b"\r\n")),
    "one line of Windows in the declarations": of_bytes(DECLARED, lambda b: b.replace(b"\n", b"\r\n", 1)),
    "lines of an old Macintosh in the declarations": of_bytes(DECLARED, lambda b: b.replace(b"\n", b"\r")),
    "lines of Windows in the crossing": of_bytes(CROSSING, lambda b: b.replace(b"\n", b"\r\n")),
    "a date that is none": replaced(CROSSING, "2026-11-22", "2026-13-77"),
    "many rows": of_bytes(CROSSING, lambda b: re.sub(rb"\nrows: \d+", b"\nrows: 999999999999", b)),
    "another budget": replaced(CROSSING, "budgets: [3.0]", "budgets: [9.0]"),
    "an earlier release less or more": replaced(CROSSING, "releases: []", "releases: [{date: 2026-13-77, epsilon: 1}]"),
    "another statement": replaced(CROSSING, "Epsilon is at most 1 ", "Epsilon is at most 1 (30500) "),
    "another reason": replaced(CROSSING, "costs epsilon 0.1.", "costs epsilon 0.1: 30500."),
    "a note with a version": replaced(CROSSING, "formalsynth: ", "formalsynth: 30500 "),
    "less noise than is said": replaced(CROSSING, "scale: 20.0", "scale: 10.0"),
}
CHANGES |= {f"a line in {name}": added(name, "30500\n") for name in TEXTS}
CHANGES |= {f"a space in {name}": added(name, " ") for name in TEXTS}
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
    ("one file more", r"notes\.txt: is not a file of this release"), ("one file less", f"{OTHER}: is missing"),
])  # fmt: skip
def test_checksums_are_compared_before_anything_is_computed(folder, kind, says, monkeypatch):
    CHANGES[kind](folder)
    monkeypatch.setattr(command, "compute_release", None)
    with pytest.raises(DataError, match=says):
        verify(folder)


ALONE = {"income": COLUMNS["income"]}


def income(**keys):
    """Schema of incomes alone with other declarations."""
    return a_schema(columns={"income": COLUMNS["income"] | keys})


CLEAN = {
    "epsilon": [{"config": a_config(ceiling=e, budget=20)} for e in (0.01, 0.1, 10)],
    "bins": [{"schema": income(bins=bins)} for bins in (1, 2, 499)],
    "sets": [{"config": a_config(sets=sets)} for sets in (1, 9)],
    "scale": [{"schema": income(scale="log")}],
    "decimals": [{"schema": income(type="number", decimals=places)} for places in (0, 2, 5)],
    "two columns": [
        {"schema": a_schema(columns={k: COLUMNS[k] for k in pair})} for pair in (("income", "age"), ("region", "income"))
    ],
    "added or removed": [
        {"schema": a_schema(neighbours="add_remove", columns=ALONE), "config": a_config(rows=rows)} for rows in (5, 2500)
    ],
    "titles": [{"config": a_config(title=title), "schema": income()} for title in ("seed: 7", "Ünïcödé 日本", "50")],
    "files": [{"seed": seed} for seed in (2, 3)],
}
CASES = [(kind, k) for kind, cases in CLEAN.items() for k in range(len(cases))]


@pytest.mark.parametrize(("kind", "k"), CASES)
def test_a_clean_release_is_never_refused(tmp_path, kind, k):
    folder = made(tmp_path / "income", **{"config": a_config()} | CLEAN[kind][k])
    assert "byte by byte" in verify(folder)[0]
    assert "byte by byte" in verify(Path(shutil.copytree(folder, tmp_path / "sent", copy_function=shutil.copyfile)))[0]


def households_schema(**changes):
    """Schema of the made-up households."""
    columns = changes.get("columns", households.COLUMNS)
    return Schema.model_validate(households.DECLARED | {"columns": columns, "pairs": households.all_pairs(columns)} | changes)


def of_households(seed=1, rows=400, **schema):
    """Release of noisy tables of made-up households."""
    declared = households_schema(rows=rows, **schema)
    config = {"analyses": {"replicates": 20}} | ({"rows": 300} if declared.hides_rows else {})
    text = households.households(rows, seed).replace("", np.nan)
    return lambda folder: made_tables(folder, declared, typed(declared, text), **config)


FEW, MOST = (
    {name: households.COLUMNS[name] for name in ("id", *names, "income")}
    for names in (("region", "age"), ("region", "education", "hours", "weight"))
)
"""Columns of some releases; all pairs of the second ones take half of the time that those of all columns take."""
WITHOUT_MISSING = FEW | {"income": {"type": "whole", "lower": -50_000, "upper": 500_000}}
OTHERS = {
    "tables": of_households(columns=MOST),
    "tables of declared pairs": of_households(pairs=[["region", "age"], ["age", "income"], ["age", "income kind"]], columns=FEW),
    "tables without pairs": of_households(pairs=[], seed=3, columns=FEW),
    "tables for add_remove": of_households(neighbours="add_remove", seed=4, columns=FEW),
    "tables without missing values": of_households(columns=WITHOUT_MISSING, missing="drop_rows", seed=5),
    "tables of few rows": of_households(rows=30, seed=6, columns=FEW),
}
"""Releases of households."""


@pytest.fixture(scope="module")
def other(tmp_path_factory):
    """Function that returns the release of a kind, which is made once."""
    folder = tmp_path_factory.mktemp("others")
    return functools.cache(lambda kind: OTHERS[kind](folder / kind / "income"))


@pytest.mark.parametrize("kind", OTHERS)
def test_a_clean_release_of_households_is_never_refused(other, kind):
    assert "byte by byte" in verify(other(kind))[0]


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


@pytest.fixture(scope="module", params=["tables", "tables for add_remove"])
def read(request, other):
    """Crossing of a release with its declarations."""
    return read_crossing(other(request.param))


@pytest.mark.parametrize("change", PARTS)
def test_parts_that_the_declarations_do_not_ask_for_are_refused(read, change):
    crossing, public = read
    check_parts(crossing, public)
    parts = PARTS[change](crossing.tables)
    if parts != crossing.tables:
        with pytest.raises(DataError, match="is not what the declarations require"):
            check_parts(crossing.model_copy(update={"tables": parts}), public)


def test_other_software_that_gives_the_same_bytes_is_named(folder, monkeypatch):
    here = command.software()
    monkeypatch.setattr(command, "software", lambda: here | {"numpy": "0"})
    assert "The crossing names other software (numpy" in verify(folder)[2]
    monkeypatch.setattr(command, "software", lambda: here | {"another": "1"})
    with pytest.raises(DataError, match=r"cannot be computed here\. The release was made with other software"):
        verify(folder)


def test_a_whole_other_release_is_found_by_the_ledger(folder, tmp_path, income_study):
    """Everything was computed again from other numbers: only the ledger of the office knows it."""
    another = made(tmp_path / "another", seed=2)
    verify(another)
    with pytest.raises(DataError, match="is not the crossing of a release in the ledger"):
        verify(another, income_study)


def test_other_software_is_named(folder):
    text = (folder / CROSSING).read_text()
    (folder / CROSSING).write_text(text.replace("numpy: ", "numpy: 9."))
    added("README.md", " ")(folder)
    sealed_again(folder)
    with pytest.raises(DataError, match=r"made with other software \(numpy 9\."):
        verify(folder)


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


def test_noise_is_not_in_the_seed(tmp_path):
    """Two releases of one file have other seeds, and other noise."""
    first, second = (made(tmp_path / name) for name in ("a", "b"))
    texts = [(folder / CROSSING).read_text() for folder in (first, second)]
    seeds = [text.split("seed: ")[1][:64] for text in texts]
    numbers = [np.array(text.split("- [")[1].split("]")[0].split(","), dtype=int) for text in texts]
    assert seeds[0] != seeds[1]
    assert (numbers[0] != numbers[1]).any()
