"""The reference run: what is kept of a run, and what documents say of it."""

import numpy as np
import pandas as pd
import pytest
import yaml
from PIL import Image

from dev.reference import ERRATA, KEPT, README, SCALE, changes, keep, write
from formalsynth_workflow.ledger.judge import COLUMNS
from formalsynth_workflow.plan.load import read_plan


def ledger(**verdicts):
    """A ledger with these verdicts."""
    rows = [
        dict.fromkeys(COLUMNS, "")
        | {"id": id, "paper": "range", "place": "Section 1", "claim": "So it is.", "estimate": "5.1", "verdict": verdict}
        | {"note": "seen twice", "kind": "test", "test": "order"}
        for id, verdict in verdicts.items()
    ]
    return pd.DataFrame(rows)


@pytest.fixture
def plan(repository):
    """The shipped plan, for the range paper alone."""
    config = yaml.safe_load((repository / "config" / "config.yaml").read_text(encoding="utf-8"))
    return read_plan(config | {"papers": ["range"]}, repository / "config")


@pytest.fixture
def run(tmp_path, plan):
    """A finished run: a drawing, a small and a large table, and a ledger."""
    figures, results = tmp_path / "figures" / SCALE / "range", tmp_path / "results" / SCALE / "range"
    for folder in (figures, results):
        folder.mkdir(parents=True)
    Image.linear_gradient("L").resize((600, 300)).save(figures / "fig02.png")
    for number in ("02", "05"):
        (figures / f"fig{number}.txt").write_text(f"Caption {number}.\n")
    (figures / "fig02.csv").write_text("value\n1\n")
    (figures / "fig05.csv").write_text("value\n" + "1\n" * 60_000)
    (results / "table1.csv").write_text("mean\n1\n")
    ledger(a="reproduced").to_csv(results.parent / "claims.csv", index=False)
    return tmp_path


def test_parts_of_documents_are_written_from_the_reference_run(run, plan):
    """A paper's part lists the answers to its question and what is not reproduced; links begin at the document."""
    rows = ledger(b="not reproduced", c="reproduced", d="misprint", e="misprint", f="data absent")
    rows = pd.concat([ledger(**{"range-averaged-amplifies": "reproduced"}), rows], ignore_index=True)
    rows.loc[3:4, ["kind", "erratum"]] = [["recovered", "E14"], ["test", "E1"]]
    rows.loc[:1, "shows"] = ["figure 2", "table 1"]
    rows.to_csv(run / "results" / SCALE / "claims.csv", index=False)
    keep(plan, run)
    (page := run / "docs" / "papers" / "range.md").parent.mkdir()
    page.write_text("<!-- begin: claims range -->\nold\n<!-- end: claims range -->\n")
    (run / README).write_text("mine\n<!-- begin: findings -->\n<!-- end: findings -->\n")
    write(plan, run)
    lines = page.read_text().splitlines()
    assert "- [Figure 2](../../docs/reference/range/fig02.png): So it is." in lines
    assert "- [Table 1](../../docs/reference/range/table1.csv): So it is." in lines
    assert sum(line.endswith(": So it is.") for line in lines) == 2
    assert "lists 6 claims with their numbers; 5 of them test the paper: 2 reproduced, 1 not reproduced, 1 m" in lines[-3]
    assert "1 misprint ([E1](../../docs/manual/errata.md#e1))," in lines[-3]
    assert "| `range` | 2 | 0 | 0 | 1 | 1 | 0 | 1 |" in (run / README).read_text()
    (run / README).write_text("<!-- begin: nothing -->\n<!-- end: nothing -->\n")
    with pytest.raises(ValueError, match=r"README.md: there is no generated part nothing; allowed: picture, findings, claims"):
        write(plan, run)


def test_changes_name_claims_whose_verdict_differs_or_that_one_ledger_lacks():
    before = ledger(a="reproduced", b="reproduced", c="direction only").assign(note="old | text")
    after = ledger(a="reproduced", b="not reproduced", d="reproduced").assign(note="new")
    after.loc[2, "estimate"] = None
    assert changes(before, after)[2:] == [
        ["b", "reproduced (5.1)", "not reproduced (5.1)", "new"],
        ["c", "direction only (5.1)", "no such claim", "old | text"],
        ["d", "no such claim", "reproduced", "new"],
    ]
    assert changes(before, before.assign(estimate="4.9"))[2:] == []


def test_steadiness_is_that_of_the_claims_whose_tables_are_there(run, plan):
    """One scenario has a table, every column of which is chance."""
    paper, generator = plan.papers["range"], np.random.default_rng(1)
    columns = {name for claim in paper.claims for name in (*claim.estimate.value, *claim.estimate.rows)}
    parts = [
        pd.DataFrame(dict.fromkeys(columns, 9 + generator.normal(size=40)))
        .assign(scenario="simulation", n=2000, synthesizer=id, replicate=np.arange(40))
        .assign(**{f"parameter {name}": value for name, value in synthesizer.parameters.items()})
        for id, synthesizer in paper.scenarios["simulation_n2000"].synthesizers.items()
    ]
    folder = run / "results" / SCALE / "range" / "simulation_n2000"
    folder.mkdir()
    pd.concat(parts).to_csv(folder / "replicates.csv", index=False)
    ledger(**{claim.id: "reproduced" for claim in paper.claims}).to_csv(run / "results" / SCALE / "claims.csv", index=False)
    keep(plan, run)
    steady = pd.read_csv(run / KEPT / "steadiness.csv").set_index("id")["stays"]
    assert "range-delta-order" in steady.index
    assert 0 < len(steady) < len(paper.claims)
    assert 0.05 <= steady.mean() <= 1


def test_readme_and_errata_are_written_from_what_is_kept(run, plan, capsys):
    rows = ledger(a="reproduced", b="misprint")
    rows.loc[1, "erratum"] = "E1"
    rows.to_csv(run / "results" / SCALE / "claims.csv", index=False)
    keep(plan, run)
    (run / README).write_text(
        "mine\n<!-- begin: picture --><!-- end: picture -->\n<!-- begin: findings -->\nold\n<!-- end: findings -->\nmine, too\n"
    )
    assert write(plan, run, check=True) == 1
    assert "README.md is out of date" in capsys.readouterr().err
    assert not (run / ERRATA).exists()
    assert write(plan, run) == 0
    text = (run / README).read_text(encoding="utf-8")
    assert text.startswith("mine\n")
    assert text.endswith("mine, too\n")
    assert "1 (100%) reproduced" in text
    assert "old" not in text
    assert "\n\n*misprint*, `range`: " in (run / ERRATA).read_text(encoding="utf-8")
    assert "`range`: Equation 15; Section 3" in (run / ERRATA).read_text(encoding="utf-8")
    assert write(plan, run, check=True) == 0
    ledger(a="not reproduced").to_csv(run / KEPT / "claims.csv", index=False)
    assert write(plan, run, check=True) == 1
