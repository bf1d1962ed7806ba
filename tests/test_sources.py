"""Which files a step depends on."""

import subprocess
import sys

import pytest
from formalsynth import sources as rooms
from formalsynth.sources import PACKAGE, sources

STEPS = ("simulate", "fit", "measure", "collect", "show")
PACKAGE_TREE = {
    "__init__.py": "",
    "design.py": "from formalsynth.secret import x",
    "secret.py": "",
    "leaf.py": "import numpy",
    "late.py": "",
    "unused.py": "",
    "steps/__init__.py": "",
    "steps/one.py": "from formalsynth.rooms import room\nfrom formalsynth.design import Plan\nimport os.path\n",
    "steps/two.py": "import formalsynth.leaf\n\ndef go():\n    from formalsynth.late import later\n",
    "rooms/__init__.py": "from formalsynth.rooms.inner import room",
    "rooms/inner.py": "from formalsynth import leaf\nfrom formalsynth.steps import one",
}


@pytest.fixture
def package(tmp_path, monkeypatch):
    """A package whose imports are known."""
    for name, text in PACKAGE_TREE.items():
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(text)
    monkeypatch.setattr(rooms, "PACKAGE", tmp_path)
    return tmp_path


def names(paths, root):
    return sorted(path.relative_to(root).as_posix() for path in paths)


def test_imports_are_followed_through_packages_and_circles(package):
    found = names(sources("formalsynth.steps.one"), package)
    assert [one for one in found if one != "steps/__init__.py"] == [
        "leaf.py",
        "rooms/__init__.py",
        "rooms/inner.py",
        "steps/one.py",
    ]


def test_late_and_plain_imports_count(package):
    assert names(sources("formalsynth.steps.two"), package) == ["late.py", "leaf.py", "steps/two.py"]


def test_what_is_left_out_is_not_followed(package):
    found = names(sources("formalsynth.steps.one", leave_out=("formalsynth.rooms",)), package)
    assert "rooms/__init__.py" not in found
    assert "design.py" in found
    assert "secret.py" in found


@pytest.mark.parametrize("step", STEPS)
def test_a_step_depends_on_every_module_that_it_loads(step):
    """What Python itself imports, with the design and what only the design needs left out, is among the sources."""
    program = (
        "import sys, types\n"
        "design = types.ModuleType('formalsynth.design')\n"
        "design.__getattr__ = lambda name: type(name, (), {})\n"
        "sys.modules['formalsynth.design'] = design\n"
        f"import formalsynth.steps.{step}\n"
        "for name, module in sys.modules.items():\n"
        "    if name.startswith('formalsynth.') and name != 'formalsynth.design':\n"
        "        print(module.__file__)\n"
    )
    run = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    loaded = set(names(map(PACKAGE.__class__, run.stdout.split()), PACKAGE))
    loaded.discard("steps/__init__.py")  # holds a docstring only
    assert loaded <= set(names(sources(f"formalsynth.steps.{step}"), PACKAGE))


LATER = [
    *(("simulate", room) for room in ("sampler.py", "steps/fit.py", "steps/show.py")),
    *(("fit", room) for room in ("steps/measure.py", "steps/show.py", "utility.py")),
    *(("measure", room) for room in ("steps/fit.py", "steps/show.py")),
    *(("collect", room) for room in ("steps/fit.py", "steps/show.py", "sampler.py")),
    *(("show", room) for room in ("sampler.py", "steps/collect.py", "steps/measure.py")),
    *((step, room) for step in ("simulate", "show") for room in ("bounds.py", "mechanisms.py")),
]


@pytest.mark.parametrize(("step", "room"), LATER)
def test_a_step_does_not_depend_on_what_comes_after_it(step, room):
    assert room not in names(sources(f"formalsynth.steps.{step}"), PACKAGE)


@pytest.mark.parametrize("step", STEPS)
def test_the_design_reaches_a_job_as_parameters_only(step):
    found = names(sources(f"formalsynth.steps.{step}"), PACKAGE)
    assert f"steps/{step}.py" in found
    assert "design.py" not in found
