"""docs/OWN_STUDY.md: every command of it, in its order, with the files as they stand there, but for a shorter audit."""

import re
import shlex
import subprocess
import sys
from pathlib import Path

import incomes
import pytest
from formalsynth.cli.main import main

REPOSITORY = Path(__file__).parents[2]
PAGE = (REPOSITORY / "docs" / "OWN_STUDY.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"```(bash|yaml (\S+))\n(.*?)```", PAGE, re.DOTALL)


@pytest.mark.stan
def test_every_command_of_the_page_works(tmp_path, monkeypatch, cmdstan, capsys):
    monkeypatch.chdir(tmp_path)
    given = []
    for _, file, text in BLOCKS:
        if file:
            Path("studies/income", file).write_text(text, encoding="utf-8")
            continue
        for line in text.splitlines():
            program, *arguments = shlex.split(line)
            given.append(arguments[0])
            if arguments[0] == "plan":
                incomes.declare("studies/income", {"study.yaml": {"internal_audit": incomes.SHORT_AUDIT}})
            if program == "python":
                subprocess.run([sys.executable, REPOSITORY / arguments[0], *arguments[1:]], check=True)
            else:
                assert main(arguments) == 0, capsys.readouterr().err
    assert given[1:] == ["inspect", "check", "plan", "compare", "release", "verify", "budget", "purge"]
    listed = set(re.findall(r"^\| `([\w.]+)`(?:(?:,| to) `([\w.]+)`)? \| ", PAGE.split("## 3. Release")[1], re.MULTILINE))
    for name in {name for pair in listed for name in pair if "." in name}:
        assert Path("release/income", name).is_file(), name
    assert [path.name for path in Path("studies/income/confidential").iterdir()] == ["budget.jsonl"]


def test_what_the_page_calls_commands_are_the_commands(capsys):
    with pytest.raises(SystemExit):
        main(["--help"])
    known = re.search(r"command\n((?:    .+\n?)+)", capsys.readouterr().out)
    assert known
    for name in re.findall(r"^ {4}(\w+)", known[1], re.MULTILINE):
        assert f"formalsynth {name}" in PAGE, name
