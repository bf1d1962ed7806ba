"""The reference run: what is kept of a run, and that a fresh run has its verdicts."""

import pandas as pd
import pytest
import yaml
from formalsynth.plan.load import read_plan
from formalsynth.report.reference import KEPT, SCALE, changed, keep, page
from formalsynth.runtime.files import read_table
from PIL import Image


def ledger(**verdicts):
    """A ledger with these verdicts."""
    rows = [
        {"id": id, "paper": "range", "place": "Section 1", "claim": "So it is.", "estimate": "5.1", "verdict": verdict}
        for id, verdict in verdicts.items()
    ]
    return pd.DataFrame(rows).assign(note="", erratum="")


def test_what_changed_is_listed_and_nothing_else():
    other = changed(
        ledger(a="reproduced", b="reproduced", c="direction only"), ledger(a="reproduced", b="not reproduced", d="reproduced")
    )
    assert other["id"].tolist() == ["b", "c", "d"]
    assert other["fresh"].tolist() == ["not reproduced (5.1)", "absent", "reproduced (5.1)"]


def test_an_estimate_may_move_as_long_as_the_verdict_stays():
    assert changed(ledger(a="reproduced"), ledger(a="reproduced").assign(estimate="4.9")).empty


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
    (figures / "fig02.csv").write_text("value\n1\n")
    (figures / "fig05.csv").write_text("value\n" + "1\n" * 60_000)
    (results / "table1.csv").write_text("mean\n1\n")
    ledger(a="reproduced").to_csv(results.parent / "claims.csv", index=False)
    return tmp_path


def test_drawings_and_small_tables_are_kept_in_place_of_older_ones(run, plan):
    old = run / KEPT / "range" / "fig99.png"
    old.parent.mkdir(parents=True)
    old.touch()
    keep(plan, run)
    assert {path.name for path in (run / KEPT).rglob("*.*")} == {"claims.csv", "fig02.png", "fig02.csv", "table1.csv"}
    with Image.open(run / KEPT / "range" / "fig02.png") as drawing:
        assert drawing.size == (600, 300)


def test_the_page_counts_every_verdict_and_names_what_failed(plan, monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    for number in ("02", "05"):
        caption = tmp_path / "figures" / SCALE / "range" / f"fig{number}.txt"
        caption.parent.mkdir(parents=True, exist_ok=True)
        caption.write_text(f"Caption {number}.\n")
    text = page(plan, ledger(a="reproduced", b="not reproduced", c="not reproduced").assign(note="seen twice"))
    assert "| range | 1 | 2 | 3 |" in text
    assert "![Figure 5](reference/range/fig05.png)" in text
    assert "*Caption 02.*" in text
    assert text.count("**not reproduced**") == 2
    assert "(seen twice)" in text


def test_a_run_at_scale_paper_has_the_verdicts_of_the_reference_run(repository):
    fresh = repository / "results" / SCALE / "claims.csv"
    if not fresh.exists():
        pytest.skip(f"there is no run at scale {SCALE} here to compare with the reference run")
    other = changed(read_table(repository / KEPT / "claims.csv"), read_table(fresh))
    assert other.empty, other.to_string(index=False)
