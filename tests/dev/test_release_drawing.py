"""The drawing of a release: its order, and whether it can be read on a phone, light and dark."""

import re
import xml.etree.ElementTree as ElementTree

from dev.reference import KEPT, WAY
from dev.release_drawing import release_drawing

SVG = "{http://www.w3.org/2000/svg}"


def test_only_the_crossing_is_between_the_file_and_the_release():
    root = ElementTree.fromstring(release_drawing())
    (crossing,) = [box for box in root.iter(f"{SVG}rect") if box.get("class") == "crossing"]
    inside, outside = (next(box for box in root.iter(f"{SVG}rect") if box.get("class") == side) for side in ("inside", "outside"))
    wall = int(outside.get("y"))
    assert wall == int(inside.get("height"))
    assert int(crossing.get("y")) < wall < int(crossing.get("y")) + int(crossing.get("height"))
    boxes = [box for box in root.iter(f"{SVG}rect") if box.get("class") == "box"]
    sides = [(int(box.get("y")) > wall, int(box.get("y")) + int(box.get("height")) > wall) for box in boxes]
    assert sides == [(False, False), (True, True)]


def test_it_has_the_width_of_a_phone_and_colours_for_dark_pages():
    text = release_drawing()
    assert 'viewBox="0 0 390 ' in text
    assert min(map(int, re.findall(r'font-size="(\d+)"', text))) >= 12
    assert "prefers-color-scheme: dark" in text


def test_the_kept_drawing_is_the_generated_one(repository):
    assert (repository / KEPT / WAY).read_text(encoding="utf-8") == release_drawing()
