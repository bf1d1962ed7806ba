"""Pages of a made-up report."""

import re
from collections import Counter
from dataclasses import replace

import made_up_report
import pandas as pd
import pytest
from html_pages import Page, assert_links_resolve, pages
from made_up_report import INFO, NASTY, RAN, TEMPLATES, changed, claims, paper

from formalsynth.core.words import METRICS, guarantee
from formalsynth.runtime.files import write_table
from formalsynth.settings.yaml_file import load_yaml
from formalsynth_workflow.ledger.claims import KINDS, kind_name
from formalsynth_workflow.ledger.verdicts import VERDICTS
from formalsynth_workflow.report.pages import write_report

GLOSSARY = load_yaml(next(path for path in TEMPLATES if path.name == "glossary.yaml"))
SYMBOLS = GLOSSARY["symbols"]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return made_up_report.report(tmp_path_factory.mktemp("made_up"))


def test_each_page_is_well_formed_and_its_links_are_in_the_folder(folder):
    assert_links_resolve(folder)
    for name, page in pages(folder).items():
        assert page.headings[0] == 1, name
        assert page.headings.count(1) == 1, name
        assert all(below - above <= 1 for above, below in zip(page.headings, page.headings[1:], strict=False)), name
        assert [id for id, count in Counter(page.ids).items() if count > 1] == [], name
        for picture in page.pictures:
            assert picture["alt"].startswith("Violin plots: Bounds")
            assert int(picture["width"]) == 90


def test_texts_are_shown_as_they_are(folder):
    """No text of a config or a table becomes part of the page."""
    for name, page in pages(folder).items():
        scripts = [attributes.get("src").rpartition("/")[2] for tag, attributes in page.elements if tag == "script"]
        assert scripts == ["index.js", "search.js", *["ledger.js"] * (name == "claims.html")]
        assert not [tag for tag, _ in page.elements if tag == "b"], name
    for name in ("index.html", "claims.html", "papers/first.html"):
        assert NASTY in pages(folder)[name].text, name


def test_a_paper_has_its_figures_captions_tables_and_claims(folder):
    page = pages(folder)["papers/first.html"]
    text = " ".join(page.text.split())
    assert [picture["src"] for picture in page.pictures] == ["first/fig01.svg", "first/fig02.svg", "first/fig03.png"]
    for ending in ("csv", "svg", "txt"):
        assert f"first/fig02.{ending}" in page.targets
    assert "../sources/papers-first.yaml.html#line-4" in page.targets
    assert "../sources/scripts-figures.py.html" in page.targets
    assert f"Caption of first/fig01 {NASTY}" in text
    assert f"Somebody (2026): https://doi.org/10.1/first {NASTY}" in text
    assert "https://doi.org/10.1/first" in page.targets
    assert "https:" not in pages(folder)["papers/second.html"].text
    assert METRICS["delta"].meaning in text
    assert guarantee("DP | fixed weights").meaning in text
    figure = text.index("Figures Figure 1 ", text.index("Claim number4"))
    second = text.index("Caption of first/fig02")
    assert text.index("Claim number4", second) < text.index("Figure 3", second)  # named in its config, shown elsewhere
    assert text.index(f"Does it hold? {NASTY}") < text.index("Claim number0") < text.index("Claim number4") < figure
    assert figure < text.index("Claim number0", figure) < text.index("Caption of first/fig02")
    assert figure < text.index("Source files Figures are drawn by") < text.index("Tables are written by")
    assert text.index("Other claims") < text.index("Claim number1") < text.index("Claim number2")
    assert "Printed against ours" in text[: text.index("Table 2 Caption")].rpartition("Table 1 Caption")[2]
    assert "57,771 printed 57,771 difference 0.2" in text
    assert "Synthesizer ε n_syn" in text
    assert "same DP | fixed weights 2 100 1.5" in text  # distinguished from the others by ε, without an id
    assert "same a_1, DP | fixed weights 0.5 100 0.1235" in text
    assert "Figure 3 of the paper repeats its Figure 1." in text
    assert "The paper prints this figure twice, also as Figure 3." in text
    for part in ("Redo figure 1", "snakemake --cores 2 --config scale=smoke -- figures/smoke/first/fig01.png",
                 "results/smoke/first/table1.csv", "Root seed 20260205, commit abc1234", "1: { kind: violin }"):  # fmt: skip
        assert part in text, part
    assert "first/first.zip" in page.targets
    assert "Left out because the data are absent: figure 4" in text
    for verdict, meaning in VERDICTS.items():
        assert f"1 in the ledger: {SYMBOLS[verdict]} {verdict} {meaning}" in text


def test_stand_in_data_are_marked_where_they_are_used_and_nowhere_else(folder):
    sections = (folder / "papers" / "first.html").read_text(encoding="utf-8").split("<section")[1:]
    assert ["stand-in data" in re.split("<h4>|</section>", part)[0] for part in sections] == [False, True, False, False, False]


def test_the_ledger_has_every_claim_with_its_verdict_as_a_sign_and_a_word(folder):
    assert set(SYMBOLS) == set(VERDICTS)
    assert len(set(SYMBOLS.values())) == len(SYMBOLS)
    rows = (folder / "claims.html").read_text(encoding="utf-8").split("<tbody")[1].split('<tr role="row"')[1:]
    assert len(rows) == len(claims())
    for row, claim in zip(rows, claims(), strict=True):
        assert f'id="{claim["id"]}"' in row
        assert f"</span> {claim['verdict']}</span>" in row
        assert SYMBOLS[claim["verdict"]] in row
        assert (f'errata.html#{claim["erratum"]}"' in row) == bool(claim["erratum"])
        assert f'data-kind="{kind_name(claim["kind"])}"' in row
        shown = claim["kind"].replace("by first-0", "by another claim, first-0").replace("of first-0", "of a claim, first-0")
        shown = shown.removeprefix("test")
        mark = "unsteady: 60%" if claim["id"] == "first-0" else ""
        assert re.sub("<[^>]*>", "", row.split("</td>")[0]).endswith(f"{claim['verdict']} {mark}{shown}")
    assert (folder / "claims.csv").is_file()


def test_counts_by_verdict_and_paper(folder):
    table = (folder / "index.html").read_text(encoding="utf-8").split("<tbody>")[1].split("</tbody>")[0]
    for row, verdict in zip(table.split("<tr>")[1:], VERDICTS, strict=True):
        counts = [int(digits) for digits in re.findall(r">(\d+)<", row)]
        tests = [(claim["paper"], claim["verdict"]) for claim in claims() if claim["kind"] == "test"]
        expected = [tests.count((key, verdict)) for key in ("first", "second")]
        assert counts == [*expected, sum(expected)]


def test_other_kinds_are_counted_apart(folder):
    text = " ".join(pages(folder)["index.html"].text.split())
    for kind in ("recovered", "drawn records", "by construction", "implied", "another reading", "ours", "settings lost"):
        assert f"{kind} {KINDS[kind]} 1 1 " in text + " "
    assert (
        f"{len(VERDICTS) + 7} claims of the paper, of which {len(VERDICTS)} are tests." in pages(folder)["papers/first.html"].text
    )


def test_a_judged_run_reports_how_many_tests_are_reproduced(tmp_path):
    info = changed(INFO, size=changed(INFO.size, judged=True))
    text = " ".join(Page(made_up_report.report(tmp_path, info) / "index.html").text.split())
    shares = "2 (40%) reproduced, 1 direction only, 1 undetermined, 1 not reproduced. Not counted: 1 misprint, 1 refuted, "
    assert text.count(f"Of 5 claims of the papers that this run judged: {shares}") == 1


def test_the_errata_have_their_places_texts_and_claims(folder):
    page = pages(folder)["errata.html"]
    sections = page.path.read_text(encoding="utf-8").split("<section")[1:]
    first, second, third = (" ".join(re.sub("<[^>]*>", " ", section.partition(">")[2]).split()) for section in sections)
    for part in (
        "E1",
        "≠ misprint",
        "A wrong sign",
        "Places",
        "second, Section 2",
        "Numeric check 1.5 against −1.5",
        "Earlier numbers E7",
    ):
        assert part in first, part
    assert "Consequence" not in first
    assert f"Claim number{list(VERDICTS).index('misprint')}" in first
    assert f"Claim number{list(VERDICTS).index('refuted')}" in second
    assert "No claim of this run refers to it." in third
    assert {"E1", "E2", "E3"} <= set(page.ids)
    assert "sources/config-errata.yaml.html#line-3" in page.targets
    assert {"claims.html#q=contraction", "papers/first.html#figure-1"} <= set(page.targets)


def test_what_was_run(folder):
    text = " ".join(pages(folder)["index.html"].text.split())
    for part in ("abc1234, with uncommitted changes", "2.27.0", "20260205", "sizes divided by 10", "Too small to judge by"):
        assert part in text, part
    assert "first 40 3 1 1.01 512.3 430 0 0 1 min 15 s" in text
    assert "fit_batch 4 1 min 20 s 1 min 15 s 150 MB" in text
    meanings = [words["meaning"] for part in ("diagnostics", "ledger_columns") for words in GLOSSARY[part].values()]
    for meaning in (*meanings, *(words.meaning for words in METRICS.values())):
        assert meaning in text


def test_without_claims_figures_fits_or_costs(tmp_path):
    info = changed(INFO, papers=[paper("second")], skipped=[], data=[], errata=[])
    folder = made_up_report.report(tmp_path, info, replace(RAN, sampling={}, losses={}, costs=RAN.costs[:0]), ledger=[])
    assert_links_resolve(folder)
    text = {name: " ".join(page.text.split()) for name, page in pages(folder).items()}
    assert "No claims are listed for these papers." in text["claims.html"]
    assert "No claims are listed for this paper." in text["papers/second.html"]
    assert "No errata are listed for these papers." in text["errata.html"]
    assert "No posterior was sampled" in text["index.html"]
    assert "No data were missing." in text["index.html"]
    assert not (folder / "claims.csv").exists()
    assert not (folder / "papers" / "first.html").exists()


def test_a_newer_report_removes_what_the_older_one_wrote_and_nothing_else(tmp_path):
    folder = made_up_report.report(tmp_path)
    assert (folder / "papers" / "first" / "fig01.svg").is_file()
    mine = [folder / "notes.txt", folder / ".git" / "HEAD", folder / "papers" / "first" / "notes.txt", tmp_path / "outside.txt"]
    for path in mine:
        path.parent.mkdir(exist_ok=True)
        path.write_text("mine")
    with open(folder / ".files", "a") as listed:  # a list that leads out of the folder
        listed.write(f"../outside.txt\n{mine[3]}\n")
    made_up_report.report(tmp_path, changed(INFO, papers=[paper("second")]), ledger=[])
    assert [path.read_text() for path in mine] == ["mine"] * 4
    assert sorted(path.name for path in (folder / "papers").iterdir()) == ["first", "second.html"]
    assert list((folder / "papers" / "first").iterdir()) == [mine[2]]
    assert sorted(path.name for path in tmp_path.iterdir()) == ["outside.txt", "report", "run"]


def test_a_report_that_fails_leaves_the_older_one_alone(tmp_path):
    folder = made_up_report.report(tmp_path)
    before = (folder / "index.html").read_bytes()
    with pytest.raises(KeyError, match=r"ledger\.js"):
        made_up_report.report(tmp_path, templates=[path for path in made_up_report.TEMPLATES if path.name != "ledger.js"])
    assert (folder / "index.html").read_bytes() == before
    assert sorted(path.name for path in tmp_path.iterdir()) == ["report", "run"]


def test_a_table_that_was_damaged_is_not_shown(tmp_path):
    files = made_up_report.made(tmp_path / "run", INFO.papers, claims())
    write_table(files.ledger, pd.read_csv(files.ledger))
    with open(files.ledger, "a") as file:
        file.write("one more\n")
    with pytest.raises(OSError, match=r"claims\.csv is damaged"):
        write_report(tmp_path / "report", INFO, RAN, files, made_up_report.TEMPLATES)
    assert not (tmp_path / "report").exists()


def test_templates_need_nothing_from_elsewhere():
    for path in made_up_report.TEMPLATES:
        assert not re.search(r"(https?:)?//[a-z]", path.read_text(encoding="utf-8")), path


def test_the_workflow_knows_every_template(repository):
    common = (repository / "workflow" / "rules" / "common.smk").read_text(encoding="utf-8")
    listed = re.search(r"^PAGES = \((.+?)\)$", common, re.M | re.S)
    assert set(re.findall(r'"([^"]+)"', listed[1])) == {path.name for path in made_up_report.TEMPLATES if path.suffix != ".rst"}


def test_the_ledger_can_be_narrowed_to_a_mechanism(folder):
    page = (folder / "claims.html").read_text(encoding="utf-8")
    assert "<option>range averaged</option><option>weighted</option>" in page
    assert re.search(r'id="first-0"[^>]*data-mechanism="weighted \| range averaged"', page)
    assert re.search(r'id="first-1"[^>]*data-mechanism=""', page)
