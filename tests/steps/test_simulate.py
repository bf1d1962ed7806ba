"""Simulate: confidential data that depend on their address alone."""

import numpy as np
from formalsynth.design import read_plan
from formalsynth.steps.simulate import simulate_batch
from scipy import stats
from small_study import ROOT, small_paper


def test_a_replicate_does_not_depend_on_its_batch(tmp_path):
    scenario = small_paper(tmp_path).scenarios["skewed_n60"]
    together = simulate_batch(scenario, ROOT, [0, 1, 2, 3], "resources")
    assert together["replicate"].tolist() == [0, 1, 2, 3]
    assert together["x"].shape == (4, 60)
    assert together["design"].shape == (4, 60, 2)
    for k in (3, 1):
        alone = simulate_batch(scenario, ROOT, [k], "resources")
        assert (alone["x"][0] == together["x"][k]).all()
        assert (alone["design"][0] == together["design"][k]).all()


def test_replicates_and_seeds_differ(tmp_path):
    scenario = small_paper(tmp_path).scenarios["skewed_n60"]
    one, other = simulate_batch(scenario, ROOT, [0, 1], "resources"), simulate_batch(scenario, ROOT + 1, [0], "resources")
    assert not np.isin(one["x"][0], one["x"][1]).any()
    assert not np.isin(one["x"][0], other["x"][0]).any()


def test_the_population_is_the_papers(tmp_path):
    """Range paper, Section 4.1: z ~ normal(2, 1) and log x ~ normal(z + 1, 1); Kolmogorov-Smirnov, refused at 1e-5."""
    scenario = small_paper(tmp_path, n=20_000).scenarios["skewed_n20000"]
    data = simulate_batch(scenario, ROOT, [0], "resources")
    constant, z = data["design"][0].T
    noise = np.log(data["x"][0]) - z - 1
    assert (constant == 1).all()
    assert stats.kstest(z - 2, "norm").pvalue > 1e-5
    assert stats.kstest(noise, "norm").pvalue > 1e-5
    assert abs(np.corrcoef(z, noise)[0, 1]) < 5 / np.sqrt(20_000)


def test_real_records_are_the_files(repository, fatigue, monkeypatch):
    import yaml

    run = yaml.safe_load((repository / "config" / "config.yaml").read_text(encoding="utf-8")) | {"papers": ["range"]}
    scenario = read_plan(run, repository / "config").papers["range"].scenarios["fatigue"]
    data = simulate_batch(scenario, ROOT, [0], str(repository / "resources"))
    assert (data["x"][0] == fatigue["x"]).all()
    assert (data["design"][0] == fatigue["design"]).all()
