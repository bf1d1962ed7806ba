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


@pytest.fixture(params=WIDTHS)
def screen(browser, request):
    """The browser at the width of a phone or of a desktop."""
    size = {"width": WIDTHS[request.param], "height": 844, "deviceScaleFactor": 1, "mobile": request.param == "phone"}
    browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
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

    WebDriverWait(browser, 60).until(
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
    """In greyscale a verdict still has its sign and its word, dark enough on its ground (contrast of 4.5 or more)."""
    from selenium.webdriver.common.by import By

    open_page(browser, made_up, "claims.html")
    texts = set()
    for badge in browser.find_elements(By.CSS_SELECTOR, ".ledger .badge"):
        texts.add(badge.text)
        colours = [badge.value_of_css_property(name) for name in ("color", "background-color")]
        dark, light = sorted(luminance(colour) for colour in colours)
        assert (light + 0.05) / (dark + 0.05) >= 4.5, badge.text
    assert len(texts) == len(VERDICTS)
    assert {text.partition(" ")[2] for text in texts} == set(VERDICTS)


def luminance(colour):
    """Relative luminance of a CSS colour (WCAG 2)."""
    parts = [float(part) / 255 for part in colour[colour.index("(") + 1 : -1].split(",")[:3]]
    linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
    return sum(weight * part for weight, part in zip((0.2126, 0.7152, 0.0722), linear, strict=True))


@pytest.fixture(params=["light", "dark"])
def coloured(screen, request):
    """The browser in both colour schemes, at both widths."""
    scheme = {"features": [{"name": "prefers-color-scheme", "value": request.param}]}
    screen.execute_cdp_cmd("Emulation.setEmulatedMedia", scheme)
    yield screen
    screen.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": []})


@pytest.fixture(scope="module")
def axe():
    return axe_script()


def one_of_each_kind(folder):
    """All pages but for most listings, which are long and made alike: a short one and the one in the middle stay."""
    names = pages(folder)
    listings = sorted((name for name in names if name.startswith("sources/")), key=lambda name: (folder / name).stat().st_size)
    return sorted({*names} - {*listings} | {*listings[:1], *listings[len(listings) // 2 : len(listings) // 2 + 1]})


LOOKS = [("made up", width, scheme) for width in WIDTHS for scheme in ("light", "dark")]
LOOKS += [("a real run", "phone", "dark"), ("a real run", "desktop", "light")]
"""Reports, widths and colour schemes. The long pages of a real run take most of a minute each, and its looks are the same."""


@pytest.mark.parametrize(("report", "screen", "coloured"), LOOKS, indirect=True)
def test_nothing_keeps_people_from_using_a_page(coloured, axe, report):
    """No serious finding of axe-core, light and dark, on a phone and on a desktop."""
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


QUESTIONS = {
    "does averaging help": "range-averaged-narrower",
    "Figure 2 of range": "papers/range.html#figure-2",
    "95% coverage of T_s": "zcdp-t-s-valid",
    "95 % T_PPD valid": "zcdp-t-ppd-valid",
    "E6": "errata.html#E6",
    "E1": "errata.html#E1",
    "contraction": "papers/range.html#table-2",
    "DOMIAS": "papers/reps.html#figure-3",
    "is Censor_w DP": "errata.html#E6",
    "is Censor_w strictly private": "censor-w-strict",
    "Lipschitz bound averaged": "range-averaged-narrower",
    "fatigue median": "range-fatigue-data",
    "German credit AUROC": "reps-german-non-private",
    "zCDP conversion": "zcdp-conversion-bounds",
    "figure 21 censor": "papers/censor.html#figure-21",
    "break even": "errata.html#E2",
    "does reweighting help the mean": "reweight-gain-mean",
    "T_f negative": "zcdp-t-f-negative",
    "outliers membership inference": "papers/reps.html#figure-3",
    "\u03c1 of Bayesian synthesis": "errata.html#E2",
    'Adult "without noise"': "reps-adult-non-private",
}
"""Questions of readers, each with the page or claim that has to be among the first three hits."""
FRESH = {
    "Weighted-e exceeds": ("censor-weighted-e-exceeds", "censor-weighted-e-exceeds-4", "censor-weighted-e-exceeds-5"),
    "do Lipschitz bounds converge as the sample size increases": (
        "range-shrinks-weighted",
        "range-contraction-weighted",
        "papers/range.html#figure-5",
    ),
    "which synthesizer preserves the 90th percentile best": (
        "range-q90-averaged",
        "papers/range.html#figure-4",
        "range-fatigue-utility",
    ),
    "does a narrower range help privacy": ("range-averaged-narrower", "range-truncated-narrower"),
    "Eq. 15": ("range-eq15-amplifies", "range-eq15-narrower", "errata.html#E1"),
    "is the perturbed histogram worse": ("censor-ph-worst", "censor-ph-worst-4", "censor-ph-worst-3"),
    "how many records are censored at epsilon 3": (
        "censor-uw-counts-range-3",
        "censor-w-counts-range-3",
        "censor-counts-one-set",
        "papers/censor.html#table-1",
    ),
    "Table 2 of censor": ("papers/censor.html#table-2",),
    "fig 9 reweight": ("papers/reweight.html#figure-9",),
    "replace-one versus add/remove neighbours": ("errata.html#E5", "censor-uw-definition", "papers/censor.html#table-4"),
    "data-dependent weights differential privacy": ("errata.html#E6", "censor-w-strict"),
    "does releasing several datasets cost more privacy": (
        "zcdp-sets-are-one-set",
        "zcdp-sets-are-one-set-bayes",
        "papers/cost.html#table-1",  # with the audited ε of several releases
    ),
    "unknown variance sensitivity": ("zcdp-variance-sensitivity", "papers/zcdp.html#figure-3", "zcdp-unknown-records-limit"),
    "can a variance estimator be negative": ("zcdp-t-f-negative", "zcdp-never-negative", "papers/zcdp.html#figure-6"),
    "15625": ("zcdp-plugin-records", "zcdp-bayes-rho"),
    "does protecting outliers hurt accuracy": (
        "reps-protection-costs-utility",
        "reps-modest-utility-loss",
        "reps-removal-costs-utility",
    ),
    "Adult data set attack": ("reps-adult-exposed", "reps-adult-top", "papers/reps.html#table-3"),
    "hyperparameter tuning on validation data not private": ("reps-strength-not-covered", "errata.html#E8"),
    "standardization outside the budget": ("errata.html#E8", "reps-standardisation-covered"),
    "what is a pseudo posterior": ("index.html#glossary", "index.html#words"),
    "fatigue data": ("range-fatigue-data", "papers/range.html#figure-15", "papers/range.html#table-1"),
}
"""Questions in readers' own words, each with every page or claim that answers it; one of them has to be among the first three."""

READERS = {
    "is weighting enough to protect outliers": (
        "cost-minmax-joins",
        "cost-minmax-costs-more",
        "cost-reweighted-joins",
        "cost-averaged-joins",
        "papers/cost.html#figure-3",
        "papers/cost.html#figure-6",
        "papers/cost.html#figure-7",
        "reps-top-bound",
        "reps-simulated-top",
    ),
    "which mechanism is truly differentially private": (
        "papers/cost.html#figure-12",
        "papers/cost.html#table-14",
        "papers/cost.html#table-15",
        "censor-uw-strict",
        "cost-reference-censored-within",
        "errata.html#E6",
    ),
    "cost of replacing one record": (
        "errata.html#E5",
        "censor-uw-definition",
        "papers/censor.html#table-4",
        "index.html#glossary",
    ),
    "salary data not available": (
        "censor-salary-bounds",
        "censor-salary-weighted",
        "censor-salary-ph",
        "index.html#glossary",
        "index.html#data",
    ),
    "is REPS better than removing outliers": (
        "reps-removal-costs-utility",
        "reps-removal-costs-utility-digits",
        "reps-removal-small-budget",
        "reps-adult-removal-top",
    ),
    "attack AUC near one half": (
        "reps-simulated-top-fair",
        "reps-targeting-fair",
        "reps-outliers-exposed-fair",
        "papers/reps.html#figure-5",
    ),
    "do min-max weights keep their claimed epsilon": (
        "cost-minmax-joins",
        "censor-w-strict-minmax",
        "papers/cost.html#figure-3",
        "papers/cost.html#figure-7",
    ),
    "noisy tables or a histogram": (
        "cost-tables-below-histogram",
        "cost-histogram-incomes",
        "cost-histogram-outliers",
        "papers/cost.html#figure-12",
    ),
    "what if my guess of the parameters is bad": (
        "papers/cost.html#figure-14",
        "cost-guess-5-below",
        "cost-guess-5-above",
        "cost-guess-3-below",
        "cost-guess-3-above",
        "cost-centred-near",
    ),
    "how many people do I need for a regression slope": (
        "papers/cost.html#figure-13",
        "cost-tables-slope",
        "cost-distance-slope",
    ),
    "are confidence intervals from synthetic data valid": (
        "zcdp-t-f-valid",
        "zcdp-t-s-valid",
        "zcdp-t-ppd-valid",
        "zcdp-one-set-enough",
        "papers/zcdp.html#figure-4",
        "papers/zcdp.html#figure-5",
        "papers/zcdp.html#table-1",
    ),
    "can I publish five synthetic data sets instead of one": (
        "zcdp-sets-are-one-set",
        "zcdp-sets-are-one-set-bayes",
        "zcdp-one-set-enough",
        "errata.html#E4",
    ),
    "does privacy improve with more data": (
        "range-contraction-weighted",
        "range-contraction-averaged",
        "range-shrinks-weighted",
        "range-shrinks-averaged",
        "papers/range.html#figure-5",
        "papers/range.html#table-2",
        "reweight-poisson-contraction",
        "cost-spread-minmax",
        "cost-spread-declared",
        "papers/cost.html#figure-8",
    ),
    "what is local epsilon": (
        "index.html#glossary",
        "index.html#words",
    ),
    "can somebody find out that I am in the data": (
        "papers/cost.html#figure-11",
        "cost-attack-below",
        "reps-outliers-exposed",
        "reps-outliers-exposed-fair",
        "errata.html#E13",
        "index.html#glossary",
    ),
    "is the DOMIAS attack fair": (
        "errata.html#E13",
        "reps-outliers-exposed-fair",
        "reps-simulated-top-fair",
        "papers/reps.html#figure-4",
        "papers/reps.html#figure-5",
        "reps-advantage-possible",
        "reps-reference-held-out",
    ),
    "wrong formula in the range paper": (
        "errata.html#E1",
        "range-eq15-amplifies",
        "range-eq15-narrower",
    ),
    "does censoring bias estimates towards the prior": (
        "censor-shift",
        "papers/censor.html#figure-1",
    ),
    "how much utility do I lose at epsilon 1": (
        "cost-tables-shares",
        "cost-tables-amounts",
        "cost-tables-slope",
        "cost-tables-tail",
        "cost-tables-amounts-tail",
        "papers/cost.html#figure-12",
        "papers/cost.html#table-14",
        "papers/cost.html#table-15",
    ),
    "what does lambda mean": (
        "papers/range.html#figure-19",
        "range-fatigue-known",
        "index.html#words",
        "index.html#glossary",
    ),
    "income with many zeros": (
        "cost-histogram-incomes",
        "papers/cost.html#table-17",
    ),
    "which method keeps the tail": (
        "cost-tables-tail",
        "cost-tables-amounts-tail",
        "reweight-lw-tail",
        "reweight-cw-tail",
        "reweight-salary-lw-tail",
        "reweight-salary-cw-tail",
    ),
    "does re-weighting cost privacy": (
        "reweight-lw-bound-kept",
        "reweight-cw-bound-kept",
        "reweight-salary-bound-kept",
        "reweight-salary-cw-bound-kept",
        "cost-reweighted-joins",
    ),
    "is synthetic data the same as adding Gaussian noise": (
        "zcdp-figure-one-same",
        "zcdp-plugin-rho",
        "papers/zcdp.html#figure-1",
    ),
    "synthesis as post-processing": (
        "errata.html#E2",
        "zcdp-post-processing-rho",
        "zcdp-post-processing-constant",
        "zcdp-post-processing-break-even",
    ),
    "may I standardise features before private training": (
        "errata.html#E8",
        "reps-standardisation-covered",
    ),
    "convert rho to epsilon and delta": (
        "zcdp-conversion-bounds",
        "papers/zcdp.html#figure-2",
    ),
    "what does undetermined mean": (
        "claims.html#words",
        "index.html#verdicts",
    ),
    "did the Stan fits converge": ("index.html#sampling",),
    "how long does a run take": ("index.html#time",),
}
"""Thirty questions of readers, written before the search was made for them, with the answers of each."""
MISSED = 2
"""Largest number of them whose answers may be missing among the first three."""
LONG = 100
"""Largest number of hits of a question, of about 560 entries."""


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


def test_readers_find_what_they_ask_for_among_the_first_three(browser, reference):
    hits, _ = first_hits(browser, reference, QUESTIONS)
    assert {question: hits[question] for question, wanted in QUESTIONS.items() if page_of(wanted) not in hits[question]} == {}


def test_questions_in_other_words_than_ours_are_answered(browser, reference):
    hits, _ = first_hits(browser, reference, FRESH)
    assert {
        question: hits[question] for question, answers in FRESH.items() if not {*map(page_of, answers)} & {*hits[question]}
    } == {}


def test_thirty_questions_of_readers_are_answered_by_few_hits(browser, reference):
    hits, counts = first_hits(browser, reference, READERS)
    missed = [question for question, answers in READERS.items() if not {*map(page_of, answers)} & {*hits[question]}]
    assert len(missed) <= MISSED, missed
    assert {question: count for question, count in counts.items() if not 1 <= count <= LONG} == {}


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


def test_the_ledger_is_printed_on_few_pages(browser, reference, repository):
    open_page(browser, reference, "claims.html")
    printed = base64.b64decode(browser.execute_cdp_cmd("Page.printToPDF", {"paperWidth": 8.27, "paperHeight": 11.69})["data"])
    assert 10 < len(re.findall(rb"/Type\s*/Page\b", printed)) < len(read_table(repository / LEDGER)) / 7


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_documents_fit_the_screen_and_have_no_serious_finding(screen, documents, scheme):
    screen.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": [{"name": "prefers-color-scheme", "value": scheme}]})
    for name in ("index.html", "docs/COST.html", "docs/OWN_STUDY.html"):
        open_page(screen, documents, name)
        assert screen.execute_script("return document.documentElement.scrollWidth <= innerWidth"), name
        assert serious_findings(screen, axe_script()) == [], name
    screen.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": []})
