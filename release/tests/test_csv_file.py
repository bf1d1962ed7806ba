"""Formats of CSV files: guesses from the first bytes, and errors without values."""

import pytest

from formalsynth.core.text import DataError
from formalsynth_release.command import main
from formalsynth_release.csv_file import CsvFormat, guess, listed, read_text


@pytest.fixture
def file(tmp_path):
    """Write a file and return its path."""

    def file(text, encoding="utf-8"):
        path = tmp_path / "data.csv"
        path.write_bytes(text if isinstance(text, bytes) else text.encode(encoding))
        return path

    return file


@pytest.mark.parametrize(("text", "delimiter", "decimal"), [
    ("a,b\n1,2\n", ",", "."), ("a;b\n1;2\n", ";", "."), ("a\tb\n1\t2\n", "\t", "."), ("a|b\n1|2\n", "|", "."),
    ("a\n1\n", ",", "."), ("a b c\n1 2 3\n", " ", "."), ("net income\n1\n", ",", "."), ("a;b\n1,5;2\n", ";", ","),
    ("a;b\n-1,5;2\n", ";", ","), ("a;b\n1.5;2\n", ";", "."), ("a,b\n1,5\n", ",", "."),
])  # fmt: skip
def test_the_delimiter_is_that_of_the_header_and_decimal_commas_need_another_one(file, text, delimiter, decimal):
    guessed = guess(file(text))
    assert (guessed.delimiter, guessed.decimal) == (delimiter, decimal)


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "cp1252"])
def test_encodings_are_guessed_and_read(file, encoding):
    path = file("name,größe\nJosé,3\n", encoding)
    assert guess(path).encoding == encoding.removesuffix("-sig")
    assert read_text(path, guess(path)).to_dict("list") == {"name": ["José"], "größe": ["3"]}


def test_an_encoding_is_guessed_from_the_whole_file(file):
    """The first name with an accent may be far down."""
    rows = "name,size\n" + "Jose,3\n" * 20_000
    assert guess(file(rows)).encoding == "utf-8"
    path = file(rows + "José,4\n", "cp1252")
    assert guess(path).encoding == "cp1252"
    assert read_text(path, guess(path))["name"].iloc[-1] == "José"


def test_a_wrong_byte_in_a_file_in_utf_8_is_reported(file):
    """As cp1252, all of its other names would be wrong."""
    path = file(b"name,size\n" + "José,3\n".encode() + b"Jos\xe9,4\n")
    with pytest.raises(DataError, match=r"is not written in utf-8; save it in UTF-8, or declare"):
        read_text(path, guess(path))


@pytest.mark.parametrize(("text", "values"), [
    ("a,b\n 007 ,NA\n1e3,\n", [["007", "NA"], ["1e3", ""]]), ('a,b\n"x, y","1\n2"\n', [["x, y", "1\n2"]]),
])  # fmt: skip
def test_values_stay_text_and_may_have_delimiters_and_line_breaks_in_quotes(file, text, values):
    assert read_text(file(text), CsvFormat("utf-8", ",")).to_numpy().tolist() == values


@pytest.mark.parametrize(
    ("content", "words"), [(b"PK\x03\x04\0rest", "zero bytes.*its name has to end in its format"), (b"  \n", "is empty")]
)
def test_other_files_are_named_for_what_they_are(file, content, words):
    with pytest.raises(DataError, match=words):
        guess(file(content))


@pytest.mark.parametrize("name", ["73519", "17 397", "2020-05-01", "+49 30 1234", "1,5", "12/5", "1e5", "inf"])
def test_names_without_a_letter_may_be_values_and_are_not_shown(name):
    assert listed(["Anna Smith", name]) == "(not shown, since some are numbers: is the first row a header?)"
    assert listed(["income", "a1", "Größe", "年齢"]) == "income, a1, Größe, 年齢"


@pytest.mark.parametrize(("rows", "words"), [
    ("1,2\n73519,4,5\n", "line 3 has 3 values, but the header has 2 names"), ("73519,4,5\n1,2\n", "line 2 has 3 values"),
    ("73519,4,5\n1,2,3\n", r"line 2 \(and 1 more\) has 3 values"), ("1,2\n73519\n", "line 3 has 1 value, but"),
    ("73519\n1,2\n3\n", r"line 2 \(and 1 more\) has 1 value"),
])  # fmt: skip
def test_rows_of_another_length_are_refused_in_any_order_without_their_values(file, rows, words):
    with pytest.raises(DataError, match=words) as error:
        read_text(file(f"a,b\n{rows}"), CsvFormat("utf-8", ","))
    assert "73519" not in str(error.value)


def test_a_first_row_of_values_between_spaces_is_not_shown(tmp_path, monkeypatch, capsys):
    """A file without a header, as the one of German credit."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "credit.data").write_text("A11 6 A34 1169\nA12 48 A32 5951\n")
    assert main(["inspect", "credit.data", "--outcome", "amount"]) == 1
    error = capsys.readouterr().err
    assert "is the first row a header?" in error
    assert "1169" not in error
