"""The house style: colours that can be told apart by all, marks of guarantees, sizes of type."""

import itertools

import numpy as np
import pytest
from formalsynth.core.words import GUARANTEES
from formalsynth.plan.model import find_all
from formalsynth.show.drawing import MARKERS, line_place
from formalsynth.show.figures.frontier import shapes
from formalsynth.show.sight import APART, SIGHTS, ciede2000, lab, nearest
from formalsynth.show.style import COLUMN, INK, PALETTE, STYLE, TEXT, TITLE, Mark, ink, mark_of

find_all()
PAPERS = ("range", "censor", "reweight", "zcdp", "reps", "cost")
WITH_MARKERS = ("line", "ecdf", "density", "scatter", "exceedance")
"""Kinds of figures whose lines or points have markers of their own."""


def test_the_measure_of_colours_is_the_published_one():
    """Pairs of the supplementary data of Sharma, Wu and Dalal (2005)."""
    pairs = [
        ((50, 2.6772, -79.7751), (50, 0, -82.7485), 2.0425),
        ((50, -1, 2), (50, 0, 0), 2.3669),
        ((50, 2.5, 0), (50, 0, -2.5), 4.3065),
        ((50, 2.5, 0), (73, 25, -18), 27.1492),
        ((50, 2.5, 0), (58, 24, 15), 19.4535),
        ((60.2574, -34.0099, 36.2677), (60.4626, -34.1751, 39.4387), 1.2644),
        ((2.0776, 0.0795, -1.1350), (0.9033, -0.0636, -0.5514), 0.9082),
    ]
    for one, other, difference in pairs:
        assert ciede2000(np.array(one), np.array(other)) == pytest.approx(difference, abs=1e-4)
    assert lab("#ffffff") == pytest.approx([100, 0, 0], abs=0.01)
    for sight in SIGHTS:  # greys look grey to all
        assert np.abs(lab("#8d8d8d", sight)[1:]).max() < 0.1
    assert ciede2000(lab("#c00000", "deuteranopia"), lab("#606000", "deuteranopia")) < ciede2000(lab("#c00000"), lab("#606000"))


@pytest.mark.parametrize("key", PAPERS)
def test_mechanisms_that_share_a_frame_can_be_told_apart_by_all(plan_of, key):
    """By colour, whatever one sees of it, or by marker; with one label they are the same line."""
    paper = plan_of(key).papers[key]
    for number in paper.figures:
        display = paper.figure(number, "paper")
        by_frame = (
            [[id] for id in display.ids] if display.figure.panels == "synthesizer" else [panel.ids for panel in display.panels]
        )
        for one, other in itertools.chain.from_iterable(itertools.combinations(ids, 2) for ids in by_frame):
            looks = [display.looks[id] for id in (one, other)]
            if looks[0].label == looks[1].label:
                continue
            if display.figure.kind == "frontier":
                of = shapes(display)
                assert of[looks[0].label] != of[looks[1].label] or nearest(looks[0].colour, looks[1].colour) >= APART
            elif display.figure.kind == "budgets":
                continue  # one row for each, with its name beside it
            elif display.figure.kind in WITH_MARKERS:
                places = [line_place(display, id) % len(MARKERS) for id in (one, other)]
                apart = nearest(looks[0].colour, looks[1].colour) >= APART
                assert places[0] != places[1] or (display.figure.kind == "line" and apart), (key, number, one, other)
            else:
                assert nearest(looks[0].colour, looks[1].colour) >= APART, (key, number, one, other)


@pytest.mark.parametrize("key", PAPERS)
def test_colours_come_from_the_palette_and_a_mechanism_has_one_hue(plan_of, key):
    paper = plan_of(key).papers[key]
    family = {colour: name for name, colours in PALETTE.items() for colour in colours}
    hues = {}
    for id, synthesizer in paper.expanded.synthesizers.items():
        colour = paper.expanded.looks[id].colour
        assert colour in family or colour == "#999999", (key, id, colour)  # the grey of what no figure shows
        if colour in family:
            hues.setdefault(synthesizer.mechanism, set()).add(family[colour])
    assert all(len(families) == 1 for mechanism, families in hues.items() if mechanism != "reweighted"), hues
    for id in paper.expanded.arms:
        assert paper.expanded.looks[id].colour in family, (key, id)


def test_every_known_kind_of_guarantee_has_its_mark():
    marks = {kind: mark_of(kind) for kind in GUARANTEES}
    assert {kind for kind, mark in marks.items() if mark is Mark.EVERY} == {
        "DP", "DP (add/remove)", "DP (replace-one)", "zCDP", "(eps, delta)-DP", "(eps, delta)-DP (add/remove)",
    }  # fmt: skip
    assert {kind for kind, mark in marks.items() if mark is Mark.CONDITION} == {"range-averaged", "range-truncated"}
    assert marks["asymptotic DP (local eps_x)"] is marks["per-instance"] is Mark.LOCAL
    assert mark_of("none") is Mark.NONE
    assert mark_of("DP | fixed weights") is Mark.CONDITION
    assert mark_of("a new kind") is mark_of("a new kind | fixed weights") is Mark.LOCAL  # never more than is known


def test_type_can_be_read_in_a_column():
    sizes = [size for key, size in STYLE.items() if key.endswith(("size", ".fontsize")) and "tick.major" not in key]
    assert min(*sizes, TEXT, TITLE) >= 7
    assert COLUMN == 3.5


def test_ink_can_be_seen():
    assert ink("#ffffff") == INK
    assert ink("#000000") == "#ffffff"
