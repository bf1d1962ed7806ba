"""Oracles of Stan programs: exact moments, finite differences, and the other form of the same program."""

import subprocess

import numpy as np
import pytest

from formalsynth.stan.command import as_json
from formalsynth.stan.sample import Lengths, run_chain

# Each Monte Carlo comparison is at this many standard errors: even 200 of them, two-sided, fail by chance in fewer than one
# run in 10,000, as 200 * 2 * P(Z > 5.5) < 2e-5.
BAND = 5.5


def check_moments(values, mean, sd, effective, what):
    """Mean and standard deviation of draws of which so many are effective, against the exact ones."""
    assert abs(values.mean() - mean) < BAND * sd / np.sqrt(effective), what
    # The standard error of a standard deviation, for a kurtosis of up to 9.
    assert abs(values.std() - sd) < BAND * sd * np.sqrt(2 / effective), what


def check_same_path(compiled, family, data, rtol=1e-6):
    """Both forms take the same path from the same start, but for rounding, which grows along it."""
    lengths = Lengths(warmup=15, draws=15, thin=1, adapt_delta=0.65)
    names = ("lp__", "accept_stat__", *family.parameters)
    forms = [run_chain(compiled(family.program, native), data, family.inits(data), names, 3, lengths) for native in (True, False)]
    for name in names:
        first, other = (chain.draws[name] for chain in forms)
        assert len(np.unique(first)) > 3
        np.testing.assert_allclose(first, other, rtol=rtol, atol=1e-9, err_msg=name)


def check_gradient(executable, data, folder, init=None):
    """The gradient in each unconstrained parameter against finite differences; returns how many there are."""
    for name, values in (("data", data), ("init", init)):
        (folder / f"{name}.json").write_text(as_json(values or {}), encoding="utf-8")
    start = f"init={folder / 'init.json'}" if init else "init=0.5"
    command = [executable, "diagnose", "test=gradient", "error=1e-4", "random", "seed=5", start]
    command += ["data", f"file={folder / 'data.json'}"]
    run = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    assert "param idx" in run.stdout, run.stdout + run.stderr
    rows = [line.split() for line in run.stdout.split("error\n")[1].splitlines() if line.strip() and line.split()[0].isdigit()]
    for _, _, model, finite, _ in rows:
        assert float(model) == pytest.approx(float(finite), rel=1e-3, abs=1e-3)
    return len(rows)
