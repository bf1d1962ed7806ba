"""The file Adult, released from an empty home as a custodian would: ids and weights suppressed, all else synthetic.

``python -m pytest -m slow -s release/tests/test_real_files.py`` prints how near the
distributions come. Nothing of the file is kept.
"""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from incomes import declare

from formalsynth.core.data_files import opened, shipped
from formalsynth_release.command import main

ADULT_HEADER = (
    "age,workclass,fnlwgt,education,education_num,marital_status,occupation,relationship,race,sex,capital_gain,capital_loss,"
    "hours_per_week,native_country,income"
)
DECLARED = {
    "source": "people", "protected": "person", "rows_each": 1, "neighbours": "replace", "outside_bounds": "clip",
    "missing": "refuse", "zeros": "keep"
}  # fmt: skip
RELEASE = {
    "sets": 2, "ceiling": 2, "budget": 2, "title": "Real records", "intended_use": "tests",
    "licence": "CC-BY-4.0", "curator.name": "Office of Examples",
    "curator.contact": "data@office.example", "analyses.replicates": 50,
}  # fmt: skip


def one_of(*categories, **keys):
    return {"type": "category", "categories": list(categories)} | keys


def whole(lower, upper, bins, **keys):
    return {"type": "whole", "lower": lower, "upper": upper, "bins": bins} | keys


LEFT_OUT = {"type": "whole", "release": "suppressed"}
# by the documentation of the file
ADULT = {
    "age": whole(17, 90, 74), "fnlwgt": LEFT_OUT, "education_num": LEFT_OUT,
    "native_country": {"type": "category", "release": "suppressed"},
    "workclass": one_of(
        "Private", "Self-emp-not-inc", "Self-emp-inc", "Federal-gov", "Local-gov", "State-gov", "Without-pay", "Never-worked",
        may_be_missing=True,
    ),
    "education": one_of(
        "Preschool", "1st-4th", "5th-6th", "7th-8th", "9th", "10th", "11th", "12th", "HS-grad", "Some-college", "Assoc-voc",
        "Assoc-acdm", "Bachelors", "Masters", "Prof-school", "Doctorate", ordered=True,
    ),
    "marital_status": one_of(
        "Married-civ-spouse", "Divorced", "Never-married", "Separated", "Widowed", "Married-spouse-absent", "Married-AF-spouse"
    ),
    "occupation": one_of(
        "Tech-support", "Craft-repair", "Other-service", "Sales", "Exec-managerial", "Prof-specialty", "Handlers-cleaners",
        "Machine-op-inspct", "Adm-clerical", "Farming-fishing", "Transport-moving", "Priv-house-serv", "Protective-serv",
        "Armed-Forces", may_be_missing=True,
    ),
    "relationship": one_of("Wife", "Own-child", "Husband", "Not-in-family", "Other-relative", "Unmarried"),
    "race": one_of("White", "Asian-Pac-Islander", "Amer-Indian-Eskimo", "Other", "Black"), "sex": one_of("Female", "Male"),
    "capital_gain": whole(0, 100_000, 16, own_zero=True, scale="signed_log", unit=1000),
    "capital_loss": whole(0, 5000, 16, own_zero=True), "hours_per_week": whole(1, 99, 99), "income": one_of("<=50K", ">50K"),
}  # fmt: skip
PAIRS = [
    ["age", "hours_per_week"], ["education", "hours_per_week"], ["education", "income"], ["age", "income"], ["sex", "income"],
    ["hours_per_week", "income"], ["marital_status", "relationship"], ["capital_gain kind", "income"],
]  # fmt: skip


@pytest.mark.slow
@pytest.mark.timeout(1800)
def test_a_real_file_is_released_by_the_guide(tmp_path, monkeypatch, capsys):
    outcome = "hours_per_week"
    with opened(next(path for path in shipped("adult.data") if path.exists())) as real:
        content = real.read()
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    lines = filter(str.strip, content.decode().splitlines())
    Path("adult.csv").write_text("\n".join([ADULT_HEADER, *(line.replace(", ", ",") for line in lines)]) + "\n")
    assert main(["inspect", "adult.csv", "--outcome", outcome]) == 0, capsys.readouterr().err
    in_order = {column: ADULT[column] for column in ADULT_HEADER.split(",")}
    for column, keys in in_order.items():
        if column != outcome:
            keys.setdefault("release", "synthesized")
    declare(
        "studies/adult",
        {"schema.yaml": DECLARED | {"rows": 32_561, "pairs": PAIRS, "columns": in_order}, "release.yaml": RELEASE},
    )
    for command in (["check"], ["plan"], ["release"]):
        assert main([*command, "studies/adult"]) == 0, capsys.readouterr().err
    assert main(["verify", "releases/adult", "--study", "studies/adult"]) == 0, capsys.readouterr().err
    released = [column for column, keys in in_order.items() if keys.get("release") != "suppressed"]
    synthetic = pd.read_csv("releases/adult/synthetic_1.csv", dtype=str)
    assert list(synthetic) == released
    assert len(synthetic) == 32_561
    texts = "".join(path.read_text() for path in Path("releases/adult").iterdir())
    assert not any(column in texts for column in set(in_order) - set(released))
    ours = pd.read_csv("adult.csv", dtype=str, na_values=["?"])
    differences = {column: difference(ours[column], synthetic[column], in_order[column]["type"]) for column in released}
    with capsys.disabled():
        print("\nadult: differences of distributions", {column: round(value, 3) for column, value in differences.items()})
    assert np.median(list(differences.values())) < 0.05
    relation = [cramers_v(rows["marital_status"], rows["relationship"]) for rows in (ours, synthetic)]
    with capsys.disabled():
        print("Cramer's V of marital status and relationship:", np.round(relation, 3))
    assert abs(relation[0] - relation[1]) < 0.1


def cramers_v(first, second):
    counts = pd.crosstab(first, second).to_numpy(dtype=float)
    expected = counts.sum(axis=1, keepdims=True) * counts.sum(axis=0) / counts.sum()
    return float(np.sqrt(((counts - expected) ** 2 / expected).sum() / counts.sum() / (min(counts.shape) - 1)))


def difference(first, second, kind):
    """Total variation of two columns of categories, largest difference of the distribution functions of numbers."""
    if kind == "category":
        shares = [column.fillna("").value_counts(normalize=True) for column in (first, second)]
        return float(shares[0].sub(shares[1], fill_value=0).abs().sum() / 2)
    numbers = [np.sort(column.dropna().astype(float)) for column in (first, second)]
    grid = np.unique(np.concatenate(numbers))
    ecdf = [np.searchsorted(values, grid, side="right") / len(values) for values in numbers]
    return float(np.abs(ecdf[0] - ecdf[1]).max())
