"""The page for users of R: the files that its code reads have the columns that it uses."""

import re

import pandas as pd

from dev.reference import KEPT
from formalsynth.core.rows import REPLICATE_COLUMNS

PAGE = "docs/howto/r_users.md"


def test_files_of_the_page_have_the_columns_that_it_uses(repository):
    code = "\n".join(re.findall(r"^```r\n(.*?)^```", (repository / PAGE).read_text(encoding="utf-8"), re.M | re.S))
    used = {
        "range/fig02.csv": {"label", "value"},
        "range/table1.csv": {"statistic", "label", "estimate", "mcse", "printed", "difference"},
        "claims.csv": {"id", "paper", "verdict", "estimate", "cells"},
    }
    for name, columns in used.items():
        assert name in code
        assert all(column in code for column in columns), name
        assert columns <= set(pd.read_csv(repository / KEPT / name, nrows=1)), name
    assert {"synthesizer", "status", "epsilon", "ecdf_max", "guarantee"} <= set(REPLICATE_COLUMNS)
    claims = pd.read_csv(repository / KEPT / "claims.csv").set_index("id")
    row = claims.loc["range-delta-order"]
    assert len(row["estimate"].split(" / ")) == len(row["cells"].split(" | ")) == 5
