import incomes
import pytest


@pytest.fixture
def income_study(tmp_path, monkeypatch):
    """The folder of a study of income.csv in which everything is declared, seen from where the file lies."""
    monkeypatch.chdir(tmp_path)
    return tmp_path / incomes.declared_study()
