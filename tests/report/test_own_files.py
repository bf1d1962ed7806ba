"""The confidential file of an own study in a report: never with the folder of this computer that it is in."""

from types import SimpleNamespace

from formalsynth.core.registry import Registry
from formalsynth.data.files import Dataset
from formalsynth.report import describe


def test_a_report_never_holds_the_path_of_a_confidential_file(monkeypatch):
    files = Registry("data file", "")
    files.add("income", Dataset("/srv/secret/project/income.csv", None, None, "its owner", lambda _: None), "own")
    files.add("study", Dataset("fatigue/study.csv", 10, None, "public", lambda _: None), "public")
    monkeypatch.setattr(describe, "FILES", files)
    monkeypatch.setattr(describe, "find", lambda *_: None)
    paper = SimpleNamespace(config=SimpleNamespace(scenarios={"own": SimpleNamespace(files=("income", "study"))}))
    plan = SimpleNamespace(papers={"own": paper}, config=SimpleNamespace(data_folder="data"))
    assert [info.file for info in describe._files(plan)] == ["income.csv", "fatigue/study.csv"]
