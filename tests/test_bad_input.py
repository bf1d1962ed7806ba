"""Bad input: whatever a config, paper or claims file holds, it is read as a plan that can be used, or refused in one message.

The shipped files are changed at random. What is refused has to be a :class:`ConfigError` that names the file and the key;
what is accepted has to be of use to every later step that can be tried without Stan.
"""

import copy
import os
import re
import warnings
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import yaml
from formalsynth import datasets, design
from formalsynth.claims import ClaimError, Thresholds, judge
from formalsynth.config import ConfigError, load_yaml
from formalsynth.datasets import DataError, contents, read_fatigue, read_sdr, read_sdr_margins
from formalsynth.design import DATA, PRIOR, read_plan
from formalsynth.families import FAMILIES
from formalsynth.steps.rows import REPLICATE_COLUMNS, SAMPLE_COLUMNS, TEXT_COLUMNS
from formalsynth.steps.show import caption, figure_table, table_of
from formalsynth.steps.simulate import simulate_batch
from formalsynth.steps.study import run_study
from hypothesis import given, note, settings
from hypothesis import strategies as st

QUICK = ("means", "coverage", "accounting", "unknown")
"""Studies that take less than a second for one replicate."""
PAPERS = ("range", "censor", "reweight", "zcdp", "reps")
CLAIMS = {
    "range": [
        {
            "id": "bounds-order", "place": "Section 4", "shows": "figure 2", "claim": "Bounds fall.",
            "estimate": {
                "scenario": "simulation", "value": ["delta"], "of": ["Weighted", "truncated", "averaged"], "where": {"a": 0.4},
            },
            "test": {"kind": "order", "direction": "falling", "share": "mostly"},
        },
        {
            "id": "bounds-contract", "place": "Section 4", "shows": "figure 5", "claim": "Bounds contract.", "erratum": "E1",
            "estimate": {
                "scenario": "contraction", "value": ["delta"], "over": "n", "rows": {"synthesizer": "Weighted"},
                "statistic": "sd",
            },
            "test": {"kind": "trend", "low": -0.6, "high": -0.4},
        },
        {
            "id": "bounds-of-records", "place": "Section 4", "claim": "Few records have large bounds.",
            "estimate": {
                "scenario": "simulation", "table": "records", "value": ["bound"], "of": ["Weighted"], "by": "record",
                "of_largest": True, "statistic": "q90",
            },
            "test": {"kind": "within", "low": 0, "high": 0.9},
        },
        {
            "id": "sets-differ", "place": "Section 5", "shows": "table 1", "claim": "Means of fatigue data.", "printed": "22743",
            "estimate": {
                "scenario": "fatigue", "table": "sets", "value": ["mean", "median"], "over": "value", "by": "set",
                "rows": {"synthesizer": "Weighted"},
            },
            "test": {"kind": "value", "printed": [22743, 15991], "tolerance": 0.1},
        },
    ],
    "censor": [
        {
            "id": "medians-near", "place": "Section 4", "claim": "Medians are near the population's.",
            "estimate": {
                "scenario": "simulation", "size": 2000, "value": ["median"], "of": ["PH", "Censor_uw"], "where": {"epsilon": 5},
                "distance": "population", "statistic": "mean",
            },
            "test": {"kind": "equal", "tolerance": 0.5},
        },
        {
            "id": "values-above", "place": "Section 5", "claim": "High salaries.",
            "estimate": {
                "scenario": ["salary"], "table": "values", "value": ["value"], "of": ["Data", "Weighted"], "by": "record",
                "above": 150000, "statistic": "mean",
            },
            "test": {"kind": "order", "pairs": "first"},
        },
    ],
    "reps": [
        {
            "id": "deciles-rise", "place": "Section 7", "claim": "Outliers are at risk.",
            "estimate": {
                "scenario": ["simulated", "adult"], "table": "details", "value": ["advantage"], "over": "decile", "of": [1, 10],
                "rows": {"attack": "domias", "synthesizer": "Uniform_4"},
            },
            "test": {"kind": "order"},
        },
    ],
}  # fmt: skip
"""Claims of our own, of every kind, so that the tests do not depend on which are shipped."""


class Trees(dict):
    """Contents of files by path; too long to be printed."""

    def __repr__(self):
        return f"Trees of {', '.join(self)}"


def untied(tree):
    """A copy in which no two entries are the same object, as the anchors of YAML make them."""
    if isinstance(tree, dict):
        return {key: untied(value) for key, value in tree.items()}
    return [untied(one) for one in tree] if isinstance(tree, list | tuple) else tree


@pytest.fixture(scope="module")
def shipped(repository):
    """Contents of the shipped files by their path below ``config/``, with our claims among theirs."""
    trees = Trees()
    for path in ["config.yaml", *(f"papers/{paper}.yaml" for paper in PAPERS)]:
        trees[path] = untied(yaml.safe_load((repository / "config" / path).read_text(encoding="utf-8")))
    for paper in PAPERS:
        path = repository / "config" / "claims" / f"{paper}.yaml"
        shipped = yaml.safe_load(path.read_text(encoding="utf-8"))["claims"] if path.exists() else []
        trees[f"claims/{paper}.yaml"] = {"claims": untied(shipped + CLAIMS.get(paper, []))}
    return trees


@pytest.fixture(scope="module")
def read(tmp_path_factory):
    """Read trees as a plan; the files are there in name, which is a hundred times faster than to write and parse them."""
    folder = tmp_path_factory.mktemp("config")
    for part in ("papers", "claims"):
        (folder / part).mkdir()

    def read(trees):
        for path in trees:
            (folder / path).touch()
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(design, "load_yaml", lambda path: trees[path.relative_to(folder).as_posix()])
            return read_plan(trees["config.yaml"], folder)

    return read


@pytest.mark.parametrize("scale", ["paper", "smoke"])
def test_the_shipped_files_are_read(shipped, read, scale):
    plan = read(shipped | {"config.yaml": shipped["config.yaml"] | {"scale": scale}})
    assert list(plan.papers) == list(PAPERS)
    assert sum(len(paper.claims) for paper in plan.papers.values()) >= sum(map(len, CLAIMS.values()))


@pytest.fixture(scope="module")
def unchanged(shipped, read):
    """The plan of the shipped files."""
    return read(shipped)


def paths(tree, head=()):
    """Every path into nested dictionaries and lists."""
    items = tree.items() if isinstance(tree, dict) else enumerate(tree) if isinstance(tree, list) else ()
    for key, value in items:
        yield (*head, key)
        yield from paths(value, (*head, key))


def at(tree, path):
    """The entry at a path."""
    for key in path:
        tree = tree[key]
    return tree


def put(tree, path, value):
    """Set, or with ``...`` delete, the entry at a dotted path; a number in it is an integer key or an index."""
    *way, last = [int(key) if key.isdigit() else key for key in path.split(".")]
    where = at(tree, way)
    if value is ...:
        del where[last]
    else:
        where[last] = value


CONFIG, RANGE, CENSOR, REWEIGHT, ZCDP, REPS = "config.yaml", *(f"papers/{paper}.yaml" for paper in PAPERS)
NAN, INF = float("nan"), float("inf")
# file, path of keys, what is put there, and how the message begins behind the file: key, what was given, what is allowed
CLAIM = "claims/range.yaml"
CASES = [
    # the run
    (CONFIG, "scale", "papers", "scale: given 'papers'; allowed: paper, smoke"),
    (CONFIG, "scale", None, "scale: given None; Input should be a valid string"),
    (CONFIG, "scale", ["paper"], "scale: given ['paper']; Input should be a valid string"),
    (CONFIG, "papers", "range", "papers: given 'range'; Input should be a valid list"),
    (CONFIG, "papers", [], "papers: given []; List should have at least 1 item after validation, not 0"),
    (CONFIG, "papers", ["rnage"], "papers: given 'rnage'; allowed: "),
    (CONFIG, "papers", ["../papers/range"], "papers.0: given '../papers/range'; Input should be letters and digits"),
    (CONFIG, "papers", ["range "], "papers.0: given 'range '; Input should be letters and digits"),
    (CONFIG, "papers", ["x" * 300],
     "papers.0: given 'xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx...; St"),
    (CONFIG, "papers", [["range"]], "papers.0: given ['range']; Input should be a valid string"),
    (CONFIG, "root_seed", -1, "root_seed: given -1; Input should be greater than or equal to 0"),
    (CONFIG, "root_seed", 2**63, "root_seed: given 9223372036854775808; Input should be less than 9223372036854775808"),
    (CONFIG, "root_seed", 1.5, "root_seed: given 1.5; Input should be a valid integer, got a number with a fractional part"),
    (CONFIG, "root_seed", "seed",
     "root_seed: given 'seed'; Input should be a valid integer, unable to parse string as an integer"),
    (CONFIG, "root_seed", True, "root_seed: given True; Input should be a number"),
    (CONFIG, "root_seed", NAN, "root_seed: given nan; Input should be a finite number"),
    (CONFIG, "batch_size", 0, "batch_size: given 0; Input should be greater than or equal to 1"),
    (CONFIG, "batch_size", -5, "batch_size: given -5; Input should be greater than or equal to 1"),
    (CONFIG, "batch_size", 10**30,
     "batch_size: given 1000000000000000000000000000000; Input should be less than or equal to 1000000000"),
    (CONFIG, "batch_size", INF, "batch_size: given inf; Input should be a finite number"),
    (CONFIG, "batch_size", [50], "batch_size: given [50]; Input should be a valid integer"),
    (CONFIG, "data_folder", "", "data_folder: given ''; String should have at least 1 character"),
    (CONFIG, "data_folder", 7, "data_folder: given 7; Input should be a valid string"),
    (CONFIG, "data_folder", "/dev/null", "data_folder: given '/dev/null'; allowed: a folder"),
    (CONFIG, "sampler", None, "sampler: given None; Input should be a valid dictionary or instance of SamplerConfig"),
    (CONFIG, "sampler", [1000], "sampler: given [1000]; Input should be a valid dictionary or instance of SamplerConfig"),
    (CONFIG, "sampler.warmup", 0, "sampler.warmup: given 0; Input should be greater than or equal to 1"),
    (CONFIG, "sampler.draws", 99, "sampler.draws: given 99; Input should be greater than or equal to 100"),
    (CONFIG, "sampler.draws", False, "sampler.draws: given False; Input should be greater than or equal to 100"),
    (CONFIG, "sampler.adapt_delta", 1, "sampler.adapt_delta: given 1; Input should be less than 1"),
    (CONFIG, "sampler.rhat_max", 1, "sampler.rhat_max: given 1; Input should be greater than 1"),
    (CONFIG, "sampler.rhat_max", INF, "sampler.rhat_max: given inf; Input should be a finite number"),
    (CONFIG, "sampler.ess_min", 0, "sampler.ess_min: given 0; Input should be greater than 0"),
    (CONFIG, "sampler.ess_min", NAN, "sampler.ess_min: given nan; Input should be a finite number"),
    (CONFIG, "sampler.divergences_max", -1, "sampler.divergences_max: given -1; Input should be greater than or equal to 0"),
    (CONFIG, "sampler.attempts", 6, "sampler.attempts: given 6; Input should be less than or equal to 5"),
    (CONFIG, "sampler.lengthen", 1, "sampler.lengthen: given 1; Input should be greater than or equal to 2"),
    (CONFIG, "sampler.chains", 4,
     "sampler.chains: given 4; Extra inputs are not permitted; allowed keys: warmup, draws, adapt_delta"),
    (CONFIG, "verdicts.within", 1, "verdicts.within: given 1; Input should be less than 1"),
    (CONFIG, "verdicts.errors", "two",
     "verdicts.errors: given 'two'; Input should be a valid number, unable to parse string as a number"),
    (CONFIG, "verdicts.mostly", 0.5, "verdicts.mostly: given 0.5; Input should be greater than 0.5"),
    (CONFIG, "verdicts.confidence", 95, "verdicts.confidence: given 95; Input should be less than 1"),
    (CONFIG, "verdicts.resamples", 10, "verdicts.resamples: given 10; Input should be greater than or equal to 100"),
    (CONFIG, "scales", {}, "scales: given {}; Dictionary should have at least 1 item after validation, not 0"),
    (CONFIG, "scales.paper", ..., "scale: given 'paper'; allowed: smoke"),
    (CONFIG, "scales.smoke", 10, "scales.smoke: given 10; Input should be a valid dictionary or instance of ScaleConfig"),
    (CONFIG, "scales.smoke.shrink", 0.5, "scales.smoke.shrink: given 0.5; Input should be greater than or equal to 1"),
    (CONFIG, "scales.smoke.replicates", 0, "scales.smoke.replicates: given 0; Input should be greater than or equal to 1"),
    (CONFIG, "scales.smoke.judged", "maybe",
     "scales.smoke.judged: given 'maybe'; Input should be a valid boolean, unable to interpret input"),
    (CONFIG, "scales.not a name", {}, "scales.not a name: given 'not a name'; Input should be letters and digits"),
    (CONFIG, "bach_size", 10, "bach_size: given 10; Extra inputs are not permitted; allowed keys: scale, papers, root_seed"),
    (CONFIG, "ε", 1, "ε: given 1; Extra inputs are not permitted; allowed keys: scale, papers, root_seed, batch_size"),
    # a paper
    (RANGE, "id", 0, "id: given 0; Input should be greater than or equal to 1"),
    (RANGE, "id", "one", "id: given 'one'; Input should be a valid integer, unable to parse string as an integer"),
    (RANGE, "id", ..., "id; Field required"),
    (RANGE, "title", None, "title: given None; Input should be a valid string"),
    (RANGE, "figurs", {}, "figurs: given {}; Extra inputs are not permitted; allowed keys: id, title, authors, sweeps"),
    (RANGE, "synthesizers", [], "synthesizers: given []; Input should be a valid dictionary"),
    (RANGE, "synthesizers", {}, "synthesizers: given {}; Dictionary should have at least 1 item after validation, not 0"),
    (RANGE, "synthesizers.bad name", {"mechanism": "unweighted"},
     "synthesizers.bad name: given 'bad name'; Input should be letters and digits"),
    # sweeps and parameters
    (RANGE, "sweeps.range", [], "sweeps.range: given []; List should have at least 1 item after validation, not 0"),
    (RANGE, "sweeps.range", {"a": 1}, "sweeps.range: given {'a': 1}; Input should be a valid list"),
    (RANGE, "sweeps.range.0.b", NAN, "sweeps.range.0.b: given nan; Input should be a number"),
    (RANGE, "sweeps.range.0.b", "wide",
     "sweeps.range.0.b: given 'wide'; Input should be a valid number, unable to parse string as a number"),
    (RANGE, "sweeps.range.0.b", True, "sweeps.range.0.b: given True; Input should be a number"),
    (RANGE, "sweeps.range.0.b", 0.4, "sweeps.range.b: given 0.4; allowed: more than a, which is 0.4"),
    (RANGE, "sweeps.range.0.b", -1, "sweeps.range.b: given -1.0; allowed: more than a, which is 0.4"),
    (RANGE, "sweeps.range.0.q", 1, "synthesizers.averaged.parameters: given 'q'; allowed: a, b, top, wide_a, wide_b, c, g"),
    (RANGE, "sweeps.range.0", {"a": 0.4}, "synthesizers.averaged.parameters: b is missing; range_averaged needs it"),
    (RANGE, "sweeps.range.1", {"a": 0.4, "b": 1.8},
     "synthesizers.averaged.id: given 'averaged_0.4_1.8'; allowed: an id that is not used already"),
    (RANGE, "sweeps.top.0.top", 1.5, "sweeps.top.top: given 1.5; allowed: a number ≥ 0, ≤ 1"),
    (RANGE, "sweeps.top.0.wide_b", 0.1, "sweeps.top.wide_b: given 0.1; allowed: more than wide_a, which is 0.2"),
    (RANGE, "synthesizers.Weighted.parameters", {"c": -1},
     "synthesizers.Weighted.parameters.c: given -1.0; allowed: a number ≥ 0"),
    (RANGE, "synthesizers.Weighted.parameters", {"c": INF},
     "synthesizers.Weighted.parameters.c: given inf; allowed: a number ≥ 0"),
    (RANGE, "synthesizers.Weighted.parameters", {"g": INF}, "synthesizers.Weighted.parameters.g: given inf; allowed: a number"),
    (RANGE, "synthesizers.Weighted.parameters", {"k": 2}, "synthesizers.Weighted.parameters: given 'k'; allowed: c, g"),
    (RANGE, "synthesizers.Weighted.parameters", [1],
     "synthesizers.Weighted.parameters: given [1]; Input should be a valid dictionary"),
    (RANGE, "synthesizers.Unweighted.parameters", {"c": 2},
     "synthesizers.Unweighted.parameters: given 'c'; allowed: no parameter"),
    (CENSOR, "sweeps.epsilon", [0], "sweeps.epsilon: given 0.0; allowed: a number > 0"),
    (CENSOR, "sweeps.epsilon", [-5], "sweeps.epsilon: given -5.0; allowed: a number > 0"),
    (CENSOR, "sweeps.epsilon", [INF], "sweeps.epsilon: given inf; allowed: a number > 0"),
    (CENSOR, "synthesizers.PH.parameters", {"low": 1, "high": 0},
     "synthesizers.PH.parameters.high: given 0.0; allowed: more than low, which is 1"),
    (CENSOR, "synthesizers.PH.parameters", {"low": 0, "high": 1, "bins": 2.5},
     "synthesizers.PH.parameters.bins: given 2.5; allowed: a whole number ≥ 0"),
    (REWEIGHT, "synthesizers.CW.parameters.r", 0, "synthesizers.CW.parameters.r: given 0.0; allowed: a number > 0"),
    (ZCDP, "sweeps.m", [1.5], "sweeps.m: given 1.5; allowed: a whole number ≥ 1"),
    (ZCDP, "sweeps.n_syn", [1], "sweeps.n_syn: given 1.0; allowed: a whole number ≥ 2"),
    # synthesizers
    (RANGE, "synthesizers.Weighted.mechanism", "weigthed",
     "synthesizers.Weighted.mechanism: given 'weigthed'; allowed: unweighted, weighted, range_averaged"),
    (RANGE, "synthesizers.Weighted.mechanism", "",
     "synthesizers.Weighted.mechanism: given ''; allowed: unweighted, weighted, range_averaged"),
    (RANGE, "synthesizers.Weighted.mechanism", ..., "synthesizers.Weighted.mechanism; Field required"),
    (RANGE, "synthesizers.Weighted.parents", ["Unwieghted"],
     "synthesizers.Weighted.parents: given 'Unwieghted'; allowed: Unweighted, Weighted, averaged_0.4_1.8"),
    (RANGE, "synthesizers.Weighted.parents", [], "synthesizers.Weighted.parents: given []; allowed: 1 for weighted"),
    (RANGE, "synthesizers.Weighted.parents", ["Unweighted", "Unweighted"],
     "synthesizers.Weighted.parents: given ['Unweighted', 'Unweighted']; allowed: 1 for weighted"),
    (RANGE, "synthesizers.Weighted.parents", "Unweighted",
     "synthesizers.Weighted.parents: given 'Unweighted'; Input should be a valid list"),
    (RANGE, "synthesizers.Weighted.parents", ["Weighted"],
     "synthesizers: given 'Weighted -> Weighted'; allowed: parents that do not run in a circle"),
    (RANGE, "synthesizers.Weighted.parents", ["truncated_0.4_1.8"],
     "synthesizers: given 'Weighted -> Weighted'; allowed: parents that do not run in a circle"),
    (RANGE, "synthesizers.Weighted.fit", "nobody",
     "synthesizers.Weighted.fit: given 'nobody'; allowed: Unweighted, Weighted, averaged_0.4_1.8"),
    (RANGE, "synthesizers.truncated.fit", "averaged",
     "synthesizers.truncated.fit: given 'averaged'; allowed: Unweighted, Weighted, averaged_0.4_1.8"),
    (RANGE, "synthesizers.truncated.fit", "truncated_printed_0.4_1.8",
     "synthesizers.truncated.fit: given 'truncated_printed_0.4_1.8'; allowed: one with a fit of its own"),
    (RANGE, "synthesizers.Weighted_solved.fit", "Weighted",
     "synthesizers.Weighted_solved.fit: given 'Weighted'; allowed: none: a search needs a fit of its own"),
    (RANGE, "synthesizers.averaged.over", ["ranges"],
     "synthesizers.averaged.over: given 'ranges'; allowed: range, scaled, top"),
    (RANGE, "synthesizers.averaged.over", [], "synthesizers.averaged.parameters: a is missing; range_averaged needs it"),
    (RANGE, "synthesizers.averaged.id", "averaged",
     "synthesizers.averaged.id: given 'averaged'; allowed: an id that is not used already"),
    (RANGE, "synthesizers.averaged.id", "averaged_{q}",
     "synthesizers.averaged.id: given 'averaged_{q}'; allowed: in braces a, b"),
    (RANGE, "synthesizers.averaged.id", "averaged_{a.b}",
     "synthesizers.averaged.id: given 'averaged_{a.b}'; allowed: in braces a, b"),
    (RANGE, "synthesizers.averaged.id", "averaged_{a:>99}",
     "synthesizers.averaged.id: given 'averaged_{a:>99}'; allowed: in braces a, b"),
    (RANGE, "synthesizers.averaged.id", "averaged_{a",
     "synthesizers.averaged.id: given 'averaged_{a'; allowed: in braces a, b"),
    (RANGE, "synthesizers.averaged.id", "averaged/{a}_{b}",
     "synthesizers.averaged.id: given 'averaged/0.4_1.8'; allowed: up to 100 letters, digits, _ . -"),
    (RANGE, "synthesizers.averaged.id", "x" * 200,
     "synthesizers.averaged.id: given 'xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx"),
    (RANGE, "synthesizers.Weighted.id", "study",
     "synthesizers.Weighted.id: given 'study'; allowed: up to 100 letters, digits, _ . -, a letter first"),
    (RANGE, "synthesizers.Weighted.id", "Data",
     "synthesizers.Weighted.id: given 'Data'; allowed: an id that is not used already"),
    (RANGE, "synthesizers.averaged.label", "({a}, {})",
     "synthesizers.averaged.label: given '({a}, {})'; allowed: in braces a, b"),
    (RANGE, "synthesizers.Weighted.label", 5, "synthesizers.Weighted.label: given 5; Input should be a valid string"),
    (RANGE, "synthesizers.Weighted.colours", [],
     "synthesizers.Weighted.colours: given []; List should have at least 1 item after validation, not 0"),
    (RANGE, "synthesizers.Weighted.colours", ["red"],
     "synthesizers.Weighted.colours.0: given 'red'; Input should be a colour as #rrggbb"),
    (RANGE, "synthesizers.Weighted.color", ["#ff0000"],
     "synthesizers.Weighted.color: given ['#ff0000']; Extra inputs are not permitted; allowed keys: mechanism"),
    (RANGE, "synthesizers.Weighted_solved.search.parameter", "k",
     "synthesizers.Weighted_solved.search.parameter: given 'k'; allowed: c, g"),
    (RANGE, "synthesizers.Weighted_solved.search.target", 0,
     "synthesizers.Weighted_solved.search.target: given 0; Input should be greater than 0"),
    (RANGE, "synthesizers.Weighted_solved.search.target", "child",
     "synthesizers.Weighted_solved.search.target: given 'child'; Input should be a valid number"),
    (RANGE, "synthesizers.Weighted_solved.search.low", 2,
     "synthesizers.Weighted_solved.search: given {'parameter': 'c', 'target': 5.7, 'tolerance': 0.01"),
    (RANGE, "synthesizers.Weighted_solved.search.steps", 51,
     "synthesizers.Weighted_solved.search.steps: given 51; Input should be less than or equal to 50"),
    (RANGE, "synthesizers.Unweighted.search", {"parameter": "c", "target": 5},
     "synthesizers.Unweighted.search.parameter: given 'c'; allowed: no parameter"),
    (REWEIGHT, "synthesizers.CW.search", {"parameter": "r", "target": "parent"},
     "synthesizers.CW.search.target: given 'parent'; allowed: a number: it has no parent"),
    (CENSOR, "synthesizers.PH.search", {"parameter": "epsilon", "target": 5},
     "synthesizers.PH.search.parameter: given 'epsilon'; allowed: no parameter"),
    (CENSOR, "synthesizers.Weighted.parents", ["PH_5"],
     "synthesizers.Weighted.parents: given 'PH_5'; allowed: one with a posterior that others can use"),
    (CENSOR, "synthesizers.Weighted.fit", "PH_5",
     "synthesizers.Weighted.fit: given 'PH_5'; allowed: one with a posterior that others can use"),
    (CENSOR, "synthesizers.PH.fit", "Unweighted",
     "synthesizers.PH.fit: given 'Unweighted'; allowed: none: the mechanism perturbed_histogram needs a fi"),
    # scenarios
    (RANGE, "scenarios.simulation", None,
     "scenarios.simulation: given None; Input should be a valid dictionary or instance of ScenarioConfig"),
    (RANGE, "scenarios.simulation.id", ..., "scenarios.simulation.id; Field required"),
    (RANGE, "scenarios.contraction.id", 1, "scenarios.contraction.id: given 1"),
    (RANGE, "scenarios.simulation.family", "lognormall",
     "scenarios.simulation.family: given 'lognormall'; allowed: beta, beta_regression, normal, lognormal"),
    (RANGE, "scenarios.simulation.family", ...,
     "scenarios.simulation.family: given ''; allowed: beta, beta_regression, normal, lognormal"),
    (RANGE, "scenarios.simulation.family", "beta",
     "scenarios.simulation.family: given 'beta'; allowed: a family of these values"),
    (RANGE, "scenarios.simulation.family", "poisson",
     "scenarios.simulation.family: given 'poisson'; allowed: a family of these values"),
    (RANGE, "scenarios.simulation.priors", {"sdd": 1}, "scenarios.simulation.priors: given 'sdd'; allowed: sd, shape, scale"),
    (RANGE, "scenarios.simulation.priors", {"sd": 0},
     "scenarios.simulation.priors.sd: given 0; Input should be greater than 0"),
    (RANGE, "scenarios.simulation.priors", {"sd": -1},
     "scenarios.simulation.priors.sd: given -1; Input should be greater than 0"),
    (RANGE, "scenarios.simulation.priors", {"sd": NAN},
     "scenarios.simulation.priors.sd: given nan; Input should be a finite number"),
    (RANGE, "scenarios.simulation.priors", {"sd": "flat"},
     "scenarios.simulation.priors.sd: given 'flat'; Input should be a valid number"),
    (RANGE, "scenarios.simulation.n", 0, "scenarios.simulation.n: given 0; Input should be greater than or equal to 2"),
    (RANGE, "scenarios.simulation.n", 1, "scenarios.simulation.n: given 1; Input should be greater than or equal to 2"),
    (RANGE, "scenarios.simulation.n", 2.5, "scenarios.simulation.n: given 2.5; Input should be a valid integer"),
    (RANGE, "scenarios.simulation.n", "many", "scenarios.simulation.n: given 'many'; Input should be a valid integer"),
    (RANGE, "scenarios.simulation.n", True, "scenarios.simulation.n: given True; Input should be greater than or equal to 2"),
    (RANGE, "scenarios.simulation.n", 10**30,
     "scenarios.simulation.n: given 1000000000000000000000000000000; Input should be less than or equal to"),
    (RANGE, "scenarios.simulation.n", ..., "scenarios.simulation: n is missing; simulated data need a sample size"),
    (RANGE, "scenarios.contraction.n", [], "scenarios.contraction.n: given []; Input should be a valid integer"),
    (RANGE, "scenarios.contraction.n", [200, 200],
     "scenarios.contraction.n: given [200, 200]; Input should be a valid integer"),
    (RANGE, "scenarios.contraction.n", [200, 0],
     "scenarios.contraction.n.1: given 0; Input should be greater than or equal to 2"),
    (RANGE, "scenarios.contraction.n", [200, [400]], "scenarios.contraction.n.1: given [400]; Input should be a valid integer"),
    (RANGE, "scenarios.simulation.replicates", 0,
     "scenarios.simulation.replicates: given 0; Input should be greater than or equal to 1"),
    (RANGE, "scenarios.simulation.replicates", 10**8,
     "scenarios.simulation.replicates: given 100000000; allowed: up to 1000000, 10000 times batch_size"),
    (RANGE, "scenarios.simulation.batch_size", 0,
     "scenarios.simulation.batch_size: given 0; Input should be greater than or equal to 1"),
    (RANGE, "scenarios.simulation.synthetic_sets", 5000,
     "scenarios.simulation.synthetic_sets: given 5000; allowed: up to sampler.draws, which is 1000"),
    (RANGE, "scenarios.simulation.unit", 0, "scenarios.simulation.unit: given 0; Input should be greater than 0"),
    (RANGE, "scenarios.simulation.unit", INF, "scenarios.simulation.unit: given inf; Input should be a finite number"),
    (RANGE, "scenarios.simulation.population", ...,
     "scenarios.simulation: given neither population nor file; allowed: one of them"),
    (RANGE, "scenarios.simulation.population", "lognormal_on_normal",
     "scenarios.simulation.population: given 'lognormal_on_normal'; Input should be a valid dictionary"),
    (RANGE, "scenarios.simulation.population.name", "skew",
     "scenarios.simulation.population.name: given 'skew'; allowed: beta, lognormal_on_normal"),
    (RANGE, "scenarios.simulation.population.name", ["skew"],
     "scenarios.simulation.population.name: given ['skew']; allowed: beta, lognormal_on_normal"),
    (RANGE, "scenarios.simulation.population.name", ...,
     "scenarios.simulation.population.name: given None; allowed: beta, lognormal_on_normal, sdr_stand_in"),
    (RANGE, "scenarios.simulation.population.sd", 1,
     "scenarios.simulation.population: given 'sd'; allowed: predictor_mean, predictor_sd, intercept, sigma"),
    (RANGE, "scenarios.simulation.population.sigma", ...,
     "scenarios.simulation.population: sigma is missing; lognormal_on_normal needs it"),
    (RANGE, "scenarios.simulation.population.sigma", "one",
     "scenarios.simulation.population.sigma: given 'one'; allowed: a number ≥ 0"),
    (RANGE, "scenarios.simulation.population.sigma", None,
     "scenarios.simulation.population.sigma: given None; allowed: a number ≥ 0"),
    (RANGE, "scenarios.simulation.population.sigma", True,
     "scenarios.simulation.population.sigma: given True; allowed: a number ≥ 0"),
    (RANGE, "scenarios.simulation.population.sigma", -1,
     "scenarios.simulation.population.sigma: given -1; allowed: a number ≥ 0"),
    (RANGE, "scenarios.simulation.population.predictor_sd", -1,
     "scenarios.simulation.population.predictor_sd: given -1; allowed: a number ≥ 0"),
    (RANGE, "scenarios.simulation.population.intercept", INF,
     "scenarios.simulation.population.intercept: given inf; allowed: a number"),
    (RANGE, "scenarios.simulation.population.intercept", 1000,
     "scenarios.simulation.population: given {'name': 'lognormal_on_normal', 'predictor_mean': 2"),
    (RANGE, "scenarios.simulation.population.counts", "sdr2017_margins",
     "scenarios.simulation.population.counts: given 'sdr2017_margins'; allowed: nothing"),
    (RANGE, "scenarios.simulation.stand_in", {"name": "beta"},
     "scenarios.simulation.stand_in: given {'name': 'beta'}; allowed: nothing: there is no file that it co"),
    (RANGE, "scenarios.simulation.file", {"name": "fatigue"},
     "scenarios.simulation: given both population and file; allowed: one of them"),
    (RANGE, "scenarios.simulation.synthesizers", [],
     "scenarios.simulation.synthesizers: given []; List should have at least 1 item after validation"),
    (RANGE, "scenarios.simulation.synthesizers", ["Wieghted"],
     "scenarios.simulation.synthesizers: given 'Wieghted'; allowed: Unweighted, Weighted, averaged"),
    (RANGE, "scenarios.simulation.synthesizers", ["averaged_0.4_1.8"],
     "scenarios.simulation.synthesizers: given 'averaged_0.4_1.8'; allowed: Unweighted, Weighted"),
    (RANGE, "scenarios.fatigue.file.name", "fatige", "scenarios.fatigue.file.name: given 'fatige'; allowed: fatigue, sdr2017"),
    (RANGE, "scenarios.fatigue.file.drop_rows", [0],
     "scenarios.fatigue.file.drop_rows.0: given 0; Input should be greater than or equal to 1"),
    (RANGE, "scenarios.fatigue.n", 10,
     "scenarios.fatigue.n: given 10; allowed: nothing: a file without a stand_in has its own size"),
    (RANGE, "scenarios.fatigue.replicates", 10, "scenarios.fatigue.replicates: given 10; allowed: 1: a file is one data set"),
    (CENSOR, "scenarios.simulation.population.shape1", 0,
     "scenarios.simulation.population.shape1: given 0; allowed: a number > 0"),
    (CENSOR, "scenarios.simulation.family", "lognormal",
     "scenarios.simulation.synthesizers: given 'Censor_w'; allowed: no censoring: family lognormal has no "),
    (CENSOR, "scenarios.salary.stand_in.counts", "margins",
     "scenarios.salary.stand_in.counts: given 'margins'; allowed: sdr2017_margins"),
    (CENSOR, "scenarios.salary.stand_in.noise", -1, "scenarios.salary.stand_in.noise: given -1; allowed: a number ≥ 0"),
    (REWEIGHT, "scenarios.poisson.population.mu", 1e300, "scenarios.poisson.population: given {'name': 'poisson'"),
    (REWEIGHT, "scenarios.poisson.population.mu", -100, "scenarios.poisson.population.mu: given -100; allowed: a number > 0"),
    (REWEIGHT, "scenarios.mixture.population.share", 1.2,
     "scenarios.mixture.population.share: given 1.2; allowed: a number ≥ 0, ≤ 1"),
    (REWEIGHT, "scenarios.salary.population.unit", 0, "scenarios.salary.population.unit: given 0; allowed: a number > 0"),
    (REWEIGHT, "scenarios.salary.population.unit", 7,
     "scenarios.salary.population: given {'name': 'published_salaries', 'counts': 'sdr2017_margins'"),
    (REWEIGHT, "scenarios.salary.n", 10**7,
     "scenarios.salary.population: given {'name': 'published_salaries', 'counts': 'sdr2017_margins'"),
    # studies
    (ZCDP, "scenarios.coverage.study.name", "covrage",
     "scenarios.coverage.study.name: given 'covrage'; allowed: neighbours, coverage, means, accounting"),
    (ZCDP, "scenarios.coverage.study.name", {},
     "scenarios.coverage.study.name: given {}; allowed: neighbours, coverage, means, accounting, unknown"),
    (ZCDP, "scenarios.coverage.study.d", 0, "scenarios.coverage.study.d: given 0; allowed: a number > 0"),
    (ZCDP, "scenarios.coverage.study.d", "four", "scenarios.coverage.study.d: given 'four'; allowed: a number > 0"),
    (ZCDP, "scenarios.coverage.study.level", 95, "scenarios.coverage.study.level: given 95; allowed: a number > 0, < 1"),
    (ZCDP, "scenarios.coverage.study.alpha", 0.05,
     "scenarios.coverage.study: given 'alpha'; allowed: d, variance, mean, level"),
    (ZCDP, "scenarios.coverage.study.d", ..., "scenarios.coverage.study: d is missing; coverage needs it"),
    (ZCDP, "scenarios.coverage.n", 1, "scenarios.coverage.n: given 1; Input should be greater than or equal to 2"),
    (ZCDP, "scenarios.coverage.family", "normal", "scenarios.coverage.family: given 'normal'; allowed: nothing beside study"),
    (ZCDP, "scenarios.coverage.priors", {"sd": 1},
     "scenarios.coverage.priors: given {'sd': 1.0}; allowed: nothing beside study"),
    (ZCDP, "scenarios.coverage.synthesizers", ["route_joint"],
     "scenarios.coverage.synthesizers: given 'route_joint'; allowed: another one: it is for the study accounting"),
    (ZCDP, "scenarios.accounting.study.delta", 1, "scenarios.accounting.study.delta: given 1; allowed: a number > 0, < 1"),
    (ZCDP, "scenarios.accounting.study.points", 2.5,
     "scenarios.accounting.study.points: given 2.5; allowed: a whole number ≥ 1"),
    (ZCDP, "scenarios.accounting.study.high", 10,
     "scenarios.accounting.study.high: given 10; allowed: more than low, which is 10"),
    (RANGE, "scenarios.simulation.study", {"name": "coverage", "d": 4},
     "scenarios.simulation.family: given 'lognormal_regression'; allowed: nothing beside study"),
    (REPS, "scenarios.adult.study.dataset", "adults",
     "scenarios.adult.study.dataset: given 'adults'; allowed: one of simulated, breast_cancer, adult"),
    (REPS, "scenarios.adult.study.dataset", ["adult"],
     "scenarios.adult.study.dataset: given ['adult']; allowed: one of simulated, breast_cancer, adult"),
    (REPS, "scenarios.adult.study.settings.query", 500,
     "scenarios.adult.study.settings.query: given 500; Extra inputs are not permitted; allowed keys: delta"),
    (REPS, "scenarios.adult.study.settings.queries", 1,
     "scenarios.adult.study.settings.queries: given 1; Input should be greater than or equal to 2"),
    (REPS, "scenarios.adult.study.settings", [500],
     "scenarios.adult.study.settings: given [500]; Input should be a valid dictionary or instance of Settings"),
    # figures
    (RANGE, "figures.1.scenario", "simulated",
     "figures.1.scenario: given 'simulated'; allowed: simulation, contraction, fatigue, scaled"),
    (RANGE, "figures.1.scenario", [], "figures.1.scenario: given []; Input should be a valid string"),
    (RANGE, "figures.1.source", "record",
     "figures.1.source: given 'record'; Input should be 'replicates', 'records', 'sets', 'values'"),
    (RANGE, "figures.1.source", "details",
     "figures.1.source: given 'details'; allowed: replicates, records, values, sets, draws"),
    (RANGE, "figures.1.value", "bonud", "figures.1.value: given 'bonud'; allowed: n, replicate, record, bound, weight, known"),
    (RANGE, "figures.1.value", "", "figures.1.value: given ''; allowed: n, replicate, record, bound, weight, known"),
    (RANGE, "figures.1.value", ["bound", "bonud"],
     "figures.1.value: given 'bonud'; allowed: n, replicate, record, bound, weight, known"),
    (RANGE, "figures.1.value", "synthesizer",
     "figures.1.value: given 'synthesizer'; allowed: n, replicate, record, bound, weight, known"),
    (RANGE, "figures.1.kind", "histogram",
     "figures.1.kind: given 'histogram'; Input should be 'violin', 'density', 'scatter' or 'line'"),
    (RANGE, "figures.1.kind", "line", "figures.1.x: given ''; allowed: n, replicate, record, bound, weight, known"),
    (RANGE, "figures.1.x", "wieght", "figures.1.x: given 'wieght'; allowed: n, replicate, record, bound, weight, known"),
    (RANGE, "figures.1.rows", {"recrod": 1},
     "figures.1.rows: given 'recrod'; allowed: paper, scenario, n, replicate, synthesizer, record, bound"),
    (RANGE, "figures.1.rows", {"synthesizer": "averaged"},
     "figures.1.rows.synthesizer: given 'averaged'; allowed: averaged_0.4_1.8, averaged_0.6_1.2"),
    (RANGE, "figures.1.synthesizers", ["Wieghted"],
     "figures.1.synthesizers: given 'Wieghted'; allowed: Data, Unweighted, Weighted, averaged, truncated"),
    (RANGE, "figures.1.synthesizers", [["Weighted", "trncated"]],
     "figures.1.synthesizers: given 'trncated'; allowed: Data, Unweighted, Weighted, averaged, truncated"),
    (RANGE, "figures.1.synthesizers", [], "figures.1.synthesizers: given []; allowed: at least one synthesizer"),
    (RANGE, "figures.1.synthesizers", ["Data"],
     "figures.1.synthesizers: given 'Data'; allowed: Unweighted, Weighted, averaged_0.4_1.8"),
    (RANGE, "figures.1.synthesizers", ["Weighted_scaled"],
     "figures.1.synthesizers: given 'Weighted_scaled'; allowed: Unweighted, Weighted, averaged_0.4_1.8"),
    (RANGE, "figures.1.where", {"alpha": 1}, "figures.1.where: given 'alpha'; allowed: c, g, top, wide_a, wide_b, a, b"),
    (RANGE, "figures.1.size", 300, "figures.1.size: given 300; allowed: 2000"),
    (RANGE, "figures.1.panels", "sizes",
     "figures.1.panels: given 'sizes'; allowed: none, synthesizer, scenario, c, g, top, wide_a, wide_b"),
    (RANGE, "figures.1.at", "epsilon", "figures.1.at: given 'epsilon'; allowed: c, g, top, wide_a, wide_b, a, b"),
    (RANGE, "figures.1.labels", {"Wieghted": "W"},
     "figures.1.labels: given 'Wieghted'; allowed: Unweighted, Weighted, averaged, truncated"),
    (RANGE, "figures.1.line", "half_epsilon", "figures.1.line: given 'half_epsilon'; allowed: anything else"),
    (RANGE, "figures.1.line", "population",
     "figures.1.line: given 'population'; allowed: anything else: the population's bound is not known"),
    (RANGE, "figures.1.line", "halfway", "figures.1.line: given 'halfway'; Input should be a valid number"),
    (RANGE, "figures.1.line", NAN, "figures.1.line: given nan; Input should be a finite number, or Input should be 'none'"),
    (RANGE, "figures.1.exact", True, "figures.1.exact: given True; allowed: false: only a study has exact densities"),
    (RANGE, "figures.1.log", "ten", "figures.1.log: given 'ten'; Input should be a valid boolean, unable to interpret input"),
    (RANGE, "figures.1.title", "Bounds",
     "figures.1.title: given 'Bounds'; Extra inputs are not permitted; allowed keys: same_as, kind"),
    (RANGE, "figures.0", {"same_as": 1},
     "figures.0: given '0'; Input should be a number, with a small letter behind it for a panel"),
    (RANGE, "figures.one", {"same_as": 1},
     "figures.one: given 'one'; Input should be a number, with a small letter behind it for a panel"),
    (RANGE, "figures.1", {"same_as": 99},
     "figures.1.same_as: given '99'; allowed: 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18"),
    (RANGE, "figures.1", {"same_as": 1},
     "figures.1.same_as: given '1'; allowed: 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18"),
    (CENSOR, "figures.1.synthesizers", ["Prior", "Data"],
     "figures.1.synthesizers: given 'Data'; allowed: Prior, Unweighted, example_1.6"),
    (CENSOR, "figures.1.value", "theta", "figures.1.value: given 'theta'; allowed: n, replicate, draw, phi, lambda"),
    (CENSOR, "figures.2.synthesizers", ["Prior"],
     "figures.2.synthesizers: given 'Prior'; allowed: Data, Unweighted, Weighted, Weighted_e_5"),
    (CENSOR, "figures.9.value", "values", "figures.9.value: given 'values'; allowed: n, replicate, record, value"),
    (REWEIGHT, "figures.1.synthesizers", ["Unweighted", "Prior"],
     "figures.1.synthesizers: given 'Prior'; allowed: Unweighted, LW, CW, SW, LW_final, CW_final"),
    (ZCDP, "figures.2.source", "records", "figures.2.source: given 'records'; allowed: replicates, details"),
    (ZCDP, "figures.2.value", "", "figures.2.value: given ''; allowed: a column of numbers"),
    (ZCDP, "figures.4.value", "status", "figures.4.value: given 'status'; allowed: a column of numbers"),
    # tables
    (RANGE, "tables.1.scenario", "fatige",
     "tables.1.scenario: given 'fatige'; allowed: simulation, contraction, fatigue, scaled"),
    (RANGE, "tables.1.kind", "medians",
     "tables.1.kind: given 'medians'; Input should be 'sample', 'interval', 'spread', 'results'"),
    (RANGE, "tables.1.statistics", ["average"], "tables.1.statistics: given 'average'; allowed: mean, median, q15, q90"),
    (RANGE, "tables.1.synthesizers", [], "tables.1.synthesizers: given []; allowed: at least one synthesizer"),
    (RANGE, "tables.1.printed", {"Wieghted": {"mean": 1}},
     "tables.1.printed: given 'Wieghted'; allowed: Data, Unweighted, Weighted, averaged_0.4_1.8"),
    (RANGE, "tables.1.printed", {"Weighted": {"maen": 1}},
     "tables.1.printed.Weighted: given 'maen'; allowed: mean, median, q90"),
    (RANGE, "tables.1.printed", {"Weighted": {"mean": "1,234"}},
     "tables.1.printed.Weighted.mean: given '1,234'; Input should be a valid number"),
    (RANGE, "tables.2.value", "dleta",
     "tables.2.value: given 'dleta'; allowed: n, replicate, seed, delta, epsilon, rhat_max, ess_bulk_min"),
    (RANGE, "tables.2.value", ...,
     "tables.2.value: given ''; allowed: n, replicate, seed, delta, epsilon, rhat_max, ess_bulk_min"),
    (RANGE, "tables.zero", {},
     "tables.zero: given 'zero'; Input should be a valid integer, unable to parse string as an integer"),
    (CENSOR, "tables.1.statistics", ["q2"], "tables.1.statistics: given 'q2'; allowed: min, q1, median, mean, q3, max, sd"),
    (CENSOR, "tables.2.statistics", ["dleta"],
     "tables.2.statistics: given 'dleta'; allowed: n, replicate, seed, delta, epsilon, rhat_max"),
    (REWEIGHT, "tables.1.statistics", ["q15"],
     "tables.1.statistics: given 'q15'; allowed: mean_low, mean_high, median_low, median_high, q15_low"),
    (ZCDP, "tables.1.kind", "sample",
     "tables.1.kind: given 'sample'; allowed: a kind that reads replicates: the scenario has a study"),
    # claims: the first is an order of cells, the second a trend, the third within limits, the fourth printed values
    (CLAIM, "claims", {}, "claims: given {}; Input should be a valid list"),
    (CLAIM, "claim", [], "claim: given []; Extra inputs are not permitted; allowed keys: claims"),
    (CLAIM, "claims.0.id", "Bounds fall",
     "claims.0.id: given 'Bounds fall'; Input should be small letters and digits, joined by -"),
    (CLAIM, "claims.1.id", "bounds-order", "claims.bounds-order.id: given 'bounds-order'"),
    (CLAIM, "claims.0.claim", ..., "claims.0.claim; Field required"),
    (CLAIM, "claims.0.shows", "fig. 2", "claims.0.shows: given 'fig. 2'; Input should be as in figure 2 or table 1"),
    (CLAIM, "claims.0.shows", "figure 99",
     "claims.bounds-order.shows: given 'figure 99'; allowed: figure 1, figure 2, figure 3, figure 4"),
    (CLAIM, "claims.0.shows", "table 9", "claims.bounds-order.shows: given 'table 9'; allowed: table 1, table 2"),
    (CLAIM, "claims.0.erratum", "5", "claims.0.erratum: given '5'; Input should be as in E1"),
    (CLAIM, "claims.0.estimate", None,
     "claims.0.estimate: given None; Input should be a valid dictionary or instance of EstimateConfig"),
    (CLAIM, "claims.0.estimate.scenario", "simulated",
     "claims.bounds-order.estimate.scenario: given 'simulated'; allowed: simulation, contraction"),
    (CLAIM, "claims.0.estimate.scenario", [], "claims.0.estimate.scenario: given []; Input should be a valid string"),
    (CLAIM, "claims.0.estimate.size", 300, "claims.bounds-order.estimate.size: given 300; allowed: 2000"),
    (CLAIM, "claims.0.estimate.table", "replicate",
     "claims.0.estimate.table: given 'replicate'; Input should be 'replicates', 'records', 'sets'"),
    (CLAIM, "claims.0.estimate.table", "details",
     "claims.bounds-order.estimate.table: given 'details'; allowed: replicates, records, values, sets"),
    (CLAIM, "claims.0.estimate.value", ["epsilom"],
     "claims.bounds-order.estimate.value: given 'epsilom'; allowed: n, replicate, seed, delta, epsilon"),
    (CLAIM, "claims.0.estimate.value", ["status"],
     "claims.bounds-order.estimate.value: given 'status'; allowed: n, replicate, seed, delta, epsilon"),
    (CLAIM, "claims.0.estimate.value", "delta", "claims.0.estimate.value: given 'delta'; Input should be a valid list"),
    (CLAIM, "claims.0.estimate.value", ["delta", "epsilon"],
     "claims.bounds-order.estimate.value: given ['delta', 'epsilon']; allowed: one column"),
    (CLAIM, "claims.0.estimate.value", ["delta", "delta"],
     "claims.0.estimate.value: given ['delta', 'delta']; Input should have each entry once"),
    (CLAIM, "claims.0.estimate.over", "synthesiser",
     "claims.bounds-order.estimate.over: given 'synthesiser'; allowed: paper, scenario, n, replicate"),
    (CLAIM, "claims.0.estimate.over", "n",
     "claims.bounds-order.estimate.where: given {'a': 0.4}; allowed: nothing, unless over is synthesizer"),
    (CLAIM, "claims.0.estimate.of", ["Wieghted"],
     "claims.bounds-order.estimate.of: given 'Wieghted'; allowed: Data, Unweighted, Weighted, averaged"),
    (CLAIM, "claims.0.estimate.of", [], "claims.bounds-order.estimate.of: given []; allowed: at least one synthesizer"),
    (CLAIM, "claims.0.estimate.of", ["Weighted", "Weighted"],
     "claims.0.estimate.of: given ['Weighted', 'Weighted']; Input should have each entry once"),
    (CLAIM, "claims.0.estimate.of", ["Weighted"], "claims.bounds-order.estimate.where: given 'a'; allowed: c, g"),
    (CLAIM, "claims.0.estimate.of", ["Weighted_scaled"],
     "claims.bounds-order.estimate.of: given 'Weighted_scaled'; allowed: Data, Unweighted, Weighted"),
    (CLAIM, "claims.0.estimate.where", {"a": 9}, "claims.bounds-order.estimate.of: given ['Weighted', 'truncated'"),
    (CLAIM, "claims.0.estimate.rows", {"replicat": 0},
     "claims.bounds-order.estimate.rows: given 'replicat'; allowed: paper, scenario, n, replicate"),
    (CLAIM, "claims.0.estimate.rows", {"n": [1]}, "claims.0.estimate.rows.n: given [1]; Input should be a valid string"),
    (CLAIM, "claims.0.estimate.by", "record",
     "claims.bounds-order.estimate.by: given 'record'; allowed: paper, scenario, n, replicate"),
    (CLAIM, "claims.0.estimate.by", "delta",
     "claims.bounds-order.estimate.by: given 'delta'; allowed: another column than over and value"),
    (CLAIM, "claims.0.estimate.statistic", "avg",
     "claims.bounds-order.estimate.statistic: given 'avg'; allowed: mean, median, sd, min, max, spread"),
    (CLAIM, "claims.0.estimate.distance", "data", "claims.0.estimate.distance: given 'data'; Input should be a valid number"),
    (CLAIM, "claims.0.estimate.distance", "population",
     "claims.bounds-order.estimate.distance: given 'population'; allowed: anything else: the population's "),
    (CLAIM, "claims.2.estimate.distance", "Data",
     "claims.bounds-of-records.estimate.of_largest: given True; allowed: nothing beside distance"),
    (CLAIM, "claims.2.estimate.above", 1,
     "claims.bounds-of-records.estimate.above: given 1.0; allowed: nothing beside of_largest"),
    (CLAIM, "claims.1.estimate.of", [300], "claims.bounds-contract.estimate.of: given 300.0; allowed: 200, 400, 1600, 6400"),
    (CLAIM, "claims.1.estimate.of", [200],
     "claims.bounds-contract.estimate.of: given [200.0]; allowed: two cells or more, for trend"),
    (CLAIM, "claims.1.estimate.rows", {"synthesizer": "weighted"},
     "claims.bounds-contract.estimate.rows.synthesizer: given 'weighted'; allowed: Data, Unweighted"),
    (CLAIM, "claims.3.estimate.of", ["mean"],
     "claims.sets-differ.estimate.of: given ['mean']; allowed: nothing where over is value: the cells are "),
    (CLAIM, "claims.0.test.kind", "ordered",
     "claims.0.test.kind: given 'ordered'; Input should be 'value', 'within', 'order', 'equal' or 'trend'"),
    (CLAIM, "claims.0.test.kind", "within", "claims.bounds-order.test: given 'direction'; allowed: high, low, share"),
    (CLAIM, "claims.0.test.low", 1, "claims.bounds-order.test: given 'low'; allowed: direction, margin, pairs, share"),
    (CLAIM, "claims.0.test.share", 1.5,
     "claims.0.test.share: given 1.5; Input should be less than or equal to 1, or Input should be 'mostly'"),
    (CLAIM, "claims.0.test.share", "most", "claims.0.test.share: given 'most'; Input should be a valid number"),
    (CLAIM, "claims.0.test.direction", "up", "claims.0.test.direction: given 'up'; Input should be 'rising' or 'falling'"),
    (CLAIM, "claims.0.test.margin", -1, "claims.0.test.margin: given -1; Input should be greater than or equal to 0"),
    (CLAIM, "claims.1.test.low", 0.4,
     "claims.1.test: given {'kind': 'trend', 'low': 0.4, 'high': -0.4}; low has to be below high"),
    (CLAIM, "claims.1.test.low", ..., "claims.bounds-contract.test: low is missing; trend needs it"),
    (CLAIM, "claims.1.test.low", INF, "claims.1.test.low: given inf; Input should be a finite number"),
    (CLAIM, "claims.2.test", {"kind": "within"},
     "claims.bounds-of-records.test: low and high are missing; within needs one of them"),
    (CLAIM, "claims.3.test.printed", [22743],
     "claims.sets-differ.test.printed: given [22743.0]; allowed: a number for each of 2 cells"),
    (CLAIM, "claims.3.test.printed", ["22,743", 1], "claims.3.test.printed.0: given '22,743'; Input should be a valid number"),
    (CLAIM, "claims.3.test.printed", ..., "claims.sets-differ.test: printed is missing; value needs it"),
    (CLAIM, "claims.3.test.tolerance", 1, "claims.3.test.tolerance: given 1; Input should be less than 1"),
]  # fmt: skip


@pytest.fixture(scope="module")
def own(shipped):
    """The shipped files of each paper, with our claims in place of theirs."""
    claims = {f"claims/{paper}.yaml": {"claims": CLAIMS.get(paper, [])} for paper in PAPERS}
    return Trees(shipped | claims)


def of_paper(trees, paper):
    """Copies of the files of a run of one paper."""
    names = ("config.yaml", f"papers/{paper}.yaml", f"claims/{paper}.yaml")
    copies = Trees({name: untied(trees[name]) for name in names})
    copies["config.yaml"]["papers"] = [paper]
    return copies


@pytest.mark.parametrize(("file", "path", "value", "expected"), CASES, ids=[" ".join(map(str, one[:3]))[:60] for one in CASES])
def test_a_message_names_file_key_given_and_allowed(own, read, file, path, value, expected, fatigue):
    trees = of_paper(own, "range" if file == CONFIG else Path(file).stem)
    put(trees[file], path, value)
    message = refusal(read, trees)
    assert isinstance(message, str), "it was accepted"
    check_message(message, trees)
    assert f"{file}: {expected}" in message


NUMBERS = [0, -1, 1, 2, 0.5, 1e-300, 10**30, -(10**30), 1e308, float("nan"), float("inf"), -float("inf")]
TEXTS = [
    "",
    " ",
    "x",
    "1",
    "1e3",
    "{a}",
    "{",
    "{}",
    "{a.b}",
    "{a!r:>9}",
    "ε",
    "../x",
    "a/b",
    "x" * 300,
    "\0",
    "\ud800",
    "Data",
    "study",
]
RUBBISH = [None, True, False, *NUMBERS, *TEXTS, [], [[]], ["x"], [0], [None], {}, {"x": 1}, {1: 2}, {None: None}, [1, 1]]


@st.composite
def changed(draw, trees, paper):
    """The trees of one paper with one to three random changes."""
    trees = of_paper(trees, paper)
    trees["config.yaml"]["scale"] = draw(st.sampled_from(["paper", "smoke"]))
    names = st.sampled_from(["config.yaml", *2 * [f"claims/{paper}.yaml"], *5 * [f"papers/{paper}.yaml"]])
    for _ in range(draw(st.sampled_from([1, 1, 1, 2, 3]))):
        name = draw(names)
        places = list(paths(trees[name]))
        if not places:
            continue
        # every section as often, however long it is
        section = draw(st.sampled_from(sorted({path[0] for path in places}, key=str)))
        *way, last = draw(st.sampled_from([path for path in places if path[0] == section]))
        where = at(trees[name], way)
        kind = draw(st.sampled_from(["delete", "rubbish", "rubbish", "other", "other", "typo", "scale", "add", "twice", "wrap"]))
        note(f"{kind} {name} {[*way, last]}")
        value = where[last]
        if kind == "delete":
            del where[last]
        elif kind == "rubbish":
            where[last] = copy.deepcopy(draw(st.sampled_from(RUBBISH)))
        elif kind == "other":  # something that has its place elsewhere in the file
            where[last] = copy.deepcopy(at(trees[name], draw(st.sampled_from(places))))
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
    return trees


def refusal(read, trees):
    """Why the trees are refused, or their plan."""
    try:
        return read(trees)
    except ConfigError as error:
        return str(error)


def check_message(message, trees):
    """Each line names a file, or the variable that points at data, and a key in it."""
    files = "|".join(re.escape(path) for path in trees)
    for line in message.splitlines():
        assert re.match(rf"(\S*/)?({files}): \S", line), message
        assert "allowed" in line or "needs" in line or ";" in line or "expected" in line or ": " in line, message
    assert len(message) < 20_000


@pytest.mark.parametrize("paper", PAPERS)
def test_a_leaf_that_is_a_section_is_refused_by_its_path(shipped, read, paper, fatigue):
    """Every value of the shipped files in turn is replaced by keys and values, which no value can be."""
    trees = of_paper(shipped, paper)
    tried = 0
    for file in [CONFIG, *trees][paper != "range" :]:
        for *way, last in [path for path in paths(trees[file]) if not isinstance(at(trees[file], path), dict | list)]:
            where = at(trees[file], way)
            value, where[last] = where[last], {"wrong": -7}
            message = refusal(read, trees)
            where[last] = value
            key = ".".join(map(str, (*way, last)))
            tried += 1
            assert isinstance(message, str), key
            found = [f"{file}: {key}: given {{'wrong': -7}}; ", f"{file}: {key}.wrong: given -7; "]
            # a point of a sweep may be a section: then what it names is refused where it is used
            found += [".parameters: given 'wrong'; allowed: "] if way[:1] == ["sweeps"] else []
            assert any(one in message for one in found), message
    assert tried > 200
    assert not isinstance(refusal(read, trees), str)


@pytest.mark.parametrize("paper", PAPERS)
def test_a_key_that_is_in_no_section_is_refused_by_its_path(shipped, read, paper, fatigue):
    trees = of_paper(shipped, paper)
    for file in trees:
        for path in [(), *(path for path in paths(trees[file]) if isinstance(at(trees[file], path), dict))]:
            where = at(trees[file], path)
            where["unheard"] = [[-7]]
            message = refusal(read, trees)
            del where["unheard"]
            assert isinstance(message, str), path
            assert f"{file}: {'.'.join(map(str, path))}" in message
            assert "unheard" in message, message


@settings(max_examples=200)
@given(data=st.data(), paper=st.sampled_from(PAPERS))
def test_changed_files_are_read_or_refused(shipped, read, unchanged, data, paper):
    trees = data.draw(changed(shipped, paper))
    found = refusal(read, trees)
    if isinstance(found, str):
        note(found)
        check_message(found, trees)
    else:
        check_use(found, unchanged.papers[paper])


def check_use(plan, unchanged):
    """Everything that a rule looks up in a plan is there, and what can be tried without Stan works.

    Of figures, tables and claims the changed ones are tried, and the first.
    """
    (paper,) = plan.papers.values()
    for scenario in paper.scenarios.values():
        words = {tuple(one.words) for one in scenario.synthesizers.values()}
        assert len(words) == len({(one.mechanism, *sorted(one.parameters.items())) for one in scenario.synthesizers.values()})
        if scenario.study:
            if scenario.study["name"] in QUICK and scenario != unchanged.scenarios.get(scenario.id) and scenario.n < 10_000:
                assert len(run_study(scenario, 1, [0], plan.config.data_folder)[0])
            continue
        for fit in scenario.fits():
            assert scenario.plain(fit=fit, sets=True)
            assert fit not in scenario.ancestors(fit)
        if scenario.n < 10_000:
            with np.errstate(all="ignore"):
                assert len(simulate_batch(scenario, 1, [0], plan.config.data_folder)["x"][0]) == scenario.n
    made = {}

    def tables_of(scenarios):
        for one in scenarios:
            if one["id"] not in made:
                made[one["id"]] = made_up(paper.scenarios[one["id"]])
        return [made[one["id"]] for one in scenarios]

    for section in ("figures", "tables"):
        entries, before = getattr(paper, section), getattr(unchanged.config, section)
        for number in [number for number, one in entries.items() if one != before.get(number)] + list(entries)[:1]:
            display = paper.display(section, number, plan.config.scale)
            assert caption(display)
            if any(paper.scenarios[one["id"]].study for one in display.scenarios):
                continue
            tables = tables_of(display.scenarios)
            if section == "figures":
                assert len(figure_table(display, [one[display.source] for one in tables]))
            else:
                assert len(table_of(display, {kind: pd.concat([one[kind] for one in tables]) for kind in tables[0]}))
    thresholds = Thresholds(**plan.config.verdicts.model_dump() | {"resamples": 20})
    for claim in [claim for claim in paper.claims if claim not in unchanged.claims] + paper.claims[:1]:
        if not any(paper.scenarios[one["id"]].study for one in claim.scenarios):
            tables = tables_of(claim.scenarios)
            try:
                assert judge(claim, [one[claim.estimate["table"]] for one in tables], thresholds, 1, True)["verdict"]
            except ClaimError as error:  # which values a column has is not known before
                assert re.search("no rows for|has a value in every cell", str(error)), error


def made_up(scenario):
    """Collected tables of a scenario with random numbers: of each synthesizer three replicates, records, sets and draws."""
    generator = np.random.default_rng(1)
    parameters = [*FAMILIES[scenario.family].parameters, *(f"{name}_1" for name in FAMILIES[scenario.family].parameters)]
    columns = {"replicates": REPLICATE_COLUMNS, **SAMPLE_COLUMNS, "draws": (*SAMPLE_COLUMNS["draws"], *parameters)}
    ids = {kind: [DATA, *scenario.synthesizers] for kind in columns} | {
        "records": list(scenario.synthesizers),
        "draws": [PRIOR, *scenario.synthesizers],
    }
    tables = {}
    for kind, names in columns.items():
        table = pd.DataFrame([(id, unit) for id in ids[kind] for unit in range(3)], columns=["synthesizer", "unit"])
        for name in names:
            if name in ("replicate" if kind == "replicates" else "", "record", "set", "draw"):
                table[name] = table["unit"]
            elif name in TEXT_COLUMNS and name != "synthesizer":
                table[name] = "ok"
            elif name != "synthesizer":
                table[name] = generator.gamma(2, size=len(table))
        fixed = {"scenario": scenario.id, "n": scenario.n} | ({} if kind == "replicates" else {"replicate": 0})
        tables[kind] = table.assign(**fixed)[list(names)]
    return tables


# -------------------------------------------------------------------------------------------------------------- files as text

TEXTS_OF_FILES = [
    ("a: [1", "cannot be read as YAML"),
    ("a: b: c", "cannot be read as YAML"),
    ("\tx: 1", "cannot be read as YAML"),
    ("a: 1\n b: 2", "cannot be read as YAML"),
    ("a: *nobody", "undefined alias 'nobody'"),
    ("a: !!python/name:os.system", "could not determine a constructor"),
    ("a: 2020-13-45", "month must be in 1..12"),
    ("a: " + "1" * 5000, "cannot be read as YAML"),
    ("{[1]: 2}", "unhashable key"),
    ("[" * 3000, "cannot be read as YAML"),
    ("a: 1\na: 2", "the key 'a' is given twice in .*line 2, column 1"),
    ("1: x\n'1': y", "the key '1' is given twice"),
    ("a: {b: 1, c: 2, b: 1}", "the key 'b' is given twice"),
    ("a: {<<: {b: 1}, <<: {c: 1}}", "the key '<<' is given twice"),
    ("", r"\(whole file\): given None; allowed: keys and values"),
    ("# nothing", r"\(whole file\): given None; allowed: keys and values"),
    ("- 1", r"\(whole file\): given \[1\]; allowed: keys and values"),
    ("just words", r"\(whole file\): given 'just words'; allowed: keys and values"),
    ("--- 1\n--- 2", "expected a single document"),
]


@pytest.mark.parametrize(("text", "words"), TEXTS_OF_FILES, ids=[f"{one[0]:.20}" for one in TEXTS_OF_FILES])
def test_a_file_that_is_no_yaml_of_keys_and_values_is_named(tmp_path, text, words):
    (tmp_path / "paper.yaml").write_text(text)
    with pytest.raises(ConfigError, match=rf"paper\.yaml: .*{words}"):
        load_yaml(tmp_path / "paper.yaml")


@pytest.mark.parametrize("content", [b"\xff\xfea", b"a: \xe9", b"a: \x00", b"a: \x07"])
def test_a_file_in_another_encoding_is_named(tmp_path, content):
    (tmp_path / "paper.yaml").write_bytes(content)
    with pytest.raises(ConfigError, match=r"paper\.yaml: cannot be read as YAML"):
        load_yaml(tmp_path / "paper.yaml")


@given(st.text(max_size=60) | st.text(alphabet="abn01:-[]{},&*!|>'\"%@`#? \n\t", max_size=60))
def test_any_text_is_yaml_or_refused(tmp_path_factory, text):
    path = tmp_path_factory.getbasetemp() / "any.yaml"
    path.write_text(text, encoding="utf-8")
    try:
        assert isinstance(load_yaml(path), dict)
    except ConfigError as error:
        assert str(error).startswith(f"{path}: ")


def test_a_folder_in_place_of_a_file_is_named(tmp_path):
    (tmp_path / "paper.yaml").mkdir()
    with pytest.raises(ConfigError, match=r"paper\.yaml: cannot be read as YAML: .*Is a directory"):
        load_yaml(tmp_path / "paper.yaml")


def test_keys_of_a_merged_section_may_be_given_again(tmp_path):
    (tmp_path / "paper.yaml").write_text("a: &a {x: 1, y: 2}\nb: &b {<<: *a, x: 3}\nc: {<<: *b, y: 4}\n")
    assert load_yaml(tmp_path / "paper.yaml")["c"] == {"x": 3, "y": 4}


@pytest.mark.parametrize(
    ("text", "value"), [("1e-5", 1e-5), ("1E3", 1e3), ("-2.5e+3", -2500.0), ("1e", "1e"), ("3a", "3a"), ("7", 7)]
)
def test_numbers_with_an_exponent_are_numbers(tmp_path, text, value):
    (tmp_path / "paper.yaml").write_text(f"a: {text}\n")
    found = load_yaml(tmp_path / "paper.yaml")["a"]
    assert (found, type(found)) == (value, type(value))


@pytest.mark.parametrize("file", ["papers/range.yaml", "papers/censor.yaml", "papers/reps.yaml", "config.yaml"])
def test_a_line_given_twice_is_refused(repository, tmp_path, file):
    """Every line of a shipped file in turn that holds one key and its value, on a line of their own."""
    lines = (repository / "config" / file).read_text(encoding="utf-8").splitlines()
    places = [k for k, line in enumerate(lines) if re.fullmatch(r" *[\w.]+: [^&*|>#]+", line)]
    assert len(places) > 10
    for k in places[:: max(1, len(places) // 12)]:
        path = tmp_path / Path(file).name
        path.write_text("\n".join([*lines[: k + 1], lines[k], *lines[k + 1 :]]), encoding="utf-8")
        with pytest.raises(ConfigError, match=rf"{path.name}: .*the key '[^']+' is given twice .*line {k + 2},"):
            load_yaml(path)


# ------------------------------------------------------------------------------------------------------------------ data files


@pytest.fixture
def with_data(shipped, read, tmp_path, monkeypatch):
    """Read the plan of a paper with a folder of data files of our own; the variable that names another is not set."""
    monkeypatch.delenv("FORMALSYNTH_DATA", raising=False)

    def with_data(paper, **files):
        for name, content in files.items():
            path = tmp_path / FILES[name]
            path.write_bytes(content) if isinstance(content, bytes) else path.mkdir()
        trees = of_paper(shipped, paper)
        trees["config.yaml"]["data_folder"] = str(tmp_path)
        return refusal(read, trees)

    return with_data


FILES = {"fatigue": "fatigue.csv", "sdr": "EPSD17.DAT", "margins": "sdr2017_codebook_margins.csv", "german": "german.data"}
SDR = b"SALARYP,GENDER,AGEGRP,WKSWK,EDTP,NDGMENGP\n"
DATA_FILES = [
    ("range", {"fatigue": b""}, "scenarios.fatigue.file: .*fatigue.csv: sha256 is .*, the published file has"),
    ("range", {"fatigue": b"stress,cycle\n276,11500\n"}, "fatigue.csv: sha256 is"),
    ("range", {"fatigue": None}, "scenarios.fatigue.file: .*fatigue.csv: is no file; expected the published one"),
    ("censor", {"margins": b"variable,code\n"}, "scenarios.salary.stand_in.counts: .*margins.csv: sha256 is"),
    ("reweight", {"margins": b"variable,code\n"}, "scenarios.salary.population.counts: .*margins.csv: sha256 is"),
    ("reps", {"german": b"A11 6\n"}, "scenarios.german.study: .*german.data: sha256 is"),
    ("reps", {"german": None}, "scenarios.german.study: .*german.data: is no file"),
    ("censor", {"sdr": b""}, "scenarios.salary.file: .*EPSD17.DAT: neither a CSV with SALARYP nor fixed-width"),
    ("censor", {"sdr": b"SALARYP\n5\n"}, "EPSD17.DAT: is not in the form of 2017 Survey.*: .*columns"),
    ("censor", {"sdr": b"SALARYP;GENDER\n5;M\n"}, "EPSD17.DAT: is not in the form of"),
    ("censor", {"sdr": SDR}, "EPSD17.DAT: no record is of the sample"),
    ("censor", {"sdr": SDR + b"5,M,30,52,4,12\n"}, "EPSD17.DAT: no record is of the sample"),
    ("censor", {"sdr": SDR + b"much,M,30,52,3,12\n"}, "EPSD17.DAT: a salary, age group or number of weeks"),
    ("censor", {"sdr": SDR + b"5,M,30,52,3,12\n-5,F,30,52,3,12\n"}, "EPSD17.DAT: a salary, age group or number of weeks"),
    ("censor", {"sdr": SDR + b"5,M,31,52,3,12\n"}, "EPSD17.DAT: a salary, age group or number of weeks"),
    ("censor", {"sdr": SDR + b"5,M,30,53,3,12\n"}, "EPSD17.DAT: a salary, age group or number of weeks"),
    ("censor", {"sdr": SDR + b"5,X,30,52,3,12\n"}, "EPSD17.DAT: .*GENDER is neither M nor F"),
    ("censor", {"sdr": SDR + b"5,M,30,52,3,12\n"}, "gives 1 records"),
    ("censor", {"sdr": SDR + b"\xff,M,30,52,3,12\n"}, "EPSD17.DAT: a salary, age group or number of weeks"),
    ("censor", {"sdr": SDR + b'"5,M,30'}, "EPSD17.DAT: is not in the form of"),
    ("censor", {"sdr": b" " * 346 + b"\n"}, "EPSD17.DAT: neither a CSV with SALARYP nor fixed-width records of 347"),
    ("censor", {"sdr": b"x" * 347 + b"\n"}, "EPSD17.DAT: no record is of the sample"),
    ("censor", {"sdr": b"\x00" * 347}, "EPSD17.DAT: "),
    ("censor", {"sdr": None}, "EPSD17.DAT: is no file"),
]


@pytest.mark.parametrize(("paper", "files", "words"), DATA_FILES)
def test_a_data_file_that_cannot_be_used_is_named_before_any_job(with_data, paper, files, words):
    message = with_data(paper, **files)
    assert isinstance(message, str), "it was accepted"
    assert re.search(rf"papers/{paper}\.yaml: .*{words}", message), message


def test_two_good_records_of_the_survey_are_enough(with_data):
    plan = with_data("censor", sdr=SDR + b"5,M,30,52,3,12\n70000,F,40,50,3,12\n")
    assert plan.papers["censor"].scenarios["salary"].n == 2


def test_rows_that_leave_no_records_are_refused(shipped, read, fatigue):
    for rows in ([1, 1], [23], list(range(1, 22))):
        trees = of_paper(shipped, "range")
        put(trees[RANGE], "scenarios.fatigue.file.drop_rows", rows)
        expected = "scenarios.fatigue.file.drop_rows: given .*; allowed: different rows from 1 to 22, so that 2 or more are left"
        assert re.search(expected, refusal(read, trees))


def test_a_data_file_that_may_not_be_read_is_named(with_data, tmp_path, monkeypatch):
    (tmp_path / "fatigue.csv").write_text("stress,cycle\n")
    if os.geteuid() == 0:  # root may read everything

        def refuse(path, *arguments, **options):
            raise PermissionError(13, "Permission denied", str(path))

        monkeypatch.setattr(datasets, "open", refuse, raising=False)
    else:
        (tmp_path / "fatigue.csv").chmod(0)
    assert re.search(r"scenarios\.fatigue\.file: .*fatigue\.csv: cannot be read: Permission denied", with_data("range"))


def test_a_variable_that_names_no_folder_is_named(shipped, read, tmp_path, monkeypatch):
    (tmp_path / "file").touch()
    for value in (tmp_path / "nowhere", tmp_path / "file", "x" * 5000):
        monkeypatch.setenv("FORMALSYNTH_DATA", str(value))
        message = refusal(read, of_paper(shipped, "range"))
        assert message.startswith("environment variable FORMALSYNTH_DATA: given '")
        assert message.endswith("; allowed: a folder that is there")


READERS = {"fatigue": read_fatigue, "sdr": read_sdr, "margins": read_sdr_margins}
CELLS = st.sampled_from(["", "5", "-1", "0.5", "1e999", "nan", "M", "F", "12", "3", "30", "52", "x", '"', "9999998", "ÿ", "\0"])


@given(st.sampled_from(sorted(READERS)), st.data())
def test_no_reader_ends_in_anything_but_records_or_a_data_error(tmp_path_factory, name, data):
    """Tables with the right columns and any cells, and any bytes; a checksum does not stand before the readers here."""
    heads = {"fatigue": "stress,cycle", "sdr": SDR.decode().strip(), "margins": "variable,code,label,n_unweighted,n_weighted"}
    if data.draw(st.booleans()):
        rows = data.draw(st.lists(st.lists(CELLS, min_size=1, max_size=7), max_size=4))
        content = "\n".join([heads[name], *(",".join(row) for row in rows)]).encode("latin-1")
    else:
        content = data.draw(st.binary(max_size=400))
    path = tmp_path_factory.getbasetemp() / "data"
    path.write_bytes(content)
    with pytest.MonkeyPatch.context() as patch, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        one = datasets.Dataset("data", None, None, "nowhere", READERS[name])
        patch.setattr(datasets, "DATASETS", {"one": one})
        try:
            found = contents("one", path.parent)
        except DataError as error:
            assert str(error).startswith(f"{path}: ")
        else:
            if name != "margins":
                assert np.isfinite(found["x"]).all()
