"""The loader of the 2017 SDR public-use file, on files in its format that these tests make, and the stand-in."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import yaml
from formalsynth.datasets import SALARY_TOP, SDR_COLUMNS, SDR_RECORD, DataError, find, load_counts, read_sdr
from formalsynth.design import read_plan
from formalsynth.populations import sdr_stand_in

CONFIG = Path(__file__).parents[1] / "config"

ROWS = [
    # salary, gender, age, weeks, EDTP, NDGMENGP
    (200_000, "M", 40, 52, "3", "12"),
    (0, "F", 30, 36, "3", "12"),
    (509_000, "F", 70, 2, "3", "12"),
    (95_000, "M", 35, 52, "4", "12"),  # a medical school
    (95_000, "M", 35, 52, "3", "11"),  # another field
    (9_999_998, "F", 45, 98, "L", "12"),  # not working
    (9_999_998, "F", 45, 52, "3", "12"),  # no salary
]
NAMES = ("SALARYP", "GENDER", "AGEGRP", "WKSWK", "EDTP", "NDGMENGP")


def fixed_width(path, rows=ROWS):
    lines = []
    for row in rows:
        line = [" "] * SDR_RECORD
        for name, value in zip(NAMES, row, strict=True):
            low, high = SDR_COLUMNS[name]
            line[low - 1 : high] = str(value).rjust(high - low + 1)
        lines.append("".join(line))
    path.write_text("\n".join(lines) + "\n")
    return path


def comma_separated(path, rows=ROWS):
    pd.DataFrame(rows, columns=NAMES).assign(OTHER=1).to_csv(path, index=False)
    return path


@pytest.mark.parametrize("write", [fixed_width, comma_separated])
def test_both_formats_give_the_papers_records(tmp_path, write):
    records = read_sdr(write(tmp_path / "EPSD17.DAT"))
    np.testing.assert_allclose(records["x"] * SALARY_TOP, [200_000, SALARY_TOP * 0.5 / 3, SALARY_TOP * (1 - 0.5 / 3)])
    # constant, male, two age groups against the youngest, weeks
    expected = [[1, 1, 1, 0, 0], [1, 0, 0, 0, -16 / 52], [1, 0, 0, 1, -50 / 52]]
    np.testing.assert_allclose(records["design"], expected)


def test_every_record_has_a_finite_density(tmp_path):
    x = read_sdr(fixed_width(tmp_path / "EPSD17.DAT"))["x"]
    assert ((x > 0) & (x < 1)).all()


@pytest.mark.parametrize(
    ("row", "message"),
    [
        ((-5, "M", 40, 52, "3", "12"), "outside"),
        ((80_000, "M", 41, 52, "3", "12"), "outside"),
        ((80_000, "M", 40, 60, "3", "12"), "outside"),
    ],
)
def test_values_outside_the_codebook_are_refused(tmp_path, row, message):
    with pytest.raises(DataError, match=message):
        read_sdr(fixed_width(tmp_path / "EPSD17.DAT", [*ROWS, row]))


def test_another_record_length_is_refused(tmp_path):
    path = tmp_path / "EPSD17.DAT"
    path.write_text("x" * 300 + "\n")
    with pytest.raises(DataError, match="347"):
        read_sdr(path)


@pytest.mark.parametrize("published", [True, False])
def test_stand_in_has_the_margins_it_is_given(published):
    if published and find("sdr2017_margins", "resources") is None:
        pytest.skip("sdr2017_codebook_margins.csv is neither in resources nor in FORMALSYNTH_DATA")
    counts = load_counts("sdr2017_margins", "resources") if published else None
    records = sdr_stand_in(np.random.default_rng(1), 1601, male=0.3, age=1.5, weeks=1, noise=1, counts=counts)
    assert records["x"].shape == (1601,)
    assert np.linalg.matrix_rank(records["design"]) == records["design"].shape[1]
    if published:
        values, number = counts["SALARYP"]
        exact = (values * number).sum() / number.sum()
        assert exact == pytest.approx(107_244, abs=1)
        sd = np.sqrt((values**2 * number).sum() / number.sum() - exact**2)
        assert abs(records["x"].mean() * SALARY_TOP - exact) < 5 * sd / np.sqrt(1601) + 200


def test_a_file_that_is_there_is_used_with_as_many_records_as_it_has(tmp_path):
    run = yaml.safe_load((CONFIG / "config.yaml").read_text()) | {"papers": ["censor"], "data_folder": str(tmp_path)}
    assert read_plan(run, CONFIG).papers["censor"].of("salary")[0].stand_in
    fixed_width(tmp_path / "EPSD17.DAT")
    found = read_plan(run, CONFIG)
    scenario = found.papers["censor"].of("salary")[0]
    assert (scenario.stand_in, scenario.n, scenario.population) == (False, 3, None)
    assert not any("STAND-IN" in line for line in found.skipped)
