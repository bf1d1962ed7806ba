"""Mutation testing of the code on which privacy depends: each change to a line must make a test fail.

Run as ``python -m dev.mutants`` from the repository's folder. It tries the named changes in ``mutants.yaml`` and a sample of
generated ones, each in a copy of the package, with the tests for its module. It prints each surviving mutant at once, and exits
with 1 if fewer than 95 % of the mutants that affect privacy are killed.
"""

import argparse
import ast
import copy
import functools
import hashlib
import itertools
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

import yaml

REPOSITORY = Path(__file__).resolve().parents[1]
FOLDERS = {"formalsynth": "workflow/lib", "formalsynth_workflow": "workflow/lib", "formalsynth_release": "release"}
"""Folder of each package."""
ROOMS = {
    "formalsynth/core/bounds.py": "tests/core tests/mechanisms",
    "formalsynth/core/mechanism.py": "tests/core tests/mechanisms",
    "formalsynth/core/neighbours.py": "tests/core tests/mechanisms",
    "formalsynth/core/selection.py": "tests/mechanisms",
    "formalsynth/inference/distance.py": "tests/inference tests/mechanisms",
    "formalsynth/core/streams.py": "tests/core",
    "formalsynth/core/weights.py": "tests/core tests/mechanisms",
    "formalsynth/mechanisms/*.py": "tests/mechanisms",
    "formalsynth/audit/*.py": "tests/audit",
    "formalsynth/engine/*.py": "tests/engine tests/audit",
    "formalsynth/reps/accounting.py": "tests/reps",
    "formalsynth/reps/learners/dp_sgd.py": "tests/reps",
    **{
        f"formalsynth_release/{name}.py": "release/tests"
        for name in ("budget", "ledger", "same_rows", "crossing", "variables", "publish", "layout", "tables", "verify", "noise")
    },
    "formalsynth_workflow/ledger/tests/*.py": "tests/ledger",
}
"""Modules to change, and the tests that must detect the changes."""
CONSTANTS = "test_privacy_constants.py"
"""Name of the tests that compare the constants on which privacy depends with literal values."""
NAMED = Path(__file__).with_suffix(".yaml")
"""Changes from reviews, and accepted survivors, each with the reason."""
CONFIG = yaml.safe_load(NAMED.read_text(encoding="utf-8"))
FAST = "not slow and not workflow and not stan"
"""Marks of the tests to run; the tests of the constants need no sampler."""
REQUIRED = 0.95
"""Smallest share of killed mutants."""
SECONDS = 400
"""Time limit of the tests of one mutant."""
MEMORY = 6 << 30
"""Limit on the memory of the tests of one mutant, in bytes: some mutants allocate without end."""
COMPARISONS = {ast.Lt: ast.LtE, ast.LtE: ast.Lt, ast.Gt: ast.GtE, ast.GtE: ast.Gt, ast.Eq: ast.NotEq, ast.NotEq: ast.Eq,
               ast.Is: ast.IsNot, ast.IsNot: ast.Is, ast.In: ast.NotIn, ast.NotIn: ast.In}  # fmt: skip
ARITHMETIC = {ast.Add: ast.Sub, ast.Sub: ast.Add, ast.Mult: ast.Div, ast.Div: ast.Mult, ast.Pow: ast.Mult}
NAMES = {"min": "max", "max": "min", "minimum": "maximum", "maximum": "minimum", "any": "all", "all": "any", "left": "right"}


@dataclass(frozen=True)
class Mutant:
    """A changed module."""

    module: str
    """Path from the folder of its package."""
    change: str
    """Statement before and after, with the line number if it is generated."""
    source: Callable[[], str]
    """Function that returns the text of the changed module."""

    @property
    def name(self) -> str:
        """Module and change, without the line number: key of an accepted survivor."""
        return f"{self.module}: {self.change.split(' ', 1)[1]}"


def changes(node: ast.AST) -> Iterator[ast.AST]:
    """Yield changed copies of one expression."""
    if isinstance(node, ast.Call):
        yield from _changed_call(node)
    elif isinstance(node, ast.Compare) and type(node.ops[0]) in COMPARISONS:
        yield _with(node, ops=[COMPARISONS[type(node.ops[0])](), *node.ops[1:]])
    elif isinstance(node, ast.BinOp) and type(node.op) in ARITHMETIC:
        yield _with(node, op=ARITHMETIC[type(node.op)]())
        if isinstance(node.op, ast.Mult | ast.Div):
            yield node.left
    elif isinstance(node, ast.BoolOp):
        yield _with(node, op=ast.Or() if isinstance(node.op, ast.And) else ast.And())
    elif isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not | ast.USub):
        yield node.operand
    elif isinstance(node, ast.Constant) and isinstance(node.value, int | float) and not isinstance(node.value, bool):
        yield ast.Constant(2 * node.value if node.value else 1)
    elif isinstance(node, ast.IfExp):
        yield node.orelse


def _changed_call(node: ast.Call) -> Iterator[ast.AST]:
    """Yield a call of the opposite function, or the argument itself."""
    place = "id" if isinstance(node.func, ast.Name) else "attr"
    name = getattr(node.func, place, "")
    if name in NAMES:
        yield _with(node, func=_with(node.func, **{place: NAMES[name]}))
    elif name in ("abs", "clip") and node.args:
        yield node.args[0]


def _with(node: ast.AST, **fields: object) -> ast.AST:
    changed = copy.copy(node)
    vars(changed).update(fields)
    return changed


def generated(module: str, text: str) -> Iterator[Mutant]:
    """Yield every mutant of a module, in the order of lines."""
    for number, change in enumerate(_mutated(ast.parse(text))):
        yield Mutant(module, change, functools.partial(_source, text, number))


def _source(text: str, number: int) -> str:
    tree = ast.parse(text)
    next(itertools.islice(_mutated(tree), number, None))
    return ast.unparse(tree)


def _mutated(tree: ast.AST) -> Iterator[str]:
    """Change a tree in place, one expression after another, and yield each change while it is in effect."""
    for statement, node in _expressions(tree, tree):
        kind, fields = node.__class__, dict(vars(node))
        before = ""
        for new in list(changes(node)):
            before = before or _line(statement)
            node.__class__, node.__dict__ = new.__class__, dict(vars(new))
            if (after := _line(statement)) != before:
                yield f"{fields['lineno']} {before} -> {after}"
            node.__class__, node.__dict__ = kind, dict(fields)


def _expressions(parent: ast.AST, statement: ast.AST) -> Iterator[tuple[ast.AST, ast.AST]]:
    """Yield every node with its statement, except annotations, messages and ids of random streams."""
    if isinstance(parent, ast.Raise | ast.JoinedStr) or (isinstance(parent, ast.keyword) and parent.arg == "id"):
        return
    for field, value in ast.iter_fields(parent):
        for child in value if isinstance(value, list) else [value]:
            if isinstance(child, ast.AST) and field not in ("annotation", "returns"):
                inner = child if isinstance(child, ast.stmt) else statement
                yield inner, child
                yield from _expressions(child, inner)


def _line(statement: ast.AST) -> str:
    """First line of a statement as text, with its decorators for a function."""
    text = ast.unparse(ast.fix_missing_locations(copy.deepcopy(statement)))
    if isinstance(statement, ast.FunctionDef | ast.ClassDef):
        return " ".join(text.split('"""')[0].split())[:200]
    return text.split("\n")[0][:200]


def named(entries: list[dict[str, str]]) -> list[Mutant]:
    """Build the mutants named in ``mutants.yaml``.

    Raises:
        SystemExit: a line to change does not occur exactly once in its module.
    """
    mutants = []
    for entry in entries:
        module, old, new = entry["module"], entry["old"], entry["new"]
        text = (REPOSITORY / place_of(module)).read_text(encoding="utf-8")
        if (times := text.count(old)) != 1:
            sys.exit(f"{NAMED.name}: {module}: {old!r} occurs {times} times; allowed: once")
        mutants.append(Mutant(module, f"- {old.strip()} -> {new.strip()}", functools.partial(text.replace, old, new)))
    return mutants


def tests_of(module: str) -> list[str]:
    """List the tests that must detect a change to a module; those that kill most are first."""
    folders = next(tests.split() for pattern, tests in ROOMS.items() if Path(module).match(pattern))
    first = [f"{folder}/{name}" for folder in folders for name in (f"test_{Path(module).stem}.py", CONSTANTS)]
    return [path for path in first if Path(REPOSITORY, path).exists()] + folders


def killed(mutant: Mutant | None, tests: list[str]) -> bool:
    """Run tests on a changed copy of the packages; with None, on an unchanged one."""
    with tempfile.TemporaryDirectory(prefix="mutant-") as name:
        folder = Path(name)
        for path in REPOSITORY.iterdir():
            if path.name in ("workflow", "release"):
                shutil.copytree(path, folder / path.name, symlinks=True, ignore=shutil.ignore_patterns("__pycache__"))
            else:
                (folder / path.name).symlink_to(path)
        if mutant:
            (folder / place_of(mutant.module)).write_text(mutant.source(), encoding="utf-8")
        python_path = f"pythonpath={folder}/release . bench tests tests/errata tests/workflow"  # before the one of the repository
        pytest = [sys.executable, "-m", "pytest", "-x", "-q", "-p", "no:cacheprovider", "-m", FAST, "-o", python_path]
        command = ["prlimit", f"--as={MEMORY}", *pytest, *tests]
        paths = {"PYTHONPATH": f"{folder}/workflow/lib:{folder}/release", "PYTHONDONTWRITEBYTECODE": "1"}
        try:
            done = subprocess.run(command, cwd=REPOSITORY, env=os.environ | paths, capture_output=True, timeout=SECONDS)
        except subprocess.TimeoutExpired:
            return True
        return done.returncode != 0


def place_of(module: str) -> Path:
    """Return the path of a module in the repository."""
    return Path(FOLDERS[Path(module).parts[0]], module)


def chosen(most: int, only: str) -> list[Mutant]:
    """List the mutants to try: those that are named, and a sample that stays the same when another module is changed."""
    pool: list[Mutant] = []
    for room in ROOMS:
        folder = REPOSITORY / FOLDERS[room.partition("/")[0]]
        for path in sorted(folder.glob(room)):
            pool += generated(str(path.relative_to(folder)), path.read_text(encoding="utf-8"))
    print(f"{len(pool)} mutants can be generated.", file=sys.stderr)
    sample = sorted(pool, key=lambda mutant: hashlib.sha256(mutant.name.encode()).digest())[:most]
    return [mutant for mutant in [*named(CONFIG["named"]), *sample] if only in mutant.module]


def main() -> int:
    """Try the mutants and print those that survive."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--most", type=int, default=120, help="number of generated mutants to try (default 120)")
    parser.add_argument("--only", default="", help="try only modules whose path contains this")
    parser.add_argument("--workers", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--list", action="store_true", help="print the mutants and run nothing")
    given = parser.parse_args()
    mutants = chosen(given.most, given.only)
    if given.list:
        print(*(f"{mutant.module}: {mutant.change}" for mutant in mutants), sep="\n")
        return 0
    accepted = {entry["mutant"]: f" (accepted: {entry['reason']})" for entry in CONFIG["accepted"]}
    with ThreadPoolExecutor(given.workers) as workers:
        rooms = sorted({" ".join(tests_of(mutant.module)) for mutant in mutants})
        for room, failed in zip(rooms, workers.map(lambda room: killed(None, room.split()), rooms), strict=True):
            if failed:
                sys.exit(f"The tests {room} fail without any change, so they cannot judge mutants.")
        survivors = []
        for mutant, dead in zip(
            mutants, workers.map(lambda mutant: killed(mutant, tests_of(mutant.module)), mutants), strict=True
        ):
            if not dead:
                survivors.append(mutant)
                print(f"survived: {mutant.module}:{mutant.change}{accepted.get(mutant.name, '')}", flush=True)
    relevant, alive = (sum(mutant.name not in accepted for mutant in group) for group in (mutants, survivors))
    print(f"{len(mutants) - len(survivors)} of {len(mutants)} killed; of the {relevant} that affect privacy, {alive} survived.")
    return int(alive > (1 - REQUIRED) * relevant)


if __name__ == "__main__":
    sys.exit(main())
