"""A run on a data file that is not published: nobody else can read its results, and the shared part has none of its values."""

import gzip
import re
import shutil

import pytest
from processes import python_path
from runs import FIGURES, RESULTS, SCALE, read_config, write_paper

from formalsynth.core.data_files import find

pytestmark = [pytest.mark.workflow]

NOT_PUBLISHED = """
from formalsynth.data.fatigue import FATIGUE
from formalsynth.core.data_files import FILES

for name in ("fatigue", "fatigue_cycles"):
    object.__setattr__(FILES[name], "confidential", True)
"""


SCENARIOS = ("simulation", "fatigue", "fatigue_alone")
"""Scenarios of the run: both that read the file, and one that does not."""


LONG = re.compile(r"\d{5,}")
WHOLE_NUMBER = re.compile(r"(?<![\w.])\d+(?!\w|\.\d*[1-9])")
"""One that is not a part of another: the digits of a coordinate in an SVG are no record."""


@pytest.fixture
def custom(tmp_path):
    """The variables of a run for which fatigue.csv is not published."""
    folder = tmp_path / "custom"
    folder.mkdir()
    (folder / "sitecustomize.py").write_text(NOT_PUBLISHED)
    return {"PYTHONPATH": python_path(folder)}


def leave(folder, scenarios):
    """Leave the paper of a folder some of its scenarios, with their figures, tables and claims; remove results of others."""
    _, paper = read_config(folder)
    others = tuple(id for id in paper["scenarios"] if id not in scenarios)
    for path in (folder / RESULTS).iterdir():
        if path.name.startswith(others):
            shutil.rmtree(path)
    for number, entry in paper["figures"].items():
        if entry["scenario"] in others:
            (folder / FIGURES / f"fig{number:0>2}.csv").unlink()
    paper["scenarios"] = {id: paper["scenarios"][id] for id in scenarios}
    for part in ("figures", "tables"):
        paper[part] = {number: entry for number, entry in paper[part].items() if entry["scenario"] in scenarios}
    write_paper(folder, paper, lambda claim: claim["estimate"]["scenario"] in scenarios and claim.get("shows") != "figure 5")


def numbers_of(path):
    """The numbers of a file that no other number begins or ends with by chance."""
    return set(LONG.findall(path.read_text()))


def texts(folder):
    for path in folder.rglob("*"):
        if path.is_file() and path.suffix != ".png":
            content = path.read_bytes()
            yield path, (gzip.decompress(content) if path.suffix == ".gz" else content).decode(errors="replace")


def test_nobody_else_can_read_the_results_and_nothing_of_the_file_is_in_what_is_sent(again, completed, custom):
    leave(again, SCENARIOS)
    config = " ".join(path.read_text(encoding="utf-8") for path in (again / "config").rglob("*.yaml"))
    secret = numbers_of(find("fatigue", "")) - set(re.findall(r"\d+", config))  # a printed median is a record, too
    assert len(secret) > 10
    said = completed(again, "--cores", 2, "--config", "papers=[range]", "--", "everything", "share", **custom)
    assert "CONFIDENTIAL: range: made from fatigue.csv" in said
    results, figures = again / "results" / SCALE, again / "figures" / SCALE
    for folder in (results / "range", figures / "range", results / "report", again / ".snakemake"):
        assert folder.stat().st_mode & 0o777 == 0o700, folder
    tables = [*results.glob("range/*/*.csv"), *figures.glob("range/*.csv"), results / "claims.csv"]
    assert len(tables) > 30
    assert [path for path in tables if path.stat().st_mode & 0o077] == []
    leaked = {number for _, text in texts(results / "range") for number in LONG.findall(text)}
    assert len(leaked & secret) > 10  # the test sees them where they are
    sent = dict(texts(results / "share"))
    assert (results / "share" / "index.html") in sent
    for path, text in sent.items():
        assert not secret & set(LONG.findall(text)) or not secret & set(WHOLE_NUMBER.findall(text)), path


def test_nobody_else_can_read_what_is_said_about_a_study_that_is_refused(folder, snakemake):
    """Messages on a file that cannot be used count its rows, and Snakemake keeps them."""
    (folder / ".snakemake").mkdir(exist_ok=True)
    (folder / ".snakemake").chmod(0o755)
    run = snakemake(folder, "--cores", 1, "--config", "study=absent.yaml")
    assert run.returncode
    assert "absent.yaml" in run.stdout
    assert list((folder / ".snakemake" / "log").iterdir())
    assert (folder / ".snakemake").stat().st_mode & 0o777 == 0o700
