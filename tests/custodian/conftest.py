import incomes
import pytest


@pytest.fixture
def income_study(tmp_path, monkeypatch):
    """Folder of a study of income.csv in which everything is declared, relative to the folder of the file."""
    monkeypatch.chdir(tmp_path)
    return tmp_path / incomes.declared_study()
