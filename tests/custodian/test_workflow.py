"""The file of a study in the workflow."""

import shutil

import incomes
import pytest
from formalsynth.core.data_files import check_unchanged, sha256s
from formalsynth.core.text import DataError
from formalsynth.custodian.workflow import register


def test_results_are_made_again_after_a_change_of_the_schema(income_study):
    """Records depend on it: with other bounds, other values are clipped."""
    folders = [shutil.copytree(income_study, income_study.parent / name) for name in ("copied", "clipped")]
    incomes.declare(folders[1], {"schema.yaml": {"columns.income.upper": 60_000}})
    for folder in (income_study, *folders):
        register(str(folder / "records.py"), str(folder / "records.py"))
    states = sha256s([income_study.name, "copied", "clipped"], "")
    assert states[income_study.name] == states["copied"]
    assert states["copied"] != states["clipped"]
    check_unchanged(states, "")
    with pytest.raises(DataError, match=r"with declarations of sha256 .* when the run was planned: give the same command again"):
        check_unchanged(states | {"copied": states["clipped"]}, "")
