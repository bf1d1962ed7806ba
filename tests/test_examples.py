"""The notebook for Python, and the examples: each runs as it is."""

import re
import runpy

import matplotlib.pyplot as plt
import pytest

CELL = re.compile(r"^```python\n(.*?)^```$", re.MULTILINE | re.DOTALL)


@pytest.fixture
def output(repository, capsys):
    """Function that runs an example and returns the lines that it prints."""

    def run(name):
        runpy.run_path(str(repository / "examples" / name))
        return capsys.readouterr().out.splitlines()

    return run


@pytest.mark.stan
def test_the_cells_of_the_notebook_run_in_order(repository, cmdstan, capsys):
    cells = CELL.findall((repository / "docs" / "tutorials" / "python.md").read_text(encoding="utf-8"))
    assert len(cells) == 5
    names = {}
    for cell in cells:
        exec(cell, names)
    assert names["sets"].shape == (5, 500)
    assert names["weighted"].epsilon < names["plain"].epsilon
    assert names["censored"].epsilon == 4.0
    violins = [len(plt.figure(number).axes[0].get_xticks()) for number in plt.get_fignums()]
    plt.close("all")
    assert violins == [6, 2]
    assert f"epsilon {names['weighted'].epsilon:.1f} for each set, asymptotic DP" in capsys.readouterr().out


@pytest.mark.stan
def test_a_sensitive_range_has_a_smaller_epsilon(output, cmdstan):
    weighted, averaged = output("range_restricted.py")
    epsilon = [float(re.search(r"epsilon ([\d.]+)", line)[1]) for line in (weighted, averaged)]
    assert epsilon[1] < epsilon[0]
    assert "range-averaged | R" in averaged


@pytest.mark.stan
def test_a_smaller_epsilon_clips_more_counts_and_moves_the_mean_to_the_prior(output, cmdstan):
    lines = output("censoring.py")
    means, shares = (
        [float(number) for number in re.findall(pattern, "\n".join(lines))] for pattern in (r"mean ([\d.]+)", r"(\d+)%")
    )
    assert means == sorted(means, reverse=True)
    assert shares == sorted(shares)
    assert len(lines) == 3


@pytest.mark.slow
def test_a_program_of_ones_own_is_weighted(output, cmdstan):
    first, second = output("own_program.py")
    weighted, plain = map(float, re.search(r"epsilon ([\d.]+), .*; ([\d.]+)", first).groups())
    assert weighted < plain
    assert second.startswith("zeros: 0.")
