"""docs/OWN_STUDY.md: every command of it and of WHAT_YOU_SIGN.md, with its files but for a short audit and few simulations."""

import json
import re
import shlex
import subprocess
import sys
from pathlib import Path

import incomes
import pytest
from formalsynth.cli.main import main

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
            if arguments == ["plan", "studies/income"]:
                incomes.declare("studies/income", {"study.yaml": {"internal_audit": incomes.SHORT_AUDIT}})
            if program == "python":
                subprocess.run([sys.executable, REPOSITORY / arguments[0], *arguments[1:]], check=True)
            else:
                head = Path("head").read_text() if "HEAD" in arguments else ""
                assert main([argument.replace("HEAD", head) for argument in arguments]) == 0, line
    return given


@pytest.mark.stan
@pytest.mark.timeout(300)
@pytest.mark.usefixtures("small_pool")
def test_every_command_of_the_pages_works(tmp_path, monkeypatch, cmdstan, capsys):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("formalsynth.custodian.tables_plan.REPLICATES", 6)
    monkeypatch.setattr("formalsynth.custodian.tables_plan.FACTORS", (0.25, 1.0, 4.0))
    columns, outcome = PAGE.split("## 5. One outcome")
    assert followed(columns) == ["tests/households.py", "inspect", "check", "plan", "release", "verify", "budget", "purge"]
    said = re.search(r"Head of the ledger: (\S+)\.", capsys.readouterr().out)
    assert said
    Path("head").write_text(said[1], encoding="utf-8")
    assert followed(SIGNED) == ["verify", "budget"]
    listed = re.findall(r"^\| `([\w.-]+)`(?:, `([\w.-]+)`)? \| ", columns.split("## 3. Release")[1], re.MULTILINE)
    named = {name for pair in listed for name in pair if "." in name}
    assert named == {path.name for path in Path("release/households").iterdir()}
    assert json.loads(Path("households-verified.json").read_text())["result"] == "verified"
    assert {path.name for path in Path("studies/households/confidential").iterdir()} == {"budget.jsonl", ".ledger.lock"}
    explained = {name for line in re.findall(r"^\| (`.*?) \| ", columns, re.MULTILINE) for name in re.findall(r"`(\w+)`", line)}
    crossing = Path("release/households/crossing.yaml").read_text()
    assert set(re.findall(r"^(\w+):", crossing, re.MULTILINE)) <= explained
    assert len(crossing.splitlines()) <= 300
    commands = ["tests/incomes.py", "inspect", "check", "plan", "compare", "release", "verify"]
    assert followed(outcome) == commands
    assert Path("release/income/outcomes.png").is_file()


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
