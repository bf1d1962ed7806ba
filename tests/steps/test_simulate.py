"""Simulate: confidential data that depend on their address alone."""

import numpy as np
from scipy import stats
from small_study import as_passed, small_paper

from formalsynth.core.inputs import Ranges
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


def test_fits_see_the_outcome_in_its_unit(tmp_path):
    """The same draws, divided by the declared unit; predictors are unchanged."""
    job = as_passed(small_paper(tmp_path).scenarios["skewed_n60"].simulate_job("0000-0002"))
    dollars, thousands = (simulate_batch(job.model_copy(update={"unit": unit})) for unit in (1.0, 1000.0))
    np.testing.assert_array_equal(thousands.x, dollars.x / 1000)
    np.testing.assert_array_equal(thousands.design, dollars.design)


def test_declared_ranges_are_in_the_unit_of_the_data(tmp_path):
    ranges = Ranges(edges=(0, 1, 5, 1000))
    job = as_passed(small_paper(tmp_path).scenarios["skewed_n60"].simulate_job("0000-0002")).model_copy(update={"ranges": ranges})
    dollars, thousands = (simulate_batch(job.model_copy(update={"unit": unit})) for unit in (1.0, 1000.0))
    for name in ("range_low", "range_high"):
        np.testing.assert_array_equal(thousands.records(1).inputs[name], dollars.records(1).inputs[name] / 1000)


def test_real_records_are_the_files(plan_of, fatigue):
    data = simulated(plan_of("range").papers["range"].scenarios["fatigue"], [0])
    assert (data.x[0] == fatigue.x).all()
    assert (data.design[0] == fatigue.design).all()
