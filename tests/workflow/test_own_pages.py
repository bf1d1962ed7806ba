"""The files and commands of the pages on own mechanisms and own Stan programs, as they stand there, outside the repository."""

import json
import re
import shlex
from pathlib import Path

import pandas as pd
import pytest

LANGUAGES = {"python": ".py", "yaml": ".yaml", "stan": ".stan"}


def blocks_of(text):
    """Blocks of a page: language, contents, and the text before each."""
    parts = re.split(r"^```(\w*)\n(.*?)^```$", text, flags=re.M | re.S)
    return [(parts[k + 1], parts[k + 2], "".join(parts[: k + 1 : 3])) for k in range(0, len(parts) - 1, 3)]


def files_of(text):
    """Files of a page: each block is named by the last file name of its kind in backticks before it."""
    files = {}
    for language, content, before in blocks_of(text):
        if language in LANGUAGES:
            files.setdefault(re.findall(rf"`(\w+\{LANGUAGES[language]})`", before)[-1], content)
    return files


def commands_of(text):
    """The lines of blocks without a language."""
    return [line for language, content, _ in blocks_of(text) if not language for line in content.strip().splitlines()]


@pytest.fixture
def follow(tmp_path, repository, cmdstan, snakemake, module):
    """Follow pages in a folder of one's own: write their files, give their commands; the folder and what each command said."""

    def follow(*pages):
        text = "\n\n".join((repository / "docs" / page).read_text(encoding="utf-8") for page in pages)
        for name, content in files_of(text).items():
            (tmp_path / name).write_text(content, encoding="utf-8")
        (tmp_path / ".cmdstan").mkdir()
        (tmp_path / ".cmdstan" / "cmdstan.json").write_text(json.dumps({"path": str(cmdstan), "version": "as found"}))
        said = {}
        for line in commands_of(text):
            program, *arguments = shlex.split(line.replace("<clone>", str(repository)))
            if program == "snakemake":
                assert arguments[:2] == ["--snakefile", str(repository / "Snakefile")]
                run = snakemake(tmp_path, *arguments[2:])
            else:
                assert (program, arguments[0]) == ("python", "-m")
                run = module(tmp_path, *arguments[1:])
            assert run.returncode == 0, (line, run.stdout[-3000:])
            said[line] = run.stdout
        return tmp_path, said

    return follow


def made_in(repository):
    """Files in the repository and in the folders where a run could leave files."""
    places = [repository, repository / "config", repository / "stan", repository / "workflow", repository / "results"]
    return {path for place in places if place.is_dir() for path in place.iterdir()}


@pytest.mark.workflow
def test_the_page_on_own_mechanisms(follow, repository):
    before = made_in(repository)
    folder, said = follow("tutorials/own_mechanism.md", "howto/own_statistic.md", "howto/change_setting.md")
    assert made_in(repository) == before
    table = pd.read_csv(folder / "results" / "paper" / "halves" / "table1.csv")
    assert set(table["synthesizer"]) == {"Weighted", "Halved"}
    assert table["estimate"].notna().all()
    inequality = pd.read_csv(folder / "results" / "paper" / "inequality" / "table1.csv")
    assert set(inequality["synthesizer"]) == {"Data", "Unweighted", "Weighted"}
    assert inequality["estimate"].between(0, 1, inclusive="neither").all()
    drawn = pd.read_csv(folder / "figures" / "paper" / "halves" / "fig01.csv")
    assert set(drawn["synthesizer"]) == {"Unweighted", "Weighted", "Halved"}
    report = (folder / "results" / "paper" / "report" / "papers" / "halves.html").read_text(encoding="utf-8")
    assert "Half weights" in report
    checked = next(text for line, text in said.items() if "contracts" in line)
    assert "mechanism halved: keeps to its contract" in checked
    extended = next(text for line, text in said.items() if "wider.yaml" in line)
    assert "Plotting wider fig05" in extended
    results = pd.read_csv(folder / "results" / "paper" / "results.csv")
    assert set(results["mechanism"].dropna()) == {"unweighted", "weighted", "halved"}
    assert "needed" in next(text for line, text in said.items() if "--plan-mcse" in line)
    again = pd.read_csv(folder / "results" / "paper" / "halves" / "groups_n100" / "seeds0002-0002" / "Halved" / "replicates.csv")
    whole = results[(results["replicate"] == 2) & (results["paper"] == "halves")].set_index("synthesizer")["epsilon"]
    assert again["epsilon"].tolist() == [whole["Halved"]]


@pytest.mark.slow  # compiles several programs
@pytest.mark.workflow
def test_the_page_on_own_stan_programs(follow, repository, snakemake):
    folder, said = follow("howto/own_model.md")
    assert "Stan program hurdle.stan: keeps to its contract" in next(text for line, text in said.items() if "contracts" in line)
    rows = pd.read_csv(folder / "results" / "paper" / "spending" / "amounts_n60" / "replicates.csv")
    fits = rows[rows["synthesizer"] != "Data"]
    assert (fits["status"] == "ok").all()
    epsilon = fits.groupby("synthesizer")["epsilon"].mean()
    assert epsilon["averaged"] < epsilon["Weighted"] < epsilon["Unweighted"]
    drawn = pd.read_csv(folder / "figures" / "paper" / "spending" / "fig02.csv")
    assert (drawn["value"] >= 0).all()
    assert {"Data", "Weighted"} == set(drawn["synthesizer"])
    assert (drawn.loc[drawn["synthesizer"] == "Weighted", "value"] == 0).any()
    insurance = next(text for line, text in said.items() if "contracts" in line and "insurance.yaml" in line)
    assert "Stan program claims.stan: keeps to its contract" in insurance
    claims = folder / "results" / "paper" / "insurance" / "claims_n40"
    rows = pd.read_csv(claims / "replicates.csv")
    assert (rows["status"] == "ok").all()
    assert rows.loc[rows["replicate"] == 0, "audited"].notna().sum() == 2
    added = pd.read_csv(claims / "audit.csv").query("neighbour == 'add'")
    assert set(added["value"]) <= {0, 8}
    breaks_the_contract(folder, snakemake)


def breaks_the_contract(folder, snakemake):
    """A program without weights is refused before it is fitted."""
    program = (folder / "hurdle.stan").read_text(encoding="utf-8")
    Path(folder, "hurdle.stan").write_text(program.replace("weights[i] * term[i]", "term[i]"), encoding="utf-8")
    run = snakemake(folder, "--cores", 1, "--config", "study=spending.yaml")
    assert run.returncode
    assert "hurdle.stan: the weights are not used" in run.stdout
    assert not [name for name in run.stdout.splitlines() if name.startswith("Fitting")]
