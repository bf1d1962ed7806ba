"""The summary on two pages, from the kept run."""

import re

import pytest
import yaml

from dev.summary import BOTTOM, answer, main, pages
from formalsynth_workflow.plan.load import read_plan


@pytest.fixture(scope="module")
def plan(repository):
    return read_plan(yaml.safe_load((repository / "config/config.yaml").read_text(encoding="utf-8")), repository / "config")


def test_two_pages_have_the_verdicts_three_pictures_and_every_row_of_the_answer(plan, repository):
    first, second = pages(plan, repository)
    texts = " ".join(text.get_text().replace("\n", " ") for page in (first, second) for text in page.canvas.texts)
    assert len(first.canvas.axes) + len(second.canvas.axes) == 3
    assert all(BOTTOM <= page.y < 0.9 for page in (first, second))
    assert re.search(r"Of \d+ claims of the papers", texts)
    rows = answer((repository / "docs/COST.md").read_text(encoding="utf-8"))
    assert 4 <= len(rows) <= 7
    for row in rows:
        assert row[1] in texts
    assert not re.search(r"\*\*|`|\]\(", texts)


def test_it_is_written_as_pdf(tmp_path, monkeypatch, repository):
    monkeypatch.chdir(repository)
    monkeypatch.setattr("sys.argv", ["summary", str(tmp_path / "summary.pdf")])
    assert main() == 0
    written = (tmp_path / "summary.pdf").read_bytes()
    assert written.startswith(b"%PDF")
    assert len(re.findall(rb"/Type /Page\b", written)) == 2
