"""docs/OWN_STUDY.md: every command of it and of WHAT_YOU_SIGN.md, with its files but for few simulations."""

import json
import re
import shlex
import subprocess
import sys
from pathlib import Path

import incomes
import numpy as np
import pytest

from formalsynth.core import registry
from formalsynth.core.data_files import FILES, load
from formalsynth_release.command import main

REPOSITORY = Path(__file__).parents[2]
PAGE, SIGNED = ((REPOSITORY / "docs" / f"{name}.md").read_text(encoding="utf-8") for name in ("OWN_STUDY", "WHAT_YOU_SIGN"))
BLOCKS = re.compile(r"```(bash|yaml (\S+) (\S+))\n(.*?)```", re.DOTALL)
LONGEST = 25
"""Words of a sentence."""


def followed(page):
    """Do what a page asks for, and return the names of its commands."""
    given = []
    for _, study, file, text in BLOCKS.findall(page):
        if file:
            Path("studies", study, file).write_text(text, encoding="utf-8")
            continue
        for line in text.splitlines():
            program, *arguments = shlex.split(line)
            given.append(arguments[0])
            if arguments == ["plan", "studies/households"]:
                incomes.declare("studies/households", {"release.yaml": {"analyses.replicates": 20}})
            if program == "python":
                subprocess.run([sys.executable, REPOSITORY / arguments[0], *arguments[1:]], check=True)
            else:
                head = Path("head").read_text() if "HEAD" in arguments else ""
                assert main([argument.replace("HEAD", head) for argument in arguments]) == 0, line
    return given


@pytest.mark.timeout(300)
@pytest.mark.usefixtures("small_pool")
def test_every_command_of_the_pages_works(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("formalsynth_release.tables_plan.REPLICATES", 6)
    monkeypatch.setattr("formalsynth_release.tables_plan.FACTORS", (0.25, 1.0, 4.0))
    columns, research = PAGE.split("## 5. Research")
    assert followed(columns) == ["tests/households.py", "inspect", "check", "plan", "release", "verify", "budget", "purge"]
    said = re.search(r"Head of the ledger: (\S+)\.", capsys.readouterr().out)
    assert said
    Path("head").write_text(said[1], encoding="utf-8")
    assert followed(SIGNED) == ["verify", "budget"]
    listed = re.findall(r"^\| `([\w.-]+)`(?:, `([\w.-]+)`)? \| ", columns.split("## 3. Release")[1], re.MULTILINE)
    named = {name for pair in listed for name in pair if "." in name}
    assert named == {path.name for path in Path("releases/households").iterdir()}
    assert json.loads(Path("households-verified.json").read_text())["result"] == "verified"
    assert {path.name for path in Path("studies/households/confidential").iterdir()} == {"budget.jsonl", ".ledger.lock"}
    explained = {name for line in re.findall(r"^\| (`.*?) \| ", columns, re.MULTILINE) for name in re.findall(r"`(\w+)`", line)}
    crossing = Path("releases/households/crossing.yaml").read_text()
    assert set(re.findall(r"^(\w+):", crossing, re.MULTILINE)) <= explained
    assert len(crossing.splitlines()) <= 300
    assert followed(research) == ["tests/incomes.py"]


def test_the_reader_of_the_page_reads_a_file(tmp_path):
    (code,) = re.findall(r"```python income\.py\n(.*?)```", PAGE, re.DOTALL)
    (tmp_path / "income.py").write_text(code, encoding="utf-8")
    table = incomes.incomes()
    table.to_csv(tmp_path / "income.csv", index=False)
    with FILES.trial():
        registry.load([str(tmp_path / "income.py")])
        records = load("income", tmp_path)
    registry.forget_own()
    assert records.x.tolist() == table.replace("", np.nan).dropna()["income"].astype(float).tolist()
    assert (records.design.min(), records.design.max()) == (0.0, 1.0)


def test_what_the_page_calls_commands_are_the_commands(capsys):
    with pytest.raises(SystemExit):
        main(["--help"])
    known = re.search(r"command\n((?:    .+\n?)+)", capsys.readouterr().out)
    assert known
    for name in re.findall(r"^ {4}(\w+)", known[1], re.MULTILINE):
        assert f"formalsynth {name}" in PAGE, name


def sentences(page):
    """Sentences of a page, without code, tables and links."""
    prose = re.sub(r"^```.*?^```|^\|.*?$|^#.*?$", "\n\n", page, flags=re.DOTALL | re.MULTILINE)
    prose = re.sub(r"`[^`]*`", "code", re.sub(r"\]\([^)]*\)", "]", prose))
    paragraphs = re.split(r"\n\s*\n|^- ", prose, flags=re.MULTILINE)
    return [words for paragraph in paragraphs for words in re.split(r"(?<=[.:;?!])\s+", " ".join(paragraph.split())) if words]


@pytest.mark.parametrize("page", [PAGE, SIGNED])
def test_sentences_are_short(page):
    assert [sentence for sentence in sentences(page) if len(sentence.split()) > LONGEST] == []
