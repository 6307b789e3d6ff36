"""Is a fit slower than it was?  Two states of the source side by side, estimator by estimator.

    python benchmarks/side_by_side.py v0                  # the working tree beside tag v0
    python benchmarks/side_by_side.py v0 --only LCC,FQCC --seeds 3
    python benchmarks/side_by_side.py v0 --only LCC --kinds --seeds 3     # every kind of data

The other state is checked out into a temporary folder.  One process of each holds the same data,
overlapping normal classes for every estimator and the kinds of ``workloads.py`` that need a certain
algorithm (``CELLS``), or with ``--kinds`` all of them (``KIND_SHAPES``; real tables are read from
``WORKLOAD_SETS``), and fits in turn on one thread; a time is the least processor time of some fits.
A ratio above one is slower than it was.  What one of the two states does not have, or cannot fit,
is left out and named.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path
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
FITS = """
import json, sys, time, warnings
import numpy as np
import lincent
from workloads import make
warnings.simplefilter("ignore")
told, sys.stdout = sys.stdout, sys.stderr
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
        answer = time.process_time() - began
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

    def fit(self, *given: Any) -> float | str:
        """Seconds of one fit, or why there is none."""
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        print(json.dumps(given), file=self.process.stdin, flush=True)
        told = self.process.stdout.readline()
        return json.loads(told) if told else "the process ended"

    def end(self) -> None:
        assert self.process.stdin is not None
        self.process.stdin.close()
        self.process.wait()


def least(states: list[State], repeats: int, *given: Any) -> list[float | str]:
    """The least time of each state, in turns; the first fit of each is not counted."""
    best: list[float | str] = [state.fit(*given) for state in states]
    if any(isinstance(one, str) or one > LONG for one in best):
        return best
    times = [[state.fit(*given) for state in states] for _ in range(repeats)]
    return [min(column) for column in zip(*times, strict=True)]  # type: ignore[type-var]


def main() -> int:
    """Measure and print the ratios."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("commit", help="the other state")
    parser.add_argument("--only", default=",".join(ESTIMATORS), help="estimators")
    parser.add_argument("--kinds", action="store_true", help="every kind of data instead")
    parser.add_argument("--seeds", type=int, default=2)
    parser.add_argument("--repeats", type=int, default=15)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as place:
        other = Path(place) / "other"
        git = ["git", "-C", str(ROOT), "worktree"]
        subprocess.run([*git, "add", "--detach", "--quiet", other, given.commit], check=True)
        states = [State(other), State(ROOT)]
        try:
            worst = [compared(states, name, given) for name in given.only.split(",")]
        finally:
            for state in states:
                state.end()
            subprocess.run([*git, "remove", "--force", other], check=True)
    print(f"largest ratio of an estimator's median: {max(worst):.3f}")
    return 0


def compared(states: list[State], name: str, given: argparse.Namespace) -> float:
    """Print one line for each cell; return the median ratio over cells and seeds."""
    ratios = []
    cells = [({}, "", m, n) for m, n in SHAPES]
    cells += [tuple(cell) for own, *cell in CELLS if own == name]
    if given.kinds:
        cells = [({}, kind, *at) for kind in KINDS for at in KIND_SHAPES[kind in SPARSE]]
    for options, kind, m, n in cells:
        shown = (f"{key}={value}" for key, value in options.items())
        what = " ".join([kind, *shown])
        what = f"{name:18} {what:20} {m:6} x {n:<6}"
        for seed in range(given.seeds):
            then, now = least(states, given.repeats, name, options, kind, m, n, seed)
            if isinstance(then, str) or isinstance(now, str):
                print(f"{what} left out: {then if isinstance(then, str) else now}")
                break
            ratios.append(now / then)
            print(f"{what} {then:9.4f} s {now:9.4f} s {ratios[-1]:7.3f}", flush=True)
    middle = statistics.median(ratios) if ratios else 0.0
    print(f"{name:18} median {middle:.3f}, largest {max(ratios, default=0.0):.3f}", flush=True)
    return middle


if __name__ == "__main__":
    sys.exit(main())
