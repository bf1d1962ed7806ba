"""All problems are reported in one message, without repeating the same problem."""

import pytest
from config_trees import CLAIM, CONFIG, RANGE, ZCDP, assert_blames, of_papers, put, refusal

MISTAKES = {
    # keys and values of the wrong kind, in both files of a paper
    "keys": {
        RANGE: {
            "synthesizers.Weighted.mechanism": ("weigthed", "synthesizers.Weighted.mechanism: given 'weigthed';"),
            "synthesizers.averaged.color": ("red", "synthesizers.averaged.color: given 'red';"),
            "scenarios.simulation.replicates": (0, "scenarios.simulation.replicates: given 0;"),
            "figures.1.kind": ("histogram", "figures.1.kind: given 'histogram';"),
            "tables.1.kind": ("medians", "tables.1.kind: given 'medians';"),
            "tables.2.printed": ({"Weighted": {"slope": "steep"}}, "tables.2.printed.Weighted.slope: given 'steep';"),
        },
        CLAIM: {
            "claims.0.test.kind": ("ordered", "claims.0.test.kind: given 'ordered';"),
        },
    },
    # synthesizers that cannot be
    "synthesizers": {
        RANGE: {
            "synthesizers.Weighted.parents": ([], "synthesizers.Weighted.parents: given []; allowed: 1 for weighted"),
            "synthesizers.averaged.over": (["ranges"], "synthesizers.averaged.over: given 'ranges'; allowed: range"),
            "synthesizers.top.id": ("top", "synthesizers.top.id: given 'top'; allowed: an id that is not in use"),
            "sweeps.scaled.0.c": (-1, "sweeps.scaled.c: given -1.0;"),
        },
    },
    # scenarios, figures, tables and claims of what is not there
    "names": {
        RANGE: {
            "scenarios.simulation.family": ("lognormall", "scenarios.simulation.family: given 'lognormall'; allowed: "),
            "scenarios.contraction.synthesizers": (["Wieghted"], "scenarios.contraction.synthesizers: given 'Wieghted';"),
            "scenarios.fatigue.n": (5, "scenarios.fatigue.n: given 5; allowed: nothing"),
            "figures.6.value": ("bonud", "figures.6.value: given 'bonud'; allowed: "),
            "telling": (["99"], "telling: given '99'; allowed: "),
            "tables.2.value": ("dleta", "tables.2.value: given 'dleta'; allowed: "),
        },
        CLAIM: {
            "answer": (["bounds-odrer"], "answer: given 'bounds-odrer'; allowed: bounds-order, "),
            "questions": ({"Is it?": ["figure 1", "figure 99"]}, "questions.Is it?: given 'figure 99'; allowed: bounds-order, "),
            "claims.0.estimate.over": ("synthesiser", "claims.bounds-order.estimate.over: given 'synthesiser'; allowed: "),
            "claims.1.shows": ("figure 99", "claims.bounds-contract.shows: given 'figure 99'; allowed: "),
        },
    },
}  # fmt: skip


@pytest.mark.parametrize("mistakes", MISTAKES.values(), ids=MISTAKES)
def test_all_that_is_wrong_in_a_paper_is_reported_at_once(own, read, mistakes, fatigue):
    """Problems of both files: a line for each mistake, and none for what only follows from it."""
    trees = of_papers(own, "range")
    for file, changes in mistakes.items():
        for path, (value, _) in changes.items():
            put(trees[file], path, value)
    message = refusal(read, trees)
    for file, changes in mistakes.items():
        for _, start in changes.values():
            assert_blames(message, file, start)
    wrong = sum(map(len, mistakes.values()))
    assert len(message.splitlines()) == wrong, message


def test_all_papers_are_reported_at_once(own, read):
    trees = of_papers(own, "range", "zcdp", "reps")
    put(trees[RANGE], "figures.1.kind", "histogram")
    put(trees[ZCDP], "synthesizers.Synthetic.arm", "synthetics")
    put(trees["claims/zcdp.yaml"], "claims", 5)
    message = refusal(read, trees)
    assert_blames(message, RANGE, "figures.1.kind: given 'histogram';")
    assert_blames(message, ZCDP, "synthesizers.Synthetic.arm: given 'synthetics';")
    assert_blames(message, "claims/zcdp.yaml", "claims: given 5;")
    assert len(message.splitlines()) == 3


def test_all_that_is_wrong_in_the_run_is_reported_at_once(own, read, tmp_path, monkeypatch):
    trees = of_papers(own, "range")
    put(trees[CONFIG], "batch_size", 0)
    put(trees[CONFIG], "sampler.draws", 1)
    lines = refusal(read, trees).splitlines()
    assert [line.split(": ")[1] for line in lines] == ["batch_size", "sampler.draws"]
    trees = of_papers(own, "range")
    monkeypatch.setenv("FORMALSYNTH_DATA", str(tmp_path / "nowhere"))
    put(trees[CONFIG], "scale", "huge")
    put(trees[CONFIG], "data_folder", "/dev/null")
    lines = refusal(read, trees).splitlines()
    assert [line.split(": given")[0].split("/")[-1] for line in lines] == [
        "config.yaml: scale", "environment variable FORMALSYNTH_DATA", "config.yaml: data_folder",
    ]  # fmt: skip


def test_ids_are_unique_over_papers(own, read):
    trees = of_papers(own, "zcdp", "reps")
    put(trees[ZCDP], "id", trees["papers/reps.yaml"]["id"])
    assert_blames(refusal(read, trees), "papers/reps.yaml", "id: given 5; it is already used at", "zcdp.yaml: id")
    trees = of_papers(own, "range", "reps")
    put(trees["claims/reps.yaml"], "claims.0.id", "bounds-order")
    expected = "claims.bounds-order.id: given 'bounds-order'; it is already used at"
    assert_blames(refusal(read, trees), "claims/reps.yaml", expected, "range.yaml: claims.bounds-order.id")
