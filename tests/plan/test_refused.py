"""Whatever cannot be used in config is refused before any job, by a line with file, key, given value and what is allowed."""

from pathlib import Path

import pytest
import yaml
from config_trees import CONFIG, ERRATA, assert_readable, blames, of_papers, put, refusal

CASES = yaml.safe_load(Path(__file__).with_name("refused.yaml").read_text(encoding="utf-8"))


def apart(path, other):
    """True if two paths lead into different entries of sections."""
    return any(name != its for name, its in zip(path.split(".")[:2], other.split(".")[:2], strict=False))


@pytest.mark.parametrize("file", sorted({case[0] for case in CASES}))
def test_a_message_names_file_key_given_and_allowed(own, read, file, fatigue):
    """Cases of different entries of a paper are read at once; those hidden by problems that are found earlier, again."""
    cases, alone = [case for case in CASES if case[0] == file], file in (CONFIG, ERRATA)
    while cases:
        trees, tried = of_papers(own, "range" if alone else Path(file).stem), []
        for case in cases:
            _, path, value, *_ = case
            if not tried or (not alone and all(apart(path, other) for _, other, *_ in tried)):
                put(trees[file], path, ... if value == "<absent>" else value)
                tried.append(case)
        message = refusal(read, trees)
        assert isinstance(message, str), f"accepted: {tried}"
        assert_readable(message)
        named = [case for case in tried if blames(message, file, *case[3:])]
        assert named, f"{message}\ndoes not name {tried}"
        cases = [case for case in cases if case not in named]
