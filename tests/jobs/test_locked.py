"""A package of another version than the lock file has is noticed, in the environment that set-up made."""

from importlib.metadata import version

import pytest

from formalsynth_workflow.jobs.locked import other_versions

HASH = "--hash=sha256:" + 64 * "0"


@pytest.fixture
def environment(tmp_path):
    """An environment as set-up leaves it, and its lock file."""
    (tmp_path / ".venv").mkdir()
    (tmp_path / ".venv" / "complete").touch()
    (tmp_path / ".venv" / "where").write_text(f"{tmp_path}\n")
    return tmp_path / ".venv", tmp_path / "requirements.txt"


def test_what_is_installed_as_locked_is_passed_over_and_the_rest_is_reported(environment):
    folder, lock = environment
    lock.write_text(
        f"numpy=={version('numpy')} \\\n    {HASH}\nscipy==0.0.1 \\\n    {HASH} \\\n    {HASH}\nno-such-package==1.0\n"
        f"colorama==0.0.1 ; sys_platform == 'win32' \\\n    {HASH}\npandas==0.0.2 \\\n    {HASH}\n"
    )
    assert list(other_versions(folder)) == [
        f"scipy is {version('scipy')}, but 0.0.1 in requirements.txt",
        "no-such-package is not installed, but 1.0 in requirements.txt",
        f"pandas is {version('pandas')}, but 0.0.2 in requirements.txt",
    ]


@pytest.mark.parametrize("lost", ["complete", "requirements.txt"])
def test_an_environment_of_the_users_own_is_not_asked(environment, lost):
    folder, lock = environment
    lock.write_text("scipy==0.0.1\n")
    (folder / lost if lost == "complete" else lock).unlink()
    assert list(other_versions(folder)) == []
