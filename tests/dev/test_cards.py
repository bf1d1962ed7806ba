"""Checks of the sources and of the code of proof cards."""

import re
from pathlib import Path

import pytest
import yaml

from dev.cards import code_of, digest, faults, listed_sources

CARD = """# A card

**Sources.** Dwork and Roth 2014 (<https://doi.org/10.1561/0400000042>).

**Code.** `{module}:{name}`. Confirmed: `{digest}`.

**Theorem.** It holds.
"""
MODULE = """
LIMIT = 3


class Clip:
    \"\"\"Clip of a value.\"\"\"

    def of(self, value: float) -> float:
        \"\"\"Return the value, at most 2.\"\"\"
        return min(value, 2)  # strict
"""


@pytest.fixture
def module(tmp_path, monkeypatch):
    """A module whose text is replaced by part of it with another."""
    monkeypatch.syspath_prepend(tmp_path)
    path = tmp_path / "made_up_clipping.py"
    path.write_text(MODULE)
    return lambda part, other: path.write_text(MODULE.replace(part, other))


def card(name, **texts):
    """A card with the present digest of its code."""
    named = {"module": "made_up_clipping", "name": name, **texts}
    return CARD.format(digest=digest(f"`made_up_clipping:{name}`"), **named)


LISTED = {"https://doi.org/10.1561/0400000042"}


@pytest.mark.parametrize(
    ("name", "part", "other", "outdated"),
    [
        ("Clip.of", "min(value, 2)", "min(value, 4)", True),
        ("Clip", "value, 2)", "value, 2.0)", True),
        ("LIMIT", "= 3", "= 4", True),
        ("Clip.of", "# strict", "# a comment", False),
        ("Clip.of", "at most 2", "at most two", False),
        ("Clip", "Clip of a value", "Clip", False),
        ("Clip.of", "= 3", "= 4", False),
        ("Clip.of", "min(value, 2)", "min(\n            value, 2\n        )", False),
        ("Clip", '        """Return the value, at most 2."""\n', "", False),
    ],
)
def test_a_card_is_outdated_if_its_code_changes_and_not_if_other_text_does(module, name, part, other, outdated):
    text = card(name)
    assert list(faults(text, LISTED)) == []
    module(part, other)
    assert [fault.partition(":")[0] for fault in faults(text, LISTED)] == ["outdated"] * outdated


@pytest.mark.parametrize(
    ("part", "other", "sentence"),
    [
        ("**Sources.**", "**Related.**", "it names no sources"),
        ("<https://doi.org/10.1561/0400000042>", "a book", "it names no sources"),
        ("0400000042", "1", "CITATION.cff does not list https://doi.org/10.1561/1"),
        ("**Code.**", "**Program.**", "it names no code"),
    ],
)
def test_a_card_without_a_listed_source_or_code_is_a_fault(module, part, other, sentence):
    (fault,) = faults(card("LIMIT").replace(part, other), LISTED)
    assert fault.startswith(sentence)


def test_code_that_does_not_exist_is_an_error(module):
    for name in ("made_up_clipping:Clip.no", "no_such_module:f"):
        with pytest.raises(LookupError, match="there is no"):
            code_of(name)


def test_a_statement_that_leaves_a_block_is_other_code(module):
    block = "if value < 0:\n            value = 0\n            value = 1"
    module("return min(value, 2)", block)
    inside = code_of("made_up_clipping:Clip.of")
    module("return min(value, 2)", block.replace("            value = 1", "        value = 1"))
    assert code_of("made_up_clipping:Clip.of") != inside


def test_a_string_with_fields_is_one_token_in_every_version_of_python(module):
    module("min(value, 2)", """f"{value + 1!r} {{}} {f'{value:.1f}'}\"""")
    assert code_of("made_up_clipping:Clip.of").endswith("""return f"{value + 1!r} {{}} {f'{value:.1f}'}" NEWLINE""")


def test_comments_and_layout_of_a_stan_file_are_no_code(tmp_path):
    path = tmp_path / "f.stan"
    path.write_text("real f(real x) { // identity\n  return x;\n}")
    before = code_of(str(path))
    path.write_text("real f(real x) {\n return x; }")
    assert code_of(str(path)) == before
    path.write_text("real f(real x) { return 2 * x; }")
    assert code_of(str(path)) != before


def test_the_cards_cite_listed_sources_and_their_code_is_the_confirmed_one(repository, monkeypatch):
    monkeypatch.chdir(repository)
    cards, listed = sorted(Path("docs/proofs").glob("*.md")), listed_sources(Path("CITATION.cff"))
    assert len(cards) > 8 < len(listed)
    assert all(re.fullmatch(r"https://(doi\.org/10\.\d{4,}/\S+|arxiv\.org/abs/\d{4}\.\d{4,5})|", address) for address in listed)
    assert [fault for path in cards for fault in faults(path.read_text(encoding="utf-8"), listed)] == []


def test_papers_and_docstrings_name_listed_sources(repository):
    listed = listed_sources(repository / "CITATION.cff")
    papers = {path.stem: yaml.safe_load(path.read_text(encoding="utf-8")) for path in repository.glob("config/papers/*.yaml")}
    sources = {key: paper["source"].split(" (")[0] for key, paper in papers.items() if key != "cost"}
    pages = [(repository / f"docs/papers/{key}.md").read_text() for key in sources]
    assert all(source in listed and f"<{source}>" in page for source, page in zip(sources.values(), pages, strict=True))
    text = "".join(path.read_text(encoding="utf-8") for path in repository.glob("workflow/lib/**/*.py"))
    named = {*re.findall(r"(?<=arXiv:)[\d.]+\d|(?<=\(doi:)[^\s)]+", text)}
    assert len(named) > 12
    assert named <= {address.split("/abs/")[-1].removeprefix("https://doi.org/") for address in listed}
    page = (repository / "docs" / "explanation" / "related_work.md").read_text()
    assert {*re.findall(r"<(https://.+?)>", page)} >= listed - {""}
