"""The report in a real browser: that of a real run, and one with every kind of verdict to filter."""

import base64
import re
import shutil
import tempfile
from pathlib import Path

import made_up_report
import pytest
import yaml
from axe import axe_script, serious_findings
from runs import SCALE

from dev.reference import LEDGER
from formalsynth.runtime.files import read_table
from formalsynth.settings.yaml_file import load_yaml
from formalsynth_workflow.ledger.verdicts import VERDICTS
from formalsynth_workflow.plan.load import read_plan
from formalsynth_workflow.report.describe import describe
from formalsynth_workflow.report.pages import write_report

CHROMIUM = next((path for name in ("chromium", "chromium-browser", "google-chrome") if (path := shutil.which(name))), None)
DRIVER = shutil.which("chromedriver")
pytestmark = [
    pytest.mark.workflow,
    pytest.mark.skipif(not (CHROMIUM and DRIVER), reason="no Chromium: Debian's packages are chromium and chromium-driver"),
]

WIDTHS = {"phone": 390, "desktop": 1280}
LOADED = """
const done = arguments[0];
for (const picture of document.images) picture.loading = "eager";
Promise.all([...document.images].map((one) => one.decode().catch(() => null)))
  .then(() => done([...document.images].map((one) => [one.getAttribute("src"), one.naturalWidth])));
"""
BEYOND = """
const width = document.documentElement.clientWidth;
return [...document.body.querySelectorAll("*")]
  .filter((one) => !one.closest(".scroll, .skip") && one.getBoundingClientRect().right > width + 1)
  .map((one) => one.outerHTML.slice(0, 200));
"""
FIRST_HITS = """
const links = [...document.querySelectorAll("#hits a")].slice(0, 3);
return [links.map((one) => one.href), document.getElementById("hits-count").innerText];
"""
COMPLETE = "return document.readyState === 'complete'"
VISITS = """
window.visits = [];
addEventListener("focusin", ({target}) => visits.push([wanted.indexOf(target), getComputedStyle(target).outlineStyle]));
"""
"""Script that notes each element that gets the focus: its place among those wanted, and its outline."""
OPERABLE = "a[href]:not([tabindex='-1']), button, input, select, summary, [tabindex='0']"


@pytest.fixture(scope="module")
def browser():
    """Chromium without a window, a network or a memory of its own."""
    from selenium import webdriver
    from selenium.webdriver.chrome.service import Service

    with tempfile.TemporaryDirectory(prefix="formalsynth-") as profile:
        options = webdriver.ChromeOptions()
        options.binary_location = CHROMIUM
        for argument in ("headless=new", "no-sandbox", "disable-gpu", "disable-background-networking", "disable-component-update",
                         "disable-sync", "no-first-run", "disable-dev-shm-usage", f"user-data-dir={profile}"):  # fmt: skip
            options.add_argument(f"--{argument}")
        options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
        driver = webdriver.Chrome(options=options, service=Service(DRIVER))
        try:
            yield driver
        finally:
            driver.quit()


def show_at(browser, width):
    """Set the width of a phone or of a desktop."""
    size = {"width": WIDTHS[width], "height": 844, "deviceScaleFactor": 1, "mobile": width == "phone"}
    browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)


@pytest.fixture(params=WIDTHS)
def screen(browser, request):
    """The browser at the width of a phone or of a desktop."""
    show_at(browser, request.param)
    return browser


@pytest.fixture(scope="module")
def made_up(tmp_path_factory):
    return made_up_report.report(tmp_path_factory.mktemp("made_up"))


@pytest.fixture(scope="module", params=["a real run", "made up"])
def report(request, made_up):
    """The folder of a report, away from where it was made: what it needs has to be in it."""
    if request.param == "made up":
        return made_up
    run = request.getfixturevalue("finished")
    folder = Path(tempfile.mkdtemp(prefix="formalsynth-", dir=made_up.parent), "sent")
    return Path(shutil.copytree(run / "results" / SCALE / "report", folder))


def open_page(browser, folder, name):
    """Load a page afresh, and wait for it: the driver can return while the page's scripts have not run."""
    page, _, anchor = name.partition("#")
    address = (folder / page).as_uri()
    if browser.current_url.partition("#")[0] == address:
        browser.get("about:blank")  # a mere change of the anchor would not load the page again
    browser.get(address + (f"#{anchor}" if anchor else ""))
    wait_for(browser, address)


def wait_for(browser, page):
    """Wait until a page is loaded with its scripts, whatever its anchor."""
    from selenium.webdriver.support.wait import WebDriverWait

    WebDriverWait(browser, 600).until(
        lambda driver: driver.current_url.partition("#")[0] == page and driver.execute_script(COMPLETE)
    )


def pages(folder):
    return sorted(str(path.relative_to(folder)) for path in folder.rglob("*.html"))


def test_every_page_loads_whole_and_fits_the_screen(screen, report):
    screen.get_log("browser")  # warnings of the pages of other tests, which type faster than people
    for name in pages(report):
        open_page(screen, report, name)
        assert screen.get_log("browser") == [], name
        assert screen.execute_script(BEYOND) == [], name
        assert screen.execute_script("return document.documentElement.scrollWidth <= innerWidth"), name
        pictures = screen.execute_async_script(LOADED)
        assert [picture for picture in pictures if picture[1] == 0] == [], name
        assert bool(pictures) == (name in ("papers/first.html", "papers/range.html", "papers/zcdp.html")), name


def test_everything_can_be_reached_with_the_keyboard(screen, made_up):
    """The tab key visits all that can be operated, in the order of the page, and each shows that it has the focus."""
    from selenium.webdriver import ActionChains, Keys

    for name in ("index.html", "claims.html", "errata.html", "papers/first.html"):
        open_page(screen, made_up, name)
        shown = "one.checkVisibility({visibilityProperty: true})"
        screen.execute_script(f"window.wanted = [...document.querySelectorAll(`{OPERABLE}`)].filter((one) => {shown})")
        wanted = screen.execute_script("return window.wanted.length")
        assert wanted > 10
        screen.execute_script(VISITS)
        ActionChains(screen).send_keys(Keys.TAB * wanted).perform()
        visits = screen.execute_script("return window.visits")
        assert [place for place, _ in visits] == list(range(wanted)), name
        assert {outline for _, outline in visits} == {"solid"}, (name, visits)


def shown_claims(browser):
    return browser.execute_script(
        "return [...document.querySelectorAll('.ledger tbody tr')].filter((one) => one.checkVisibility()).map((one) => one.id)"
    )


def expected(**fields):
    return [claim["id"] for claim in made_up_report.claims() if all(claim[key] == value for key, value in fields.items())]


def test_filters_and_search_change_what_is_shown(screen, made_up):
    from selenium.webdriver.common.by import By
    from selenium.webdriver.support.select import Select

    open_page(screen, made_up, "claims.html")
    screen.execute_script("document.getElementById('filters').open = true")
    search, count = screen.find_element(By.ID, "search"), screen.find_element(By.ID, "count")
    everything = expected()
    assert shown_claims(screen) == everything
    for verdict in VERDICTS:
        Select(screen.find_element(By.ID, "verdict")).select_by_value(verdict)
        assert shown_claims(screen) == expected(verdict=verdict)
        assert count.text == f"{len(expected(verdict=verdict))} of {len(everything)} claims"
    screen.find_element(By.CSS_SELECTOR, "button[type=reset]").click()
    assert shown_claims(screen) == everything
    for kind in ("test", "ours"):
        Select(screen.find_element(By.ID, "kind")).select_by_visible_text(kind)
        assert shown_claims(screen) == expected(kind=kind)
    screen.find_element(By.CSS_SELECTOR, "button[type=reset]").click()
    Select(screen.find_element(By.ID, "paper")).select_by_visible_text("second")
    assert shown_claims(screen) == ["second-0"]
    assert screen.current_url.endswith("#paper=second")
    search.send_keys("number2")
    assert shown_claims(screen) == []
    assert "No claim matches this search." in screen.find_element(By.TAG_NAME, "main").text
    screen.find_element(By.CSS_SELECTOR, "button[type=reset]").click()
    search.send_keys("NUMBER2 section")
    assert shown_claims(screen) == ["first-2"]
    assert "No claim matches this search." not in screen.find_element(By.TAG_NAME, "main").text


def test_a_phone_shows_the_first_claim_on_its_first_screen_and_filters_on_demand(screen, made_up):
    open_page(screen, made_up, "claims.html")
    phone = screen.execute_script("return innerWidth") == WIDTHS["phone"]
    assert screen.execute_script("return document.getElementById('filters').open") != phone
    assert (
        screen.execute_script("return document.querySelector('.ledger tbody th').getBoundingClientRect().top") < 844 or not phone
    )
    open_page(screen, made_up, "claims.html#paper=second")
    assert screen.execute_script("return document.getElementById('filters').open")


def test_printed_numbers_are_shown_next_to_ours_for_a_whole_table(browser, made_up):
    open_page(browser, made_up, "papers/first.html")
    shown = "return [...document.querySelectorAll('#table-1 ~ * .against')].map((part) => part.checkVisibility())"
    assert browser.execute_script(shown) == [False, False]
    browser.execute_script("document.querySelector('#table-1 ~ .toggle input').click()")
    assert browser.execute_script(shown) == [True, True]


def test_links_open_the_ledger_filtered_or_at_a_claim(screen, made_up):
    from selenium.webdriver.common.by import By

    open_page(screen, made_up, "index.html")
    screen.find_element(By.CSS_SELECTOR, "a[href*='misprint']").click()
    wait_for(screen, (made_up / "claims.html").as_uri())
    assert shown_claims(screen) == expected(paper="first", verdict="misprint", kind="test")
    open_page(screen, made_up, "claims.html#first-3")
    assert shown_claims(screen) == expected()
    assert screen.execute_script("return document.querySelector(':target').id") == "first-3"
    top, bottom, height = screen.execute_script(
        "const box = document.querySelector(':target').getBoundingClientRect(); return [box.top, box.bottom, innerHeight]"
    )
    assert 0 <= top < bottom <= height


def test_questions_answers_and_findings_are_on_the_first_screen(browser, reference):
    """On a common laptop a reader sees the question and the claims of every paper, and the beginning of the findings."""
    from selenium.webdriver.common.by import By

    size = {"width": 1366, "height": 768, "deviceScaleFactor": 1, "mobile": False}
    browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
    open_page(browser, reference, "index.html")
    papers = browser.find_elements(By.CSS_SELECTOR, ".papers > li")
    assert len(papers) == 6
    assert all(paper.find_elements(By.CSS_SELECTOR, ".answer .badge") for paper in papers)
    parts = [*papers, browser.find_element(By.ID, "findings")]
    bottoms = browser.execute_script("return arguments[0].map((part) => part.getBoundingClientRect().bottom)", parts)
    assert max(bottoms) <= size["height"]


def test_without_scripts_the_ledger_is_there_in_full(screen, made_up):
    from selenium.webdriver.common.by import By

    screen.execute_cdp_cmd("Emulation.setScriptExecutionDisabled", {"value": True})
    try:
        open_page(screen, made_up, "claims.html")
        text = screen.find_element(By.TAG_NAME, "main").text
        assert not screen.find_element(By.ID, "filter").is_displayed()
    finally:
        screen.execute_cdp_cmd("Emulation.setScriptExecutionDisabled", {"value": False})
    for claim in made_up_report.claims():
        assert claim["claim"] in text
        assert claim["verdict"] in text


def test_verdicts_differ_without_colour(browser, made_up):
    """In greyscale a verdict still has its sign and its word; the contrast is a finding of axe-core."""
    from selenium.webdriver.common.by import By

    open_page(browser, made_up, "claims.html")
    texts = {badge.text for badge in browser.find_elements(By.CSS_SELECTOR, ".ledger .badge")}
    assert len(texts) == len(VERDICTS)
    assert {text.partition(" ")[2] for text in texts} == set(VERDICTS)


@pytest.fixture(params=[("phone", "dark"), ("desktop", "light")], ids=" ".join)
def coloured(browser, request):
    """The browser at both widths, each in one of both colour schemes."""
    width, scheme = request.param
    show_at(browser, width)
    browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": [{"name": "prefers-color-scheme", "value": scheme}]})
    yield browser
    browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": []})


@pytest.fixture(scope="module")
def axe():
    return axe_script()


def one_of_each_kind(folder):
    """All pages but for most listings, which are long and made alike: a short one and the one in the middle stay."""
    names = pages(folder)
    listings = sorted((name for name in names if name.startswith("sources/")), key=lambda name: (folder / name).stat().st_size)
    return sorted({*names} - {*listings} | {*listings[:1], *listings[len(listings) // 2 : len(listings) // 2 + 1]})


def test_nothing_keeps_people_from_using_a_page(coloured, axe, report):
    """No serious finding of axe-core, dark on a phone and light on a desktop."""
    for name in one_of_each_kind(report):
        open_page(coloured, report, name)
        assert serious_findings(coloured, axe) == [], name


@pytest.fixture(scope="module")
def reference(tmp_path_factory, repository):
    """Report of the reference run: its claims, with made-up drawings."""
    folder = tmp_path_factory.mktemp("reference")
    config = repository / "config"
    info = describe(read_plan(yaml.safe_load((config / "config.yaml").read_text(encoding="utf-8")), config))
    rows = read_table(repository / LEDGER).fillna("").to_dict("records")
    files = made_up_report.made(folder / "run", info.papers, rows)
    for table in [table for paper in info.papers for table in paper.tables]:
        tidy = made_up_report.TIDY.replace("\nmean,", f"\n{next(iter(table.headings))},")
        files.shown[f"{table.file}.csv"].write_text(tidy, encoding="utf-8")
    files.ledger.write_bytes((repository / LEDGER).read_bytes())
    files.sources["config/errata.yaml"].write_bytes((config / "errata.yaml").read_bytes())
    write_report(folder / "report", info, made_up_report.RAN, files, made_up_report.TEMPLATES)
    return folder / "report"


QUESTIONS = load_yaml(Path(__file__).with_name("questions.yaml"))
"""Questions of readers by kind, each with the pages and claims that answer it."""
MISSED = {"known": 0, "fresh": 1, "readers": 2}
"""Largest number of questions without an answer among the first three hits."""
LONG = 100
"""Largest number of hits of a reader's question, of about 650 entries."""


def first_hits(browser, reference, questions):
    """The pages and anchors of the first three hits of each question, and how many there are.

    Questions are pasted, apart from their last letters: the page searches at each key.
    """
    from selenium.webdriver.common.by import By

    open_page(browser, reference, "index.html")
    box = browser.find_element(By.ID, "ask")
    hits, counts = {}, {}
    for question in questions:
        browser.execute_script("arguments[0].value = arguments[1]", box, question[:-2])
        box.send_keys(question[-2:])
        links, count = browser.execute_script(FIRST_HITS)
        hits[question] = [link.rpartition("/report/")[2] for link in links]
        counts[question] = int(count.partition(" ")[0])
    return hits, counts


def page_of(answer):
    return answer if "#" in answer else f"claims.html#{answer}"


@pytest.mark.parametrize("kind", MISSED)
def test_questions_are_answered_among_the_first_three_hits(browser, reference, kind):
    hits, counts = first_hits(browser, reference, QUESTIONS[kind])
    answered = {question: {*map(page_of, answers)} & {*hits[question]} for question, answers in QUESTIONS[kind].items()}
    missed = {question: hits[question] for question, pages in answered.items() if not pages}
    assert len(missed) <= MISSED[kind], missed
    assert kind != "readers" or {question: count for question, count in counts.items() if not 1 <= count <= LONG} == {}


def test_a_question_is_in_the_address_and_is_marked_in_the_ledger(browser, reference):
    from selenium.webdriver.common.by import By

    open_page(browser, reference, "index.html")
    box = browser.find_element(By.ID, "ask")
    box.send_keys("T_s valid\n")
    wait_for(browser, (reference / "claims.html").as_uri())
    assert "claims.html#q=T_s" in browser.current_url
    assert browser.find_element(By.ID, "search").get_attribute("value") == "T_s valid"
    assert "zcdp-t-s-valid" in shown_claims(browser)
    assert {"T_s", "valid"} <= {mark.text for mark in browser.find_elements(By.TAG_NAME, "mark")}
    open_page(browser, reference, "claims.html#shows=figure+2&paper=range")
    rows = browser.find_elements(By.CSS_SELECTOR, ".ledger tbody tr:not([hidden])")
    assert rows
    assert {(row.get_attribute("data-paper"), row.get_attribute("data-shows")) for row in rows} == {("range", "figure 2")}


@pytest.mark.parametrize("page", ["claims.html", "errata.html", "papers/range.html", "sources/papers-range.yaml.html"])
def test_every_page_has_the_search(browser, reference, page):
    open_page(browser, reference, page)
    browser.find_element("id", "ask").send_keys("contraction")
    links, _ = browser.execute_script(FIRST_HITS)
    assert links and all(link.startswith(reference.as_uri()) for link in links)


def test_the_ledger_is_printed_on_few_pages(browser, reference, repository):
    open_page(browser, reference, "claims.html")
    printed = base64.b64decode(browser.execute_cdp_cmd("Page.printToPDF", {"paperWidth": 8.27, "paperHeight": 11.69})["data"])
    assert 10 < len(re.findall(rb"/Type\s*/Page\b", printed)) < len(read_table(repository / LEDGER)) / 7


def test_documents_fit_the_screen_and_have_no_serious_finding(coloured, axe, documents):
    for name in ("README.html", "docs/explanation/which_mechanism.html", "docs/tutorials/release.html"):
        open_page(coloured, documents, name)
        assert coloured.execute_script("return document.documentElement.scrollWidth <= innerWidth"), name
        assert serious_findings(coloured, axe) == [], name


@pytest.mark.parametrize(
    ("question", "page"),
    [
        ("what does epsilon mean for one person", "explanation/epsilon"),
        ("is Censor_w really epsilon differentially private", "papers/censor"),
        ("run was interrupted, how to resume", "howto/when_a_run_stops"),
        ("what is a synthesizer", "manual/glossary"),
        ("publish microdata from a survey", "tutorials/release"),
        ("docker image", "howto/cluster"),
    ],
)
def test_a_question_in_words_finds_its_page(browser, documents, question, page):
    from selenium.webdriver.support.wait import WebDriverWait

    browser.get(f"{(documents / 'search.html').as_uri()}?q={question.replace(' ', '%20')}")
    results = "return [...document.querySelectorAll('#search-results li a')].slice(0, 3).map((link) => link.getAttribute('href'))"
    ended = "return document.querySelector('#search-results h2')?.textContent == 'Search Results'"
    WebDriverWait(browser, 600).until(lambda driver: driver.execute_script(ended))
    assert any(page in link for link in browser.execute_script(results))
