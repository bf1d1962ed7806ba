"""A file in the place of ``fatigue.csv`` where the published one is not at hand: its shape with made-up numbers.

Code that checks files refuses it, as it should. Where the tests put it to use, its sha256 is taken for the published one: in
the process of the tests by :func:`accept`, in the processes that they start by the ``sitecustomize`` in the folder of the file.
"""

import atexit
import hashlib
import os
import runpy
import shutil
import tempfile
from pathlib import Path

import numpy as np

PUBLISHED = "7c3d629db22856548db45d1e69241fa20fc849e2d09f2975686e6fa08270717e"
"""Entry of fatigue.csv in the register."""
ACCEPT = '''"""Takes a made-up file of the tests for the published one."""

import hashlib
from types import SimpleNamespace


def file_digest(file, kind, original=hashlib.file_digest):
    digest = original(file, kind)
    return SimpleNamespace(hexdigest=lambda: {published!r}) if digest.hexdigest() == {made_up!r} else digest


hashlib.file_digest = file_digest
'''


def fatigue_rows():
    """The header and 22 rows: the smaller the stress, the more cycles, with some scatter."""
    generator = np.random.default_rng(22)
    stress = np.round(np.linspace(520, 265, 22), 2)
    cycles = np.exp(8 + 18 * np.log(520 / stress) * 0.35 + 0.5 * generator.standard_normal(22))
    return ["stress,cycle", *(f"{s:.2f},{c:.0f}" for s, c in zip(stress, cycles, strict=True))]


def stand_in_folder():
    """A temporary folder with the file and the ``sitecustomize``; it goes when the tests end."""
    folder = Path(tempfile.mkdtemp(prefix="formalsynth-tests-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    content = ("\n".join(fatigue_rows()) + "\n").encode()
    (folder / "fatigue.csv").write_bytes(content)
    accept = ACCEPT.format(published=PUBLISHED, made_up=hashlib.sha256(content).hexdigest())
    (folder / "sitecustomize.py").write_text(accept)
    return folder


def is_stand_in(folder):
    """Check if a folder was made by :func:`stand_in_folder`, here or in the parent process."""
    return (Path(folder) / "sitecustomize.py").exists()


def python_path(folder):
    """The search path of a process, with a folder before what is there: a process without that refuses the file."""
    return os.pathsep.join(filter(None, [str(folder), os.environ.get("PYTHONPATH")]))


def accept(folder):
    """Take the file for the published one, here and in every process that is started from here."""
    os.environ["FORMALSYNTH_DATA"] = str(folder)
    os.environ["PYTHONPATH"] = python_path(folder)
    runpy.run_path(str(folder / "sitecustomize.py"))
