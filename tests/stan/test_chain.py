"""CmdStan's CSV: what is read of it, and when it is not whole."""

import subprocess
import sys

import numpy as np
import pytest

from formalsynth.stan.command import read_csv
from formalsynth.stan.sample import Lengths, run_chain

HEAD = "lp__,accept_stat__,stepsize__,treedepth__,n_leapfrog__,divergent__,energy__"
TEXT = f"""\
# stan_version_major = 2
#     file = /tmp/\xe9/data.json
{HEAD},mu,theta.1,theta.2,corr.1.1,corr.2.1,corr.1.2,corr.2.2,corr.1.3,corr.2.3
# Adaptation terminated
-1,0.9,0.5,10,7,0,1,0.1,-1e-300,nan,11,21,12,22,13,23
-2,0.9,0.5,3,7,1,1,0.10000000000001,5,inf,31,41,32,42,33,43
#
#  Elapsed Time: 0.03 seconds (Warm-up)
"""


def test_variables_have_their_shapes():
    values = read_csv(TEXT, 2)
    assert list(values) == [*HEAD.split(","), "mu", "theta", "corr"]
    np.testing.assert_array_equal(values["mu"], [0.1, 0.10000000000001], strict=True)
    np.testing.assert_array_equal(values["theta"], [[-1e-300, np.nan], [5, np.inf]], strict=True)
    np.testing.assert_array_equal(values["corr"][1], [[31, 32, 33], [41, 42, 43]])
    assert all(array.flags["C_CONTIGUOUS"] for array in values.values())


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("", "wrote 0 of 2 draws"),
        (TEXT[: TEXT.index("lp__") + 20], "wrote 0 of 2 draws"),
        (TEXT[: TEXT.index("-2,") + 25], "wrote 1 of 2 draws"),
        (TEXT[: TEXT.index(",42")] + "\n", "column"),
        (TEXT[: TEXT.index(",43") + 3], "wrote 1 of 2 draws"),
        (TEXT.replace("-1e-300", "none"), "none"),
    ],
)
def test_what_is_not_whole_is_refused(text, reason):
    with pytest.raises(ValueError, match=reason):
        read_csv(text, 2)


@pytest.mark.stan
def test_a_fit_loads_nothing_that_takes_long(program):
    """Each job would take half a second for it."""
    data = {"p": 1, "weight_total": 50.0, "theta_hat": [0.5], "inverse_factor": [[1.0]]}
    data |= {"residual_squares": 50.0, "prior_sd": 100.0, "prior_shape": 0.01, "prior_scale": 0.01}
    data |= {"n": 0, "terms": [], "group": [], "threshold": 0.0, "m": 0, "low": [], "high": [], "basis": [], "times": []}
    heavy = {"arviz_stats", "cmdstanpy", "matplotlib", "pandas", "scipy.stats", "sklearn"}
    code = (
        "import sys\n"
        "from pathlib import Path\n"
        "from formalsynth_workflow.jobs.inputs import SamplerSettings\n"
        "from formalsynth.stan.sample import sample\n"
        "from formalsynth_workflow.steps.fit import fit_batch\n"
        f"fit = sample(Path({str(program)!r}), {data!r}, {{'theta': [0.5], 'log_sigma': 0.0}}, ('beta', 'sigma'), 1,\n"
        "             SamplerSettings(ess_min=1))\n"
        f"print(fit.status, *({heavy!r} & set(sys.modules)))\n"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout.split() == ["ok"]


def test_a_program_on_a_file_system_that_runs_none_is_named(tmp_path):
    """A file without the permission replaces noexec: the error of the system is the same."""
    (tmp_path / "program").write_text("#!/bin/sh\n")
    with pytest.raises(OSError, match=r"/program cannot be started \(Permission denied\): is its folder .* noexec"):
        run_chain(tmp_path / "program", {"n": 1}, {}, ["mu"], 1, Lengths(10, 10, 1, 0.8))
