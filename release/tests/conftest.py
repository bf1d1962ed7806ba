"""A study of a declared file; and processes with their imports done, for releases and for the public sides that they start."""

import os
import secrets
import signal
import subprocess
import tempfile
import zlib
from types import SimpleNamespace

import incomes
import numpy as np
import pytest
from warm import WarmPython

from formalsynth.core.registry import PACKAGE
from formalsynth_release import joint, noise, public, publish
from formalsynth_release.intervals import simulated_noise

OPENDP = noise.noisy_counts
PREPARED = f"""
import sys; sys.path.insert(0, {str(PACKAGE.parent)!r})
import pandas, scipy.interpolate, scipy.linalg, scipy.optimize, scipy.special
import opendp
import formalsynth_release.command, formalsynth_release.publish
from formalsynth_release.texts import PAGES, PROGRAMS, templates
for name in (*PAGES, *PROGRAMS): templates().get_template(f"{{name}}.j2")
"""


@pytest.fixture(scope="session", autouse=True)
def _known_chance():
    """Draw the same noise whenever the counts are the same, and the same seed of synthetic sets: no test fails by chance."""

    def noisy_counts(*counted):
        return simulated_noise(np.random.default_rng(zlib.crc32(repr(counted).encode())), {}, (), *counted)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(noise, "noisy_counts", noisy_counts)
        patch.setattr(publish, "secrets", SimpleNamespace(token_hex=lambda size: "1f" * size))
        yield


@pytest.fixture
def true_chance(monkeypatch):
    """Draw the noise and the seeds of a release."""
    monkeypatch.setattr(noise, "noisy_counts", OPENDP)
    monkeypatch.setattr(publish, "secrets", secrets)


@pytest.fixture
def income_study(tmp_path, monkeypatch):
    """Folder of a study of income.csv in which everything is declared, relative to the folder of the file."""
    monkeypatch.chdir(tmp_path)
    return tmp_path / incomes.declared_study()


@pytest.fixture(scope="session")
def warm_python():
    """Function that returns the process that is forked for public sides, in whose environment it is, and for other programs."""
    servers = []

    def server():
        if not servers:
            variables = dict.fromkeys(public.THREADS, "1") | public.arithmetic() | {"LC_ALL": "C.UTF-8", "PYTHONHASHSEED": "0"}
            servers.append(WarmPython(PREPARED, {"PATH": os.environ["PATH"]} | variables, "-I"))
        return servers[0]

    yield server
    for started in servers:
        started.end()


@pytest.fixture
def killed(warm_python):
    """Function that runs code that is to be killed, in a process of its own."""

    def run(code):
        with tempfile.TemporaryFile() as output:
            status = warm_python().start(code, [], dict(os.environ), output, output).wait(120)
            output.seek(0)
            assert status == -signal.SIGKILL, output.read().decode()

    return run


@pytest.fixture
def small_pool(monkeypatch):
    """Fit tables to fewer simulated rows, in plans and releases as in public sides that are forked."""
    monkeypatch.setattr(joint, "POOL", 1000)


@pytest.fixture
def own_process():
    """Have public sides that are processes of their own, as those of a command are."""


@pytest.fixture(autouse=True)
def _forked_public_sides(request, monkeypatch, warm_python):
    """Fork each public side from a process with the same environment, unless a test asks for :func:`own_process`."""
    if "own_process" in request.fixturenames:
        return
    forked = SimpleNamespace(**{name: getattr(subprocess, name) for name in ("DEVNULL", "PIPE")})
    forked.Popen = lambda *arguments, **options: PublicSide(warm_python(), *arguments, **options)
    monkeypatch.setattr(public, "subprocess", forked)


class PublicSide:
    """Process that a release starts for its public side, in place of ``subprocess.Popen``."""

    def __init__(self, server, command, env, cwd, **_):
        reader, writer = os.pipe()
        with open(os.devnull, "wb") as nowhere, os.fdopen(writer, "wb") as errors:
            code = f"from formalsynth_release import joint; joint.POOL = {joint.POOL}\n{command[3]}"
            self._program = server.start(code, command[4:], env, nowhere, errors, cwd)
        self.stderr, self.returncode = os.fdopen(reader), None

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.stderr.close()
        self.returncode = self._program.wait()

    def kill(self):
        self._program.kill()
