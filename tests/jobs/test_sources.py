"""Which files a job depends on."""

import itertools
import os
from pathlib import Path

import pytest
from warm import WarmPython

from formalsynth_workflow.jobs.sources import PACKAGES, code_digest, source_of, sources

JOBS = {
    "simulate": ("formalsynth_workflow.steps.simulate", "formalsynth.data.populations.lognormal"),
    "fit": ("formalsynth_workflow.steps.fit", "formalsynth.families.linear"),
    "measure": ("formalsynth_workflow.steps.measure", "formalsynth.families.beta"),
    "study": ("formalsynth_workflow.steps.study", "formalsynth_workflow.papers.zcdp.study_means"),
    "audit": ("formalsynth_workflow.steps.audit", "formalsynth.families.poisson", "formalsynth.mechanisms.ranges"),
    "collect": ("formalsynth_workflow.steps.collect",),
    "show": ("formalsynth_workflow.show.tidy", "formalsynth_workflow.show.draw", "formalsynth_workflow.show.captions"),
    "figure": (
        "formalsynth_workflow.show.tidy",
        "formalsynth_workflow.show.draw",
        "formalsynth_workflow.show.captions",
        "formalsynth_workflow.show.figures.density",
    ),
    "table": ("formalsynth_workflow.show.tidy", "formalsynth_workflow.show.captions", "formalsynth_workflow.show.tables.means"),
    "judge": ("formalsynth_workflow.ledger.judge",),
}
STEPS = ("simulate", "fit", "measure", "audit", "study", "collect")
OWN = """
import formalsynth.core.words, numpy
from formalsynth_workflow import results
from formalsynth.mechanisms.ranges import averaged

class Late:
    def imports(self):
        while True:
            try:
                from formalsynth.families import beta
            finally:
                import formalsynth.core.compiled
"""
"""Own code with every form of import."""


def names(paths):
    inside = [(path, folder) for path in paths for folder in PACKAGES.values() if path.is_relative_to(folder)]
    return sorted(path.relative_to(folder).as_posix() for path, folder in inside)


def place(name):
    """A file of one of the packages."""
    return next(folder / name for folder in PACKAGES.values() if (folder / name).is_file())


def test_every_form_of_import_is_followed_from_own_code(tmp_path):
    path = tmp_path / "own.py"
    path.write_text(OWN)
    files = sources(str(path), "formalsynth.core.rows")
    assert files == sorted(files)
    expected = {"core/words.py", "results.py", "mechanisms/ranges.py", "families/beta.py", "core/compiled.py", "core/rows.py"}
    packages = {"__init__.py", "core/__init__.py", "mechanisms/__init__.py", "families/__init__.py"}
    assert expected | packages <= set(names(file for file in files if file != path))
    assert path in files


def test_studies_depend_on_their_compiled_loops():
    assert "core/loops.py" in names(sources("formalsynth_workflow.papers.reps.study_protection"))


@pytest.mark.parametrize("module", ["formalsynth.nowhere", "numpy", "formalsynth_workflow.results.name", "/nowhere/own.py"])
def test_a_module_that_is_not_there_is_refused(module):
    """Passed over, a wrong name would be a job that never runs again."""
    with pytest.raises(ModuleNotFoundError, match=f"no module {module}"):
        sources("formalsynth.core.words", module)


def test_a_digest_is_of_what_files_say_and_of_nothing_else(tmp_path):
    here, there, other = (tmp_path / name for name in ("a.py", "b.py", "c.py"))
    for path, text in ((here, "one"), (there, "one"), (other, "another")):
        path.write_text(text)
    os.utime(there, (0, 0))
    assert code_digest([here, other]) == code_digest([str(there), str(other)])
    assert len({code_digest(paths) for paths in ([here], [other], [here, other], [other, here], [])}) == 5


CODE = '''"""Title."""

import math  # for the root


def root(x):
    """Find a root."""
    # not a power
    text = """
# of a string
"""
    return math.sqrt(x), "# no comment", f"{x:#x}", text


ONE = 1
"""A number."""
'''


@pytest.fixture
def digest_of(tmp_path):
    """Digest of a file with some content."""
    folders = itertools.count()

    def digest(text, name="code.py"):
        folder = tmp_path / str(next(folders))
        folder.mkdir()
        (folder / name).write_text(text)
        return code_digest([folder / name])

    return digest


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("  # for the root", ""), ("the root", "roots"), ("    # not a power\n", ""), ("\n\n\ndef", "\n\n\n# root\ndef"),
        ("Title", "Name"), ('"""Title."""\n', ""), ("Find a root", "Root"), ("A number", "Number"), ("(x), ", "(\n        x), "),
    ],
)  # fmt: skip
def test_comments_docstrings_and_layout_do_not_count(digest_of, old, new):
    changed = CODE.replace(old, new)
    assert changed != CODE
    assert digest_of(changed) == digest_of(CODE)
    # in another language such lines are code
    assert digest_of(changed, "code.hpp") != digest_of(CODE, "code.hpp")


@pytest.mark.parametrize(
    ("old", "new"),
    [("# of a string", "# of a text"), ("# no comment", "#"), ("#x", "x"), ("sqrt", "cbrt"), ("math  #", "ast  #")],
)
def test_everything_else_counts(digest_of, old, new):
    assert CODE.replace(old, new) != CODE
    assert digest_of(CODE.replace(old, new)) != digest_of(CODE)


STAN = """// Title
data {
  int n; /* number
  of records */
}
model {
  print("// no comment", n); // nor this one
}
"""


@pytest.mark.parametrize(
    ("old", "new", "counts"),
    [
        ("// Title\n", "", False), ("/* number\n  of records */", "", False), ("nor this", "or that", False),
        ("}\nmodel", "}\n\nmodel", False), ("no comment", "a text", True), ("int n", "real n", True),
        ("// Title\ndata", "// Title data", True), ("data {", "/* data {", True), ("print", "printprint", True),
    ],
)  # fmt: skip
def test_comments_of_stan_do_not_count(digest_of, old, new, counts):
    changed = STAN.replace(old, new)
    assert changed != STAN
    assert (digest_of(changed, "code.stan") != digest_of(STAN, "code.stan")) is counts


LOADED = """
import importlib, sys
for name in sys.argv[1:]:
    importlib.import_module(name)
for name, module in list(sys.modules.items()):
    if name.startswith('formalsynth'):
        print(module.__file__)
"""


@pytest.fixture(scope="module")
def libraries():
    """Python that has imported libraries, and nothing of the package."""
    server = WarmPython("import matplotlib.figure, numpy, pandas, pydantic, scipy.special, scipy.stats, yaml", dict(os.environ))
    yield server
    server.end()


@pytest.mark.parametrize("job", JOBS)
def test_a_job_depends_on_every_module_that_it_loads(job, libraries, tmp_path):
    """All modules that Python imports are among the sources."""
    said = tmp_path / "said"
    with said.open("w") as output:
        assert libraries.start(LOADED, JOBS[job], dict(os.environ), output, output).wait() == 0, said.read_text()
    loaded = set(map(Path, said.read_text().splitlines()))
    assert source_of(JOBS[job][0]) in loaded
    assert loaded <= set(sources(*JOBS[job]))


LATER = [
    *((job, file) for job in ("simulate", "collect") for file in ("core/bounds.py", "core/mechanism.py")),
    *(("study", file) for file in ("steps/fit.py", "steps/measure.py", "stan/sample.py", "core/mechanism.py")),
    *(("audit", file) for file in ("steps/fit.py", "stan/sample.py", "steps/measure.py")),
    *(("show", file) for file in ("stan/sample.py", "steps/collect.py", "steps/measure.py", "core/bounds.py")),
    *(("show", file) for file in ("core/mechanism.py", "ledger/judge.py")),
    *(("judge", file) for file in ("stan/sample.py", "steps/collect.py", "show/draw.py")),
    ("study", "papers/zcdp/study_coverage.py"),
    *(("figure", "show/figures/violin.py"), ("table", "show/tables/rate.py")),
]
"""Jobs with files of later steps, or of entries of registers that they do not name; the plan tries more of those of fits."""


@pytest.mark.parametrize("job", JOBS)
def test_a_job_does_not_depend_on_what_comes_after_it_or_on_other_entries(job):
    """The plan reaches it as parameters only."""
    others = {place(file) for name, file in LATER if name == job}
    assert not others & {*map(Path, sources(*JOBS[job]))}
    later = ("plan/", "report/") if job in ("show", "figure", "table", "judge") else ("plan/", "report/", "show/", "ledger/")
    assert [file for file in names(sources(*JOBS[job])) if file.startswith(later)] == []


@pytest.mark.parametrize("step", STEPS)
def test_a_step_depends_on_no_entry_of_a_register(step):
    """Those that a job needs are named by its scenario."""
    entries = ("families/", "mechanisms/", "data/populations/", "papers/")
    assert [file for file in names(sources(f"formalsynth_workflow.steps.{step}")) if file.startswith(entries)] == []
