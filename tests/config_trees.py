"""The shipped config as nested dictionaries, to be changed and read as a plan without files, and claims of our own."""

import re

import pytest

from formalsynth.settings.messages import ConfigError
from formalsynth_workflow.plan import load

PAPERS = ("range", "censor", "reweight", "zcdp", "reps", "cost")
CONFIG, RANGE, CENSOR, REWEIGHT, ZCDP, REPS, COST = "config.yaml", *(f"papers/{paper}.yaml" for paper in PAPERS)
CLAIM, ERRATA = "claims/range.yaml", "errata.yaml"
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
        {
            "id": "sets-differ-again", "place": "Section 5", "claim": "Means of fatigue data, once more.", "kind": "implied",
            "implied_by": "sets-differ",
            "estimate": {
                "scenario": "fatigue", "table": "sets", "value": ["mean"], "by": "set", "of": ["Weighted"], "distance": 22743,
            },
            "test": {"kind": "within", "high": 9000},
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


def shipped_trees(config):
    """Contents of the shipped files by their path below ``config/``, with our claims among theirs."""
    trees = Trees()
    for path in ["config.yaml", *(f"papers/{paper}.yaml" for paper in PAPERS)]:
        trees[path] = untied(load.load_yaml(config / path))
    trees[ERRATA] = untied(load.load_yaml(config / ERRATA))
    for paper in PAPERS:
        path = config / "claims" / f"{paper}.yaml"
        shipped = load.load_yaml(path)["claims"] if path.exists() else []
        trees[f"claims/{paper}.yaml"] = {"claims": untied([*shipped, *CLAIMS.get(paper, [])])}
    return trees


def own_trees(shipped):
    """The shipped files of each paper, with our claims in place of theirs."""
    return Trees(shipped | {f"claims/{paper}.yaml": {"claims": CLAIMS.get(paper, [])} for paper in PAPERS})


def of_papers(trees, *papers):
    """Copies of the files of a run of some papers."""
    names = ["config.yaml", ERRATA, *(f"{part}/{paper}.yaml" for paper in papers for part in ("papers", "claims"))]
    copies = Trees({name: untied(trees[name]) for name in names})
    copies["config.yaml"]["papers"] = list(papers)
    return copies


def reader(folder):
    """Reader of trees as a plan; files exist by name only, which is a hundred times faster than writing and parsing them."""
    for part in ("papers", "claims"):
        (folder / part).mkdir(exist_ok=True)
    for paper in PAPERS:  # errata name papers that a run may leave out
        (folder / "papers" / f"{paper}.yaml").touch()

    def read(trees):
        new = [folder / path for path in trees if not (folder / path).exists()]
        for path in new:
            path.touch()
        try:
            with pytest.MonkeyPatch.context() as patch:
                patch.setattr(load, "load_yaml", lambda path: trees[path.relative_to(folder).as_posix()])
                return load.read_plan(trees["config.yaml"], folder)
        finally:
            for path in new:
                path.unlink()

    return read


def refusal(read, trees):
    """Why the trees are refused, or their plan."""
    try:
        return read(trees)
    except ConfigError as error:
        return str(error)


def assert_blames(message, file, start, *words):
    """Every line names a file and a key, and one is that of this problem."""
    assert_readable(message)
    assert blames(message, file, start, *words), message


def blames(message, file, start, *words):
    """True if a line of the message begins so after the file, and has these words."""
    return any(f"{file}: {start}" in line and all(word in line for word in words) for line in message.splitlines())


def assert_readable(message):
    """Each line names a file, a key in it and the problem."""
    for line in message.splitlines():
        assert re.match(r"(\S*/)?(config|errata|(papers|claims)/\w+)\.yaml: \S", line), message
        assert "allowed" in line or "needs" in line or ";" in line or "expected" in line or ": " in line, message
    assert len(message) < 20_000


def untied(tree):
    """A copy in which no two entries are the same object, as the anchors of YAML make them."""
    if isinstance(tree, dict):
        return {key: untied(value) for key, value in tree.items()}
    return [untied(part) for part in tree] if isinstance(tree, list | tuple) else tree


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
