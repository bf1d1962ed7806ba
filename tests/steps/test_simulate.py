"""Simulate: confidential data that depend on their address alone."""

import numpy as np
from scipy import stats
from small_study import as_passed, small_paper

from formalsynth_workflow.steps.simulate import simulate_batch


def simulated(scenario, replicates):
    """Some replicates of a scenario, from what the workflow tells its job."""
    return simulate_batch(as_passed(scenario.simulate_job("0000-0000")).model_copy(update={"replicates": tuple(replicates)}))


def test_a_replicate_does_not_depend_on_its_batch(tmp_path):
    scenario = small_paper(tmp_path).scenarios["skewed_n60"]
    together = simulated(scenario, [0, 1, 2, 3])
    assert together.replicate.tolist() == [0, 1, 2, 3]
    assert together.x.shape == (4, 60)
    assert together.design.shape == (4, 60, 2)
    for k in (3, 1):
        alone = simulated(scenario, [k])
        assert (alone.x[0] == together.x[k]).all()
        assert (alone.design[0] == together.design[k]).all()


def test_replicates_and_seeds_differ(tmp_path):
    scenario = small_paper(tmp_path).scenarios["skewed_n60"]
    job = as_passed(scenario.simulate_job("0000-0002"))
    other_root = job.model_copy(update={"key": job.key.model_copy(update={"root": job.key.root + 1})})
    batch, other = simulate_batch(job), simulate_batch(other_root)
    assert len(batch.x) == 3
    assert not np.isin(batch.x[0], batch.x[1]).any()
    assert not np.isin(batch.x[0], other.x[0]).any()


def test_the_population_is_the_papers(tmp_path):
    """Range paper, Section 4.1: z ~ normal(2, 1) and log x ~ normal(z + 1, 1); Kolmogorov-Smirnov, refused at 1e-5."""
    scenario = small_paper(tmp_path, n=20_000).scenarios["skewed_n20000"]
    data = simulated(scenario, [0])
    constant, z = data.design[0].T
    noise = np.log(data.x[0]) - z - 1
    assert (constant == 1).all()
    assert stats.kstest(z - 2, "norm").pvalue > 1e-5
    assert stats.kstest(noise, "norm").pvalue > 1e-5
    assert abs(np.corrcoef(z, noise)[0, 1]) < 5 / np.sqrt(20_000)


def test_real_records_are_the_files(plan_of, fatigue):
    data = simulated(plan_of("range").papers["range"].scenarios["fatigue"], [0])
    assert (data.x[0] == fatigue.x).all()
    assert (data.design[0] == fatigue.design).all()
