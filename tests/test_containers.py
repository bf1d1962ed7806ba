"""The container recipes: no engine is needed to see that what they copy is enough, and that both copy the same."""

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from processes import python_path

REPOSITORY = Path(__file__).parents[1]
DOCKER = (REPOSITORY / "Dockerfile").read_text()
APPTAINER = (REPOSITORY / "apptainer.def").read_text()
HOME = "/formalsynth/"


def copied_by_docker():
    return [name for line in re.findall(r"^COPY (.+) \S+$", DOCKER, re.M) for name in line.split()]


def section(name):
    """Lines of a section of the Apptainer recipe."""
    text = re.search(rf"^%{name}\n((?:    .*\n|\n)+)", APPTAINER, re.M).group(1)
    return [line.strip() for line in text.splitlines() if line.strip()]


def test_both_recipes_copy_the_same_from_the_same_base():
    pairs = [line.split() for line in section("files")]
    assert [source for source, _ in pairs] == copied_by_docker()
    assert all(target == HOME + source for source, target in pairs)
    assert re.search(r"^FROM (.+)$", DOCKER, re.M).group(1) == re.search(r"^From: (.+)$", APPTAINER, re.M).group(1)


@pytest.mark.workflow
@pytest.mark.parametrize(("recipe", "setting"), [("Dockerfile", "scale=smoke"), ("apptainer.def", "papers=[zcdp]")])
def test_what_is_copied_and_run_plans_the_workflow(recipe, setting, tmp_path):
    """The command that a container runs, in an empty folder, with what the recipe copies in place of the repository.

    Both copy the same files, so the whole workflow is planned with one of them.
    """
    image, study = tmp_path / "image", tmp_path / "study"
    for folder in (image, study):
        folder.mkdir()
    for name in copied_by_docker():
        source = REPOSITORY / name
        (shutil.copytree if source.is_dir() else shutil.copy)(source, image / name)
    if recipe == "Dockerfile":
        command = json.loads(re.search(r"^ENTRYPOINT (.+)$", DOCKER, re.M).group(1))
    else:
        command = ["sh", "-ec", "\n".join(section("runscript")), "formalsynth"]
    command = [part.replace(HOME, f"{image}/") for part in command] + ["--cores", "1", "--dry-run", "--config", setting]
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    environment = os.environ | {"PATH": path, "PYTHONPATH": python_path(image / "workflow" / "lib")}
    done = subprocess.run(command, cwd=study, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[-3000:]
    assert "This was a dry-run" in done.stdout + done.stderr
    assert (study / "config" / "config.yaml").exists()
    assert str(image) in done.stdout + done.stderr
