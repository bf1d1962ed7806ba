"""Fits of bench/fits.py by PyMC with nutpie: <python with pymc and nutpie> bench/pymc_fits.py FILE MODEL REPETITIONS.

FILE is an npz with the outcomes x, the weights, and any other input of the model. The output is JSON: the processor seconds of
compiling the model, and of each fit with the weighted log-likelihood of all records; a new data set requires a new compilation.
"""

import json
import resource
import sys

import numpy as np
import nutpie
import pymc as pm
import pytensor.tensor as pt

DRAWS, WARMUP, ACCEPTANCE = 1000, 400, 0.65


def seconds() -> float:
    """Processor seconds of this process."""
    used = resource.getrusage(resource.RUSAGE_SELF)
    return used.ru_utime + used.ru_stime


def model_of(name: str, data: dict[str, np.ndarray]) -> pm.Model:
    """Build a model, with the weighted log-likelihood of each record as a deterministic."""
    x, weight = data["x"], data["weight"]
    with pm.Model() as model:
        if name == "lognormal":
            beta = pm.Normal("beta", 0, 100, shape=data["design"].shape[1])
            precision = pm.Gamma("precision", 0.01, 0.01)
            terms = weight * pm.logp(pm.LogNormal.dist(pt.dot(data["design"], beta), precision**-0.5), x)
        elif name == "beta":
            phi, precision = pm.Uniform("phi", 0, 1), pm.Pareto("lambda", alpha=1.5, m=0.1)
            plain = weight * pm.logp(pm.Beta.dist(precision * phi, precision * (1 - phi)), x)
            terms = pt.clip(plain, -float(data["threshold"]), float(data["threshold"]))
        else:
            mu, reciprocal = pm.Gamma("mu", 0.01, 0.01), pm.HalfCauchy("reciprocal", 5)
            terms = weight * pm.logp(pm.NegativeBinomial.dist(mu=mu, alpha=1 / reciprocal), x.astype(int))
        pm.Potential("target", terms.sum())
        pm.Deterministic("log_lik", terms)
    return model


def main() -> None:
    """Print the seconds of compiling and of each fit."""
    file, name, repetitions = sys.argv[1], sys.argv[2], int(sys.argv[3])
    data = dict(np.load(file))
    start = seconds()
    compiled = nutpie.compile_pymc_model(model_of(name, data))
    compiling, fits = seconds() - start, []
    for seed in range(1, repetitions + 1):
        start = seconds()
        lengths = {"draws": DRAWS, "tune": WARMUP, "chains": 1, "cores": 1}
        trace = nutpie.sample(compiled, seed=seed, target_accept=ACCEPTANCE, progress_bar=False, **lengths)
        float(np.abs(trace.posterior["log_lik"]).max())
        fits.append(seconds() - start)
    print(json.dumps({"compiling": compiling, "fits": fits}))


if __name__ == "__main__":
    main()
