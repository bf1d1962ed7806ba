"""The verdict map: tests of the papers first, and the numbers of its legend are those of the headline."""

import re

import made_up_report
import pandas as pd
import pytest
from formalsynth.ledger.claims import UNCOUNTED
from formalsynth.ledger.judge import LedgerRow
from formalsynth.ledger.verdicts import VERDICTS
from formalsynth.report.findings import JUDGED, findings
from formalsynth.report.pages import SYMBOLS
from formalsynth.report.verdict_map import OF_KIND, picture

from dev.reference import KEPT
from dev.results_page import readme_part

TITLES = {"first": "The first paper", "second": "The second paper"}


def legend(text):
    """The number that the legend of a map has for each verdict."""
    return {name: int(number) for number, name in re.findall(r">(\d+) ([a-z -]+)</text></g>", text)}


def test_tests_of_the_papers_are_first_and_only_they_are_in_the_legend():
    kinds = [
        "ours",
        "test",
        "recovered",
        "drawn records",
        "by construction",
        "implied by a",
        "another reading of b",
        "settings lost",
        "test",
    ]
    verdicts = ["reproduced"] * 8 + ["not reproduced"]
    rows = [
        LedgerRow(**made_up_report.claim(k, verdict) | {"replicates": 2, "kind": kind})
        for k, (kind, verdict) in enumerate(zip(kinds, verdicts, strict=True))
    ]
    text = picture(rows, SYMBOLS, TITLES)
    assert legend(text) == {"reproduced": 1, "not reproduced": 1}
    assert text.count("<rect") == len(rows) + 2
    expected = (
        "Of 2 claims of the papers that this run could judge, 1 (50%)", ">first: 1 of 2. The first paper",
        "7 other claims, which do not test",
        ">ours: not made by a paper</text>",
    )  # fmt: skip
    order = [text.index(words) for words in expected]
    assert order == sorted(order)
    assert "other claims" not in picture([row for row in rows if row.kind == "test"], SYMBOLS, TITLES)


def test_refuted_claims_of_a_paper_follow_its_count():
    """A paper with 18 of 18 and six refuted claims looked perfect."""
    verdicts = ["reproduced", "refuted", "not reproduced", "refuted", "misprint"]
    rows = [LedgerRow(**made_up_report.claim(k, verdict) | {"replicates": 2}) for k, verdict in enumerate(verdicts)]
    assert ">first: 1 of 2, 2 refuted. The first paper</text>" in picture(rows, SYMBOLS, TITLES)


def test_every_kind_of_claims_that_do_not_count_is_explained():
    assert set(OF_KIND) == set(UNCOUNTED)


def test_a_line_of_the_map_is_in_the_order_of_the_verdicts():
    verdicts = ["refuted", "reproduced", "not reproduced", "reproduced"]
    rows = [LedgerRow(**made_up_report.claim(k, verdict) | {"replicates": 2}) for k, verdict in enumerate(verdicts)]
    tiles = re.findall(r'</title><rect class="([a-z-]+)"', picture(rows, SYMBOLS, TITLES))
    assert tiles == ["reproduced", "reproduced", "not-reproduced", "refuted"]


def test_the_text_of_the_map_can_be_read_on_a_phone():
    text = picture([LedgerRow(**made_up_report.claim(0, "reproduced") | {"replicates": 2})], SYMBOLS, TITLES)
    width = int(re.search(r'viewBox="0 0 (\d+) ', text).group(1))
    assert min(map(int, re.findall(r'font-size="(\d+)"', text))) * 390 / width >= 8.5


def test_the_lines_of_the_kept_map_end_inside_it(repository):
    """A line of 68 letters was cut off at the right edge; 62 letters fit."""
    text = (repository / KEPT / "verdicts.svg").read_text(encoding="utf-8")
    assert max(map(len, re.findall("<text[^>]*>([^<]*)</text>", text))) <= 62


def test_the_map_and_the_pages_have_the_same_headline(run_pages):
    """The map counted claims of errata, the pages counted errata."""
    rows, pages = run_pages
    sentence = findings(rows, ()).headline()
    drawn = " ".join(re.findall("<text[^>]*>([^<]*)</text>", pages.pop("map")))
    assert sentence in drawn
    assert all(sentence in text for text in pages.values())
    numbers = legend(picture(rows, SYMBOLS, TITLES))
    assert sum(numbers.values()) == len(rows)
    assert all(f"{number} {verdict}" in sentence for verdict, number in numbers.items() if verdict not in JUDGED)


@pytest.fixture
def run_pages():
    """A ledger with every verdict, and the places that state its headline."""
    rows = [LedgerRow(**made_up_report.claim(k, verdict) | {"replicates": 2}) for k, verdict in enumerate(VERDICTS)]
    steady = pd.DataFrame(columns=["id", "verdict", "stays", "otherwise"])
    return rows, {"map": picture(rows, SYMBOLS, TITLES), "README": readme_part({}, rows, [], steady)}
