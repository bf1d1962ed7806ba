"""Origin of figures and tables: each file alone tells what is needed to make it again."""

import xml.etree.ElementTree as ElementTree

import pytest
from formalsynth import __version__
from formalsynth.plan.jobs import Jobs
from formalsynth.show.draw import draw_figure
from formalsynth.show.origin import Origin
from formalsynth.show.tidy import figure_table
from made_up_displays import figure_of, rows_of, scenario_of, table_display
from PIL import Image

RUN = {
    "software": "formalsynth 9.9 (commit abc1234)",
    "seed": "17",
    "config": "0123456789ab",
    "options": " --config root_seed=17",
}
PARTS = (
    "formalsynth 9.9",
    "abc1234",
    "17",
    "0123456789ab",
    "figure 4b",
    "paper",
    "snakemake --cores 1 fig.png --config root_seed=17",
)


@pytest.fixture
def drawn(tmp_path):
    scenario = scenario_of("first")
    display = figure_of(scenarios=[scenario], number="4b", subject="Bounds")
    origin = Origin.of(RUN, display, "fig.png")
    draw_figure(
        display, figure_table(display, [rows_of(scenario)]), [tmp_path / f"fig.{kind}" for kind in ("png", "svg")], origin
    )
    return tmp_path


def test_a_png_has_its_origin(drawn):
    text = Image.open(drawn / "fig.png").text
    assert text["Title"] == "Figure 4b of small. Bounds"
    assert text["Software"] == RUN["software"]
    assert [part for part in PARTS if part not in text["Description"]] == []


def test_an_svg_has_its_origin_and_no_time(drawn):
    metadata = "".join(ElementTree.parse(drawn / "fig.svg").getroot().find("{*}metadata").itertext())
    assert [part for part in PARTS if part not in metadata] == []
    assert "date" not in (drawn / "fig.svg").read_text().partition("</metadata>")[0]


def test_a_table_has_its_origin():
    words = Origin.of(RUN, table_display(number="2", statistics=["mean"]), "results/paper/small/table2.csv").words
    assert "from table 2 in the config of small" in words
    assert words.endswith("snakemake --cores 1 results/paper/small/table2.csv --config root_seed=17")


def test_a_run_describes_itself(plan_of, repository):
    jobs = Jobs(plan_of("range"), repository / "config").papers["range"]
    run = jobs.origin({"papers": ["range"], "scale": "smoke"})
    assert run["software"].startswith(f"formalsynth {__version__} (commit ")
    assert (run["seed"], len(run["config"])) == ("20260205", 12)
    assert run["options"] == """ --config 'papers=["range"]' scale=smoke"""
