"""Readers of data files on any content: records or counts that can be used, or a message about the file."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from formalsynth.core.arrays import Records
from formalsynth.core.data_files import FILES, Dataset, contents
from formalsynth.core.text import DataError
from formalsynth.data.fatigue import read_fatigue
from formalsynth.data.sdr import MARGINS, SDR_COLUMNS, read_sdr, read_sdr_margins

READERS = {
    "fatigue": (["stress", "cycle"], read_fatigue),
    "sdr": (list(SDR_COLUMNS), read_sdr),
    "margins": (MARGINS, read_sdr_margins),
}
"""The columns that each reader wants."""
CELLS = st.sampled_from(["", "5", "-1", "0.5", "1e999", "nan", "M", "F", "12", "3", "30", "52", "x", '"', "9999998", "ÿ", "\0"])


@pytest.mark.filterwarnings("ignore")
@given(st.sampled_from(sorted(READERS)), st.data())
def test_no_reader_ends_in_anything_but_contents_or_a_data_error(tmp_path_factory, name, data):
    """Tables with the right columns and any cells, and any bytes; a checksum does not stand before the readers here."""
    columns, reader = READERS[name]
    if data.draw(st.booleans()):
        rows = data.draw(st.lists(st.lists(CELLS, min_size=1, max_size=7), max_size=4))
        content = "\n".join(",".join(row) for row in [columns, *rows]).encode("latin-1")
    else:
        content = data.draw(st.binary(max_size=400))
    path = tmp_path_factory.getbasetemp() / "data"
    path.write_bytes(content)
    with FILES.trial():
        FILES.add("any", Dataset("data", None, None, "nowhere", reader), __name__)
        try:
            result = contents("any", path.parent)
        except DataError as error:
            assert str(error).startswith(f"{path}: ")
        else:
            if isinstance(result, Records):
                assert np.isfinite(result.x).all()


def test_counts_are_those_of_the_codebook_by_variable(tmp_path):
    """Variables are in the order of the alphabet, whatever the order of the lines: random draws follow it."""
    lines = ["WKSWK,52,,7,70", "GENDER,M,Male,3,30", "GENDER,F,Female,2,20", "WKSWK,98,skip,9,90", "SALARYP,L,skip,1,10"]
    (tmp_path / "margins.csv").write_text("\n".join([",".join(MARGINS), *lines]))
    counts = read_sdr_margins(tmp_path / "margins.csv")
    assert list(counts) == ["GENDER", "SALARYP", "WKSWK"]
    tables = {name: [values.tolist(), number.tolist()] for name, (values, number) in counts.items()}
    assert tables == {"GENDER": [[1.0, 0.0], [3, 2]], "SALARYP": [[], []], "WKSWK": [[52.0], [7]]}


POSITIVE = "stress and cycle must be positive numbers"
FATIGUE = ["276.05,11500", "308.84,10000"]


@pytest.mark.parametrize(
    ("read", "lines", "words"),
    [
        *(
            (read_fatigue, [header, *FATIGUE], "columns are .*, expected stress and cycle")
            for header in ("stress,cycles", "cycle,stress", "a,b")
        ),
        *(
            (read_fatigue, ["stress,cycle", *FATIGUE, row], POSITIVE)
            for row in ("0,100", "-1,100", "300,0", "300,-5", "300,", "abc,100", "inf,100", "300,nan", "300,inf")
        ),
        (read_sdr, ["x" * 300], "347"),
        *(
            (read_sdr, [",".join(SDR_COLUMNS), row], "outside the codebook's range")
            for row in ("-5,M,40,52,3,12", "80000,M,41,52,3,12", "80000,M,40,60,3,12")
        ),
    ],
)
def test_files_that_are_not_what_they_should_be_are_named(tmp_path, read, lines, words):
    path = tmp_path / "data.csv"
    path.write_text("\n".join(lines) + "\n")
    with pytest.raises(DataError, match=rf"data\.csv: .*{words}"):
        read(path)
