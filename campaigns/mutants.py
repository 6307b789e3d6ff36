"""Mutants: one change of the source at a time, and whether the tests of that file notice it.

    python -m campaigns.mutants --each 40 --only programs
    python -m campaigns.mutants --each 8 --only solvers/lp
    python -m campaigns.mutants --again --only programs

Changes are made in the syntax tree: an operator or a comparison is exchanged, a number moved, a
branch turned round, ``min`` and ``max`` swapped.  Tests run in a fork of a process that imported
everything but this package, which reads the changed file in place of the true one; so a mutant
costs what its tests cost.  A mutant that hangs counts as noticed.  What survives is kept in
``mutants.json`` with the reason that a person has written beside it; ``--again`` tries the
survivors of the last count once more, after tests were written for them.
"""

from __future__ import annotations

import argparse
import ast
import copy
import importlib
import importlib.machinery
import importlib.util
import json
import os
import random
import signal
import sys
import time
from collections import Counter
from datetime import date
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
SOURCE = ROOT / "src" / "lincent"
RESULTS = Path(__file__).with_name("mutants.json")
MORE_TESTS = {
    "programs/centralization.py": ["programs/test_program.py"],
    "programs/evaluation.py": ["programs/test_proof.py", "programs/test_centralization.py"],
    "programs/proof.py": ["programs/test_evaluation.py", "programs/test_joint.py"],
    "programs/exact_sums.py": ["programs/test_proof.py"],
    "programs/arrays.py": ["programs/test_proof.py", "programs/test_centralization.py"],
    "programs/joint.py": ["solvers/newton/test_joint.py"],
    "programs/ramp.py": ["solvers/ramp"],
    "programs/regularized.py": ["solvers/newton/test_ridge.py", "solvers/newton/test_lasso.py"],
    "programs/hinge.py": ["solvers/hinge"],
    "programs/squared_hinge.py": ["solvers/hinge"],
}
"""Beside the test file of the same name."""
NOT_JUDGED = "not judged yet"
SWAPS = {
    ast.Add: ast.Sub, ast.Sub: ast.Add, ast.Mult: ast.Div, ast.Div: ast.Mult,
    ast.Lt: ast.GtE, ast.LtE: ast.Gt, ast.Gt: ast.LtE, ast.GtE: ast.Lt, ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq, ast.And: ast.Or, ast.Or: ast.And, ast.USub: ast.UAdd,
}  # fmt: skip
NAMES = {"minimum": "maximum", "maximum": "minimum", "min": "max", "max": "min"}


def mutants(source: str) -> list[tuple[str, str]]:
    """What was changed, each by another name, and the whole changed source."""
    tree, lines = ast.parse(source), source.splitlines()
    found, seen = [], Counter[str]()
    for number, node in enumerate(ast.walk(tree)):
        for what in _changes(node):
            other = copy.deepcopy(tree)
            label = _apply(list(ast.walk(other))[number], what)
            line = lines[getattr(node, "lineno", 1) - 1].strip()
            name = f"`{line}` {label}"
            seen[name] += 1
            name += f" ({seen[name]})" if seen[name] > 1 else ""
            found.append((name, ast.unparse(ast.fix_missing_locations(other))))
    return found


def _changes(node: ast.AST) -> list[str]:
    if isinstance(node, (ast.BinOp, ast.BoolOp, ast.UnaryOp)) and type(node.op) in SWAPS:
        return ["op"]
    if isinstance(node, ast.Compare) and type(node.ops[0]) in SWAPS:
        return ["compare"]
    if isinstance(node, ast.Constant) and type(node.value) in (int, float):
        return ["number"]
    if isinstance(node, (ast.Name, ast.Attribute)):
        name = node.id if isinstance(node, ast.Name) else node.attr
        return ["name"] if name in NAMES else []
    return ["turn"] if isinstance(node, (ast.If, ast.IfExp)) else []


def _apply(node: ast.AST, what: str) -> str:
    if what == "op":
        old = type(node.op).__name__  # type: ignore[attr-defined]
        node.op = SWAPS[type(node.op)]()  # type: ignore[attr-defined]
        return f"{old} -> {type(node.op).__name__}"  # type: ignore[attr-defined]
    if what == "compare":
        old = type(node.ops[0]).__name__  # type: ignore[attr-defined]
        node.ops[0] = SWAPS[type(node.ops[0])]()  # type: ignore[attr-defined]
        return f"{old} -> {type(node.ops[0]).__name__}"  # type: ignore[attr-defined]
    if what == "number":
        old = node.value  # type: ignore[attr-defined]
        node.value = old + 1 if isinstance(old, int) else old * 2 + 1  # type: ignore[attr-defined]
        return f"{old} -> {node.value}"  # type: ignore[attr-defined]
    if what == "turn":
        node.test = ast.UnaryOp(ast.Not(), node.test)  # type: ignore[attr-defined]
        return "branch turned"
    if isinstance(node, ast.Name):
        node.id = NAMES[node.id]
        return f"-> {node.id}"
    node.attr = NAMES[node.attr]  # type: ignore[attr-defined]
    return f"-> {node.attr}"  # type: ignore[attr-defined]


class _Changed(importlib.machinery.SourceFileLoader):
    """Reads a changed source in place of the file's."""

    def __init__(self, name: str, path: str, source: str) -> None:
        super().__init__(name, path)
        self.source = source

    def get_code(self, fullname: str) -> Any:
        return compile(self.source, self.path, "exec")


class _Finder:
    """Finds one module of the package with a changed source."""

    def __init__(self, file: str, source: str) -> None:
        self.name = "lincent." + file.removesuffix(".py").replace("/", ".")
        self.path, self.source = str(SOURCE / file), source

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> Any:
        if name != self.name:
            return None
        loader = _Changed(name, self.path, self.source)
        return importlib.util.spec_from_file_location(name, self.path, loader=loader)


def import_everything_else() -> None:
    """All that the tests import, but for the package itself: each fork imports that anew."""
    import pytest  # noqa: F401

    import lincent.rivals  # noqa: F401

    for name in [name for name in sys.modules if name.partition(".")[0] == "lincent"]:
        del sys.modules[name]


def tests_of(file: str) -> list[str]:
    """The tests that may notice a change of a file."""
    own = file.replace(Path(file).name, f"test_{Path(file).name}")
    names = [own, *MORE_TESTS.get(file, [])]
    return [str(ROOT / "tests" / name) for name in names if (ROOT / "tests" / name).exists()]


def passes(file: str, source: str, seconds: float) -> bool:
    """Whether the tests of a file pass on this source, within a time."""
    child = os.fork()
    if child == 0:
        _be_the_tests(file, source)
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        found, status = os.waitpid(child, os.WNOHANG)
        if found:
            return os.waitstatus_to_exitcode(status) == 0
        time.sleep(0.01)
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    return False


def _be_the_tests(file: str, source: str) -> None:
    """Run the tests and end this process."""
    import pytest

    code = 1
    try:
        null = os.open(os.devnull, os.O_RDWR)
        for number in (0, 1, 2):
            os.dup2(null, number)
        sys.meta_path.insert(0, _Finder(file, source))
        options = ["-q", "-x", "-p", "no:cacheprovider", "-m", "not slow", "--no-header"]
        code = int(pytest.main([*options, *tests_of(file)]))
    finally:
        os._exit(code)


def judge(file: str, most: int, seed: int) -> dict[str, Any]:
    """A sample of the mutants of a file: how many there are, were tried and noticed."""
    every = mutants((SOURCE / file).read_text("utf-8"))
    tried = random.Random(seed).sample(every, min(most, len(every)))
    survivors = _survivors(file, tried)
    return {"all": len(every), "mutants": len(tried), "killed": len(tried) - len(survivors),
            "last": date.today().isoformat(), "survivors": survivors}  # fmt: skip


def judge_again(file: str, last: dict[str, Any]) -> dict[str, Any]:
    """The last count of a file with its survivors tried once more; gone lines do not count."""
    every = mutants((SOURCE / file).read_text("utf-8"))
    known = dict(every)
    tried = [(label, known[label]) for label in last["survivors"] if label in known]
    survivors = _survivors(file, tried)
    count = last["mutants"] - (len(last["survivors"]) - len(tried))
    return {"all": len(every), "mutants": count, "killed": count - len(survivors),
            "last": date.today().isoformat(), "survivors": survivors}  # fmt: skip


def _survivors(file: str, tried: list[tuple[str, str]]) -> dict[str, str]:
    """The mutants that the tests do not notice."""
    started = time.monotonic()
    if tried and not passes(file, (SOURCE / file).read_text("utf-8"), 600.0):
        raise SystemExit(f"the tests of {file} fail, or take ten minutes, without any change")
    patience = 20.0 + 10 * (time.monotonic() - started)
    found = {}
    for label, changed in tried:
        if passes(file, changed, patience):
            found[label] = NOT_JUDGED
            print(f"survives: {file}: {label}", flush=True)
    return found


def main() -> int:
    """Judge files, and keep the reasons that were written for mutants that survive again."""
    parser = argparse.ArgumentParser(prog="campaigns.mutants", description=__doc__)
    parser.add_argument("--each", type=int, default=20, help="mutants of a file, drawn at random")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--again", action="store_true", help="the survivors of the last count")
    parser.add_argument("--only", default="programs,solvers/lp", help="files or folders")
    given = parser.parse_args()
    kept = json.loads(RESULTS.read_text("utf-8")) if RESULTS.exists() else {}
    import_everything_else()
    for file in _files(given.only.split(",")):
        if given.again and file not in kept:
            continue
        found = (
            judge_again(file, kept[file]) if given.again else judge(file, given.each, given.seed)
        )
        reasons = kept.get(file, {}).get("survivors", {})
        found["survivors"] = {at: reasons.get(at, why) for at, why in found["survivors"].items()}
        kept[file] = found
        print(f"{file}: {found['killed']} of {found['mutants']}", flush=True)
        RESULTS.write_text(json.dumps(kept, indent=1, sort_keys=True) + "\n", "utf-8")
    return 0


def _files(names: list[str]) -> list[str]:
    found: list[str] = []
    for name in names:
        place = SOURCE / name
        paths = sorted(place.glob("*.py")) if place.is_dir() else [place]
        found += [str(path.relative_to(SOURCE)) for path in paths if path.name != "__init__.py"]
    return found


if __name__ == "__main__":
    sys.exit(main())
