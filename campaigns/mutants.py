"""Mutants: one change of the source at a time, and whether the tests of that file notice it.

    python -m campaigns.mutants --minutes 5 --jobs 1

Changes are made in the syntax tree: an operator or a comparison is exchanged, a number moved, a
branch turned round, ``min`` and ``max`` swapped.  The tests run in a process of their own on a copy
of the package; a mutant that hangs counts as noticed.
"""

from __future__ import annotations

import argparse
import ast
import copy
import json
import os
import random
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
RESULTS = Path(__file__).with_name("mutants.json")
TESTS = {
    "programs/centralization.py": ["programs"],
    "programs/evaluation.py": ["programs/test_proof.py", "estimators/test_certificates.py"],
    "programs/exact_sums.py": ["programs/test_exact_sums.py", "programs/test_proof.py"],
    "programs/proof.py": ["programs/test_proof.py", "estimators/test_certificates.py"],
    "programs/ramp.py": ["solvers/ramp", "estimators/test_quadratic.py"],
    "programs/regularized.py": ["solvers/newton", "programs"],
    "solvers/lp/scaling.py": ["solvers/lp/test_scaling.py"],
}
SWAPS = {
    ast.Add: ast.Sub, ast.Sub: ast.Add, ast.Mult: ast.Div, ast.Div: ast.Mult,
    ast.Lt: ast.GtE, ast.LtE: ast.Gt, ast.Gt: ast.LtE, ast.GtE: ast.Lt, ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq, ast.And: ast.Or, ast.Or: ast.And, ast.USub: ast.UAdd,
}  # fmt: skip
NAMES = {"minimum": "maximum", "maximum": "minimum", "min": "max", "max": "min"}
SECONDS = 120


def mutants(source: str) -> list[tuple[str, str]]:
    """Where something was changed, and the whole changed source."""
    tree = ast.parse(source)
    found = []
    for number, node in enumerate(ast.walk(tree)):
        for what in _changes(node):
            other = copy.deepcopy(tree)
            target = list(ast.walk(other))[number]
            label = _apply(target, what)
            if label:
                line = getattr(node, "lineno", 0)
                found.append((f"{line} {label}", ast.unparse(ast.fix_missing_locations(other))))
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


def noticed(file: str, source: str) -> bool:
    """Whether the tests of a file fail on a changed source."""
    with tempfile.TemporaryDirectory() as folder:
        package = Path(folder) / "lincent"
        shutil.copytree(ROOT / "src" / "lincent", package)
        (package / file).write_text(source, "utf-8")
        tests = [str(ROOT / "tests" / name) for name in TESTS[file]]
        command = [sys.executable, "-m", "pytest", "-q", "-x", "-p", "no:cacheprovider",
                   "-m", "not slow", *tests]  # fmt: skip
        env = os.environ | {"PYTHONPATH": folder, "OMP_NUM_THREADS": "1"}
        try:
            done = subprocess.run(
                command, cwd=ROOT, env=env, capture_output=True, timeout=SECONDS, check=False
            )
        except subprocess.TimeoutExpired:
            return True
        return done.returncode != 0


def main() -> int:
    """A sample of mutants of each file, until the time is over; results are added up."""
    parser = argparse.ArgumentParser(prog="campaigns.mutants", description=__doc__)
    parser.add_argument("--minutes", type=float, default=5.0)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--only", default=",".join(TESTS))
    given = parser.parse_args()
    kept = json.loads(RESULTS.read_text("utf-8")) if RESULTS.exists() else {}
    files = given.only.split(",")
    for file in files:
        entry = kept.setdefault(file, {"mutants": 0, "killed": 0, "survivors": {}})
        todo = mutants((ROOT / "src" / "lincent" / file).read_text("utf-8"))
        random.Random(given.seed).shuffle(todo)
        end = time.monotonic() + given.minutes * 60 / len(files)
        for where, source in todo:
            if time.monotonic() > end:
                break
            entry["mutants"] += 1
            if noticed(file, source):
                entry["killed"] += 1
            else:
                entry["survivors"][where] = "not judged yet"
                print(f"survives: {file}:{where}", flush=True)
        print(f"{file}: {entry['killed']} of {entry['mutants']}", flush=True)
        RESULTS.write_text(json.dumps(kept, indent=1, sort_keys=True) + "\n", "utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
