"""Promises to readers of the repository: versions that agree, a true README, set-up that names missing parts."""

import os
import re
import shlex
import shutil
import subprocess
import sys
import tomllib
from importlib.util import find_spec
from pathlib import Path

import pip
import pytest
import yaml
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name
from packaging.version import Version

REPOSITORY = Path(__file__).parents[1]
PROJECT, WORKFLOW, RELEASE = (
    tomllib.loads((REPOSITORY / folder / "pyproject.toml").read_text())["project"] for folder in ("", "workflow", "release")
)
FOR_RUNS = [*PROJECT["dependencies"], *WORKFLOW["dependencies"]]
FOR_RELEASES, FOR_FORMATS = RELEASE["dependencies"], RELEASE["optional-dependencies"]["formats"]
FOR_CLUSTERS = WORKFLOW["optional-dependencies"]["cluster"]
FOR_TESTS = PROJECT["optional-dependencies"]["dev"]
SET_UP = ("Makefile", "requirements.txt", "pyproject.toml", "config", "workflow", "release")
"""Files and folders that set-up reads."""
GUIDES = {
    name: (REPOSITORY / name).read_text(encoding="utf-8")
    for name in (
        "README.md",
        "CONTRIBUTING.md",
        "SECURITY.md",
        "config/README.md",
        *sorted(str(path.relative_to(REPOSITORY)) for path in (REPOSITORY / "docs").glob("*/*.md")),
    )
}
README = GUIDES["README.md"]
MAKEFILE = (REPOSITORY / "Makefile").read_text(encoding="utf-8")
PROGRAMS = {"python", "pip", "cmdstan", "cxx-compiler", "make"}
"""Programs that conda installs besides the Python packages; pip users have them from elsewhere."""
# Written with brackets, so that this file does not find itself.
HOSTS = r"py[p]i\.org|pythonhoste[d]|registry\.npmj[s]|deb\.debia[n]|anaconda\.or[g]"
MACHINE = r"(?<![\w.~<])/(?:hom[e]|roo[t]|User[s]|wor[k]|far[m])/\w"


def requirements(lines):
    """Requirements by canonical name, without our own library."""
    required = {canonicalize_name(requirement.name): requirement for requirement in map(Requirement, lines)}
    return {name: requirement for name, requirement in required.items() if name != "formalsynth"}


def conda(name):
    """Specifications of a conda environment file by name, and the lines for pip."""
    listed = yaml.safe_load((REPOSITORY / name).read_text())["dependencies"]
    pip = [line.split(" #")[0] for entry in listed if isinstance(entry, dict) for line in entry["pip"]]
    return requirements(entry for entry in listed if isinstance(entry, str)), pip


def tracked():
    """Text of every tracked file, or of every file where this is no git checkout."""
    git = subprocess.run(["git", "ls-files", "-z"], cwd=REPOSITORY, capture_output=True, text=True, check=False)
    if git.returncode:
        pytest.skip("not a git checkout")
    for name in filter(None, git.stdout.split("\0")):
        path = REPOSITORY / name
        if path.is_file():
            yield name, path.read_text(encoding="utf-8", errors="replace")


def locked(name):
    """Lines of a lock file, each package with its options on one."""
    return (REPOSITORY / name).read_text().replace("\\\n", "").splitlines()


LOCKED, LOCKED_FOR_TESTS = (
    requirements(line.partition(" --hash")[0] for line in locked(name)) for name in ("requirements.txt", "requirements-dev.txt")
)


@pytest.mark.parametrize("name", ["requirements.txt", "requirements-dev.txt", ".github/sbom.txt"])
def test_a_lock_file_has_one_exact_version_of_each_package_with_checksums(name):
    for line in locked(name):
        assert re.fullmatch(r"\S+==[^\s*,]+ *(;[^#]*?)?( +--hash=sha256:[0-9a-f]{64})+", line), line
    assert len(requirements(line.partition(" --hash")[0] for line in locked(name))) == len(locked(name))


def test_lock_files_agree_with_pyproject_and_a_run_has_the_versions_of_the_tests():
    for name, requirement in requirements([*FOR_RUNS, *FOR_CLUSTERS, *FOR_RELEASES, *FOR_TESTS]).items():
        assert name in LOCKED_FOR_TESTS, f"{name} is not locked: run make lock"
        version = next(iter(LOCKED_FOR_TESTS[name].specifier)).version
        assert requirement.specifier.contains(Version(version)), f"{name} {version} is outside {requirement}: run make lock"
    assert set(LOCKED) >= set(requirements([*FOR_RUNS, *FOR_CLUSTERS, *FOR_RELEASES]))
    assert not set(LOCKED) & {"mypy", "pytest", "ruff", "selenium"}
    assert {name: str(pinned) for name, pinned in LOCKED.items()}.items() <= {
        name: str(pinned) for name, pinned in LOCKED_FOR_TESTS.items()
    }.items()


@pytest.mark.parametrize(
    ("file", "wanted", "packages"),
    [
        (
            "environment.yml",
            [*FOR_RUNS, *FOR_CLUSTERS, *FOR_RELEASES, *FOR_FORMATS, *FOR_TESTS],
            ["-e .", "-e workflow", "-e release"],
        ),
        ("workflow/envs/formalsynth.yaml", FOR_RUNS, ["-e ../..", "-e ../../workflow"]),
    ],
)
def test_conda_environments_agree_with_pyproject(file, wanted, packages):
    listed, elsewhere = conda(file)
    listed |= requirements(line for line in elsewhere if not line.startswith("-e"))
    expected = {name: str(requirement.specifier) for name, requirement in requirements(wanted).items()}
    assert {name: str(requirement.specifier) for name, requirement in listed.items() if name not in PROGRAMS} == expected
    assert set(listed) >= PROGRAMS
    assert str(listed["python"].specifier) == PROJECT["requires-python"]
    assert [line for line in elsewhere if line.startswith("-e")] == packages
    for package in packages:
        assert (REPOSITORY / file).parent.joinpath(package.removeprefix("-e "), "pyproject.toml").is_file()


def test_versions_agree():
    from formalsynth import __version__

    assert PROJECT["version"] == WORKFLOW["version"] == RELEASE["version"] == __version__
    for distribution in (WORKFLOW, RELEASE):
        assert f"formalsynth=={__version__}" in distribution["dependencies"]
    citation = yaml.safe_load((REPOSITORY / "CITATION.cff").read_text())
    assert citation["version"] == PROJECT["version"]
    assert citation["license"] == PROJECT["license"]
    assert (REPOSITORY / "LICENSE").read_text().startswith(f"{PROJECT['license']} License")
    changes = re.findall(r"^## \[(.+?)\]", (REPOSITORY / "CHANGELOG.md").read_text(), re.M)
    assert changes[0] in ("Unreleased", PROJECT["version"])


@pytest.mark.parametrize("pattern", [HOSTS, MACHINE], ids=["registry hosts", "paths of a machine"])
def test_no_tracked_file_names(pattern):
    uses = [f"{name}: {line}" for name, text in tracked() for line in text.splitlines() if re.search(pattern, line)]
    assert uses == []


def test_links_lead_somewhere():
    for name, text in GUIDES.items():
        for target in re.findall(r"\]\((?!https?:)([^)#]+)", text):
            assert (REPOSITORY / name).parent.joinpath(target).exists(), f"{name}: {target}"


def test_keywords_of_the_search_are_those_of_pages():
    pages = yaml.safe_load((REPOSITORY / "docs/_keywords.yml").read_text(encoding="utf-8"))
    assert {f"{page}.md" for page in pages} <= {*GUIDES, "config/KEYS.md", "workflow/README.md"}


def test_make_targets_and_modules_that_are_run_by_name_exist():
    """In documents, the Makefile, hooks and containers; what the change log names is history."""
    texts = {name: text for name, text in tracked() if not name.endswith((".py", "CHANGELOG.md"))} | GUIDES
    modules = {
        (name, module) for name, text in texts.items() for module in re.findall(r"python -m ((?:formalsynth|dev)[.\w]*\w)", text)
    }
    assert len(modules) > 5
    for name, module in modules:
        assert find_spec(module), f"{name}: {module}"
    targets = set(re.findall(r"^([a-z-]+):", MAKEFILE, re.M))
    for name, text in texts.items():
        assert set(re.findall(r"(?:`|run: )make ([a-z-]+)", text)) <= targets, name


def test_hosted_ci_and_containers_start_from_what_is_pinned_by_checksum_and_may_do_little():
    may_write = {"paper.yml": {"pages": "write", "id-token": "write"}, "release.yml": {"contents": "write"}}
    for path in (REPOSITORY / ".github").rglob("*.yml"):
        text = path.read_text()
        for name in re.findall(r"uses: (.+)", text):
            assert name.startswith("./") or re.fullmatch(r"[\w/-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+", name), f"{path.name}: {name}"
        # A text that somebody else can choose is no part of a command.
        assert not re.search(r"run:.*\$\{\{", text)
        if path.parent.name == "workflows":
            workflow = yaml.safe_load(text)
            assert workflow["permissions"] == {"contents": "read"}
            jobs = workflow["jobs"].values()
            assert [job["permissions"] for job in jobs if "permissions" in job] == [*filter(None, [may_write.get(path.name)])]
            checkouts = [step for job in jobs for step in job["steps"] if "checkout" in step.get("uses", "")]
            assert all(step["with"] == {"persist-credentials": False} for step in checkouts)
    for name in ("Dockerfile", "apptainer.def"):
        assert re.search(r"^F(?:ROM|rom:) \S+@sha256:[0-9a-f]{64}$", (REPOSITORY / name).read_text(), re.M)


@pytest.fixture
def checkout(tmp_path):
    """The files that set-up reads, in a folder of their own."""
    for name in (*SET_UP[:4], "workflow/pyproject.toml", "release/pyproject.toml"):
        source, copy = REPOSITORY / name, tmp_path / name
        copy.parent.mkdir(exist_ok=True)
        (shutil.copytree if source.is_dir() else shutil.copy)(source, copy)
    return tmp_path


def make(folder, *arguments, **environment):
    """Run make without what the surrounding make or pip configuration would bring along."""
    inherited = {key: value for key, value in os.environ.items() if not key.startswith(("PIP_", "MAKE", "MFLAGS"))}
    settings = inherited | {"PIP_CONFIG_FILE": os.devnull} | environment
    return subprocess.run(["make", *arguments], cwd=folder, env=settings, capture_output=True, text=True, check=False)


def fake_python(folder, script):
    """Interpreter that answers set-up's questions by a shell script."""
    path = folder / "some-python"
    path.write_text(f"#!/bin/sh\n{script}\n")
    path.chmod(0o755)
    return f"PYTHON={path}"


NOTHING = {"PIP_INDEX_URL": "http://127.0.0.1:9/simple", "PIP_RETRIES": "0"}
"""Settings of pip that lead nowhere."""
# to install pip into an environment takes ten times as long as to link to it
THIS, PIP = shlex.quote(sys.executable), shlex.quote(str(Path(pip.__file__).parent))
LINKED = f"{THIS} -m venv --without-pip .venv && ln -s {PIP} .venv/lib/python3*/site-packages/"
"""Command of the shell that makes an environment."""


def failing_pip(words):
    """Make an environment whose Python only fails with these words."""
    inner = f"mkdir -p .venv/bin; printf \"#!/bin/sh\\necho '{words}'; exit 1\\n\" > .venv/bin/python; chmod +x .venv/bin/python"
    return f'case "$1 $2" in "-m venv") {inner};; esac'


@pytest.mark.parametrize(
    ("python", "message"),
    [
        ('case "$2" in *version_info*) exit 1;; esac', "Python 3.11 or newer is needed and none was found"),
        ('case "$2" in *ensurepip*) exit 1;; esac', "cannot create virtual environments: install its venv module"),
        (f'case "$2" in venv) {LINKED};; *) exec {THIS} "$@";; esac', "could not be installed (is there a network?)"),
        (failing_pip("ERROR: OSError: [Errno 28] No space left on device"), "could not be installed (the disk is full"),
        (failing_pip("ERROR: THESE PACKAGES DO NOT MATCH THE HASHES"), "could not be installed (a download differs from"),
        (failing_pip("ERROR: No matching distribution found"), "could not be installed (is there a network?)"),
    ],
)
def test_set_up_that_fails_is_one_sentence_and_stays_unfinished(checkout, python, message):
    done = make(checkout, "setup", fake_python(checkout, python), **NOTHING)
    assert done.returncode
    assert message in done.stderr
    assert not (checkout / ".venv" / "complete").exists()


def test_an_unfinished_environment_is_made_from_nothing_and_a_finished_one_brought_up_to_date(checkout):
    venv = checkout / ".venv"
    (checkout / "inner-python").write_text('#!/bin/sh\ncase "$1" in -c) cat .venv/where;; esac\n')
    (checkout / "inner-python").chmod(0o755)
    fake = fake_python(
        checkout, '[ "$1 $2" = "-m venv" ] && mkdir -p .venv/bin && cp inner-python .venv/bin/python; exit 0'
    )  # fmt: skip
    (venv / "bin").mkdir(parents=True)
    shutil.copy(checkout / "inner-python", venv / "bin" / "python")
    (venv / "where").write_text(f"{checkout.resolve()}\n")
    (venv / "half-installed").touch()
    done = make(checkout, "setup", fake)
    assert done.returncode == 0, done.stderr
    assert "Setting up .venv" in done.stdout
    assert not (venv / "half-installed").exists()
    assert (venv / "complete").exists()
    (venv / "kept").touch()
    os.utime(venv / "complete", (0, 0))
    again = make(checkout, "setup").stdout
    assert "Bringing .venv up to requirements.txt" in again
    assert again.endswith("Set-up is complete.\n")
    assert (venv / "kept").exists()
    assert make(checkout, "setup").stdout == ""


@pytest.mark.parametrize("name", ["a'b \"&;ä", "a$(touch hacked)`touch hacked`b$$"])
def test_the_name_of_the_folder_is_a_name_and_nothing_else(checkout, name):
    """Set-up and the main job find their way in it, and nothing in it is run."""
    folder = checkout / name
    folder.mkdir()
    for file in SET_UP:
        shutil.move(checkout / file, folder)
    answers = 'case "$1 $2" in "-m venv") mkdir -p .venv/bin; for one in python snakemake; do cp "$0" .venv/bin/$one; done;; esac'
    done = make(folder, "SCALE=smoke", fake_python(checkout, answers))
    assert done.returncode == 0, done.stderr
    assert done.stdout.rstrip().endswith(f"{folder.resolve()}/results/smoke/report/index.html")
    assert make(folder, "setup").stdout == ""
    assert not list(checkout.rglob("hacked"))


def test_a_folder_that_cannot_have_an_environment_is_one_sentence(checkout):
    (checkout / "a:b").mkdir()
    for file in SET_UP:
        shutil.move(checkout / file, checkout / "a:b")
    done = make(checkout / "a:b", "setup")
    assert done.stderr.splitlines()[0].startswith("A virtual environment cannot be created in a folder with a colon in its path")


def test_an_environment_of_the_users_own_is_left_alone(checkout):
    (checkout / ".venv").mkdir()
    (checkout / ".venv" / "mine").touch()
    done = make(checkout, "setup", f"PYTHON={sys.executable}")
    assert done.stderr.splitlines()[0].startswith("There is a .venv here that make did not create")
    assert (checkout / ".venv" / "mine").exists()


def test_a_moved_or_broken_environment_is_made_again(checkout):
    """Make prints its plan only: -n runs nothing."""
    (checkout / ".venv" / "bin").mkdir(parents=True)
    (checkout / ".venv" / "bin" / "python").symlink_to(sys.executable)
    (checkout / ".venv" / "where").write_text(f"{checkout.resolve()}\n")
    (checkout / ".venv" / "complete").touch()

    def plan():
        return make(checkout, "-n", "setup").stdout

    assert "pip install" not in plan()
    (checkout / ".venv" / "where").write_text("elsewhere\n")
    assert "pip install" in plan()
    (checkout / ".venv" / "where").write_text(f"{checkout.resolve()}\n")
    (checkout / ".venv" / "bin" / "python").unlink()
    (checkout / ".venv" / "bin" / "python").symlink_to("gone")
    assert "pip install" in plan()
