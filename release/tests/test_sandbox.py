"""Confinement of the public side: it opens what it was given, and nothing else, by no way that was tried."""

import json
import os
import platform
import subprocess
import sys
from pathlib import Path

import pytest
from small_release import crossing_folder

from formalsynth.core.registry import PACKAGE
from formalsynth.core.text import DataError
from formalsynth_release import public
from formalsynth_release.intervals import TASK
from formalsynth_release.sandbox import holding, software

CONFINED = """
import ctypes, os, pathlib, shutil, socket, subprocess, sys
from formalsynth_release import sandbox
from formalsynth_release.sandbox import confine, modules
if sys.argv[4] == "no Landlock":
    sandbox._landlock = lambda *_: False
given, to, secret = map(pathlib.Path, sys.argv[1:4])
how = confine([given, *modules()], [to])
def attempt():
    {attempt}
try:
    attempt()
except (OSError, subprocess.SubprocessError) as error:
    print("refused")
else:
    print("done")
"""
READ = {
    "open": "secret.read_text()",
    "a file descriptor": "os.open(secret, os.O_RDONLY)",
    "a link": "(to / 'link').symlink_to(secret); (to / 'link').read_text()",
    "a path with dots": "(given / '..' / secret.name).read_text()",
    "a list": "os.listdir(secret.parent)",
    "a copy": "shutil.copyfile(secret, to / 'copy')",
    "a hard link": "os.link(secret, to / 'hard')",
    "a move": "os.rename(secret, to / 'moved')",
    "another program": "subprocess.run(['cat', str(secret)], check=True, capture_output=True)",
    "numpy": "import numpy; numpy.fromfile(secret)",
    "pandas": "import pandas; pandas.read_csv(secret)",
    "the library of C": (
        "libc = ctypes.CDLL(None, use_errno=True); fd = libc.open(str(secret).encode(), 0)\n"
        "    if fd < 0: raise OSError(ctypes.get_errno())"
    ),
    "the environment of another process": "open(f'/proc/{os.getppid()}/environ', 'rb').read()",
    "the memory of another process": "open(f'/proc/{os.getppid()}/mem', 'rb').read(1)",
    "shared memory": "os.listdir('/dev/shm')",
    "a list of processes": "os.listdir('/proc')",
    "another program that does so": "subprocess.run(['cat', f'/proc/{os.getppid()}/environ'], check=True, capture_output=True)",
    "a write": "secret.with_name('new').write_text('x')",
    "a removal": "secret.unlink()",
    "the network": "socket.create_connection(('127.0.0.1', 9), timeout=1)",
}
ALLOWED = {
    "what was given": "(given / 'file').read_text()",
    "a file of its own": "(to / 'new').write_text('x')",
    "modules": "import scipy.stats, matplotlib.figure",
    "a program": "subprocess.run(['true'], check=True)",
}


BEYOND_PYTHON = {"another program", "the library of C", "another program that does so"}
"""Ways that an audit hook of Python does not see."""


def confined(tmp_path, attempt, kernel="Landlock"):
    """Run an attempt in a confined process."""
    for name in ("given", "to", "elsewhere"):
        (tmp_path / name).mkdir()
    (tmp_path / "given" / "file").write_text("public")
    secret = tmp_path / "elsewhere" / "secret"
    secret.write_text("30500")
    command = [sys.executable, "-c", CONFINED.format(attempt=attempt), tmp_path / "given", tmp_path / "to", secret, kernel]
    ran = subprocess.run(command, capture_output=True, text=True, check=False, timeout=60)
    return ran.stdout.strip() or ran.stderr


@pytest.mark.parametrize("way", READ)
def test_nothing_else_can_be_opened(tmp_path, way):
    assert confined(tmp_path, READ[way]) == "refused"
    assert (tmp_path / "elsewhere" / "secret").read_text() == "30500"


@pytest.mark.parametrize("way", sorted(set(READ) - BEYOND_PYTHON))
def test_nothing_else_can_be_opened_in_python_where_there_is_no_landlock(tmp_path, way):
    assert confined(tmp_path, READ[way], "no Landlock") == "refused"
    assert (tmp_path / "elsewhere" / "secret").read_text() == "30500"


@pytest.mark.parametrize("way", ALLOWED)
def test_what_a_release_needs_can_be_opened(tmp_path, way):
    assert confined(tmp_path, ALLOWED[way]) == "done"


def test_a_file_among_software_is_noticed():
    assert holding(Path(sys.prefix) / "income.csv")
    assert holding(PACKAGE.parent / "income.csv")
    assert not holding(Path("/srv/income.csv"))
    assert all(path.exists() for path in software())


def test_the_process_reports_progress_and_gets_neither_the_environment_nor_the_folder(tmp_path, monkeypatch, caplog):
    seen, started = [], subprocess.Popen

    def recorded(command, **options):
        seen.append((command, options))
        return started([sys.executable, "-c", f"import sys; sys.exit('{TASK} 1 of 9\\nended')"], **options)

    monkeypatch.setenv("PATH_OF_THE_FILE", "/secret/income.csv")
    monkeypatch.setattr(public.subprocess, "Popen", recorded)
    with caplog.at_level("INFO", "formalsynth"), pytest.raises(DataError, match=r"^ended$"):
        public.compute_release(crossing_folder(tmp_path / "crossing"), tmp_path)
    assert caplog.messages == ["Simulating a release for the intervals, 1 of 9"]
    ((command, options),) = seen
    assert "/secret/income.csv" not in str(command) + str(options["env"])
    assert options["cwd"] != str(Path.cwd())


def test_a_process_that_was_killed_has_no_message():
    assert public._last_line([f"{TASK} 1 of 9\n", f"{TASK} 5 of 9\n"]) == "the public side ended without a message"
    assert public._last_line([f"{TASK} 1 of 9\n", "\n", "crossing.yaml: is damaged\n", "\n"]) == "crossing.yaml: is damaged"


@pytest.mark.skipif(platform.machine() not in ("x86_64", "AMD64"), reason="the kernels are those of x86-64")
def test_numbers_are_computed_without_what_only_some_processors_have():
    code = (
        "import json, numpy, scipy.linalg, threadpoolctl\n"
        "found = numpy.show_config(mode='dicts')['SIMD Extensions'].get('found', [])\n"
        "print(json.dumps([found, [pool['architecture'] for pool in threadpoolctl.threadpool_info()]]))"
    )
    environment = public.arithmetic() | {"PATH": os.environ["PATH"]}
    ran = subprocess.run([sys.executable, "-I", "-c", code], env=environment, capture_output=True, text=True, check=True)
    extensions, kernels = json.loads(ran.stdout)
    assert extensions == []
    assert set(kernels) == {"Nehalem"}
    assert ran.stderr == ""
