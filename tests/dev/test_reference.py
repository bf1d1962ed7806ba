"""The reference run: what is kept of a run, and what documents say of it."""

import numpy as np
import pandas as pd
import pytest
import yaml
from PIL import Image

from dev.reference import ERRATA, KEPT, README, RESULTS, SCALE, changes, keep, write
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


def test_the_page_counts_tests_and_names_what_failed(run, plan):
    rows = ledger(a="reproduced", b="not reproduced", c="not reproduced", d="reproduced", e="misprint", f="data absent")
    rows.loc[3, "kind"] = "implied by a"
    rows.loc[4, "erratum"] = "E1"
    rows.to_csv(run / "results" / SCALE / "claims.csv", index=False)
    keep(plan, run)
    text = (run / RESULTS).read_text(encoding="utf-8")
    assert "Of 3 claims of the papers that this run could judge, 1 (33%) are reproduced, 0 in direction only" in text
    assert "and 2 not; not among them: 1 misprint, 1 data absent." in text
    assert "| `range` | 1 | 0 | 0 | 2 | 1 | 0 | 1 |" in text
    assert "implied 1 (1 reproduced)" in text
    assert "Errata that make claims fail:\n\n- [E1](ERRATA.md#e1) (misprint): " in text
    assert "![Figure 5](reference/range/fig05.png)" in text
    assert "*Caption 02.*" in text
    assert text.count("- So it is. **Not reproduced** (Section 1). Found 5.1. Seen twice.") == 2
    assert "<details><summary>2 reproduced</summary>\n\n- So it is. **Reproduced** (Section 1)" in text
    assert "So it is. **Misprint** (Section 1; [E1](ERRATA.md#e1))." in text


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
    assert "1 (100%) are reproduced" in text
    assert "old" not in text
    assert "## E1\n\n**misprint**: " in (run / ERRATA).read_text(encoding="utf-8")
    assert "- Places: `range`: Equation 15" in (run / ERRATA).read_text(encoding="utf-8")
    assert write(plan, run, check=True) == 0
    ledger(a="not reproduced").to_csv(run / KEPT / "claims.csv", index=False)
    assert write(plan, run, check=True) == 1
