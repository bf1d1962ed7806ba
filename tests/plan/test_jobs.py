"""Inputs of jobs: all that they depend on and no more, for a change of config to rerun only the jobs that it concerns."""

import ast
import functools
import json
import re
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest
import yaml
from config_trees import of_papers, put

from formalsynth.core import data_files
from formalsynth.core.family import FAMILIES
from formalsynth.core.mechanism import MECHANISMS
from formalsynth_workflow.jobs.inputs import FitJob, Simulated
from formalsynth_workflow.jobs.sources import PACKAGES
from formalsynth_workflow.plan import jobs as plan_jobs
from formalsynth_workflow.plan.jobs import SCRIPTS, Jobs, code_of
from formalsynth_workflow.plan.load import read_plan
from formalsynth_workflow.plan.paper import figure_file
from formalsynth_workflow.study import STUDIES

PAPERS = ["range", "censor", "reweight", "zcdp", "reps", "cost"]
PLAIN = (str, int, float, bool, type(None))
SYNTHESIZERS = [
    "Unweighted", "Weighted", "averaged_0.4_1.8", "averaged_0.6_1.2", "truncated_0.4_1.8", "truncated_0.6_1.2", "Weighted_solved",
]  # fmt: skip


@pytest.fixture(scope="module")
def read(own, read):
    """Read the plan of a paper with some of its config changed, without what it shows and claims."""

    @functools.cache
    def read_once(key, changes):
        trees = of_papers(own, key)
        paper, claims = f"papers/{key}.yaml", f"claims/{key}.yaml"
        trees[paper] |= {"figures": {}, "tables": {}, "telling": []}
        trees[claims] = {"claims": []}
        for path, value in ast.literal_eval(changes).items():
            file, _, place = path.partition(".")
            put(trees[paper if file == "paper" else "config.yaml"], place, value)
        return read(trees)

    return lambda key, **changes: read_once(key, repr(changes))


def jobs_of(plan, name):
    """The jobs of the first batch of a config entry at its first size, by what they do, with the types of their inputs."""
    (paper,) = plan.papers.values()
    scenario = paper.of(name)[0]
    if scenario.study:
        return {"study": scenario.study_job(scenario.batches()[0])}
    jobs = {"collect": scenario.collect_job(), "simulate": scenario.simulate_job(scenario.batches()[0])}
    jobs |= {f"fit {id}": scenario.fit_job(id, plan.config.sampler) for id in scenario.synthesizers}
    return jobs | {f"measure {id}": scenario.measure_job(id) for id in scenario.synthesizers}


def changed(before, after):
    """Jobs that get another input, or are not there before or after."""
    return {name for name in before | after if repr(before.get(name)) != repr(after.get(name))}


def both(*ids):
    """Fitting and measuring."""
    return {f"{step} {id}" for step in ("fit", "measure") for id in ids}


MEASURED_WITH_WEIGHTED = {f"measure {id}" for id in ("Weighted", "truncated_0.4_1.8", "truncated_0.6_1.2")}
"""Who shares its fit has its synthetic data, too."""
EVERY_FIT = {f"fit {id}" for id in SYNTHESIZERS}
EVERY_MEASURE = {f"measure {id}" for id in SYNTHESIZERS}
EVERYTHING = {"simulate", "collect"} | EVERY_FIT | EVERY_MEASURE
S = "paper.scenarios.simulation"
RAN = {
    f"{S}.synthesizers": ["Unweighted", "Weighted", "averaged", "truncated", "Weighted_solved"],
    f"{S}.batch_size": None,  # that of the run
}
# what is changed, and exactly which jobs of the scenario get another input
CHANGES = {
    "label of a synthesizer": ("paper.synthesizers.averaged.label", "({a}, {b}) averaged", set()),
    "colours": ("paper.synthesizers.averaged.colours", ["#000000"], set()),
    "place": (f"{S}.place", "Section 9", set()),
    "label of the scenario": (f"{S}.label", "Ours", set()),
    "title and authors": ("paper.title", "Another", set()),
    "more replicates": (f"{S}.replicates", 150, set()),
    "fewer replicates": (f"{S}.replicates", 7, {"simulate"}),
    "batch size": ("run.batch_size", 3, {"simulate"}),
    "its own batch size": (f"{S}.batch_size", 3, {"simulate"}),
    "when a claim holds": ("run.verdicts.errors", 3, set()),
    "another scale": ("run.scales.smoke.replicates", 1, set()),
    "another scenario": ("paper.scenarios.contraction.n", [300], set()),
    "a synthesizer that it has not": ("paper.synthesizers.other", {"mechanism": "unweighted"}, set()),
    "parameter of one": ("paper.synthesizers.Weighted.parameters", {"c": 0.5}, MEASURED_WITH_WEIGHTED | {"fit Weighted"}),
    "parameter of one that shares a fit": (
        "paper.synthesizers.truncated.parameters", {"c": 0.5}, {"fit truncated_0.4_1.8", "fit truncated_0.6_1.2"},
    ),
    "search of one": (
        "paper.synthesizers.Weighted_solved.search", {"parameter": "c", "target": 5}, {"fit Weighted_solved"},
    ),
    "one range of two": (
        "paper.sweeps.range.1.b", 1.3,
        {"collect"} | both("averaged_0.6_1.2", "averaged_0.6_1.3", "truncated_0.6_1.2", "truncated_0.6_1.3"),
    ),
    "a range more": (
        "paper.sweeps.range", [{"a": 0.4, "b": 1.8}, {"a": 0.6, "b": 1.2}, {"a": 0.5, "b": 1.5}],
        {"collect"} | both("averaged_0.5_1.5", "truncated_0.5_1.5"),
    ),
    "a synthesizer less": (
        f"{S}.synthesizers", ["Unweighted", "Weighted", "averaged", "Weighted_solved"],
        {"collect"} | both("truncated_0.4_1.8", "truncated_0.6_1.2"),
    ),
    "priors": (f"{S}.priors", {"sd": 5}, EVERY_FIT | EVERY_MEASURE | {"collect"}),
    "population": (f"{S}.population.sigma", 2, {"simulate"}),
    "data folder": ("run.data_folder", "elsewhere", {"simulate"}),
    "sampler": ("run.sampler.draws", 2000, EVERY_FIT),
    "family": (f"{S}.family", "normal", EVERYTHING - {"simulate"}),
    "synthetic sets": (f"{S}.synthetic_sets", 3, EVERY_MEASURE | {"collect"}),
    "centre sets": (f"{S}.centre_sets", 3, EVERY_MEASURE | {"collect"}),
    "unit": (f"{S}.unit", 1000, EVERY_MEASURE | {"collect", "simulate"}),
    "sample size": (f"{S}.n", 1000, EVERYTHING),
    "scenario id": (f"{S}.id", 99, EVERYTHING),
    "paper id": ("paper.id", 9, EVERYTHING),
    "root seed": ("run.root_seed", 1, EVERYTHING),
}  # fmt: skip


def test_the_jobs_of_a_scenario(read):
    assert set(jobs_of(read("range", **RAN), "simulation")) == EVERYTHING


@pytest.mark.parametrize("change", CHANGES)
def test_a_change_of_config_concerns_the_jobs_that_depend_on_it(read, change):
    path, value, expected = CHANGES[change]
    before, after = read("range", **RAN), read("range", **RAN | {path: value})
    assert changed(jobs_of(before, "simulation"), jobs_of(after, "simulation")) == expected


def test_the_folder_of_data_files_is_no_reason_to_simulate_again(read):
    """The checksums of its files are; the folder is a parameter that Snakemake does not compare."""
    plans = [read("range", **RAN), read("range", **RAN | {"run.data_folder": "elsewhere"})]
    before, after = (Jobs(plan, Path("config")).scenario("range", plan.papers["range"].of("simulation")[0].id) for plan in plans)
    assert before.simulate_job("0000-0000") == after.simulate_job("0000-0000")
    assert "files" in before.simulate_job("0000-0000")["job"]


def test_what_is_shown_and_claimed_concerns_no_job(read, plan_of):
    for name in ("simulation", "contraction", "fatigue", "scaled"):
        assert changed(jobs_of(read("range"), name), jobs_of(plan_of("range"), name)) == set()


def test_rows_that_are_left_out_of_a_file_concern_its_simulation_alone(read, fatigue):
    before, after = read("range"), read("range", **{"paper.scenarios.fatigue.file.drop_rows": [1, 13, 21]})
    assert changed(jobs_of(before, "fatigue"), jobs_of(after, "fatigue")) == {"simulate"}


OF_A_STUDY = {
    "label": ("paper.synthesizers.Gaussian.label", "Another", set()),
    "place": ("paper.scenarios.means.place", "Section 9", set()),
    "more replicates": ("paper.scenarios.means.replicates", 3000, set()),
    "another study": ("paper.sweeps.m", [2, 7], set()),
    "sampler": ("run.sampler.draws", 2000, set()),
    "its setting": ("paper.scenarios.means.study.rho", 0.4, {"study"}),
    "batch size": ("paper.scenarios.means.batch_size", 7, {"study"}),
    "an arm less": ("paper.scenarios.means.synthesizers", ["Synthetic", "Gaussian"], {"study"}),
    "root seed": ("run.root_seed", 1, {"study"}),
}


@pytest.mark.parametrize("change", OF_A_STUDY)
def test_a_change_of_config_concerns_the_studies_that_depend_on_it(read, change):
    path, value, expected = OF_A_STUDY[change]
    assert changed(jobs_of(read("zcdp"), "means"), jobs_of(read("zcdp", **{path: value}), "means")) == expected


def every_job(plan):
    """A job of each kind of every scenario of a plan, with their inputs."""
    (paper,) = plan.papers.values()
    for name in dict.fromkeys(scenario.name for scenario in paper.scenarios.values()):
        for what, job in jobs_of(plan, name).items():
            yield f"{name}: {what}", job


def plain(value):
    """True if a value has only plain types, which Snakemake keeps and compares as they are."""
    if isinstance(value, dict):
        return all(type(key) is str and plain(inner) for key, inner in value.items())
    return all(map(plain, value)) if isinstance(value, list | tuple) else type(value) in PLAIN


@pytest.mark.parametrize("paper", PAPERS)
def test_a_job_gets_plain_types_that_make_its_input(read, paper):
    for where, job in every_job(read(paper)):
        given = job.plain()
        assert type(given) is dict and plain(given), where
        # with the types too: a whole number stays one
        assert repr(type(job).of(given)) == repr(job), where
        assert repr(type(job).of(json.loads(json.dumps(given)))) == repr(job), where


def test_a_job_names_the_modules_of_its_own_entries(read):
    jobs = jobs_of(read("range", **RAN), "simulation")
    linear, lipschitz, ranges = (
        f"formalsynth.{name}" for name in ("families.linear", "mechanisms.lipschitz", "mechanisms.ranges")
    )
    assert jobs["simulate"].modules == ("formalsynth.data.populations.lognormal",)
    assert jobs["fit Weighted"].modules == (linear, lipschitz)
    assert jobs["fit averaged_0.4_1.8"].modules == (linear, ranges)
    assert jobs["measure Weighted"].modules == jobs["measure averaged_0.4_1.8"].modules == (linear,)
    assert jobs["collect"].modules == (linear,)


LOOK_UP = """
import json, os, sys
import scipy.special  # once, for all of the children
from formalsynth.core.family import FAMILIES
from formalsynth.core.mechanism import MECHANISMS
from formalsynth.core.population import POPULATIONS
from formalsynth.core.registry import load
from formalsynth_workflow.study import STUDIES
from formalsynth.core.data_files import FILES

REGISTERS = {"family": FAMILIES, "mechanism": MECHANISMS, "population": POPULATIONS, "study": STUDIES, "file": FILES}
for modules, names in json.load(sys.stdin):
    child = os.fork()
    if child == 0:
        load(modules)
        for where, what, name in names:
            if name not in REGISTERS[what]:
                print(where, what, name, flush=True)
        os._exit(0)
    assert os.waitpid(child, 0)[1] == 0, modules
"""


def names_of(job):
    """Names that a job looks up in registers."""
    names = [("family", job.family)] if getattr(job, "family", "") else []
    names += [("mechanism", job.synthesizer.mechanism)] if isinstance(job, FitJob) else []
    if hasattr(job, "study"):
        names += [("study", job.study), *(("file", name) for name in STUDIES[job.study].requires(job.settings))]
    if isinstance(getattr(job, "data", None), Simulated):
        counts = job.data.parameters.get("counts")
        names += [("population", job.data.population), *([("file", counts)] if counts else [])]
    elif hasattr(job, "data"):
        names.append(("file", job.data.file))
    return names


def test_the_modules_of_a_job_are_all_that_it_needs(read):
    """In a process of its own with nothing else loaded, everything that a job looks up is in the registers."""
    needs = {}
    for paper in PAPERS:
        for where, job in every_job(read(paper)):
            names = needs.setdefault(job.modules, {})
            for name in names_of(job):
                names.setdefault(name, f"{paper} {where}")
    assert {what for names in needs.values() for what, _ in names} == {"family", "mechanism", "population", "study", "file"}
    given = json.dumps([[modules, [[where, *name] for name, where in names.items()]] for modules, names in needs.items()])
    run = subprocess.run([sys.executable, "-c", LOOK_UP], input=given, capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stderr
    assert run.stdout == ""


def test_a_scenario_may_have_a_batch_size_of_its_own(read):
    plan = read("range", **{"run.batch_size": 50, f"{S}.batch_size": 7})
    scenarios = plan.papers["range"].scenarios.values()
    assert {scenario.batch_size for scenario in scenarios if scenario.name == "simulation"} == {7}
    assert {scenario.batch_size for scenario in scenarios if scenario.name != "simulation"} == {50}


def test_a_batch_size_on_the_command_line_is_for_every_scenario_and_changes_no_replicate(repository):
    run = yaml.safe_load((repository / "config" / "config.yaml").read_text(encoding="utf-8"))
    before, after = (
        read_plan(run | {"papers": ["censor", "zcdp"], "batch_size": size}, repository / "config", given)
        for size, given in ((100, ()), (17, ("batch_size",)))
    )
    sizes = {scenario.batch_size for paper in before.papers.values() for scenario in paper.scenarios.values()}
    assert sizes == {1, 25, 100, 1000}, "no scenario with a batch size of its own"
    for key, paper in before.papers.items():
        for id, scenario in paper.scenarios.items():
            smaller = after.papers[key].scenarios[id]
            assert smaller.batch_size == 17
            assert replace(smaller, batch_size=scenario.batch_size) == scenario
            assert replicates_of(smaller) == replicates_of(scenario) == list(range(scenario.replicates))


@pytest.mark.parametrize(
    ("given", "size"),
    [
        ({}, 13),
        ({"run.batches_max": 40}, 7),
        ({f"{S}.replicates": 10_000}, 500),
        ({f"{S}.replicates": 10_000, "run.batches_max": 3000}, 7),
    ],
)
def test_batches_are_larger_where_there_would_be_too_many(read, given, size):
    scenario = read("range", **{f"{S}.replicates": 250, f"{S}.batch_size": 7} | given).papers["range"].of("simulation")[0]
    assert scenario.batch_size == size
    assert replicates_of(scenario) == list(range(scenario.replicates))


def test_a_batch_size_on_the_command_line_is_not_enlarged(repository):
    run = yaml.safe_load((repository / "config" / "config.yaml").read_text(encoding="utf-8"))
    run |= {"papers": ["range"], "batch_size": 7, "batches_max": 2}
    sizes = [
        {scenario.batch_size for scenario in read_plan(run, repository / "config", given).papers["range"].scenarios.values()}
        for given in ((), ("batch_size",))
    ]
    assert sizes == [{7, 10, 50}, {7}]


def replicates_of(scenario):
    """Replicates of all batches of a scenario, in the order of the batches."""
    job = scenario.study_job if scenario.study else scenario.simulate_job
    return [replicate for batch in scenario.batches() for replicate in job(batch).replicates]


@pytest.mark.parametrize(("replicates", "size", "batches"), [(100, 100, [100]), (7, 3, [3, 3, 1]), (1, 10, [1]), (6, 3, [3, 3])])
def test_every_replicate_is_in_one_batch(read, replicates, size, batches):
    plan = read("range", **{f"{S}.replicates": replicates, f"{S}.batch_size": size})
    scenario = plan.papers["range"].of("simulation")[0]
    replicates_of_batches = [scenario.simulate_job(batch).replicates for batch in scenario.batches()]
    assert list(map(len, replicates_of_batches)) == batches
    assert [replicate for batch in replicates_of_batches for replicate in batch] == list(range(replicates))


@pytest.fixture(scope="module")
def run(repository):
    """Jobs of a run of every paper."""
    config = yaml.safe_load((repository / "config" / "config.yaml").read_text(encoding="utf-8"))
    return Jobs(read_plan(config | {"papers": PAPERS, "scale": "smoke"}, repository / "config"), repository / "config")


def displays_of(jobs):
    """The jobs of the figures and tables of a paper, by file name."""
    figures = {figure_file(number): jobs.figure_job(figure_file(number)) for number in jobs.paper.figures}
    return figures | {f"table{number}": jobs.table_job(number) for number in jobs.paper.tables}


def test_every_figure_table_and_claim_reads_collected_tables(run):
    folders = {jobs.folder for jobs in run.scenarios}
    for jobs in run.papers.values():
        assert {str(Path(path).parent) for path in jobs.claim_inputs()} <= folders
        for file, job in displays_of(jobs).items():
            assert job.inputs, file
            assert {str(Path(path).parent) for path in job.inputs} <= folders
            assert job.display.number == jobs.number(file)


def test_a_figure_that_is_printed_twice_is_drawn_alike(run):
    jobs = run.papers["censor"]
    repeats = {number: figure.same_as for number, figure in jobs.paper.figures.items() if hasattr(figure, "same_as")}
    assert repeats
    for numbers in repeats.items():
        drawn, original = (jobs.figure_job(figure_file(number)) for number in numbers)
        assert drawn.inputs == original.inputs
        assert drawn.display.model_copy(update={"number": original.display.number}) == original.display


def test_targets_are_figures_tables_rows_and_verdicts(run):
    targets = run.papers["range"].targets()
    assert len(targets) == len(set(targets))
    assert {Path(path).suffix for path in targets if path.startswith("figures/smoke/range/")} == {
        ".csv", ".png", ".svg", ".txt",
    }  # fmt: skip
    assert "results/smoke/range/table1.csv" in targets
    assert "results/smoke/range/simulation_n200/replicates.csv" in targets
    assert targets[-1] == "results/smoke/range/claims.csv"


def test_the_pdf_of_a_figure_is_made_on_request_alone(run):
    assert not [path for jobs in run.papers.values() for path in jobs.targets() if path.endswith(".pdf")]
    made = [path.removesuffix(".svg") for jobs in run.papers.values() for path in jobs.figures() if path.endswith(".svg")]
    assert sorted(run.pdfs()) == sorted(f"{path}.pdf" for path in made)


def test_claims_and_summaries_are_plain_types(run):
    assert all(plain(jobs.claims()) for jobs in run.papers.values())
    assert plain(run.scenario_summaries())


def test_displays_that_the_run_does_not_make_are_refused_with_those_that_it_makes(run):
    jobs = run.papers["range"]
    with pytest.raises(SystemExit, match="no figure range/fig99 to make; there are: range/fig01, "):
        jobs.figure_job("fig99")
    with pytest.raises(SystemExit, match="no table range/table99 to make; there are: range/table1, range/table2"):
        jobs.table_job(99)


def test_a_missing_figure_is_refused_with_the_data_that_are_absent(plan_of, monkeypatch, tmp_path):
    monkeypatch.setattr(data_files, "SHIPPED", tmp_path)
    jobs = Jobs(plan_of("range", "smoke", **{"run.data_folder": str(tmp_path)}), Path("config"))
    with pytest.raises(SystemExit, match=r"no figure range/fig15 to make; .*fatigue\.csv is absent"):
        jobs.papers["range"].figure_job("fig15")


@pytest.mark.parametrize(
    ("scenario", "seeds", "synthesizer", "sentence"),
    [
        ("simulated_n200", "0000-0001", None, "no scenario simulated_n200 at scale smoke of range; there are: "),
        ("simulation_n200", "0000-0002", None, "no seeds 0000-0002 of range simulation_n200; allowed: a part of 0000-0001"),
        ("simulation_n200", "0001-0000", None, "no seeds 0001-0000 of range simulation_n200; allowed: a part of 0000-0001"),
        ("simulation_n200", "0-1", None, "no seeds 0-1 of range simulation_n200; allowed: a part of 0000-0001"),
        ("simulation_n200", "0000-0001", "Heavy", "no synthesizer Heavy of range simulation_n200; there are: Unweighted, "),
    ],
)
def test_seeds_and_synthesizers_that_the_plan_does_not_have_are_refused(run, scenario, seeds, synthesizer, sentence):
    with pytest.raises(SystemExit, match=sentence):
        run.scenario("range", scenario).check(seeds, synthesizer)
    for allowed in ("0000-0000", "0001-0001", "0000-0001"):
        run.scenario("range", "simulation_n200").check(allowed, "Weighted")


def test_patterns_of_papers_part_studies_from_fits(run):
    fits, studies = (re.compile(rf"results/smoke/(?:{run.papers_pattern(study)})/.+") for study in (False, True))
    for jobs in run.scenarios:
        path = jobs.replicates
        assert bool(studies.fullmatch(path)) == (jobs.scenario.study is not None) != bool(fits.fullmatch(path))


def test_the_announcement_names_scale_papers_seed_and_what_is_absent(run):
    lines = run.announcement("about 5 s", ["another version"]).splitlines()
    assert lines[0].startswith("formalsynth: scale smoke, papers range, censor, ")
    assert lines[1] == "about 5 s"
    assert "WARNING: another version" in lines
    assert [line.removeprefix("SKIPPED: ") for line in lines if line.startswith("SKIPPED: ")] == run.plan.skipped


def test_config_files_in_the_working_folder_are_relative(run, repository, monkeypatch):
    monkeypatch.chdir(repository)
    assert run.report_config()[:2] == ["config/config.yaml", "config/papers/range.yaml"]


def test_every_part_of_a_scenario_is_tried_once_before_its_fits(run):
    for jobs in (jobs for jobs in run.scenarios if not jobs.scenario.study):
        used = {synthesizer.mechanism for synthesizer in jobs.scenario.synthesizers.values()}
        places = [run.tried[part] for part in jobs.parts]
        files = [f"results/smoke/checks/{at.paper}/{at.scenario.id}.checked" for at in places]
        assert jobs.passed_checks() == list(dict.fromkeys(files))
        assert used <= {name for at in places for name, _ in at.tried_mechanisms()}
    first = {id(jobs): jobs for jobs in run.tried.values()}.values()
    mechanisms = [name for jobs in first for name, _ in jobs.tried_mechanisms()]
    assert len(mechanisms) == len(set(mechanisms))


def test_a_trial_depends_on_the_code_of_its_parts(run):
    for jobs in run.tried.values():
        modules = jobs.trial_modules()
        assert FAMILIES.module(jobs.scenario.family) in modules
        assert {MECHANISMS.module(name) for name, _ in jobs.tried_mechanisms()} <= set(modules)
        assert len(jobs.trial_job()["replicates"]) == 1


EDITS = {
    "mechanisms/ranges.py": {"fit averaged_0.4_1.8"},
    "mechanisms/lipschitz.py": {"fit Weighted"},
    "families/linear.py": {"fit Weighted", "fit averaged_0.4_1.8", "measure Weighted", "collect"},
    "families/beta.py": set(),
    "steps/fit.py": {"fit Weighted", "fit averaged_0.4_1.8"},
    "steps/measure.py": {"measure Weighted"},
    "steps/audit.py": set(),
    "audit/losses.py": set(),
    "data/populations/lognormal.py": {"simulate"},
    "core/utility.py": {"measure Weighted", "collect"},
    "stan/sample.py": {"fit Weighted", "fit averaged_0.4_1.8"},
    "scripts/fit.py": {"fit Weighted", "fit averaged_0.4_1.8"},
    "scripts/audit.py": set(),
}
"""An edited file, and the jobs that run again because of it; those that read their output follow."""


def codes_of(run):
    """Digests of the code of some jobs of a scenario."""
    jobs = run.scenario("range", "simulation_n200")
    params = {"simulate": jobs.simulate_job("0000-0001"), "measure Weighted": jobs.measure_jobs["Weighted"]}
    params |= {f"fit {id}": jobs.fit_jobs[id] for id in ("Weighted", "averaged_0.4_1.8")} | {"collect": jobs.collect_job()}
    return {name: given["code"] for name, given in params.items()}


@pytest.mark.parametrize("edited", EDITS)
def test_an_edit_reruns_the_steps_that_import_it(run, monkeypatch, edited):
    path = next(folder / edited for folder in (*PACKAGES.values(), SCRIPTS.parent) if (folder / edited).is_file())
    monkeypatch.setattr(plan_jobs, "code_digest", lambda paths: path in list(paths))
    code_of.cache_clear()
    codes = codes_of(Jobs(run.plan, run.config))
    code_of.cache_clear()
    assert {name for name, depends in codes.items() if depends} == EDITS[edited]
