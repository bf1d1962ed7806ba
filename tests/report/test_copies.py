"""Files of a run that go into a report, and files that stay with their owner."""

import io
import zipfile

import made_up_report
import pytest
from made_up_report import INFO, RAN, TEMPLATES, changed, claims, figure, paper, table

from formalsynth_workflow.report import copies as copied
from formalsynth_workflow.report.copies import LARGE, ROOM, TOO_LARGE, archive, copies
from formalsynth_workflow.report.pages import write_report

SECRET = 48_271_944


@pytest.fixture
def run(tmp_path):
    """Description of a run with a file that is not published, and the files of the run, which only their owner can read."""
    figures = [figure(k, file=f"mine/fig0{k}", confidential=kind) for k, kind in (("1", "records"), ("2", "statistics"))]
    tables = [table("1", file="mine/table1", confidential="statistics")]
    mine = paper("mine", confidential=["income.csv"], confidential_claims=["second-0"], figures=figures, tables=tables)
    info = changed(INFO, papers=[*INFO.papers, mine])
    ledger = [claim | {"note": f"{SECRET}"} if claim["id"] == "second-0" else claim for claim in claims()]
    files = made_up_report.made(tmp_path / "run", info.papers, ledger)
    for name, path in files.shown.items():
        if name.startswith("mine/") and path.suffix != ".png":
            text = path.read_text(encoding="utf-8").replace("57771", f"{SECRET}").replace("Caption", f"Caption {SECRET}")
            path.write_text(text + f"{SECRET}\n" * (path.suffix == ".svg"))
            path.chmod(0o600)
    return info, files


def written(folder, run, sent):
    info, files = run
    write_report(folder, info, RAN, files, TEMPLATES, sent)
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def holding(texts):
    """The files that hold the secret, packed ones included."""
    unpacked = {name: b"".join(unpack(text).values()) if name.endswith(".zip") else text for name, text in texts.items()}
    return {name for name, text in unpacked.items() if str(SECRET).encode() in text}


def unpack(archive):
    with zipfile.ZipFile(io.BytesIO(archive)) as packed:
        return {name: packed.read(name) for name in packed.namelist()}


def test_a_report_that_is_sent_has_nothing_of_a_file_that_is_not_published(tmp_path, run):
    texts = written(tmp_path / "share", run, sent=True)
    assert holding(texts) == set()
    assert not [name for name in texts if name.startswith("papers/mine/")]
    assert "papers/first/fig01.svg" in texts
    index, page = texts["index.html"].decode(), texts["papers/mine.html"].decode()
    assert "Left out: 4 files, because the content includes records" in index
    assert "Left out: 7 files, because the content is made from" in index
    assert "<li>mine/fig01.csv</li>" in index
    assert "1 claim, because they refer to an unpublished data file" in index
    assert "Time and memory are left out, because they depend on the number of records" in index
    assert "Jobs by step" not in index
    assert page.count("Confidential: not in this report") == 3
    assert b"second-0" not in texts["claims.csv"]
    assert b"first-0" in texts["claims.csv"]


def test_the_owners_report_has_statistics_of_it_marked_and_no_records(tmp_path, run):
    texts = written(tmp_path / "report", run, sent=False)
    statistics = ("fig02.csv", "fig02.svg", "fig02.txt", "table1.csv", "table1.svg", "table1.txt", "mine.zip")
    pages = {"claims.csv", "claims.html", "index.js", "papers/mine.html", "papers/second.html"}
    assert holding(texts) == pages | {f"papers/mine/{name}" for name in statistics}
    assert not [name for name in texts if name.startswith("papers/mine/fig01")]
    page = texts["papers/mine.html"].decode()
    assert page.count("Confidential: not in this report") == 1
    assert page.count("not a private output") == 2
    assert "do not send this report" in texts["index.html"].decode()
    assert "Jobs by step" in texts["index.html"].decode()


def test_tables_are_copied_unpacked_and_together_with_the_same_bytes_and_large_ones_are_sent_only_together(run):
    info, files = run
    path = files.shown["first/fig02.csv"]
    path.write_text("a,b\n" + "0.1,2\n" * (LARGE // 5))
    first, second, sent = (copies(info, files.shown, sent) for sent in (False, False, True))
    assert first.of("first/fig02") == {"csv": "first/fig02.csv", "txt": "first/fig02.txt", "svg": "first/fig02.svg"}
    assert "csv" not in sent.of("first/fig02") and "csv" in sent.of("first/fig01")
    together = first.contents[archive("first")]
    assert together == second.contents[archive("first")] == sent.contents[archive("first")]
    assert unpack(together)["first/fig02.csv"] == path.read_bytes()
    assert {name.rpartition(".")[2] for name in unpack(together)} == {"csv", "txt"}


def test_a_figure_has_one_picture_without_vectors_if_they_are_large(run):
    info, files = run
    files.shown["first/fig02.svg"].write_text(" " * 200_000)
    contents = copies(info, files.shown, sent=False).contents
    pictures = [name for name in contents if name.startswith(("first/fig01", "first/fig02")) and name.endswith("g")]
    assert pictures == ["first/fig01.svg", "first/fig02.png"]


def test_what_is_sent_has_room_in_a_mail(run, monkeypatch):
    info, files = run
    files.shown["first/fig02.csv"].write_text("a" * 3000)
    files.shown["first/fig02.svg"].write_text(" " * 4000)
    monkeypatch.setattr(copied, "ROOM", 5000)
    sent = copies(info, files.shown, sent=True)
    assert "first/fig02.csv" in sent.left_out[TOO_LARGE]
    assert "first/fig02.svg" in sent.contents
    assert "first/fig02.csv" in copies(info, files.shown, sent=False).contents
    assert ROOM < 15_000_000
