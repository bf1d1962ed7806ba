"""Guide and page for the officer: every command works, with the files as they are shown."""

import re
import shlex
import subprocess
import sys
from pathlib import Path

import incomes
import numpy as np
import pytest

from conftest import REPOSITORY
from formalsynth.core import registry
from formalsynth.core.data_files import FILES, load
from formalsynth_release.command import main

GUIDE, SIGNED = ((REPOSITORY / "docs" / name).read_text(encoding="utf-8") for name in ("tutorials/release.md", "howto/sign.md"))
BLOCKS = re.compile(r"```(bash|yaml (\S+) (\S+))\n(.*?)```", re.DOTALL)
COMMANDS = ["inspect", "check", "plan", "release", "verify", "compare", "budget"]


def followed(page, head=""):
    """Do what a page asks for, and return the names of its commands."""
    given = []
    for _, study, file, text in BLOCKS.findall(page):
        if file:
            Path("studies", study, file).write_text(text, encoding="utf-8")
            if file == "release.yaml":
                incomes.declare("studies/households", {"release.yaml": {"analyses.replicates": 20}})
            continue
        for line in text.splitlines():
            program, *arguments = shlex.split(line)
            given.append(arguments[0])
            if program == "python":
                subprocess.run([sys.executable, REPOSITORY / arguments[0], *arguments[1:]], check=True)
            else:
                assert main([argument.replace("HEAD", head) for argument in arguments]) == 0, line
    return given


@pytest.mark.timeout(300)
@pytest.mark.usefixtures("small_pool", "true_chance")
def test_every_command_of_the_pages_works(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    assert followed(GUIDE) == ["tests/households.py", *COMMANDS]
    head = re.findall(r"Head of the ledger: (\S+)\.", capsys.readouterr().out)[-1]
    assert followed(SIGNED, head) == ["verify", "budget"]
    listed = re.findall(r"^\| (`.*?`) \| ", GUIDE.split("## 2. Release")[1], re.MULTILINE)
    named = {name for line in listed for name in re.findall(r"`([^`]+)`", line)}
    assert named == {path.name for path in Path("releases/households").iterdir()}


def test_the_pages_are_short_and_name_all_commands(capsys):
    with pytest.raises(SystemExit):
        main(["--help"])
    assert re.findall(r"^ {4}(\w+)", capsys.readouterr().out, re.MULTILINE) == COMMANDS
    assert len(GUIDE.splitlines()) <= 150


def test_the_reader_of_a_file_for_research_reads_it(tmp_path):
    """The page on own Stan programs has it: research on an own file is part of the workflow."""
    page = (REPOSITORY / "docs" / "howto" / "own_model.md").read_text(encoding="utf-8").split("## Research on your own file")[1]
    (tmp_path / "income.py").write_text(re.findall(r"```python\n(.*?)```", page, re.DOTALL)[0], encoding="utf-8")
    table = incomes.incomes()
    table.to_csv(tmp_path / "income.csv", index=False)
    with FILES.trial():
        registry.load([str(tmp_path / "income.py")])
        records = load("income", tmp_path)
    registry.forget_own()
    assert records.x.tolist() == table.replace("", np.nan).dropna()["income"].astype(float).tolist()
    assert (records.design.min(), records.design.max()) == (0.0, 1.0)
