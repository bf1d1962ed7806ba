import incomes
import pytest
from formalsynth.cli.main import main


@pytest.fixture
def income_study(tmp_path, monkeypatch):
    """The folder of a study of income.csv in which everything is declared, seen from where the file lies."""
    monkeypatch.chdir(tmp_path)
    incomes.incomes().to_csv("income.csv", index=False)
    assert main(["inspect", "income.csv", "--outcome", "income"]) == 0
    incomes.declare("studies/income")
    return tmp_path / "studies" / "income"
