"""Is a fit slower than it was?  Two states of the source side by side, estimator by estimator.

    python benchmarks/side_by_side.py v0                  # the working tree beside tag v0
    python benchmarks/side_by_side.py v0 --only LCC,FQCC --seeds 3
    python benchmarks/side_by_side.py v0 --only LCC --kinds --seeds 3     # every kind of data

The other state is a commit, checked out into a temporary folder, or a folder that has it.  One
process of each holds the same data, overlapping normal classes for every estimator and the kinds of
``workloads.py`` that need a certain algorithm (``CELLS``), or with ``--kinds`` all of them
(``KIND_SHAPES``; real tables are read from ``WORKLOAD_SETS``), and fits in turn on one thread; a
time is the least processor time of some fits.  A ratio above one is slower than it was.  A cell
above ``AGAIN`` is measured a second time with more fits.  A gap is named where it is not certified.
What one of the two states does not have, or cannot fit, is left out and named.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from pathlib import Path
from queue import Queue
from typing import Any

from workloads import KINDS, SPARSE

ROOT = Path(__file__).resolve().parent.parent
SHAPES = ((200, 5), (1_000, 20), (5_000, 20), (500, 200))
ESTIMATORS = (
    "LCC", "LCCCV", "FQCC", "RegularizedLCC", "RegularizedLCCCV", "KernelLCC", "AdditiveLCC",
    "AutoLCC",
)  # fmt: skip
CELLS: tuple[tuple[str, dict[str, Any], str, int, int], ...] = (
    ("LCC", {}, "one-hot", 200, 6),
    ("LCC", {}, "normal", 3_000, 150),
    ("LCC", {}, "separable", 1_000, 200),
    ("LCC", {}, "words present", 4_000, 10_000),
    ("LCCCV", {}, "text-like", 1_000, 2_000),
    *(("KernelLCC", {"norm": "linf"}, "mixture", m, 10) for m in (800, 1_600, 2_000)),
    *(
        ("RegularizedLCC", {"C": C}, kind, m, n)
        for kind in ("separable", "mixture", "cubed")
        for m, n in ((1_000, 24), (2_000, 50), (900, 320))
        for C in (1e2, 1e4, 1e6)
    ),
)
"""Estimator, its parameters, kind of data and shape."""
KIND_SHAPES = {False: ((200, 6), (1_000, 20), (4_000, 100), (20_000, 30)), True: ((1_000, 2_000),)}
"""Shapes of dense and of sparse kinds."""
LONG = 1.0
"""Seconds: a longer fit is not repeated."""
AGAIN, MORE = 1.3, 20
"""A cell with a larger ratio is measured with so many fits again."""
FITS = """
import json, os, sys, time, warnings
import numpy as np
import lincent
from workloads import make
warnings.simplefilter("ignore")
told = os.fdopen(os.dup(1), "w")
os.dup2(2, 1)  # what native code prints is no answer
for line in sys.stdin:
    name, options, kind, m, n, seed = json.loads(line)
    try:
        if kind:
            X, y = make(kind, m, n, seed)
        else:
            rng = np.random.default_rng(seed)
            y = np.arange(m) % 2
            X = rng.normal(size=(m, n)) + 0.5 * y[:, None] * rng.normal(size=n)
        model = getattr(lincent, name)(**options)
        began = time.process_time()
        model.fit(X, y)
        answer = [time.process_time() - began, float(np.max(getattr(model, "duality_gap_", 0.0)))]
    except Exception as problem:
        answer = f"{type(problem).__name__}: {problem}"
    print(json.dumps(answer), file=told, flush=True)
"""


class State:
    """A process that fits with one state of the source."""

    def __init__(self, source: Path) -> None:
        threads = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"), "1")
        self.process = subprocess.Popen(
            [sys.executable, "-c", FITS],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env=os.environ
            | threads
            | {"PYTHONPATH": os.pathsep.join([str(source / "src"), str(ROOT / "benchmarks")])},
        )

    def fit(self, *given: Any) -> tuple[float, float] | str:
        """Seconds and duality gap of one fit, or why there is none."""
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        print(json.dumps(given), file=self.process.stdin, flush=True)
        told = self.process.stdout.readline()
        return json.loads(told) if told else "the process ended"

    def __enter__(self) -> State:
        return self

    def __exit__(self, *_: object) -> None:
        assert self.process.stdin is not None
        self.process.stdin.close()
        self.process.wait()


def least(states: list[State], repeats: int, *cell: Any) -> tuple[list[float], float] | str:
    """Return the least time of each state, in turns, and the gap of the second; or why not."""
    first = [state.fit(*cell) for state in states]
    for one in first:
        if isinstance(one, str):
            return one
    gap = first[1][1]  # type: ignore[assignment]
    seconds = [one[0] for one in first]
    if max(seconds) > LONG:  # type: ignore[type-var]
        return seconds, gap  # type: ignore[return-value]
    for fits in (repeats, MORE):  # the first fit of each is not counted
        times = [[state.fit(*cell)[0] for state in states] for _ in range(fits)]
        seconds = [min(column) for column in zip(*times, strict=True)]  # type: ignore[type-var]
        if seconds[1] <= AGAIN * seconds[0]:
            break
    return seconds, gap  # type: ignore[return-value]


def cells_of(name: str, kinds: bool) -> list[tuple[dict[str, Any], str, int, int]]:
    """Return parameters, kind of data and shape of the cells of an estimator."""
    if kinds:
        return [({}, kind, *at) for kind in KINDS for at in KIND_SHAPES[kind in SPARSE]]
    return [({}, "", m, n) for m, n in SHAPES] + [cell for own, *cell in CELLS if own == name]


def main() -> int:
    """Measure and print the ratios."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("other", help="the other state: a commit, or a folder with its source")
    parser.add_argument("--only", default=",".join(ESTIMATORS), help="estimators")
    parser.add_argument("--kinds", action="store_true", help="every kind of data instead")
    parser.add_argument("--seeds", type=int, default=2)
    parser.add_argument("--repeats", type=int, default=15)
    parser.add_argument("--jobs", type=int, default=1, help="cells at a time, two processes each")
    given = parser.parse_args()
    with ExitStack() as stack:
        other = Path(given.other)
        if not (other / "src").is_dir():
            other = Path(stack.enter_context(tempfile.TemporaryDirectory())) / "other"
            git = ["git", "-C", str(ROOT), "worktree"]
            subprocess.run([*git, "add", "--detach", "--quiet", other, given.other], check=True)
            stack.callback(subprocess.run, [*git, "remove", "--force", other], check=True)
        pairs: Queue[list[State]] = Queue()
        for _ in range(given.jobs):
            pairs.put([stack.enter_context(State(source)) for source in (other, ROOT)])
        pool = stack.enter_context(ThreadPoolExecutor(given.jobs))
        worst = [compared(pool, pairs, name, given) for name in given.only.split(",")]
    print(f"largest ratio of an estimator's median: {max(worst):.3f}")
    return 0


def compared(
    pool: ThreadPoolExecutor, pairs: Queue[list[State]], name: str, given: argparse.Namespace
) -> float:
    """Print one line for each cell; return the median ratio over cells and seeds."""

    def measure(cell: Any) -> float | None:
        options, kind, m, n, seed = cell
        shown = (f"{key}={value}" for key, value in options.items())
        what = f"{name:18} {' '.join([kind, *shown]):20} {m:6} x {n:<6} {seed}"
        states = pairs.get()
        try:
            result = least(states, given.repeats, name, *cell)
        finally:
            pairs.put(states)
        if isinstance(result, str):
            print(f"{what} left out: {result}", flush=True)
            return None
        (then, now), gap = result
        uncertified = f"  gap {gap:.1e}" if gap > 1e-9 else ""
        print(f"{what} {then:9.4f} s {now:9.4f} s {now / then:7.3f}{uncertified}", flush=True)
        return now / then

    cells = [(*cell, s) for s in range(given.seeds) for cell in cells_of(name, given.kinds)]
    ratios = [ratio for ratio in pool.map(measure, cells) if ratio is not None]
    middle = statistics.median(ratios) if ratios else 0.0
    print(f"{name:18} median {middle:.3f}, largest {max(ratios, default=0.0):.3f}", flush=True)
    return middle


if __name__ == "__main__":
    sys.exit(main())
