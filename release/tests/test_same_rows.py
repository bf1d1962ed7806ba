"""Recognition of the rows of a file: by content alone, and by nothing that could be guessed without the key."""

import json
import os
import stat
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from formalsynth.core.text import DataError
from formalsynth_release.budget import start
from formalsynth_release.hash_chain import LedgerEntry
from formalsynth_release.same_rows import (
    content_of,
    keep_known,
    known_as,
    ledgers_folder,
    of_same_rows,
    overlaps,
    read_known,
)

ENTRY = LedgerEntry(
    date="2026-01-02", synthesizer="tables", guarantee="DP", neighbours="replace", sets=2, epsilon=1, outcome="started"
)


def rows(count=600, seed=1):
    generator = np.random.default_rng(seed)
    values = {
        "age": generator.integers(18, 90, count).astype(str), "income": generator.lognormal(10, 1, count).round(2).astype(str),
        "region": generator.choice(["north", "south", np.nan], count),
    }  # fmt: skip
    return pd.DataFrame(values).replace("nan", np.nan)


def same(table, other):
    """Return True if two files have the same rows."""
    return np.array_equal(content_of(table).rows, content_of(other).rows)


def test_order_and_the_writing_of_numbers_change_nothing():
    table = rows()
    assert same(table, table.sample(frac=1, random_state=2)[["region", "income", "age"]])
    assert same(table, table.assign(age=table["age"] + ".0", income=table["income"].astype(float).map("{:.12e}".format)))
    assert same(table, table.assign(income=table["income"].str.replace(".", ",")))
    assert same(pd.DataFrame({"a": ["0", "1"]}), pd.DataFrame({"a": ["-0", "+1"]}))


def test_codes_with_points_are_the_same_in_a_file_with_decimal_commas():
    """Industries, months and identifiers are text in one format and look like numbers in the other."""
    codes = {
        "nace": ["47.2", "10.1", "01.1"],
        "month": ["01.2020", "12.2021", "1.234"],
        "number": ["12.345.678", "1.2.3", "4.5.6"],
    }
    table = pd.DataFrame(codes | {"income": ["1234.5", "0.125", "1e3"]})
    assert same(table, table.assign(income=["1.234,5", "0,125", "1000"]))
    assert same(table, table.assign(income=["1 234.5", ".125", "1.000,00"], month=["1.2020", "12.2021", "1234"]))


def test_one_value_that_is_no_number_changes_no_other():
    """A code of missing values that is declared, say."""
    table = rows().assign(income=["k. A.", *rows()["income"][1:]])
    assert same(table, table.assign(income=table["income"].str.replace(r"(?<=\d)[.](?=\d)", ",", regex=True)))
    assert same(table, table.assign(income=table["income"].str.lower(), region=table["region"].str.upper()))


@given(st.lists(st.floats(allow_nan=False, allow_infinity=False), min_size=2, max_size=9))
def test_numbers_are_the_same_in_every_format(numbers):
    def written(form):
        return pd.DataFrame({"a": [form(number) for number in numbers], "b": [str(k) for k in range(len(numbers))]})

    forms = [repr, "{:.17g}".format, "{:.16e}".format, lambda number: repr(number).replace(".", ",").upper()]
    assert all(same(written(forms[0]), written(form)) for form in forms)


def test_fractions_are_the_same_with_fifteen_digits_and_with_seventeen():
    """As R and pandas write them: of 4,000 quotients 33 differed by 15 digits."""
    income = np.random.default_rng(3).integers(1, 100_000, 4000) / 12
    table = pd.DataFrame({"a": [repr(float(value)) for value in income]})
    assert same(table, table.assign(a=[f"{value:.15g}" for value in income]))
    assert same(table, table.assign(a=[f"{value:.17g}" for value in income]))


def test_a_fraction_just_below_a_power_of_ten_is_the_same_with_fifteen_digits():
    table = pd.DataFrame({"a": ["0.9999999999999999", "99.99999999999999", "2"]})
    assert same(table, table.assign(a=["1", "100", "2"]))


def test_numbers_that_differ_in_the_twelfth_digit_are_others():
    table = pd.DataFrame({"a": ["123456789012", "5"]})
    assert not same(table, table.assign(a=["123456789013", "5"]))
    assert not same(table, table.assign(a=["-123456789012", "5"]))


@pytest.mark.parametrize("code", ["", "NA", "na", "NaN", "n/a", "#N/A", "null", "None", "?", ".", "\\N", "NaT", "k.A."])
def test_the_code_of_missing_values_changes_nothing(code):
    table = rows().assign(income=[np.nan, np.nan, *rows()["income"][2:]])
    assert same(table, table.fillna(code))


CHANGES = {
    "a value": lambda table: table.assign(age=["99", *table["age"][1:]]),
    "a missing value": lambda table: table.assign(income=[np.nan, *table["income"][1:]]),
    "a row twice": lambda table: pd.concat([table, table[:1]]),
    "a row less": lambda table: table[1:],
    "a name": lambda table: table.rename(columns={"age": "years"}),
    "values exchanged in one column": lambda table: table.assign(age=[*table["age"][::-1]]),
    "a number that is missing": lambda table: table.assign(region=table["region"].fillna("1")),
}


@pytest.mark.parametrize("change", CHANGES)
def test_other_rows_are_others(change):
    if change == "a name":  # the values of whole columns show it
        assert content_of(CHANGES[change](rows())).columns["years"] == content_of(rows()).columns["age"]
    else:
        assert not same(rows(), CHANGES[change](rows()))


@given(st.lists(st.tuples(st.sampled_from(["1", "2", "x"]), st.sampled_from(["1", "2", "x"])), min_size=1, max_size=6), st.data())
def test_only_the_same_multiset_of_rows_is_the_same(pairs, data):
    other = data.draw(st.permutations(pairs) | st.lists(st.sampled_from(pairs), min_size=1, max_size=6))
    tables = [pd.DataFrame(values, columns=["a", "b"]) for values in (pairs, list(other))]
    assert same(*tables) == (compared(tables[0]) == compared(tables[1]))


def compared(table):
    """Values of each row in columns with several values, in any order of columns."""
    different = [name for name in table if table[name].nunique() > 1]
    return sorted(sorted(row) for row in table[different].to_numpy().tolist())


def test_names_constant_columns_and_points_between_thousands_change_nothing():
    table = rows()
    assert same(table, table.rename(columns={"income": "a_first", "age": "z_last"}))
    assert same(table, table.assign(wave="2025", note=np.nan))
    amounts = (table["income"].astype(float) * 100).round().astype(int)
    plain, pointed = amounts.astype(str), amounts.map("{:,}".format).str.replace(",", ".")
    assert pointed.str.contains(r"\.\d{3}\.\d{3}").any()
    for text in (plain, pointed):
        assert same(table.assign(income=plain), table.assign(income=text))


def test_what_is_kept_is_private_and_of_no_use_without_the_key(tmp_path, monkeypatch):
    table = rows()
    known = []
    for name in ("one", "other"):
        (tmp_path / name).mkdir(parents=True, exist_ok=True)
        monkeypatch.setenv("FORMALSYNTH_LEDGERS", str(tmp_path / name))
        folder = ledgers_folder()
        known.append(known_as(folder, "ab" * 16, tmp_path, content_of(table)))
        keep_known(folder, known[-1])
        keep_known(folder, known[-1])
        assert read_known(folder) == [known[-1]]
        assert [stat.S_IMODE(path.stat().st_mode) for path in (folder, *sorted(folder.iterdir()))] == [0o700, 0o600, 0o600]
    assert known[0].rows != known[1].rows
    assert not set(known[0].sample) & set(known[1].sample)
    assert not set(known[0].columns) & set(known[1].columns)


def test_files_that_differ_a_little_are_named(tmp_path):
    folder, table = tmp_path, rows(2000)
    kept = known_as(folder, "one", tmp_path, content_of(table))

    def shared(other):
        ours = known_as(folder, "two", tmp_path, content_of(other))
        return of_same_rows([kept], [ours]), overlaps([kept], ours, of_same_rows([kept], [ours]))

    assert shared(table[::-1]) == (["one"], {})
    assert shared(table[1:])[1]["one"].startswith("at least 51")
    assert shared(table.drop(columns="age")) == (
        [],
        {"one": "at least 0 of 512 sampled rows are in both, and 1 columns have the same values"},
    )
    assert shared(rows(2000, seed=2)) == ([], {})


@pytest.mark.parametrize("change", ["another key", "other rows", "another ledger"])
def test_a_list_that_was_changed_or_whose_key_was_replaced_is_named(tmp_path, change):
    keep_known(tmp_path, known_as(tmp_path, "one", tmp_path, content_of(rows())))
    listed = tmp_path / "files.jsonl"
    if change == "another key":
        (tmp_path / "key").write_bytes(bytes(32))
    else:
        entry = json.loads(listed.read_text())
        entry["rows" if change == "other rows" else "ledger"] = "0" * 32
        listed.write_text(json.dumps(entry) + "\n")
    with pytest.raises(DataError, match=r"files\.jsonl: was changed, or key next to it was replaced: restore both"):
        read_known(tmp_path)


def test_ledgers_without_a_list_and_a_key_are_not_taken_for_a_new_folder(tmp_path):
    (tmp_path / f"{'ab' * 16}.jsonl").touch()
    with pytest.raises(DataError, match=r"key: is missing, and .*files\.jsonl, too, but there are ledgers: restore both"):
        known_as(tmp_path, "two", tmp_path, content_of(rows()))


def test_a_lost_key_or_a_damaged_list_is_named(tmp_path):
    keep_known(tmp_path, known_as(tmp_path, "one", tmp_path, content_of(rows())))
    (tmp_path / "key").unlink()
    with pytest.raises(DataError, match=r"key: is missing, and .* cannot be read without it"):
        known_as(tmp_path, "two", tmp_path, content_of(rows()))
    (tmp_path / "key").write_bytes(b"short")
    with pytest.raises(DataError, match="key: is damaged"):
        known_as(tmp_path, "two", tmp_path, content_of(rows()))
    (tmp_path / "files.jsonl").unlink()
    (tmp_path / f"{'ab' * 16}.jsonl").touch()
    with pytest.raises(DataError, match=r"files\.jsonl: is missing, and only it identifies the rows of the ledgers there"):
        read_known(tmp_path)
    (tmp_path / "files.jsonl").write_text("{}")
    with pytest.raises(DataError, match=r"files\.jsonl: is damaged; nothing is released"):
        read_known(tmp_path)


@pytest.mark.parametrize(("given", "mode", "file"), [(0o2770, 0o2770, 0o660), (0o775, 0o700, 0o600), (0o2750, 0o700, 0o600)])
def test_a_folder_that_a_group_shares_keeps_its_mode(tmp_path, monkeypatch, given, mode, file):
    """Files in it are the group's; any other folder is closed, since its files may be of a group that everybody is in."""
    folder = tmp_path / "office"
    folder.mkdir()
    folder.chmod(given)
    monkeypatch.setenv("FORMALSYNTH_LEDGERS", str(folder))
    start(tmp_path / "study", ENTRY, 2.0, content_of(rows()))
    assert stat.S_IMODE(folder.stat().st_mode) == mode
    assert {path.suffix for path in folder.iterdir()} == {"", ".jsonl", ".lock"}
    assert {stat.S_IMODE(path.stat().st_mode) for path in folder.iterdir()} == {file}


def test_the_folder_of_all_ledgers_can_be_chosen_and_may_be_missing(tmp_path, monkeypatch):
    monkeypatch.setenv("FORMALSYNTH_LEDGERS", "relative")
    with pytest.raises(DataError, match="FORMALSYNTH_LEDGERS: given 'relative'; allowed: the absolute path of a folder"):
        ledgers_folder()
    monkeypatch.setenv("FORMALSYNTH_LEDGERS", "/dev/null/ledgers")
    with pytest.raises(DataError, match="given '/dev/null/ledgers', which does not exist; allowed: an existing folder"):
        ledgers_folder()
    monkeypatch.setenv("FORMALSYNTH_LEDGERS", str(tmp_path / "office" / "mistyped"))
    with pytest.raises(
        DataError, match="mistyped', which does not exist; allowed: an existing folder: correct the path, or create"
    ):
        ledgers_folder()
    assert not (tmp_path / "office").exists()
    monkeypatch.setenv("FORMALSYNTH_LEDGERS", "/dev/null")
    with pytest.raises(DataError, match="which cannot be used"):
        ledgers_folder()
    monkeypatch.delenv("FORMALSYNTH_LEDGERS")
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    assert ledgers_folder() == tmp_path / "state" / "formalsynth" / "ledgers"
    monkeypatch.delenv("XDG_STATE_HOME")
    monkeypatch.setenv("HOME", "/dev/null")
    assert ledgers_folder() is None
    assert os.environ["HOME"] == "/dev/null" and Path.home() == Path("/dev/null")


def test_ledgers_in_a_home_that_cannot_be_used_are_not_left_out(tmp_path, monkeypatch):
    """A command that root once ran here, say: the warning would come after the epsilon was spent."""
    for variable in ("FORMALSYNTH_LEDGERS", "XDG_STATE_HOME"):
        monkeypatch.delenv(variable, raising=False)
    monkeypatch.setenv("HOME", str(tmp_path))
    (tmp_path / ".local").touch()
    with pytest.raises(DataError, match=r"FORMALSYNTH_LEDGERS: not given, and the default, .*ledgers, cannot be used"):
        ledgers_folder()


def test_a_relative_folder_of_the_system_is_refused(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("FORMALSYNTH_LEDGERS", raising=False)
    monkeypatch.setenv("XDG_STATE_HOME", "state")
    with pytest.raises(DataError, match="XDG_STATE_HOME: given 'state'; allowed: the absolute path"):
        ledgers_folder()
    assert not (tmp_path / "state").exists()
