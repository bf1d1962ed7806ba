"""The loader of the 2017 SDR public-use file, on files in its format that these tests make, and the stand-in."""

import numpy as np
import pandas as pd
import pytest
from salary_file import NAMES, ROWS, fixed_width

from formalsynth.core.data_files import load_counts
from formalsynth.data.populations.salaries import sdr_stand_in
from formalsynth.data.sdr import SALARY_TOP, read_sdr


def comma_separated(path, rows=ROWS):
    pd.DataFrame(rows, columns=NAMES).assign(OTHER=1).to_csv(path, index=False)
    return path


@pytest.mark.parametrize("write", [fixed_width, comma_separated])
def test_both_formats_give_the_papers_records(tmp_path, write):
    records = read_sdr(write(tmp_path / "EPSD17.DAT"))
    np.testing.assert_allclose(records.x, [200_000, SALARY_TOP * 0.5 / 3, SALARY_TOP * (1 - 0.5 / 3)])
    # constant, male, two age groups against the youngest, weeks
    expected = [[1, 1, 1, 0, 0], [1, 0, 0, 0, -16 / 52], [1, 0, 0, 1, -50 / 52]]
    np.testing.assert_allclose(records.design, expected)


def test_every_record_has_a_finite_density(tmp_path):
    x = read_sdr(fixed_width(tmp_path / "EPSD17.DAT")).in_unit(SALARY_TOP).x
    assert ((x > 0) & (x < 1)).all()


def test_stand_in_has_the_published_margins():
    counts = load_counts("sdr2017_margins", "resources")
    records = sdr_stand_in(np.random.default_rng(1), 1601, male=0.3, age=1.5, weeks=1, noise=1, counts=counts)
    assert records.x.shape == (1601,)
    assert np.linalg.matrix_rank(records.design) == records.design.shape[1]
    values, number = counts["SALARYP"]
    exact = (values * number).sum() / number.sum()
    assert exact == pytest.approx(107_244, abs=1)
    sd = np.sqrt((values**2 * number).sum() / number.sum() - exact**2)
    assert abs(records.x.mean() - exact) < 5 * sd / np.sqrt(1601) + 200
