"""Mutants: one change of the source at a time, and whether the tests of that package notice it.

    python -m campaigns.mutants --share 0.3 --seed 5 --jobs 16 --minutes 20
    python -m campaigns.mutants --share 1 --only problems/joint.py,solvers/lp/dispatch.py
    python -m campaigns.mutants --again --only problems

Changes are made in the syntax tree: an operator or a comparison is swapped, a number moved, a
branch turned round, ``min`` and ``max`` swapped.  Tests run in a fork of a process that imported
everything but this package, which reads the changed file in place of the true one; so a mutant
costs what its tests cost.  A mutant that hangs counts as noticed.  Mutants of all files are tried
in random order: where the minutes end first, those that were tried are a sample as well.

What was counted is kept in ``mutants.json``, with the commit, the seed and the share.  Survivors
have the reason that a person has written for them in ``reasons.json``; ``--again`` tries those of
the last count once more, after tests were written for them.
"""

from __future__ import annotations

import argparse
import ast
import copy
import importlib
import importlib.machinery
import importlib.util
import json
import linecache
import math
import os
import random
import resource
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import dataclass
from datetime import date
from itertools import islice
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
SOURCE = ROOT / "src" / "lincent"
RESULTS = Path(__file__).with_name("mutants.json")
REASONS = Path(__file__).with_name("reasons.json")
TESTS = {
    "problems": ["problems", "solvers/lp", "solvers/newton"],
    "solvers": ["solvers"],
    "model_selection": [
        "model_selection", "estimators/test_linear_cv.py", "estimators/test_regularized_cv.py",
        "estimators/test_structured_cv.py", "estimators/test_auto.py", "workflow/test_fit.py",
    ],
    "tables": ["tables", "features", "workflow"],
    "export": ["export"],
    "inspection": ["inspection", "report", "workflow", "export"],
}  # fmt: skip
"""Folders and files of tests that may notice a change of a package."""
NOT_JUDGED = "not judged yet"
LEAST = 3
"""Mutants of a file, where the share is fewer."""
PATIENCE = 3
"""Times the processor time of the tests without a change that a mutant may take."""
MOST = 600
"""Seconds of processor time for the tests of a file without a change."""
WAIT = 20
"""Seconds of the clock for one of the processor, on a machine that is busy."""
SWAPS = {
    ast.Add: ast.Sub, ast.Sub: ast.Add, ast.Mult: ast.Div, ast.Div: ast.Mult,
    ast.Lt: ast.GtE, ast.LtE: ast.Gt, ast.Gt: ast.LtE, ast.GtE: ast.Lt, ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq, ast.And: ast.Or, ast.Or: ast.And, ast.USub: ast.UAdd,
}  # fmt: skip
NAMES = {"minimum": "maximum", "maximum": "minimum", "min": "max", "max": "min"}


@dataclass(frozen=True)
class Mutant:
    """One change of a source: where in the tree, what, and its name."""

    number: int
    what: str
    name: str

    def source(self, original: str) -> str:
        """The whole changed source."""
        tree = ast.parse(original)
        _apply(next(islice(ast.walk(tree), self.number, None)), self.what)
        return ast.unparse(ast.fix_missing_locations(tree))


def mutants(source: str) -> list[Mutant]:
    """Every change of a source, each by another name."""
    lines, seen = source.splitlines(), Counter[str]()
    found = []
    for number, node in enumerate(ast.walk(ast.parse(source))):
        line = lines[getattr(node, "lineno", 1) - 1].strip()
        for what in _changes(node):
            name = f"`{line}` {_apply(copy.deepcopy(node), what)}"
            seen[name] += 1
            name += f" ({seen[name]})" if seen[name] > 1 else ""
            found.append(Mutant(number, what, name))
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
        # For ``inspect.getsource``: exported code contains the source of its evaluator.
        lines = self.source.splitlines(keepends=True)
        linecache.cache[self.path] = len(self.source), None, lines, self.path
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
    """All that the tests import, but for the package and the tests: a fork imports those again."""
    os.environ |= dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"), "1")
    import pytest

    import lincent.paper.baselines  # noqa: F401

    folders = [str(ROOT / "tests" / name) for name in ("problems", "solvers/lp")]
    with open(os.devnull, "w") as null, redirect_stdout(null), redirect_stderr(null):
        pytest.main(["--collect-only", "-q", "-p", "no:cacheprovider", *folders])
    ours = (str(SOURCE), str(ROOT / "tests"))
    for name, module in list(sys.modules.items()):
        if (getattr(module, "__file__", None) or "").startswith(ours):
            del sys.modules[name]


def tests_of(file: str) -> list[str]:
    """The tests that may notice a change of a file."""
    package = file.split("/")[0]
    return [str(ROOT / "tests" / name) for name in TESTS.get(package, [package])]


@dataclass(frozen=True)
class Trial:
    """The tests of a file on one mutant of it, or on none; and their seconds of processor time."""

    file: str
    mutant: Mutant | None
    seconds: int

    def start(self) -> int:
        """The tests in a process of their own."""
        child = os.fork()
        if child == 0:
            self._be_the_tests()
        return child

    def _be_the_tests(self) -> None:
        import pytest

        code = 1
        try:
            resource.setrlimit(resource.RLIMIT_CPU, (self.seconds, self.seconds))
            null = os.open(os.devnull, os.O_RDWR)
            for number in (0, 1, 2):
                os.dup2(null, number)
            if self.mutant:
                source = self.mutant.source((SOURCE / self.file).read_text("utf-8"))
                sys.meta_path.insert(0, _Finder(self.file, source))
            options = ["-q", "-x", "-p", "no:cacheprovider", "-m", "not slow", "--no-header"]
            code = int(pytest.main([*options, *tests_of(self.file)]))
        finally:
            os._exit(code)


def outcomes(trials: list[Trial], jobs: int, end: float) -> Iterator[tuple[Trial, bool, float]]:
    """Each trial that began before the end: whether its tests passed, and their processor time."""
    waiting, running = trials[::-1], dict[int, tuple[Trial, float]]()
    while running or waiting:
        if time.monotonic() > end:
            waiting.clear()
        while waiting and len(running) < jobs:
            trial = waiting.pop()
            running[trial.start()] = trial, time.monotonic() + WAIT * trial.seconds
        for child, (trial, late) in list(running.items()):
            found, status, used = os.wait4(child, os.WNOHANG)
            if found:
                del running[child]
                passed = os.waitstatus_to_exitcode(status) == 0
                yield trial, passed, used.ru_utime + used.ru_stime
            elif time.monotonic() > late:
                os.kill(child, signal.SIGKILL)
        time.sleep(0.01)


def sample(file: str, share: float, seed: int) -> list[Mutant]:
    """Some of the mutants of a file."""
    every = mutants((SOURCE / file).read_text("utf-8"))
    count = min(len(every), max(LEAST, math.ceil(share * len(every))))
    return random.Random(f"{seed} {file}").sample(every, count)


def survivors(file: str, last: dict[str, Any]) -> list[Mutant]:
    """Those of the last count; lines that are gone have none."""
    every = mutants((SOURCE / file).read_text("utf-8"))
    return [mutant for mutant in every if mutant.name in last["survivors"]]


def new_count(file: str, share: float, seed: int) -> dict[str, Any]:
    """An entry of the results, with nothing tried yet."""
    every = len(mutants((SOURCE / file).read_text("utf-8")))
    return {"all": every, "mutants": 0, "killed": 0, "seed": seed, "share": share, "survivors": {}}


def counted_again(last: dict[str, Any]) -> dict[str, Any]:
    """The last count without its survivors."""
    return last | {"mutants": last["killed"], "again": True, "survivors": {}}


def with_time(
    tried: dict[str, list[Mutant]], jobs: int, end: float, seed: int
) -> tuple[list[Trial], list[str]]:
    """The trials in random order, each with its time; and the files whose tests fail unchanged."""
    trials, bad = [], []
    packages: dict[str, list[str]] = {}
    for file in tried:
        packages.setdefault(file.split("/")[0], []).append(file)
    unchanged = [Trial(files[0], None, MOST) for files in packages.values()]
    for whole, passed, spent in outcomes(unchanged, jobs, end):
        files = packages[whole.file.split("/")[0]]
        seconds = 2 + math.ceil(PATIENCE * spent)
        if passed:
            trials += [Trial(file, mutant, seconds) for file in files for mutant in tried[file]]
        else:
            bad += files
    random.Random(seed).shuffle(trials)
    return trials, bad


def main() -> int:
    """Try mutants, and keep the counts as they grow."""
    parser = argparse.ArgumentParser(prog="campaigns.mutants", description=__doc__)
    parser.add_argument("--share", type=float, default=0.1, help="of a file's mutants, at random")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--jobs", type=int, default=1, help="tests side by side")
    parser.add_argument("--minutes", type=float, default=math.inf, help="in which trials begin")
    parser.add_argument("--again", action="store_true", help="the survivors of the last count")
    parser.add_argument("--only", default="problems,solvers/lp", help="files or folders")
    parser.add_argument("--commit", default=None, help="where git is not at hand to be asked")
    given = parser.parse_args()
    end = time.monotonic() + 60 * given.minutes
    kept = json.loads(RESULTS.read_text("utf-8")) if RESULTS.exists() else {}
    reasons = json.loads(REASONS.read_text("utf-8"))
    files = _files(given.only.split(","))
    if given.again:
        files = [file for file in files if kept.get(file, {}).get("survivors")]
        tried = {file: survivors(file, kept[file]) for file in files}
        counts = {file: counted_again(kept[file]) for file in files}
    else:
        tried = {file: sample(file, given.share, given.seed) for file in files}
        counts = {file: new_count(file, given.share, given.seed) for file in files}
    now = {"commit": given.commit or _commit(), "last": date.today().isoformat()}
    import_everything_else()
    trials, bad = with_time(tried, given.jobs, end, given.seed)
    for trial, passed, _ in outcomes(trials, given.jobs, end):
        assert trial.mutant is not None
        name, count = trial.mutant.name, counts[trial.file]
        count["mutants"] += 1
        if passed:
            count["survivors"][name] = reasons.get(trial.file, {}).get(name, NOT_JUDGED)
            print(f"survives: {trial.file}: {name}", flush=True)
        else:
            count["killed"] += 1
        kept[trial.file] = count | now
        RESULTS.write_text(json.dumps(kept, indent=1, sort_keys=True) + "\n", "utf-8")
    for file in files:
        print(f"{file}: {counts[file]['killed']} of {counts[file]['mutants']}")
    for file in bad:
        print(f"the tests of {file} fail, are skipped or take {MOST} s unchanged: not counted")
    return 1 if bad else 0


def _commit() -> str:
    asked = ["git", "-C", str(ROOT), "describe", "--always", "--dirty", "--exclude=*"]
    told = subprocess.run(asked, capture_output=True, text=True, check=False)
    return told.stdout.strip() or "unknown"


def _files(names: list[str]) -> list[str]:
    found: list[str] = []
    for name in names:
        place = SOURCE / name
        paths = sorted(place.glob("*.py")) if place.is_dir() else [place]
        found += [str(path.relative_to(SOURCE)) for path in paths if path.name != "__init__.py"]
    return found


if __name__ == "__main__":
    sys.exit(main())
