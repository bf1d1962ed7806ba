"""Config files changed at random: each is read as a plan that can be used, or refused in one message.

What is refused has to be a :class:`ConfigError` that names the file and the key; what is accepted has to be of use to every
later step that can be tried without Stan.
"""

import copy
import functools
import re

import numpy as np
import pandas as pd
import pytest
from config_trees import CLAIMS, PAPERS, assert_readable, at, of_papers, paths, refusal
from hypothesis import given, note, settings
from hypothesis import strategies as st
from made_up_audits import made_up_audits

from formalsynth.core.family import FAMILIES
from formalsynth.core.model import DATA, PRIOR
from formalsynth.core.rows import AUDIT, REPLICATE_COLUMNS, SAMPLE_COLUMNS, TEXT_COLUMNS, requested_columns
from formalsynth_workflow.ledger.cells import ClaimError
from formalsynth_workflow.ledger.judge import judge
from formalsynth_workflow.show.captions import caption
from formalsynth_workflow.show.tidy import figure_table, table_of
from formalsynth_workflow.steps.simulate import simulate_batch
from formalsynth_workflow.steps.study import run_study

QUICK = ("means", "coverage", "accounting", "unknown")
"""Studies that take less than a second for one replicate."""
LARGEST = 10_000
"""Records that are drawn."""


SCALES = ("paper", "smoke")
MOST = 4
"""Entries of a section that are tried at most."""


@pytest.fixture(scope="module")
def unchanged(shipped, read):
    """The plan of the shipped files at each scale."""
    return {scale: read(shipped | {"config.yaml": shipped["config.yaml"] | {"scale": scale}}) for scale in SCALES}


@pytest.mark.parametrize("scale", SCALES)
def test_the_shipped_files_are_read(unchanged, scale):
    papers = unchanged[scale].papers
    assert list(papers) == list(PAPERS)
    assert sum(len(paper.claims) for paper in papers.values()) >= sum(map(len, CLAIMS.values()))


NUMBERS = [0, -1, 1, 2, 0.5, 1e-300, 10**30, -(10**30), 1e308, float("nan"), float("inf"), -float("inf")]
TEXTS = [
    "", " ", "x", "1", "1e3", "{a}", "{", "{}", "{a.b}", "{a!r:>9}", "ε", "../x", "a/b", "x" * 300, "\0", "\ud800", "Data",
    "study",
]  # fmt: skip
RUBBISH = [None, True, False, *NUMBERS, *TEXTS, [], [[]], ["x"], [0], [None], {}, {"x": 1}, {1: 2}, {None: None}, [1, 1]]
KINDS = ["delete", "rubbish", "rubbish", "other", "other", "typo", "scale", "add", "twice", "wrap"]


@st.composite
def changed(draw, trees, paper):
    """The trees of one paper with one to three random changes."""
    trees = of_papers(trees, paper)
    trees["config.yaml"]["scale"] = draw(st.sampled_from(SCALES))
    names = st.sampled_from(["config.yaml", *2 * [f"claims/{paper}.yaml"], *5 * [f"papers/{paper}.yaml"]])
    for _ in range(draw(st.sampled_from([1, 1, 1, 2, 3]))):
        name = draw(names)
        places = list(paths(trees[name]))
        if places:
            # every section as often, however long it is
            section = draw(st.sampled_from(sorted({path[0] for path in places}, key=str)))
            place = draw(st.sampled_from([path for path in places if path[0] == section]))
            kind = draw(st.sampled_from(KINDS))
            note(f"{kind} {name} {place}")
            _change(draw, kind, trees[name], place, places)
    return trees


def _change(draw, kind, tree, place, places):
    """Change the entry at a place in one way."""
    *way, last = place
    where = at(tree, way)
    value = where[last]
    if kind == "delete":
        del where[last]
    elif kind == "rubbish":
        where[last] = copy.deepcopy(draw(st.sampled_from(RUBBISH)))
    elif kind == "other":  # something that has its place elsewhere in the file
        where[last] = copy.deepcopy(at(tree, draw(st.sampled_from(places))))
    elif kind == "typo" and isinstance(value, str):
        where[last] = value[:-1] + "x"
    elif kind == "scale" and isinstance(value, int | float):
        where[last] = value * draw(st.sampled_from([-1, 0, 0.1, 1e-9, 1e9, 7]))
    elif kind == "add" and isinstance(where, dict):
        where[draw(st.sampled_from(["x", "id", "n", 1, "c", "epsilon"]))] = draw(st.sampled_from(RUBBISH))
    elif kind == "twice" and isinstance(where, list):
        where.append(copy.deepcopy(value))
    elif kind == "wrap":
        where[last] = draw(st.sampled_from([[value], {"x": value}, [value, value], str(value)]))
    note(f"  now {where.get(last, '(nothing)') if isinstance(where, dict) else where!r:.300}")


@settings(max_examples=100)
@given(data=st.data(), paper=st.sampled_from(PAPERS))
def test_changed_files_are_read_or_refused(shipped, read, unchanged, data, paper):
    trees = data.draw(changed(shipped, paper))
    plan = refusal(read, trees)
    if isinstance(plan, str):
        note(plan)
        assert_readable(plan)
    else:
        check_use(plan, unchanged.get(plan.config.scale, unchanged["paper"]).papers[paper])


def check_use(plan, unchanged):
    """Everything that a rule looks up in a plan is there, and what can be tried without Stan works.

    Of scenarios, figures, tables and claims some of the changed ones are tried, and the first.
    """
    (paper,) = plan.papers.values()
    for scenario in changed_and_first(paper.scenarios, unchanged.scenarios):
        check_jobs(scenario, plan.config)
    tables = functools.cache(lambda id: made_up(paper.scenarios[id]))
    for number in changed_and_first(paper.figures, unchanged.figures, keys=True):
        display = paper.figure(number, plan.config.scale)
        assert caption(display)
        if not of_studies(paper, display.scenarios):
            names = display.figure.tables()
            table = figure_table(display, [tables(scenario.id)[name] for name in names for scenario in display.scenarios])
            assert len(table) or display.figure.rows  # there may be no row with a changed value
    for number in changed_and_first(paper.tables, unchanged.tables, keys=True):
        display = paper.table(number, plan.config.scale)
        assert caption(display)
        if not of_studies(paper, display.scenarios):
            collected = [tables(scenario.id) for scenario in display.scenarios]
            kinds = set.intersection(*map(set, collected))
            assert len(table_of(display, {kind: pd.concat([by_name[kind] for by_name in collected]) for kind in kinds}))
    thresholds = plan.config.verdicts.model_copy(update={"resamples": 20})
    before = {claim.id: claim for claim in unchanged.claims}
    for claim in changed_and_first({claim.id: claim for claim in paper.claims}, before):
        if not of_studies(paper, claim.scenarios):
            check_claim(claim, [tables(scenario.id)[claim.estimate.table] for scenario in claim.scenarios], thresholds)


def changed_and_first(entries, before, keys=False):
    """Some of the entries that are not as before, and the first one; or their keys."""
    other = [key for key, entry in entries.items() if entry != before.get(key)]
    chosen = dict.fromkeys([*list(entries)[:1], *other[:MOST]])
    return list(chosen) if keys else [entries[key] for key in chosen]


def received(job):
    """Input as it arrives in a job: plain data in between."""
    return type(job).of(job.plain())


def of_studies(paper, scenarios):
    """True if a scenario has a study, whose tables have their own columns."""
    return any(paper.scenarios[scenario.id].study for scenario in scenarios)


def check_jobs(scenario, config):
    """The inputs of the jobs of a scenario are valid, and quick jobs run."""
    for batch in {scenario.batches()[0], scenario.batches()[-1]}:
        assert scenario.batch(batch)
    words = {synthesizer.words for synthesizer in scenario.synthesizers.values()}
    assert len(words) == len(
        {(synthesizer.mechanism, *sorted(synthesizer.parameters.items())) for synthesizer in scenario.synthesizers.values()}
    )
    if scenario.study:
        job = received(scenario.study_job("0000-0000")).model_copy(update={"replicates": (0,)})
        if scenario.study.name in QUICK and scenario.n < LARGEST:
            assert len(run_study(job).rows)
        return
    assert received(scenario.collect_job()) == scenario.collect_job()
    for id in scenario.synthesizers:
        assert received(scenario.fit_job(id, config.sampler)).synthesizer.id == id
        assert received(scenario.measure_job(id)).synthesizer == id
    if scenario.n < LARGEST:
        job = received(scenario.simulate_job("0000-0000")).model_copy(update={"replicates": (0,)})
        with np.errstate(all="ignore"):
            assert len(simulate_batch(job).x[0]) == scenario.n


def check_claim(claim, tables, thresholds):
    """A claim can be judged."""
    try:
        with np.errstate(all="ignore"):
            assert judge(received(claim), tables, thresholds, 1, True).verdict
    except ClaimError as error:  # which values a column has is not known before, and the message lists them
        assert re.search("no rows (for|with)|has a value in every cell", str(error)), error


def made_up(scenario):
    """Collected tables of a scenario with random numbers: of each synthesizer three replicates, records, sets and draws."""
    generator = np.random.default_rng(1)
    parameters = [*FAMILIES[scenario.family].parameters, *(f"{name}_1" for name in FAMILIES[scenario.family].parameters)]
    columns = {
        "replicates": (*REPLICATE_COLUMNS, *requested_columns(scenario)),
        **SAMPLE_COLUMNS,
        "draws": (*SAMPLE_COLUMNS["draws"], *parameters),
    }
    ids = {kind: [DATA, *scenario.synthesizers] for kind in columns} | {
        "records": list(scenario.synthesizers),
        "draws": [PRIOR, *scenario.synthesizers],
    }
    tables = {}
    for kind, names in columns.items():
        rows = pd.DataFrame([(id, unit) for id in ids[kind] for unit in range(3)], columns=["synthesizer", "unit"])
        units = ("replicate",) if kind == "replicates" else ("record", "set", "draw")
        filled = {name: rows["unit"] for name in names if name in units}
        filled |= {name: "ok" for name in names if name in TEXT_COLUMNS and name != "synthesizer"}
        filled |= {name: generator.gamma(2, size=len(rows)) for name in names if name not in (*filled, "synthesizer")}
        fixed = {"scenario": scenario.id, "n": scenario.n} | ({} if kind == "replicates" else {"replicate": 0})
        tables[kind] = rows.assign(**filled | fixed)[list(names)]
    return tables | ({AUDIT: made_up_audits(scenario, 3)[AUDIT]} if scenario.audit else {})
