"""Minimum distance by real Snakemake, from config to the figure and the ledger, without Stan."""

import pandas as pd
import pytest
import yaml
from runs import prepared

pytestmark = [pytest.mark.workflow, pytest.mark.stan]

BOX = {"low": -5, "high": 5, "spread_low": 0.3, "spread_high": 100}
PAPER = {
    "id": 98,
    "title": "A study of minimum distance",
    "authors": "Somebody (2026)",
    "sweeps": {"epsilon": [1, 4]},
    "synthesizers": {
        "Unweighted": {"mechanism": "unweighted", "colours": ["#8c8c8c"]},
        "distance": {
            "mechanism": "minimum_distance", "over": ["epsilon"], "id": "distance_{epsilon}", "label": "ε = {epsilon}",
            "parameters": BOX, "colours": ["#d55e00", "#0072b2"],
        },
    },
    "scenarios": {
        "shares": {
            "id": 1, "place": "Section 1", "label": "Shares", "family": "beta", "n": 300, "replicates": 20, "batch_size": 10,
            "population": {"name": "beta", "shape1": 0.5, "shape2": 3}, "exact": True, "synthesizers": ["Unweighted", "distance"],
            "audit": {
                "outcome": {"low": 0.001, "high": 0.999, "points": 2, "logit": True}, "synthesizers": ["distance"],
                "each": 1, "random": 1, "refined": 1, "replicates": 1,
            },
        },
    },
    "figures": {
        1: {
            "kind": "line", "scenario": "shares", "value": "ecdf_max", "at": "epsilon", "x_label": "ε",
            "synthesizers": ["Unweighted", "distance"], "y": "largest ECDF difference", "subject": "Utility of minimum distance",
        },
    },
}  # fmt: skip
CLAIM = {
    "id": "closer", "place": "Section 1", "shows": "figure 1", "claim": "A larger ε is closer to the data.", "kind": "ours",
    "estimate": {"scenario": "shares", "value": ["ecdf_max"], "of": ["distance_1", "distance_4"]},
    "test": {"kind": "order", "direction": "falling"},
}  # fmt: skip


def test_a_study_of_minimum_distance_runs_from_config_to_ledger(tmp_path, repository, completed, cmdstan):
    folder = prepared(tmp_path, repository, cmdstan)
    run = yaml.safe_load((folder / "config" / "config.yaml").read_text(encoding="utf-8"))
    for name, content in (
        ("config.yaml", run | {"papers": ["distance"], "scale": "paper"}),
        ("papers/distance.yaml", PAPER),
        ("claims/distance.yaml", {"claims": [CLAIM]}),
    ):
        (folder / "config" / name).write_text(yaml.safe_dump(content, sort_keys=False), encoding="utf-8")
    results, figure = folder / "results" / "paper" / "distance", "figures/paper/distance/fig01.svg"
    said = completed(folder, "--cores", 1, "--", figure, "results/paper/distance/claims.csv")
    assert "(100%) done" in said
    rows = pd.read_csv(results / "shares_n300" / "replicates.csv")
    strict = rows[rows.synthesizer.str.startswith("distance")]
    assert strict.groupby("synthesizer").size().to_dict() == {"distance_1": 20, "distance_4": 20}
    assert set(strict.status) == {"ok"}
    assert (strict.epsilon == strict.synthesizer.map({"distance_1": 1.0, "distance_4": 4.0})).all()
    # two samples of 300 differ by 0.07 and the posterior without privacy is as far; a failed selection by 0.3
    assert strict[strict.synthesizer == "distance_4"].ecdf_max.median() < 0.15
    audited = pd.read_csv(results / "shares_n300" / "audit.csv")
    exact = audited[audited.delta == audited.delta.min()]
    assert set(exact.neighbour) >= {"add", "remove"}
    claim = exact.synthesizer.map({"distance_1": 1.0, "distance_4": 4.0})
    assert (exact.audited <= claim + 1e-9).all()
    assert (exact.groupby("synthesizer").audited.max() > 0.1).all()
    assert (folder / figure).stat().st_size > 1000
    assert pd.read_csv(results / "claims.csv").verdict.notna().all()
