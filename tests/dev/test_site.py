"""Documents as pages of a site."""

import re
import subprocess

import pytest

from dev.site import write_documents


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


def test_a_link_without_a_file_is_refused(tmp_path):
    (tmp_path / "A.md").write_text("[b](B.md)")
    for command in (["init", "-q"], ["add", "A.md"]):
        subprocess.run(["git", *command], cwd=tmp_path, check=True)
    with pytest.raises(FileNotFoundError, match=r"A.md: the link B.md does not lead to a file"):
        write_documents(tmp_path, tmp_path / "site")
