"""The transaction of a release: the same bytes or nothing, whatever ends it, and never more epsilon than the ledger has."""

import os
import pwd
import shutil
import subprocess
import sys
from pathlib import Path

import incomes
import numpy as np
import pandas as pd
import pytest
import yaml

import formalsynth_release
from formalsynth.core.text import DataError
from formalsynth_release import publish
from formalsynth_release.command import main
from formalsynth_release.ledger import ReleaseEntry, ledgers_folder, locked, read_ledger

UNFINISHED = Path("studies/income/confidential/unfinished")
TO = Path("releases/income")
FREE = "\nNo epsilon is spent.\n"
pytestmark = pytest.mark.usefixtures("small_pool", "income_study")


def outcomes():
    """Outcomes of the releases of the source."""
    ledger = read_ledger("people")
    return [ledger.outcome(place) for place in range(len(ledger.of(ReleaseEntry)))]


def released(expected, capsys, to=TO):
    """Run a release with an exit code, and return its errors."""
    assert main(["release", "studies/income", "--to", str(to)]) == expected
    return capsys.readouterr().err


def failing(error):
    """Function that fails."""

    def fail(*_, **__):
        raise error

    return fail


def test_a_release_is_made_once_counted_and_verified(capsys):
    released(0, capsys)
    assert {path.name for path in TO.iterdir()} == {
        "LEGAL.md", "MANIFEST.sha256", "README.md", "analyses.csv", "combine.R", "combine.py", "crossing.yaml",
        "datapackage.json", "declarations.yaml", *(f"synthetic_{k}.csv" for k in range(1, 6)),
    }  # fmt: skip
    assert outcomes() == ["released"]
    assert not UNFINISHED.exists()
    assert released(1, capsys).endswith(FREE)
    assert main(["verify", str(TO), "--study", "studies/income"]) == 0
    crossing = yaml.safe_load((TO / "crossing.yaml").read_text())
    assert read_ledger("people").crossing(0) in capsys.readouterr().out
    assert (crossing["compared"], crossing["earlier"]["budgets"]) == (False, [3.0])
    assert main(["compare", "studies/income"]) == 0
    (page,) = Path("studies/income/confidential").glob("CONFIDENTIAL-comparison.html")
    assert page.stat().st_mode & 0o077 == 0
    assert page.read_text().count("<img alt=") == 4 + 1
    incomes.declare("studies/income", {"release.yaml": {"ceiling": 1.5}})
    released(0, capsys, "releases/again")
    crossing = yaml.safe_load(Path("releases/again/crossing.yaml").read_text())
    assert crossing["compared"] is True
    assert [(release["epsilon"], release["outcome"]) for release in crossing["earlier"]["releases"]] == [(1.0, "released")]
    assert "Together with this release, epsilon is 2.5, of a budget of 3" in Path("releases/again/LEGAL.md").read_text()
    assert released(1, capsys, "releases/third").endswith(FREE)


def test_a_table_is_released_from_python(tmp_path):
    tree = {name: yaml.safe_load(Path("studies/income", f"{name}.yaml").read_text()) for name in ("schema", "release")}
    schema = {key: value for key, value in tree["schema"].items() if key not in ("file", "encoding", "delimiter", "decimal")}
    frame = pd.read_csv("income.csv")
    to = formalsynth_release.release(frame, schema | {"release": tree["release"]}, "studies/frame")
    assert main(["verify", str(to), "--study", "studies/frame"]) == 0
    assert not list(Path("studies/frame").rglob("*.csv"))
    assert outcomes() == ["released"]


STOPS = {
    "no library": ("formalsynth_release.noise.noisy_counts", OSError(28, "No space", "x"), "No epsilon is spent.", []),
    "a file that cannot be used": ("formalsynth_release.publish.usable", RuntimeError("73519"), "No epsilon is spent.", []),
    "an error of the noise": ("formalsynth_release.publish._store", RuntimeError("73519"), "An epsilon of 1 counts", ["stopped"]),
    "an interruption": ("formalsynth_release.publish._store", KeyboardInterrupt(), "An epsilon of 1 counts", ["stopped"]),
    "a crossing that is not recorded": (
        "formalsynth_release.publish.CrossingEntry", OSError(28, "No space", "x"), "An epsilon of 1 counts", ["stopped"]
    ),
    "an error of the public side": (
        "formalsynth_release.publish.compute_release", KeyboardInterrupt(), "An epsilon of 1 counts", ["started"]
    ),
}  # fmt: skip


@pytest.mark.parametrize("kind", STOPS)
def test_a_release_that_stops_states_what_is_spent(capsys, monkeypatch, kind):
    place, error, line, expected = STOPS[kind]
    with monkeypatch.context() as patch:
        patch.setattr(place, failing(error))
        printed = released(1, capsys)
    assert printed.splitlines()[-1].startswith(line)
    assert "73519" not in printed
    assert not TO.exists()
    assert outcomes() == expected
    if expected == ["started"]:
        released(0, capsys)
        assert outcomes() == ["released"]


KILLED = """
import os, signal
from formalsynth_release import joint, public, publish
joint.POOL, publish.compute_release = 1000, public.fill
original = publish.{name}
def killed(*arguments, **options):
    if {after}: original(*arguments, **options)
    os.kill(os.getpid(), signal.SIGKILL)
publish.{name} = killed
from formalsynth_release.command import main
main(["release", "studies/income"])
"""
MOMENTS = [(name, after) for name in ("start", "measured", "_store", "compute_release", "finish", "_remove") for after in (0, 1)]


@pytest.mark.parametrize(("name", "after"), MOMENTS)
def test_a_release_that_is_killed_ends_in_the_same_bytes_or_nothing(killed, capsys, name, after):
    killed(KILLED.format(name=name, after=after))
    stored = (UNFINISHED / "crossing.yaml").read_bytes() if (UNFINISHED / "crossing.yaml").exists() else None
    spent, was_there = len(outcomes()), TO.exists()
    published = spent == 1 and outcomes() == ["released"]
    if stored:
        released(int(published), capsys)
        assert (TO / "crossing.yaml").read_bytes() == stored
        assert outcomes() == ["released"]
        assert not UNFINISHED.exists()
    elif not was_there:
        released(0, capsys)
        assert outcomes() == [*["started"] * spent, "released"]
    assert main(["verify", str(TO), "--study", "studies/income"]) == 0
    assert not list(Path().rglob("*room"))
    assert not list(Path("releases").glob(".*"))


def paid(killed):
    """Kill a release whose crossing is stored but not published; return the file of the crossing."""
    killed(KILLED.format(name="compute_release", after=0))
    return UNFINISHED / "crossing.yaml"


NOT_RECORDED = "is not the crossing that the ledger recorded, so it was changed"
EDITS = {
    "another number": ("crossing.yaml", lambda text: text.replace("- [", "- [1", 1), NOT_RECORDED),
    "a comment": ("crossing.yaml", lambda text: text + "# x\n", NOT_RECORDED),
    "another title": (
        "declarations.yaml", lambda text: text.replace("title: Incomes", "title: Others"),
        "declarations: is not the sha256 of declarations.yaml",
    ),
}  # fmt: skip


@pytest.mark.parametrize("kind", EDITS)
def test_a_crossing_that_was_changed_before_it_is_published_is_refused(killed, capsys, kind):
    name, edit, says = EDITS[kind]
    path = paid(killed).with_name(name)
    text = path.read_text()
    assert edit(text) != text
    path.write_text(edit(text))
    assert says in released(1, capsys)
    assert not TO.exists()
    assert not list(Path("releases").glob(".*"))
    path.write_text(text)
    released(0, capsys)
    assert outcomes() == ["released"]


@pytest.mark.parametrize("changes", [{}, {"schema.yaml": {"columns.age.upper": 90}}, {"release.yaml": {"title": "Others"}}])
def test_declarations_that_were_changed_after_a_release_began_are_not_those_of_the_release(killed, capsys, changes):
    paid(killed)
    incomes.declare("studies/income", changes)
    assert main(["release", "studies/income"]) == 0
    assert "What was changed since needs another release, for more epsilon." in capsys.readouterr().out
    assert yaml.safe_load((TO / "declarations.yaml").read_text())["release"]["title"] == "Incomes"


def test_an_unfinished_release_that_stops_again_says_what_it_has_spent(killed, capsys, monkeypatch):
    paid(killed)
    monkeypatch.setattr(publish, "compute_release", failing(SystemExit(143)))
    with pytest.raises(SystemExit):
        main(["release", "studies/income"])
    assert capsys.readouterr().err.splitlines()[-1] == "No more epsilon is spent than the 1 of the unfinished release."


def test_an_unfinished_release_is_listed_and_needs_its_ledger(killed, capsys):
    paid(killed)
    assert main(["budget", "studies/income"]) == 0
    assert "started, not published: release finishes it" in capsys.readouterr().out
    read_ledger("people").path.unlink()
    assert "is not the crossing that the ledger recorded" in released(1, capsys)


def test_a_crossing_that_the_ledger_does_not_have_is_never_published(killed, capsys):
    killed(KILLED.format(name="record", after=0))
    assert main(["budget", "studies/income"]) == 0
    assert "started, its crossing is not recorded" in capsys.readouterr().out


def test_a_published_folder_that_was_changed_is_not_called_released(killed, capsys):
    killed(KILLED.format(name="finish", after=0))
    (TO / "README.md").unlink()
    assert "README.md: is missing" in released(1, capsys)
    shutil.rmtree(TO)
    released(0, capsys)
    assert outcomes() == ["released"]


def test_two_releases_at_once_lose_nothing(capsys):
    with locked(Path("studies/income/.release.lock"), "busy"):
        assert "another release of this study is under way" in released(1, capsys)
    assert outcomes() == []


def test_a_release_of_another_source_that_ends_meanwhile_costs_nothing(capsys, monkeypatch):
    original = publish.start

    def start(*arguments):
        (ledgers_folder() / ".room").unlink()
        return original(*arguments)

    monkeypatch.setattr(publish, "start", start)
    released(0, capsys)


@pytest.mark.parametrize("place", ["confidential", "ledgers"])
def test_a_disk_without_room_for_the_crossing_costs_nothing(capsys, small_disk, monkeypatch, place):
    disk = small_disk(60)
    if place == "ledgers":
        monkeypatch.setenv("FORMALSYNTH_LEDGERS", str(disk))
    else:
        shutil.rmtree("studies/income/confidential")
        Path("studies/income/confidential").symlink_to(disk)
    error = released(1, capsys)
    assert "has no space for" in error
    assert error.endswith(FREE)
    assert outcomes() == []


@pytest.mark.parametrize(
    "to", ["income.csv/below", "/dev/null/release", "x" * 300, "link", "studies/income/confidential/release"]
)
def test_a_place_that_cannot_be_costs_no_budget(capsys, to):
    Path("link").symlink_to("nowhere")
    released(1, capsys, to)
    assert outcomes() == []


def test_more_rows_than_anybody_can_verify_cost_nothing(capsys):
    incomes.declare("studies/income", {"release.yaml": {"rows": 10**7, "sets": 6}})
    assert "10000000 rows in each of 6 sets; allowed: 50000000 together" in released(1, capsys)
    assert outcomes() == []


def test_a_user_without_a_name_makes_a_release(monkeypatch, capsys):
    for variable in ("USER", "LOGNAME", "USERNAME", "LNAME", "SUDO_USER", "HOME"):
        monkeypatch.delenv(variable, raising=False)
    monkeypatch.setattr(pwd, "getpwuid", failing(KeyError("getpwuid(): uid not found: 12345")))
    released(0, capsys)


MADE = (
    "import sys; from formalsynth_release import command, publish;"
    "publish.release = lambda *_: ['Released: releases/income.'] * 10000; sys.exit(command.main(['release', 'studies/income']))"
)


@pytest.mark.parametrize("out", ["closed", "a pipe that nobody reads", "full"])
def test_a_release_that_is_there_is_no_error_when_nobody_reads_the_output(out):
    reader, writer = os.pipe()
    os.close(reader)
    file = {"closed": None, "a pipe that nobody reads": writer, "full": os.open("/dev/full", os.O_WRONLY)}[out]
    command = ["sh", "-c", 'exec "$0" "$@"' + " >&-" * (out == "closed"), sys.executable, "-c", MADE]
    ran = subprocess.run(command, stdout=file, stderr=subprocess.PIPE, text=True, check=False, timeout=60)
    assert (ran.returncode, ran.stderr) == (0, "")


def test_a_warning_about_persons_in_several_rows_comes_before_epsilon(capsys, monkeypatch):
    monkeypatch.setattr(publish, "start", failing(DataError("stopped")))
    rows = pd.read_csv("income.csv", dtype=str, keep_default_na=False)
    rows.assign(person=rows["person"].iloc[np.arange(len(rows)) // 2].to_numpy()).to_csv("income.csv", index=False)
    incomes.declare("studies/income", {"schema.yaml": {"protected": "citizen"}})
    assert "Warning (CONFIDENTIAL): person: looks like an identifier" in released(1, capsys)
