"""The confidential file of an own study in a report: never with the folder of this computer that it is in."""

from types import SimpleNamespace

from formalsynth.core.data_files import Dataset
from formalsynth.report import describe


def test_a_report_never_holds_the_path_of_a_confidential_file():
    own = Dataset("/srv/secret/project/income.csv", None, None, "its owner", lambda _: None)
    public = Dataset("fatigue/study.csv", 10, None, "public", lambda _: None)
    plan = SimpleNamespace(data_files=lambda: [(own, False), (public, True)])
    assert [(info.file, info.available) for info in describe._files(plan)] == [("income.csv", False), ("fatigue/study.csv", True)]
