"""Lines of code by room."""

from pathlib import Path

from dev.weight import lines_of_code, room_of

TEXT = '''"""Docstring."""

import sys
from pathlib import (
    Path,
)

# A comment.
def f(x):
    """Docstring
    of two lines.
    """
    text = """kept
    as code"""
    return (
        x,  # with a comment
        text,
    )
'''


def test_docstrings_comments_blank_lines_and_imports_do_not_count(tmp_path):
    path = tmp_path / "code.py"
    path.write_text(TEXT)
    assert lines_of_code(path) == 7


def test_a_room_is_a_folder_of_the_package_or_a_top_folder():
    rooms = {room_of(Path(path)) for path in (
        "workflow/lib/formalsynth/core/bounds.py", "workflow/lib/formalsynth/a.py", "workflow/scripts/fit.py",
        "workflow/lib/formalsynth_workflow/papers/reps/a.py", "release/formalsynth_release/budget.py",
        "release/tests/test_plan.py", "tests/core/test_job.py", "conftest.py", "dev/same.py",
    )}  # fmt: skip
    assert rooms == {
        "formalsynth/core", "formalsynth", "formalsynth_workflow/papers", "formalsynth_release", "release/tests",
        "workflow/scripts", "tests", "dev",
    }  # fmt: skip
