import re

import pytest
import yaml
from made_up_report import write

from formalsynth_workflow.report.listings import key_lines


@pytest.mark.parametrize("key", ["range", "reps"])
def test_lines_of_the_config(repository, key):
    path = repository / "config" / "papers" / f"{key}.yaml"
    lines = path.read_text(encoding="utf-8").splitlines()
    config = yaml.safe_load(path.read_text(encoding="utf-8"))
    lines_of = key_lines(path)
    for section in ("figures", "tables"):
        for entry in config[section]:
            assert re.match(rf" +[\"']?{entry}[\"']?:", lines[lines_of[f"{section}.{entry}"] - 1])


def test_lines_of_claims(tmp_path):
    path = write(tmp_path / "claims.yaml", "# first\nclaims:\n  - id: a-b\n    place: x\n  - place: y\n    id: c\n")
    assert key_lines(path) == {"claims": 2, "claims.a-b": 3, "claims.c": 5}
