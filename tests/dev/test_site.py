"""Documents as pages of a site."""

import re

import pytest

from dev.site import Links, main
from formalsynth.core.text import DataError

TRACKED = {"README.md", "docs/A.md", "docs/proofs/b.md", "docs/reference/fig.png", "config/config.yaml"}


def test_every_link_has_its_target(documents):
    root = documents.resolve()
    pages = {path.resolve(): path.read_text(encoding="utf-8") for path in documents.rglob("*.html")}
    assert len(pages) > 25
    anchors = {path: set(re.findall(r' id="([^"]+)"', text)) for path, text in pages.items()}
    missing = []
    for path, text in pages.items():
        for link in re.findall(r'(?:href|src)="([^"]*)"', text):
            file, _, anchor = link.partition("#")
            target = (path.parent / file).resolve() if file else path
            made_later = target == root / "summary.pdf" or "report" in target.relative_to(root).parts
            if re.match("[a-z]+:", link) or made_later:
                continue
            if not target.is_file() or (anchor and target in anchors and anchor not in anchors[target]):
                missing.append((path.name, link))
    assert not missing


@pytest.mark.parametrize(("document", "link", "target"), [
    ("README.md", "docs/A.md#the-answer", "docs/A.html#the-answer"), ("docs/A.md", "../README.md", "../index.html"),
    ("docs/proofs/b.md", "../A.md", "../A.html"), ("docs/A.md", "reference/fig.png", "reference/fig.png"),
    ("docs/A.md", "https://example.org/a.md", "https://example.org/a.md"), ("docs/A.md", "#here", "#here"),
    ("docs/A.md", "reference", None),
])  # fmt: skip
def test_links_lead_to_pages_and_copies(document, link, target):
    assert Links(document, TRACKED).target(link) == target


def test_a_link_without_a_file_is_refused():
    with pytest.raises(DataError, match=r"docs/A.md: the link B.md does not lead to a file"):
        Links("docs/A.md", TRACKED).target("B.md")


def test_without_a_report_it_names_the_command_to_run(tmp_path, capsys):
    assert main([str(tmp_path / "site"), str(tmp_path)]) == 2
    assert "run snakemake share first" in capsys.readouterr().err


def test_no_folder_is_replaced(tmp_path, capsys):
    (tmp_path / "index.html").touch()
    assert main([str(tmp_path), str(tmp_path)]) == 2
    assert "exists: remove it, or give another folder" in capsys.readouterr().err
    assert (tmp_path / "index.html").exists()
