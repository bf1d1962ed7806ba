"""Numbers in documents: tables are filled from files, and a number that no table has is refused with its sentence."""

import pytest

from dev.numbers import check, check_notes, filled

TABLE = """statistic,synthesizer,label,guarantee,estimate
ecdf_max,tables_1,Noisy tables,DP,0.02781
ecdf_max,PH,Histogram,DP,
pure,tables_1,Noisy tables,DP,inf
pure,PH,Histogram,DP,1.5
"""


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "t.csv").write_text(TABLE)
    (tmp_path / "plain.csv").write_text("attempt,error\n`edge`,1.01\n`far`,362\n")
    (tmp_path / "named.csv").write_text("id,data,error\na-1,Adult,1.01\nb-1,German,362\n")
    return tmp_path


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ("t.csv", ["| mechanism | max-ECDF |", "| Noisy tables | 0.0278 | ∞ |", "| Histogram |  | 1.5 |"]),
        ("t.csv rows=tables_* columns=guarantee,pure", ["| Noisy tables | DP | ∞ |"]),
        ("plain.csv", ["| attempt | error |\n| --- | ---: |\n| `edge` | 1.01 |\n| `far` | 362 |"]),
        ("plain.csv rows=*far*", ["| ---: |\n| `far` | 362 |"]),
        ("named.csv rows=b*", ["| data | error |", "| ---: |\n| German | 362 |"]),
    ],
)
def test_a_table_is_filled_from_its_file(folder, options, expected):
    text = filled(f"before\n\n<!-- begin: {options} -->\nold\n<!-- end -->\n\nafter\n", folder)
    assert all(line.split(" |")[0] in text for line in expected)
    assert all(line in text for line in expected[1:])
    assert "old" not in text
    assert filled(text, folder) == text


@pytest.mark.parametrize(
    "sentence",
    [
        "The error is 0.37 there.",
        "Twelve are reproduced.",
        "A third of the files fail.",
        "One is twice as large.",
        "| `a` | 7.5 |",
    ],
)
def test_a_number_in_prose_is_refused_with_its_sentence(sentence):
    text = f"First line.\n\n<!-- begin: t.csv -->\n\n| 5 |\n\n<!-- end -->\n\nAll is well. {sentence}\n"
    (line, message), *_ = check(text, {2000.0, 0.5})
    assert line == 9
    assert sentence.rstrip(".").strip("| ").split("|")[-1].strip() in message
    assert "insert it from t.csv" in message


@pytest.mark.parametrize(
    "sentence",
    [
        "See Section 4.1, Figures 1 and 2, Table 3, and Equations 3.5 and 3.6.",
        "At n = 2000 and ε = 0.5 and 1.",
        "Shares from Beta(0.5, 3).",
        "At most ε / 2, or exp(-ε / 2).",
        "```\n17 files\n```",
        "**Proof.** At most 2 counts change by 1, which costs twice ε.",
    ],
)
def test_settings_references_and_formulas_are_not_numbers(sentence):
    assert list(check(f"{sentence}\n", {2000.0, 0.5, 1.0})) == []


def test_a_number_in_a_note_is_a_setting_or_printed(tmp_path):
    for name, text in {
        "papers": "n: 2000\nfigures: {1: {note: Over 31 sets.}}",
        "claims": "- {printed: 29, note: It is 29 of 2000.}",
    }.items():
        (tmp_path / name).mkdir()
        (tmp_path / name / "a.yaml").write_text(text)
    (message,) = check_notes(tmp_path / "claims" / "a.yaml")
    assert '"31" in "Over 31 sets."' in message
