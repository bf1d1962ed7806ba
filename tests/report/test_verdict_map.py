"""The verdict map: the numbers of its legend are those of the headline, and claims that are not counted are pale."""

import re

import made_up_report
import pytest
from formalsynth.ledger.judge import LedgerRow
from formalsynth.report.contents import read_ledger
from formalsynth.report.pages import SYMBOLS
from formalsynth.report.verdict_map import picture

from dev.reference import KEPT, LEDGER, README, RESULTS

KINDS = ["test", "recovered", "drawn records", "by construction", "implied by a", "ours", "settings lost"]


def legend(text):
    """The number that the legend of a map has for each entry."""
    return {name: int(number) for name, number in re.findall(r"</tspan> ([a-z :-]+) (\d+)</text>", text)}


def test_only_tests_are_counted_in_the_legend_and_all_others_are_pale():
    rows = [LedgerRow(**made_up_report.claim(k, "reproduced") | {"replicates": 2, "kind": kind}) for k, kind in enumerate(KINDS)]
    text = picture(rows, SYMBOLS)
    assert legend(text) == {"reproduced": 1, "pale: not counted": 6}
    assert text.count("<rect") == 7
    assert text.count('<g opacity="0.35">') == 6


@pytest.mark.parametrize("page", [README, RESULTS])
def test_the_map_and_the_pages_count_the_same_claims(page, repository):
    rows = read_ledger(repository / LEDGER)
    shown = legend((repository / KEPT / "verdicts.svg").read_text(encoding="utf-8"))
    text = (repository / page).read_text(encoding="utf-8")
    headline = re.search(r"\*\*(\d+).*?reproduced\*\*, (\d+) in direction only, (\d+) undetermined and (\d+) not", text)
    counted = ("reproduced", "direction only", "undetermined", "not reproduced")
    assert [int(number) for number in headline.groups()] == [shown[verdict] for verdict in counted]
    assert sum(shown.values()) == len(rows) > 300
    assert f"f {len(rows)} claims in all" in text
