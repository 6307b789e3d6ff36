"""Fit times over the library of workloads: median and worst over kinds and seeds.

Run by ``bench_solver.py --workloads``.  Every fit is set beside one of scikit-learn's on the same
data, in turns; a ratio is that of the two medians (of five fits where they take milliseconds).
The seeds are the outer loop, so that a budget that ends early still has seen every kind.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.linear_model import LogisticRegression
from sklearn.svm import SVC, LinearSVC
from workloads import DENSE, KINDS, SPARSE, make, missing

from lincent import LCC, KernelLCC, RegularizedLCC

REPEATED_BELOW = 0.05
"""Seconds: shorter fits are the median of ``REPEATS``."""
REPEATS = 5
TOL = 1e-9
Shape = tuple[int, int]


@dataclass(frozen=True)
class Group:
    """Shapes that answer to the same bar: ours over theirs, in the median and at worst."""

    name: str
    shapes: tuple[Shape, ...]
    theirs: str
    median: float
    worst: float
    ours: str = "LCC"
    kinds: tuple[str, ...] = DENSE


OURS: dict[str, Callable[[int], Any]] = {
    "LCC": lambda seed: LCC(random_state=seed),
    "RegularizedLCC": lambda seed: RegularizedLCC(),
    "KernelLCC(norm='l1')": lambda seed: KernelLCC(norm="l1"),
}
THEIRS: dict[str, Callable[[], Any]] = {
    "LogisticRegression()": LogisticRegression,
    "LinearSVC()": LinearSVC,
    # Where liblinear stops by default its objective is not at its optimum; this is.
    "LinearSVC(tol=1e-8)": lambda: LinearSVC(tol=1e-8, max_iter=100_000),
    "SVC()": SVC,
}
REGULARIZED = ((1_000, 20), (20_000, 30), (200_000, 50), (5_000, 1_000), (10_000, 5_000))
GROUPS = {
    "huge": Group(
        "1,000,000 x 10, x 50", ((1_000_000, 10), (1_000_000, 50)), "LogisticRegression()", 0.5, 2
    ),
    "tall": Group(
        "100,000 x 20, 50,000 x 100, 20,000 x 30",
        ((100_000, 20), (50_000, 100), (20_000, 30)),
        "LogisticRegression()", 1, 3,
    ),
    "mid": Group("5,000 x 20, 2,000 x 50", ((5_000, 20), (2_000, 50)), "LinearSVC()", 1.5, 4),
    "small": Group(
        "200 x 6 to 1,000 x 24", ((200, 6), (400, 12), (1_000, 24)), "LinearSVC()", 1.5, 3
    ),
    "wide": Group(
        "10,000 x 500, 2,000 x 1,000", ((10_000, 500), (2_000, 1_000)), "LinearSVC()", 1.5, 5
    ),
    "sparse": Group(
        "sparse 50,000 x 5,000", ((50_000, 5_000),), "LinearSVC()", 10, 30, kinds=tuple(SPARSE)
    ),
    "sparse to the same accuracy": Group(
        "sparse 50,000 x 5,000", ((50_000, 5_000),), "LinearSVC(tol=1e-8)", 10, 30,
        kinds=tuple(SPARSE),
    ),
    "sparse wide": Group(
        "sparse 4,000 x 10,000; 20,000 x 47,000", ((4_000, 10_000), (20_000, 47_000)),
        "LinearSVC()", 15, 30, kinds=("text-like",),
    ),
    "regularized": Group(
        "RegularizedLCC, dense", REGULARIZED, "LogisticRegression()", 1, 3, ours="RegularizedLCC"
    ),
    "regularized sparse": Group(
        "RegularizedLCC, sparse", ((20_000, 2_000), (50_000, 5_000)), "LogisticRegression()", 1, 3,
        ours="RegularizedLCC", kinds=tuple(SPARSE),
    ),
    "kernel": Group(
        "KernelLCC(norm='l1') 1,000 to 5,000 rows", ((1_000, 20), (5_000, 20)), "SVC()", 2, 5,
        ours="KernelLCC(norm='l1')",
    ),
}  # fmt: skip


@dataclass(frozen=True)
class Record:
    """One fit beside its rival's."""

    group: str
    kind: str
    rows: int
    columns: int
    seed: int
    ours: float
    theirs: float
    relative_gap: float
    iterations: int
    solver: str

    @property
    def ratio(self) -> float:
        return self.ours / self.theirs

    @property
    def certified(self) -> bool:
        return self.relative_gap <= TOL


CLOCKS = {"wall": time.perf_counter, "processor": time.process_time}
clock = CLOCKS["wall"]
"""Processor time is for a busy machine, with one thread."""


def seconds(fit: Callable[[], Any]) -> tuple[float, Any]:
    start = clock()
    model = fit()
    return clock() - start, model


def measure(key: str, group: Group, kind: str, shape: Shape, seed: int) -> Record:
    """Ours and theirs in turns on one draw of a kind."""
    X, y = make(kind, *shape, seed)
    ours: list[float] = []
    theirs: list[float] = []
    while True:
        took, model = seconds(lambda: OURS[group.ours](seed).fit(X, y))
        ours.append(took)
        theirs.append(seconds(lambda: THEIRS[group.theirs]().fit(X, y))[0])
        if len(ours) == REPEATS or max(ours[0], theirs[0]) > REPEATED_BELOW:
            break
    gap = float(np.max(model.duality_gap_ / np.maximum(1.0, np.abs(model.objective_))))
    solver = getattr(model, "solver_", "")
    return Record(
        key, kind, *shape, seed, float(np.median(ours)), float(np.median(theirs)), gap,
        int(np.max(model.n_iter_)), str(solver),
    )  # fmt: skip


def records(
    keys: Iterable[str], kinds: Sequence[str], shapes: Sequence[Shape], seeds: int, budget: float
) -> Iterator[Record]:
    """All that the budget (seconds) allows, seed by seed; empty choices mean everything."""
    began = time.monotonic()
    keys = list(keys)
    for key in keys:  # what is imported or started with the first fit is nobody's time
        group = GROUPS[key]
        measure(key, group, group.kinds[0], (200, 6), 0)
    for seed in range(seeds):
        for key in keys:
            group = GROUPS[key]
            for shape in (s for s in group.shapes if not shapes or s in shapes):
                for kind in (k for k in group.kinds if not kinds or k in kinds):
                    if time.monotonic() - began > budget:
                        return
                    if not missing(kind):
                        yield measure(key, group, kind, shape, seed)


def summary(key: str, found: Sequence[Record]) -> str:
    """One line of the table: median over kinds of the median over seeds, and the worst of all."""
    group = GROUPS[key]
    cells: dict[tuple[str, int, int], list[Record]] = {}
    for record in found:
        cells.setdefault((record.kind, record.rows, record.columns), []).append(record)
    middle = float(np.median([np.median([r.ratio for r in cell]) for cell in cells.values()]))
    worst = max(found, key=lambda record: record.ratio)
    spread = max(
        max(r.ours for r in cell) / float(np.median([r.ours for r in cell]))
        for cell in cells.values()
    )
    open_, highs = (sum(not r.certified for r in found), sum("highs" in r.solver for r in found))
    return (
        f"| {group.name} / {group.theirs} | {middle:.2f} ({group.median:g}) | "
        f"{worst.ratio:.2f} ({group.worst:g}): {worst.kind}, {worst.rows:,} x {worst.columns:,}, "
        f"seed {worst.seed} | {spread:.1f} | {open_} of {len(found)} | {highs} |"
    )


HEAD = """| data / rival | median (bar) | worst (bar) | worst / median seed | open | HiGHS |
|---|---|---|---|---|---|"""


def report(
    keys: Sequence[str],
    kinds: Sequence[str] = (),
    shapes: Sequence[Shape] = (),
    seeds: int = 10,
    budget: float = float("inf"),
    output: Path | None = None,
    tell: Callable[[str], None] = lambda line: None,
) -> str:
    """The table over the chosen groups; every fit also goes to ``tell`` and to ``output``."""
    absent = [kind for kind in KINDS if (not kinds or kind in kinds) and missing(kind)]
    if absent:
        tell(f"left out, not on this machine: {', '.join(absent)}")
    found = []
    for record in records(keys, kinds, shapes, seeds, budget):
        found.append(record)
        mark = "" if record.certified else "  NOT CERTIFIED"
        tell(
            f"{record.rows:>9,} x {record.columns:<6,} {record.kind:40s} seed {record.seed:<2} "
            f"{record.ours:9.4f} s {record.ratio:7.2f}  {record.iterations:4d} {record.solver} "
            f"{record.relative_gap:.0e}{mark}"
        )
    if output is not None:
        output.write_text(json.dumps([asdict(record) for record in found], indent=1) + "\n")
    lines = [HEAD]
    for key in keys:
        mine = [record for record in found if record.group == key]
        if mine:
            lines.append(summary(key, mine))
    return "\n".join(lines) + "\n"
