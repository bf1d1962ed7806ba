"""The scan finds 40 planted leaks of 40, each in a folder whose manifest is right again, and lets 20 clean releases pass."""

import base64
import getpass
import gzip
import shutil
import socket
import struct
import zlib
from pathlib import Path

import incomes
import matplotlib
import numpy as np
import pandas as pd
import pytest
from formalsynth.core.text import DataError
from formalsynth.custodian.leak_scan import refuse_leaks
from small_release import COLUMNS, a_config, a_schema, histogram, made

matplotlib.use("Agg")


@pytest.fixture(scope="module")
def clean(tmp_path_factory):
    return made(tmp_path_factory.mktemp("clean") / "income")


def confidential_income(release):
    """An outcome of a person who is in no way special, not round, and in no text by chance."""
    return int(release.confidential.table["income"].sort_values().iloc[1500])


def append(name, text):
    """A leak at the end of a file."""

    def plant(release):
        with open(release.folder / name, "a", encoding="utf-8") as file:
            file.write(text(release) if callable(text) else text)

    return plant


def in_set(change, number=1):
    """A leak inside a synthetic set."""

    def plant(release):
        path = release.folder / f"synthetic_{number}.csv"
        table, real = pd.read_csv(path), release.confidential.table
        change(table, real).to_csv(path, index=False)

    return plant


def new_file(name, content):
    def plant(release):
        (release.folder / name).write_bytes(content(release) if callable(content) else content)

    return plant


def rows(count, start=0):
    def change(table, real):
        table.iloc[start : start + count] = real[table.columns].iloc[:count]
        return table

    return change


def extremes(table, real):
    largest = real[(real["income"] < 500_000)].nlargest(40, "income")
    table.iloc[:40] = largest[table.columns]
    return table


def moved(by):
    def change(table, real):
        table.loc[:199, "income"] = (real["income"].iloc[:200] + by).clip(1000, 500_000).to_numpy()
        return table

    return change


def png_with(kind, body):
    """A chunk in the picture."""

    def plant(release):
        path = release.folder / "outcomes.png"
        content = path.read_bytes()
        chunk = struct.pack(">I", len(body)) + kind + body + struct.pack(">I", zlib.crc32(kind + body))
        path.write_bytes(content[:33] + chunk + content[33:])

    return plant


def link(release):
    (release.folder / "README.md").unlink()
    (release.folder / "README.md").symlink_to(Path("/etc/hostname"))


def npz(release):
    np.savez(release.folder / "draws.npz", weights=release.confidential.secrets[0])


def weight(release):
    return f"\nA factor of {release.confidential.secrets[0][7]:.6f} was used.\n"


def zipped(release):
    return gzip.compress(release.confidential.table.to_csv().encode())


def encoded(release):
    return f"\n{base64.b64encode(release.confidential.table.head(5).to_csv().encode()).decode()}\n"


LEAKS = {
    "thirty rows": in_set(rows(30)),
    "rows in another place": in_set(rows(30, start=1000), number=2),
    "extreme rows": in_set(extremes),
    "the whole file": in_set(lambda table, real: real[table.columns]),
    "the whole file in another order": in_set(lambda table, real: real[table.columns].sample(frac=1, random_state=1)),
    "the outcomes of the file": in_set(lambda table, real: table.assign(income=real["income"])),
    "sorted outcomes": in_set(lambda table, real: table.assign(income=np.sort(real["income"]))),
    "outcomes moved by one": in_set(moved(1)),
    "outcomes moved by two": in_set(moved(-2)),
    "an outcome beyond the bounds": in_set(lambda table, real: table.replace({"income": {table["income"][0]: 999_999}})),
    "more digits than declared": in_set(lambda table, real: table.assign(income=table["income"] + 0.123)),
    "another column": in_set(lambda table, real: table.assign(weight=np.linspace(0, 1, len(table)))),
    "a suppressed column": in_set(lambda table, real: table.assign(person=[f"P{k:06d}" for k in range(len(table))])),
    "a category that was merged away": in_set(lambda table, real: table.replace({"region": {"Islands": "Isle"}})),
    "a row more": in_set(lambda table, real: pd.concat([table, table.head(1)])),
    "a comment in a table": append("synthetic_1.csv", "# seed: 12\n"),
    "an outcome in README": append("README.md", lambda release: f"\nThe median is {confidential_income(release)}.\n"),
    "an outcome with commas": append("README.md", lambda release: f"\nAbout {confidential_income(release):,} each.\n"),
    "an outcome in JSON": append("datapackage.json", lambda release: f'{{"mean": {confidential_income(release)}.0}}'),
    "an outcome in the card": append("deployment.yaml", lambda release: f"note: {confidential_income(release)}\n"),
    "an outcome on the legal page": append("LEGAL.md", lambda release: f"\nAs in row 7 ({confidential_income(release)}).\n"),
    "a weight": append("README.md", weight),
    "a bound": append("LEGAL.md", lambda release: f"\nIt was {release.confidential.secrets[1][3]:.8g}.\n"),
    "a draw": append("deployment.yaml", lambda release: f"note: {release.confidential.secrets[2][5, 2]:.7f}\n"),
    "weights by name": append("metadata.json", '{"weights": [0.5]}'),
    "a seed": append("deployment.yaml", "root_seed: 20260101\n"),
    "a seed in code": append("combine.py", "\nseed = 42\n"),
    "a path": append("README.md", "\nMade from /srv/income/raw/file.csv\n"),
    "a path of Windows": append("README.md", "\nMade from C:\\Users\\data\n"),
    "the name of the file": append("README.md", "\nMade from income.csv\n"),
    "the name of the user": append("datapackage.json", lambda release: f'{{"by": "{getpass.getuser()}"}}'),
    "the name of the computer": append("README.md", lambda release: f"\nRun on {socket.gethostname()}.\n"),
    "an address of a computer": append("README.md", "\nFrom 10.0.12.7.\n"),
    "an e-mail address": append("combine.py", "\n# ask jo@office.example\n"),
    "the number of a person": append("README.md", "\nFor instance P000017.\n"),
    "a series of numbers": append("metadata.json", "[0.11, 0.12, 0.13, 0.15, 0.17, 0.2, 0.21, 0.25, 0.3]"),
    "hidden signs": append("README.md", "\nhello\u200bworld\n"),
    "a hidden comment": append("README.md", "\n<!-- row 7 -->\n"),
    "an encoded file in a text": append("README.md", encoded),
    "text in a picture": png_with(b"tEXt", b"Comment\0made by jo"),
    "EXIF in a picture": png_with(b"eXIf", b"MM\0*"),
    "bytes after a picture": lambda release: (release.folder / "outcomes.png").write_bytes(
        (release.folder / "outcomes.png").read_bytes() + b"more"
    ),
    "a drawing": new_file("outcomes.svg", b"<svg xmlns='http://www.w3.org/2000/svg'/>"),
    "a page": new_file("report.html", b"<html></html>"),
    "arrays": npz,
    "a compressed file": new_file("synthetic_1.csv.gz", zipped),
    "a compressed file under another name": new_file("README.md", zipped),
    "a hidden file": new_file(".notes", b"row 7"),
    "a set more": new_file("synthetic_4.csv", b"income,age,region,sector\n"),
    "a name with a value": new_file("synthetic_jo_52341.csv", b""),
    "a folder": lambda release: (release.folder / "logs").mkdir(),
    "a link": link,
}  # fmt: skip
UNSEALED = {
    "a changed set": in_set(rows(1)),
    "a note in the manifest": append("MANIFEST.sha256", "# seed 3\n"),
    "a missing legal page": lambda release: (release.folder / "LEGAL.md").unlink(),
}


def copy_of(release, folder):
    shutil.copytree(release.folder, folder / "income")
    return type(release)(folder / "income", release.confidential)


def test_there_are_forty_leaks():
    assert len(LEAKS) >= 40


@pytest.mark.parametrize("leak", LEAKS)
def test_a_planted_leak_is_found(leak, clean, tmp_path, monkeypatch):
    monkeypatch.setattr(socket, "gethostname", lambda: "statserver7")
    release = copy_of(clean, tmp_path)
    LEAKS[leak](release)
    release.seal()
    with pytest.raises(DataError) as error:
        refuse_leaks(release.folder, release.confidential)
    assert str(error.value).count("\n") == 0
    assert str(confidential_income(release)) not in str(error.value)


@pytest.mark.parametrize("leak", UNSEALED)
def test_a_folder_that_was_changed_afterwards_is_found(leak, clean, tmp_path):
    release = copy_of(clean, tmp_path)
    UNSEALED[leak](release)
    assert release.findings()


def test_twenty_clean_releases_pass(tmp_path):
    for seed in range(20):
        release = made(tmp_path / f"income{seed}", seed=seed, config=a_config(figure=False))
        assert release.findings() == []


OUTCOMES = {
    "hours, of which most values occur": ({"lower": 0, "upper": 99}, lambda x: np.clip(np.round(np.log(x) * 9 - 55), 0, 99)),
    "amounts in round thousands": ({"lower": 1000, "upper": 500_000}, lambda x: np.maximum(np.round(x, -3), 1000)),
    "amounts with cents": ({"type": "number", "decimals": 2, "lower": 1000, "upper": 500_000}, lambda x: np.round(x / 3.7, 2)),
    "most beyond the bounds": ({"lower": 1000, "upper": 30_000}, lambda x: x),
}


@pytest.mark.parametrize("kind", OUTCOMES)
def test_clean_releases_pass_whatever_the_outcomes_look_like(kind, tmp_path):
    column, change = OUTCOMES[kind]
    text = incomes.incomes()
    numbers = change(pd.to_numeric(text["income"]).to_numpy())
    text["income"] = [("" if np.isnan(value) else repr(float(value)).removesuffix(".0")) for value in numbers]
    schema = a_schema(columns={**COLUMNS, "income": COLUMNS["income"] | column})
    ends = schema.columns["income"].ends
    release = made(
        tmp_path / "income",
        schema=schema,
        config=a_config(figure=False),
        candidate=histogram(low=ends[0], high=ends[1]),
        text=text,
    )
    assert release.findings() == []
