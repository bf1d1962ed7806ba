"""Whatever cannot be used in config is refused before any job, by a line with file, key, given value and what is allowed."""

from pathlib import Path

import pytest
import yaml
from config_trees import assert_blames

CASES = yaml.safe_load(Path(__file__).with_name("refused.yaml").read_text(encoding="utf-8"))


@pytest.mark.parametrize(("file", "path", "value", "start", "words"), [(*case[:4], case[4:]) for case in CASES],
                         ids=[" ".join(map(str, case[:3]))[:60] for case in CASES])  # fmt: skip
def test_a_message_names_file_key_given_and_allowed(refused, file, path, value, start, words, fatigue):
    assert_blames(refused(file, path, ... if value == "<absent>" else value), file, start, *words)
