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
