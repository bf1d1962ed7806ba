"""Fixtures of all tests: the repository, the shipped plan, the real data, CmdStan and a compiled Stan program."""

import copy
import gc
import hashlib
import json
import os
import random
import re
import shutil
import subprocess
import sys
import tempfile
import uuid
from pathlib import Path

import numpy as np
import pytest
import yaml
from filelock import FileLock
from hypothesis import settings
from warm import ALLOCATIONS

from formalsynth.core.registry import forget_own

REPOSITORY = Path(__file__).resolve().parent
os.environ.pop("FORMALSYNTH_DATA", None)  # the data files of the repository, not those of this machine's user

EXPECTED_SKIPS = (
    r"^no Chromium",
    r"^no axe-core",
    r"^Slurm is not installed",
    r" be mounted .*here: that takes Linux and its superuser$",
    r"^the wheel is for Linux on x86-64$",
    r"^the schema of the registry of deployments is not here$",
    r"^no run at scale paper$",
)
"""Why a test may be left out where ``CI=true``; any other reason fails it there."""

# The same examples on every run: a suite that gates a merge must not depend on luck.
settings.register_profile("suite", deadline=None, max_examples=60, derandomize=True, database=None)
settings.load_profile("suite")


def pytest_addoption(parser):
    parser.addoption("--shuffle", type=int, metavar="SEED", help="files in random order, and the tests of each file")


def pytest_configure(config):
    gc.set_threshold(ALLOCATIONS)


SLOW_SECONDS = 2700
"""Time limit of a slow test; that of the others is in pyproject.toml."""


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(config, items):
    """Limit the time of slow tests, and put all in order: the longest first, or at random.

    One worker makes the finished run that several files need; another begins with files that need no such run, for so long.
    """
    for item in items:
        if item.get_closest_marker("slow"):
            item.add_marker(pytest.mark.timeout(SLOW_SECONDS))
    seed = config.getoption("shuffle")
    if seed is not None:
        generator = random.Random(seed)
        generator.shuffle(items)
        places = {path: generator.random() for path in sorted({item.path for item in items})}
        items.sort(key=lambda item: places[item.path])
        return
    first = ("workflow/test_end_to_end.py", "workflow/test_own_pages.py", "contract/test_program.py")

    def place(item):
        path = item.path.as_posix()
        return next((k for k, name in enumerate(first) if path.endswith(name)), len(first) + ("/workflow/test_" not in path))

    items.sort(key=place)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item, call):
    """In CI a test that is left out for a reason that nobody expects is a failure: it guards nothing."""
    report = yield
    if os.environ.get("CI") == "true" and report.skipped and isinstance(report.longrepr, tuple):
        reason = report.longrepr[2].removeprefix("Skipped: ")
        if not any(re.search(expected, reason) for expected in EXPECTED_SKIPS):
            report.outcome, report.longrepr = "failed", f"left out, which nobody expects in CI: {reason}"
    return report


def pytest_sessionfinish():
    gc.freeze()  # pytest would search all that is left for reference cycles five times


@pytest.fixture(autouse=True)
def as_before():
    """Commands that are called in the process of the tests change its mask of modes and its temporary folder."""
    mask, folder, chosen = os.umask(0o022), os.environ.get("TMPDIR"), tempfile.tempdir
    os.umask(mask)
    yield
    os.umask(mask)
    tempfile.tempdir = chosen
    if folder is None:
        os.environ.pop("TMPDIR", None)
    else:
        os.environ["TMPDIR"] = folder


@pytest.fixture(scope="module", autouse=True)
def no_own_code_stays():
    """Files of own code and data that the tests of a file register, which the next file's tests on this worker must not see."""
    yield
    forget_own()


@pytest.fixture(autouse=True)
def own_ledgers(tmp_path_factory, monkeypatch):
    """Folder of all ledgers for each test, which touches neither those of this machine's user nor those of another test."""
    folder = tmp_path_factory.getbasetemp() / f"ledgers-{uuid.uuid4().hex}"
    folder.mkdir()
    monkeypatch.setenv("FORMALSYNTH_LEDGERS", str(folder))


@pytest.fixture(scope="session")
def repository():
    """Folder of the repository."""
    return REPOSITORY


@pytest.fixture(scope="session")
def documents(repository, tmp_path_factory):
    """Site of the documents."""
    folder = tmp_path_factory.mktemp("site")
    built = subprocess.run(
        [sys.executable, "-m", "sphinx", "--fail-on-warning", "--quiet", "-c", "docs", ".", str(folder)],
        cwd=repository, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert built.returncode == 0, built.stderr
    return folder


@pytest.fixture(scope="session")
def plan_of(repository, tmp_path_factory):
    """The plan of one shipped paper, or of that paper with some of its config changed.

    ``plan_of("range", "smoke", **{"scenarios.contraction.n": [200, 400], "run.batch_size": 7})``: each change is the path of a
    key in the paper's file, or after ``run.`` in ``config.yaml``, with its new value; ``...`` takes the key away. A number in
    a path is a place in a list or a key that is a number. ``claims`` are those of the paper's other file.
    """
    from config_trees import untied

    from formalsynth_workflow.plan.load import load_yaml, read_plan

    made = {}

    def plan_of(paper, scale="paper", **changes):
        key = (paper, scale, repr(changes))
        if key not in made:
            folder = repository / "config"
            run = dict(load_yaml(folder / "config.yaml")) | {"papers": [paper], "scale": scale}
            if changes:
                folder = shutil.copytree(folder, tmp_path_factory.mktemp("config"), dirs_exist_ok=True)
                file, claims = (folder / part / f"{paper}.yaml" for part in ("papers", "claims"))
                trees = {"run": run, "paper": untied(load_yaml(file))}
                for path, value in changes.items():
                    if path == "claims":
                        claims.write_text(yaml.safe_dump({"claims": value}), encoding="utf-8")
                    else:
                        change(trees, path if path.startswith("run.") else f"paper.{path}", value)
                file.write_text(yaml.safe_dump(trees["paper"], sort_keys=False, allow_unicode=True), encoding="utf-8")
            made[key] = read_plan(run, folder)
        return made[key]

    return plan_of


def change(tree, path, value):
    """Set the key of a nested section that a dotted path leads to; ``...`` takes it away."""
    *above, last = path.split(".")
    for name in above:
        tree = tree[key_of(tree, name)]
    if value is ...:
        del tree[key_of(tree, last)]
    else:
        tree[key_of(tree, last)] = copy.deepcopy(value)


def key_of(tree, name):
    """Convert a part of a path to its key."""
    numeric = name.isdigit() and (isinstance(tree, list) or int(name) in tree)
    return int(name) if numeric else name


@pytest.fixture(scope="session")
def cmdstan():
    """Folder of CmdStan: the one that set-up recorded, else CMDSTAN, else the newest under ~/.cmdstan."""
    path_ = next((path for path in _cmdstan_candidates() if (path / "makefile").is_file()), None)
    if path_ is None:
        pytest.fail("no CmdStan: run `make setup`, set CMDSTAN, or leave out these tests with -m 'not stan and not workflow'")
    return path_


def _cmdstan_candidates():
    record = REPOSITORY / ".cmdstan" / "cmdstan.json"
    if record.is_file():
        yield Path(json.loads(record.read_text())["path"])
    if os.environ.get("CMDSTAN"):
        yield Path(os.environ["CMDSTAN"])
    folders = (Path.home() / ".cmdstan").glob("cmdstan-*")
    yield from sorted(folders, key=lambda path: [int(part) for part in path.name.split("-")[1].split(".") if part.isdigit()])[
        ::-1
    ]


@pytest.fixture(scope="session")
def compiled(cmdstan, request, tmp_path_factory):
    """Compile a Stan program by its name, with its native or its portable functions; kept until its sources change."""
    from formalsynth.stan.compile import HEADER, MAIN, compile_program

    sources = sorted(path for path in (REPOSITORY / "stan").rglob("*") if path.is_file())
    ours = [MAIN, HEADER, *(path for path in sources if path.parent.name != "stan")]
    functions = b"".join(path.read_bytes() for path in ours)

    cache = getattr(request.config, "cache", None)
    folder = cache.mkdir("stan") if cache else tmp_path_factory.mktemp("stan")

    def compiled(name, native=True):
        source = REPOSITORY / "stan" / f"{name}.stan"
        key = hashlib.sha256(source.read_bytes() + functions + str((cmdstan, native)).encode()).hexdigest()[:16]
        executable = folder / f"{name}-{key}"
        with FileLock(f"{executable}.lock"):  # another worker may be compiling it
            if not executable.exists():
                compile_program(source, executable, cmdstan, native)
        return executable

    return compiled


@pytest.fixture(scope="session")
def program(compiled):
    """The compiled linear regression."""
    return compiled("linear_regression")


@pytest.fixture(scope="session")
def fatigue():
    """The 19 rows of the fatigue data that the range paper uses."""
    from formalsynth.core import data_files as files
    from formalsynth.core.registry import load

    load(["formalsynth.data.fatigue"])
    return files.load("fatigue", REPOSITORY / "resources", drop_rows=(1, 13, 22))


@pytest.fixture
def generator():
    """A generator with a fixed seed."""
    return np.random.default_rng(20260205)


@pytest.fixture
def small_disk(tmp_path):
    """Mount a disk of so many kilobytes; skips where that is not allowed."""
    mounted = []

    def small_disk(kilobytes):
        folder = tmp_path / "disk"
        folder.mkdir()
        command = ["mount", "-t", "tmpfs", "-o", f"size={kilobytes}k", "tmpfs", str(folder)]
        if shutil.which("mount") is None or subprocess.run(command, capture_output=True, check=False).returncode:
            pytest.skip("a small disk cannot be mounted here: that takes Linux and its superuser")
        mounted.append(folder)
        return folder

    yield small_disk
    for folder in mounted:
        subprocess.run(["umount", "--lazy", str(folder)], check=True)
