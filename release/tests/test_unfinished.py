"""Releases that failed after their numbers had crossed: finished later at no cost."""

import shutil
from pathlib import Path

import incomes
import pytest
import yaml

from formalsynth_release.budget import only_release, read_ledger
from formalsynth_release.command import main

UNFINISHED = Path("studies/income/confidential/unfinished")


pytestmark = pytest.mark.usefixtures("small_pool")


@pytest.fixture
def study(tmp_path, monkeypatch):
    """A declared study, relative to the folder of its file."""
    monkeypatch.chdir(tmp_path)
    return incomes.declared_study()


def outcomes(study):
    return [entry.outcome for entry in read_ledger(study)]


def test_a_full_disk_after_the_crossing_costs_nothing_more(study, monkeypatch, capsys):
    with monkeypatch.context() as patched:

        def full(*_):
            raise OSError(28, "No space left on device", "release")

        patched.setattr("formalsynth_release.unfinished.compute_release", full)
        assert main(["release", "studies/income"]) == 1
    error = capsys.readouterr().err
    assert f"The same command finishes the release from its crossing, in {UNFINISHED}, and spends no more." in error
    assert outcomes(study) == ["started"]
    assert UNFINISHED.stat().st_mode & 0o777 == 0o700
    assert {path.stat().st_mode & 0o077 for path in UNFINISHED.iterdir()} == {0}
    crossing = (UNFINISHED / "crossing.yaml").read_text()
    incomes.declare(study, {"release.yaml": {"title": "Another title"}})

    assert main(["release", "studies/income"]) == 0
    assert (
        "An earlier release was finished from its crossing, with the declarations made then; no more was spent."
        in capsys.readouterr().out
    )
    assert Path("releases/income/crossing.yaml").read_text() == crossing
    assert "Another title" not in Path("releases/income/README.md").read_text()
    assert main(["verify", "releases/income", "--study", "studies/income"]) == 0, capsys.readouterr().err
    assert outcomes(study) == ["released"]
    assert not UNFINISHED.exists()


KILLED = """
import os, signal
import formalsynth_release.{module} as module
from formalsynth_release import joint, public, rehearsal, unfinished
from formalsynth_release.command import main
joint.POOL = 1000
rehearsal.compute_release = unfinished.compute_release = public.fill
real = module.{name}
def killed(*arguments):
    if {after}:
        real(*arguments)
    os.kill(os.getpid(), signal.SIGKILL)
module.{name} = killed
main(["release", "studies/income"])
"""
MOMENTS = {
    "before the public side": ("unfinished", "check_place", False, True),
    "before it is published": ("unfinished", "publish", False, True),
    "before the ledger has it": ("unfinished", "finish", False, True),
    "before the crossing is removed": ("unfinished", "finish", True, False),
}


@pytest.mark.parametrize("moment", MOMENTS)
def test_a_killed_release_is_finished_by_the_same_command(study, killed, capsys, moment):
    module, name, after, pending = MOMENTS[moment]
    code = KILLED.format(module=module, name=name, after=after)
    killed(code)
    assert UNFINISHED.exists()
    crossing = (UNFINISHED / "crossing.yaml").read_bytes()
    if not pending:  # the user may not know that it was published, and the study may be a copy: no epsilon without a question
        shutil.move("releases/income", "first")
        assert main(["release", "studies/income"]) == 1
        assert "was published on" in capsys.readouterr().err
        assert outcomes(study) == ["released"]
    assert main(["release", "studies/income"]) == 0, capsys.readouterr().err
    assert outcomes(study) == ["released"] * (1 if pending else 2)
    assert (Path("releases/income/crossing.yaml").read_bytes() == crossing) is pending
    assert main(["verify", "releases/income", "--study", "studies/income"]) == 0, capsys.readouterr().err
    assert not UNFINISHED.exists()


def test_a_release_that_is_not_whole_is_not_called_released(study, killed, capsys):
    code = KILLED.format(module="unfinished", name="finish", after=False)
    killed(code)
    Path("releases/income/README.md").unlink()
    assert main(["release", "studies/income"]) == 1
    assert "README.md: is missing: releases/income was changed or is incomplete; move it away" in capsys.readouterr().err
    shutil.rmtree("releases/income")
    assert main(["release", "studies/income"]) == 0
    assert outcomes(study) == ["released"]
    assert main(["verify", "releases/income", "--study", "studies/income"]) == 0, capsys.readouterr().err


def test_two_releases_at_once_lose_nothing(study, capsys):
    """The second is refused while the first is under way, and spends nothing."""
    with only_release(study):
        assert main(["release", "studies/income"]) == 1
    assert "another release of this study is under way" in capsys.readouterr().err
    assert outcomes(study) == []


def test_a_paid_crossing_without_a_ledger_is_not_to_be_thrown_away(study, killed, capsys):
    code = KILLED.format(module="unfinished", name="publish", after=False)
    killed(code)
    (study / "confidential" / "budget.jsonl").unlink()
    assert main(["release", "studies/income"]) == 1
    error = capsys.readouterr().err
    assert "contains a crossing whose epsilon is already spent, but the ledger is missing: restore it from its copy /" in error


def test_a_folder_that_is_no_crossing_is_refused_before_anything_is_spent(study, capsys):
    UNFINISHED.mkdir(parents=True)
    (UNFINISHED / "release").write_text("0")
    assert main(["release", "studies/income"]) == 1
    assert "is not a crossing of a release in the study's ledger: move it away" in capsys.readouterr().err
    assert outcomes(study) == []


def _killed(*_):
    raise KeyboardInterrupt


def test_what_was_published_before_a_kill_is_not_listed(study, monkeypatch, capsys):
    monkeypatch.setattr("formalsynth_release.unfinished._remove", _killed)
    assert main(["release", "studies/income"]) == 1
    assert UNFINISHED.exists()
    capsys.readouterr()
    assert main(["budget", "studies/income"]) == 0
    assert "not published" not in capsys.readouterr().out


def test_an_interrupted_release_does_not_ask_for_another_one(study, monkeypatch, capsys):
    def interrupted(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr("formalsynth_release.release.store", interrupted)
    assert main(["release", "studies/income"]) == 1
    error = capsys.readouterr().err
    assert "run the command again" not in error
    assert "The same command would begin another release and spend the same epsilon again." in error


def test_a_crossing_that_was_changed_before_it_is_published_is_refused(study, killed, capsys):
    killed(KILLED.format(module="unfinished", name="check_place", after=False))
    crossing = UNFINISHED / "crossing.yaml"
    text = crossing.read_text()
    seed = yaml.safe_load(text)["seed"]
    crossing.write_text(text.replace(seed, seed[::-1]))
    assert main(["release", "studies/income"]) == 1
    assert "is not the crossing that the ledger recorded, so it was changed" in capsys.readouterr().err
    assert outcomes(study) == ["started"]
    crossing.write_text(text)
    assert main(["release", "studies/income"]) == 0
    assert outcomes(study) == ["released"]
