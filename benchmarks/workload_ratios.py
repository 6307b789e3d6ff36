"""Fit times over the library of workloads: ours beside scikit-learn's, kind by kind, seed by seed.

Run by ``bench_solver.py --workloads``; ``workload_table`` makes the tables.  Every fit is set
beside one of scikit-learn's on the same data, in turns; a ratio is that of the two medians (of five
fits where they take milliseconds).  One more fit per kind, not timed, counts reads and memory.

A budget is shared by the groups, and what one leaves the next ones have.  In a group large shapes
see fewer seeds than small ones, and all kinds see a seed before any sees the next.  ``jobs`` are
measured side by side, each on two cores of its own.
"""

from __future__ import annotations

import os
import time
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from multiprocessing import Queue, TimeoutError, get_context
from typing import Any

import numpy as np
import scipy.sparse as sp
import threadpoolctl
from reads import counted, extra_bytes
from sklearn.linear_model import LogisticRegression
from sklearn.svm import SVC, LinearSVC
from workloads import DENSE, KINDS, SPARSE, WORDS, make, missing

from lincent import LCC, LCCCV, KernelLCC, RegularizedLCC

__all__ = ["GROUPS", "KINDS", "Record", "cells", "missing", "records"]
REPEATED_BELOW = 0.05
"""Seconds: shorter fits are the median of ``REPEATS``."""
REPEATS = 5
TOL = 1e-9
GRACE = 30.0
"""Seconds that a fit may go on when the time of its group is over."""
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


LARGE_COSTS = (1e2, 1e4, 1e6)
"""Where Newton's method depends on its interior point and on support samples."""


def _of_large_cost(C: float, seed: int) -> RegularizedLCC:
    return RegularizedLCC(C=C)


OURS: dict[str, Callable[[int], Any]] = {
    "LCC": lambda seed: LCC(random_state=seed),
    "RegularizedLCC": lambda seed: RegularizedLCC(),
    **{f"RegularizedLCC(C={C:g})": partial(_of_large_cost, C) for C in LARGE_COSTS},
    "KernelLCC()": lambda seed: KernelLCC(random_state=seed),
    "KernelLCC(norm='linf')": lambda seed: KernelLCC(norm="linf", random_state=seed),
    "LCCCV": lambda seed: LCCCV(random_state=seed),
}
THEIRS: dict[str, Callable[[], Any]] = {
    "LogisticRegression()": LogisticRegression,
    "LinearSVC()": LinearSVC,
    # Where liblinear stops by default its objective is not at its optimum; this is.
    "LinearSVC(tol=1e-8)": lambda: LinearSVC(tol=1e-8, max_iter=100_000),
    "SVC()": SVC,
}
REGULARIZED = (
    (1_000, 20), (20_000, 30), (200_000, 50), (5_000, 200), (5_000, 1_000), (2_000, 1_000),
    (500, 5_000), (2_000, 5_000), (10_000, 5_000),
)  # fmt: skip
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
        "10,000 x 500, 2,000 x 1,000", ((10_000, 500), (2_000, 1_000)), "LinearSVC()", 1.5, 5,
        # LinearSVC does not end in minutes on columns of such scales, and cannot be stopped.
        kinds=tuple(kind for kind in DENSE if kind != "scales"),
    ),
    "mid wide": Group(
        "3,000 x 150, 1,000 x 200", ((3_000, 150), (1_000, 200)), "LinearSVC()", 3, 6,
        kinds=tuple(kind for kind in DENSE if kind != "scales"),
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
        "LinearSVC()", 15, 30, kinds=tuple(WORDS),
    ),
    "regularized": Group(
        "RegularizedLCC, dense", REGULARIZED, "LogisticRegression()", 1, 3, ours="RegularizedLCC"
    ),
    "regularized sparse": Group(
        "RegularizedLCC, sparse", ((20_000, 2_000), (50_000, 5_000)), "LogisticRegression()", 1, 3,
        ours="RegularizedLCC", kinds=tuple(SPARSE),
    ),
    **{
        f"C = {C:g}": Group(
            f"RegularizedLCC(C={C:g})", ((1_000, 24), (2_000, 50), (900, 320)),
            "LogisticRegression()", 5, 15, ours=f"RegularizedLCC(C={C:g})",
            kinds=("separable", "mixture", "cubed"),
        )
        for C in LARGE_COSTS
    },
    "sparse, cross-validated": Group(
        "LCCCV, sparse 1,000 x 2,000", ((1_000, 2_000),), "LinearSVC()", 500, 2_000,
        ours="LCCCV", kinds=tuple(SPARSE),
    ),
    "kernel, box": Group(
        "KernelLCC(norm='linf') 800 to 2,000 samples", ((800, 10), (1_600, 10), (2_000, 10)),
        "SVC()", 100, 1_000, ours="KernelLCC(norm='linf')", kinds=("normal", "mixture"),
    ),
    "kernel, default": Group(
        "KernelLCC() 500 to 5,000 rows", ((500, 20), (1_000, 20), (2_000, 20), (5_000, 20)),
        "SVC()", 3, 10, ours="KernelLCC()",
    ),
}  # fmt: skip


@dataclass(frozen=True)
class Record:
    """One fit beside that of scikit-learn."""

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
    reads: int | None = None  # of all rows, where they were counted
    extra: float | None = None  # memory beside X, as a share of it

    @property
    def ratio(self) -> float:
        return self.ours / self.theirs

    @property
    def certified(self) -> bool:
        return self.relative_gap <= TOL


CLOCKS = {"wall": time.perf_counter, "processor": time.process_time}
"""Processor time is for a busy machine, with one thread."""


@dataclass(frozen=True)
class Cell:
    """One fit to measure."""

    group: str
    kind: str
    shape: Shape
    seed: int

    @property
    def turn(self) -> int:
        """When it comes: the next seed of a shape once all have had as much as it."""
        return (self.seed + 1) * self.shape[0] * self.shape[1]


def cells(key: str, kinds: Sequence[str], shapes: Sequence[Shape], seeds: int) -> list[Cell]:
    """All that is asked for of a group, in turn; empty choices mean everything."""
    found = [
        Cell(key, kind, shape, seed)
        for shape in GROUPS[key].shapes
        if not shapes or shape in shapes
        for kind in GROUPS[key].kinds
        if (not kinds or kind in kinds) and not missing(kind)
        for seed in range(seeds)
    ]
    return sorted(found, key=lambda cell: cell.turn)


def seconds(fit: Callable[[], Any], clock: Callable[[], float]) -> tuple[float, Any]:
    start = clock()
    model = fit()
    return clock() - start, model


def measure(cell: Cell, clock: Callable[[], float]) -> Record:
    """Ours and theirs in turns on one draw of a kind."""
    group, seed = GROUPS[cell.group], cell.seed
    X, y = make(cell.kind, *cell.shape, seed)
    ours: list[float] = []
    theirs: list[float] = []
    while True:
        took, model = seconds(lambda: OURS[group.ours](seed).fit(X, y), clock)
        ours.append(took)
        theirs.append(seconds(lambda: THEIRS[group.theirs]().fit(X, y), clock)[0])
        if len(ours) == REPEATS or max(ours[0], theirs[0]) > REPEATED_BELOW:
            break
    reads, extra = _appetite(group, X, y) if seed == 0 else (None, None)
    gap = float(np.max(model.duality_gap_))
    solver = str(getattr(model, "solver_", ""))
    return Record(
        cell.group, cell.kind, *cell.shape, seed, float(np.median(ours)),
        float(np.median(theirs)), gap, int(np.max(model.n_iter_)), solver, reads, extra,
    )  # fmt: skip


def _appetite(group: Group, X: Any, y: np.ndarray) -> tuple[int, float]:
    """How often a fit reads X, and what it holds beside it as a share of it."""
    size = X.data.nbytes + X.indices.nbytes if sp.issparse(X) else X.nbytes
    with counted(X.shape[0]) as reads:
        held = extra_bytes(lambda: OURS[group.ours](0).fit(X, y))
    return reads.count, held / size


def records(
    todo: Mapping[str, Sequence[Cell]], budget: float, jobs: int = 1, clock: str = "wall"
) -> Iterator[Record]:
    """All that the budget (seconds) allows; what a group leaves of it the next ones have."""
    end = time.monotonic() + budget
    for number, group in enumerate(todo.values()):
        left = end - time.monotonic()
        deadline = time.monotonic() + left / (len(todo) - number)
        yield from (
            _in_turn(group, deadline, clock)
            if jobs == 1
            else (_side_by_side(group, deadline, clock, jobs))
        )


def _in_turn(todo: Sequence[Cell], deadline: float, clock: str) -> Iterator[Record]:
    _warm_up()
    for cell in todo:
        if time.monotonic() > deadline:
            return
        yield measure(cell, CLOCKS[clock])


def _side_by_side(todo: Sequence[Cell], deadline: float, clock: str, jobs: int) -> Iterator[Record]:
    context = get_context("spawn")
    places: Queue[list[int]] = context.Queue()
    for place in _places(jobs):
        places.put(place)
    # A method that does not end (liblinear on columns of many scales) cannot be interrupted: the
    # pool is ended with it, and what the others have found is kept.
    with context.Pool(jobs, _settle, (places,)) as pool:
        found = pool.imap_unordered(_measured, [(cell, deadline, clock) for cell in todo])
        for _ in todo:
            try:
                record = found.next(timeout=max(1.0, deadline + GRACE - time.monotonic()))
            except TimeoutError:
                print(f"ended {GRACE:.0f} s after its time, with fits that had not", flush=True)
                return
            if record is not None:
                yield record


def _places(jobs: int) -> list[list[int]]:
    """Two cores for every job, no core twice where there are enough."""
    cores = sorted(os.sched_getaffinity(0))
    return [[cores[(2 * k + i) % len(cores)] for i in range(2)] for k in range(jobs)]


def _settle(places: Queue[list[int]]) -> None:
    """A job begins: on its own cores, with everything imported."""
    cores = places.get()
    os.sched_setaffinity(0, cores)
    # The libraries were loaded when all cores were there: their threads would crowd on these.
    threadpoolctl.threadpool_limits(len(cores))
    warnings.simplefilter("ignore")  # scikit-learn's convergence messages are not the subject
    _warm_up()


def _warm_up() -> None:
    """What is imported or started with the first fit is nobody's time."""
    X, y = make("normal", 200, 6, 0)
    for model in (*(build(0) for build in OURS.values()), *(build() for build in THEIRS.values())):
        model.fit(X, y)


def _measured(task: tuple[Cell, float, str]) -> Record | None:
    cell, deadline, clock = task
    return measure(cell, CLOCKS[clock]) if time.monotonic() <= deadline else None
