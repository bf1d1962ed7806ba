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
import threading
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
    "formalsynth/core/selection.py": "tests/mechanisms",
    "formalsynth/inference/distance.py": "tests/inference tests/mechanisms",
    "formalsynth/core/streams.py": "tests/core",
    "formalsynth/core/weights.py": "tests/core tests/mechanisms",
    "formalsynth/mechanisms/*.py": "tests/mechanisms",
    "formalsynth/audit/*.py": "tests/audit",
    "formalsynth/engine/*.py": "tests/engine tests/audit",
    "formalsynth_release/budget.py": "release/tests",
    "formalsynth_release/hash_chain.py": "release/tests",
    "formalsynth_release/same_rows.py": "release/tests",
    "formalsynth_release/crossing.py": "release/tests",
    "formalsynth_release/variables.py": "release/tests",
    "formalsynth_release/sandbox.py": "release/tests",
    "formalsynth_release/tables.py": "release/tests",
    "formalsynth_release/verify.py": "release/tests",
    "formalsynth_release/noise.py": "release/tests",
    "formalsynth_workflow/ledger/tests/*.py": "tests/ledger",
}
"""Modules to change, and the tests that must detect the changes."""
CONSTANTS = "test_privacy_constants.py"
"""Name of the tests that compare the constants on which privacy depends with literal values."""
NAMED = Path(__file__).with_suffix(".yaml")
"""Changes from reviews, and accepted survivors, each with the reason."""
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
    named: bool = False

    @property
    def name(self) -> str:
        """Module and change, without the line number: key of an accepted survivor."""
        return f"{self.module}: {self.change.split(' ', 1)[1]}"


def changes(node: ast.AST) -> Iterator[ast.AST]:
    """Yield changed copies of one node."""
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
    elif isinstance(node, ast.If) and any(isinstance(line, ast.Raise) for line in node.body):
        yield _with(node, test=ast.Constant(False))


def _changed_call(node: ast.Call) -> Iterator[ast.AST]:
    """Yield a call of the opposite function, or the argument itself."""
    if (name := _called(node)) in NAMES:
        function = copy.deepcopy(node.func)
        setattr(function, "id" if isinstance(function, ast.Name) else "attr", NAMES[name])
        yield _with(node, func=function)
    elif name in ("abs", "clip") and node.args:
        yield node.args[0]


def _with(node: ast.AST, **fields: object) -> ast.AST:
    changed = copy.copy(node)
    for name, value in fields.items():
        setattr(changed, name, value)
    return changed


def _called(node: ast.Call) -> str:
    return getattr(node.func, "id", getattr(node.func, "attr", ""))


def generated(module: str, text: str) -> Iterator[Mutant]:
    """Yield every mutant of a module, in the order of lines."""
    for number, change in enumerate(_mutated(ast.parse(text))):
        yield Mutant(module, change, functools.partial(_source, text, number))


def _source(text: str, number: int) -> str:
    tree = ast.parse(text)
    next(itertools.islice(_mutated(tree), number, None))
    return ast.unparse(ast.fix_missing_locations(tree))


def _mutated(tree: ast.AST) -> Iterator[str]:
    """Change a tree in place, one expression after another, and yield each change while it is in effect."""
    for statement, parent, field, place in _places(tree):
        old = getattr(parent, field) if place is None else getattr(parent, field)[place]
        before = ""
        for new in changes(old):
            before = before or _line(statement)
            _put(parent, field, place, new)
            if (after := _line(statement)) != before:
                yield f"{old.lineno} {before} -> {after}"
            _put(parent, field, place, old)


def _places(tree: ast.AST) -> Iterator[tuple[ast.AST, ast.AST, str, int | None]]:
    """Yield every expression with statement, parent, field and place, except annotations, messages and ids of random streams."""

    def walk(parent: ast.AST, statement: ast.AST) -> Iterator[tuple[ast.AST, ast.AST, str, int | None]]:
        if isinstance(parent, ast.Raise | ast.JoinedStr) or (isinstance(parent, ast.keyword) and parent.arg == "id"):
            return
        for field, value in ast.iter_fields(parent):
            if field in ("annotation", "returns"):
                continue
            for place, child in enumerate(value) if isinstance(value, list) else [(None, value)]:
                if isinstance(child, ast.AST):
                    inner = child if isinstance(child, ast.stmt) else statement
                    yield inner, parent, field, place
                    yield from walk(child, inner)

    return walk(tree, tree)


def _put(parent: ast.AST, field: str, place: int | None, node: ast.AST) -> None:
    if place is None:
        setattr(parent, field, node)
    else:
        getattr(parent, field)[place] = node


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
    mutants, problems = [], []
    for entry in entries:
        module, old, new = entry["module"], entry["old"], entry["new"]
        text = (REPOSITORY / place_of(module)).read_text(encoding="utf-8")
        if (times := text.count(old)) != 1:
            problems.append(f"{NAMED.name}: {module}: {old!r} occurs {times} times; allowed: once")
        mutants.append(Mutant(module, f"- {old.strip()} -> {new.strip()}", functools.partial(text.replace, old, new), True))
    if problems:
        sys.exit("\n".join(problems))
    return mutants


def tests_of(module: str) -> list[str]:
    """List the tests that must detect a change to a module."""
    folders = next(tests.split() for pattern, tests in ROOMS.items() if Path(module).match(pattern))
    # tests of the module and of the constants first: they kill most mutants
    first = [f"{folder}/{name}" for folder in folders for name in (f"test_{Path(module).stem}.py", CONSTANTS)]
    return [path for path in first if Path(REPOSITORY, path).exists()] + folders


def killed(mutant: Mutant | None, tests: list[str], copies: threading.local) -> bool:
    """Run tests on a changed copy of the package; with None, on an unchanged one."""
    if not hasattr(copies, "folder"):
        copies.folder = _copy_of_repository()
    place = copies.folder / place_of(mutant.module if mutant else "formalsynth/__init__.py")
    before = place.read_bytes()
    if mutant:
        place.write_text(mutant.source(), encoding="utf-8")
    pytest = [sys.executable, "-m", "pytest", "-x", "-q", "-p", "no:cacheprovider", "-m", FAST]
    command = ["prlimit", f"--as={MEMORY}", *pytest, *tests]
    environment = os.environ | {
        "PYTHONPATH": f"{copies.folder}/workflow/lib:{copies.folder}/release",
        "PYTHONDONTWRITEBYTECODE": "1",
    }
    try:
        done = subprocess.run(command, cwd=REPOSITORY, env=environment, capture_output=True, timeout=SECONDS, check=False)
        return done.returncode != 0
    except subprocess.TimeoutExpired:
        return True
    finally:
        place.write_bytes(before)


def place_of(module: str) -> Path:
    """Return the path of a module in the repository."""
    return Path(FOLDERS[Path(module).parts[0]], module)


def _copy_of_repository() -> Path:
    """Make a folder with a copy of the packages and links to everything else."""
    folder = Path(tempfile.mkdtemp(prefix="mutants-", dir=SCRATCH.name))
    for path in REPOSITORY.iterdir():
        if path.name not in ("workflow", "release"):
            (folder / path.name).symlink_to(path)
    for package in FOLDERS:
        place = place_of(package)
        shutil.copytree(REPOSITORY / place, folder / place, symlinks=True, ignore=shutil.ignore_patterns("__pycache__"))
    for inside in ("workflow", "release"):
        for path in (REPOSITORY / inside).iterdir():
            if not (folder / inside / path.name).exists():
                (folder / inside / path.name).symlink_to(path)
    return folder


def main() -> int:
    """Try the mutants and print those that survive."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--most", type=int, default=120, help="number of generated mutants to try (default 120)")
    parser.add_argument("--only", default="", help="try only modules whose path contains this")
    parser.add_argument("--workers", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--list", action="store_true", help="print the mutants and run nothing")
    given = parser.parse_args()
    config = yaml.safe_load(NAMED.read_text(encoding="utf-8"))
    accepted = {entry["mutant"]: entry["reason"] for entry in config["accepted"]}
    folders = {room: REPOSITORY / place_of(room.partition("/")[0]).parent for room in ROOMS}
    paths = [(path, folder) for room, folder in folders.items() for path in sorted(folder.glob(room))]
    texts = {str(path.relative_to(folder)): path.read_text(encoding="utf-8") for path, folder in paths}
    pool = [mutant for module, text in texts.items() for mutant in generated(module, text)]
    # sorted by a digest, so a change to one module does not change which mutants of other modules are tried
    sample = sorted(pool, key=lambda mutant: hashlib.sha256(mutant.name.encode()).digest())[: given.most]
    chosen = [*named(config["named"]), *sample]
    chosen = [mutant for mutant in chosen if given.only in mutant.module]
    if given.list:
        print(*(f"{mutant.module}: {mutant.change}" for mutant in chosen), sep="\n")
        return 0
    by_name = sum(mutant.named for mutant in chosen)
    print(f"{len(pool)} mutants can be generated; {len(chosen)} are tried, {by_name} of them by name.")
    copies = threading.local()
    with ThreadPoolExecutor(given.workers) as workers:
        rooms = sorted({" ".join(tests_of(mutant.module)) for mutant in chosen})
        for room, failed in zip(rooms, workers.map(lambda room: killed(None, room.split(), copies), rooms), strict=True):
            if failed:
                sys.exit(f"The tests {room} fail without any change, so they cannot judge mutants.")
        survivors = []
        outcomes = workers.map(lambda mutant: killed(mutant, tests_of(mutant.module), copies), chosen)
        for mutant, dead in zip(chosen, outcomes, strict=True):
            if not dead:
                survivors.append(mutant)
                reason = f" (accepted: {accepted[mutant.name]})" if mutant.name in accepted else ""
                print(f"survived: {mutant.module}:{mutant.change}{reason}", flush=True)
    relevant = [mutant for mutant in chosen if mutant.name not in accepted]
    share = 1 - sum(mutant.name not in accepted for mutant in survivors) / max(len(relevant), 1)
    print(f"{len(chosen) - len(survivors)} of {len(chosen)} killed; of the {len(relevant)} that affect privacy, {share:.1%}.")
    return int(share < REQUIRED)


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as scratch:
        SCRATCH = argparse.Namespace(name=scratch)
        sys.exit(main())
