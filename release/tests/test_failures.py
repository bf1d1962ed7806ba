"""Failures of a release: each reports whether epsilon is spent, and none leaves anything of the file."""

import os
import pwd
import resource
import subprocess
import sys
from pathlib import Path

import incomes
import pytest

from formalsynth.core.text import DataError
from formalsynth.runtime.private import keep_to_owner
from formalsynth_release.budget import read_ledger
from formalsynth_release.command import main


@pytest.fixture
def study(tmp_path, monkeypatch):
    """Declared study, relative to the folder of its file."""
    monkeypatch.chdir(tmp_path)
    return incomes.declared_study()


def failing(error):
    def fail(*_, **__):
        raise error

    return fail


ERRORS = {
    "data": DataError("the scan found something"),
    "disk": OSError(28, "No space left on device", "release"),
    "unexpected": RuntimeError("73519"),
    "interrupted": KeyboardInterrupt(),
}


@pytest.mark.usefixtures("small_pool")
@pytest.mark.parametrize("kind", ERRORS)
def test_every_message_states_that_epsilon_is_spent(study, capsys, monkeypatch, kind):
    monkeypatch.setattr("formalsynth_release.release.measured", failing(ERRORS[kind]))
    assert main(["release", "studies/income"]) == 1
    error = capsys.readouterr().err
    assert (
        error.splitlines()[-1]
        == "An epsilon of 1 counts as spent since this command began: see formalsynth budget studies/income."
    )
    assert "73519" not in error
    assert [entry.outcome for entry in read_ledger(study)] == ["stopped"]
    assert not Path("releases").exists()


@pytest.mark.parametrize("kind", ERRORS)
def test_every_message_states_that_nothing_is_spent(study, capsys, monkeypatch, kind):
    monkeypatch.setattr("formalsynth_release.release.usable", failing(ERRORS[kind]))
    assert main(["release", "studies/income"]) == 1
    assert capsys.readouterr().err.splitlines()[-1] == "No epsilon is spent."
    assert read_ledger(study) == []


def test_a_release_that_is_ended_states_that_nothing_is_spent(study, capsys, monkeypatch):
    monkeypatch.setattr("formalsynth_release.release.usable", failing(SystemExit(143)))
    with pytest.raises(SystemExit) as ended:
        main(["release", "studies/income"])
    assert ended.value.code == 143
    assert capsys.readouterr().err.splitlines()[-1] == "No epsilon is spent."


@pytest.mark.usefixtures("small_pool")
def test_a_user_without_a_name_makes_a_release(study, monkeypatch):
    for variable in ("USER", "LOGNAME", "USERNAME", "LNAME", "SUDO_USER", "HOME", "FORMALSYNTH_LEDGERS"):
        monkeypatch.delenv(variable, raising=False)
    monkeypatch.setattr(pwd, "getpwuid", failing(KeyError("getpwuid(): uid not found: 12345")))
    assert main(["release", "studies/income"]) == 0
    assert [entry.outcome for entry in read_ledger(study)] == ["released"]


MADE = (
    "import sys; from formalsynth_release import command as cli; import formalsynth_release.release as publishing;"
    "publishing.release = lambda *_: ['Released: releases/income.'] * 10000; sys.exit(cli.main(['release', 'studies/income']))"
)


@pytest.mark.parametrize("out", ["closed", "a pipe that nobody reads", "full"])
def test_a_release_that_is_there_is_no_error_when_nobody_reads_what_is_said(study, out):
    reader, writer = os.pipe()
    os.close(reader)
    file = {"closed": None, "a pipe that nobody reads": writer, "full": os.open("/dev/full", os.O_WRONLY)}[out]
    command = ["sh", "-c", 'exec "$0" "$@"' + " >&-" * (out == "closed"), sys.executable, "-c", MADE]
    ran = subprocess.run(command, stdout=file, stderr=subprocess.PIPE, text=True, check=False, timeout=60)
    assert (ran.returncode, ran.stderr) == (0, "")


def test_progress_that_nobody_reads_ends_nothing(study):
    code = "from formalsynth.core.progress import show_progress, tell; show_progress(); tell('Fitting'); print('done')"
    reader, writer = os.pipe()
    os.close(reader)
    buffered = {name: value for name, value in os.environ.items() if name != "PYTHONUNBUFFERED"}
    command = [sys.executable, "-c", code]
    ran = subprocess.run(command, stdout=subprocess.PIPE, stderr=writer, text=True, check=False, timeout=60, env=buffered)
    assert (ran.returncode, ran.stdout) == (0, "done\n")


def test_no_process_that_holds_the_file_dumps_its_memory(study, tmp_path, monkeypatch):
    limits = []
    monkeypatch.setattr(resource, "setrlimit", lambda *limit: limits.append(limit))
    monkeypatch.setattr("formalsynth_release.check.check_file", lambda _: pytest.fail() if not limits else sys.exit(0))
    with pytest.raises(SystemExit, match="0"):
        main(["check", "studies/income"])
    assert limits == [(resource.RLIMIT_CORE, (0, 0))]
    limits.clear()
    keep_to_owner([])
    assert limits == []
    keep_to_owner([tmp_path / "private"])
    assert limits == [(resource.RLIMIT_CORE, (0, 0))]
