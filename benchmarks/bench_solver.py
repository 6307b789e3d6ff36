"""Fit times of LCC beside scikit-learn's linear classifiers, in one run, with ratios.

    python benchmarks/bench_solver.py                    the quick profile, under two minutes
    python benchmarks/bench_solver.py --profile full     every shape
    python benchmarks/bench_solver.py --write results/speed.md   the table of the page
    python benchmarks/bench_solver.py --workloads        median and worst over kinds and seeds
    python benchmarks/bench_solver.py --workloads tall mid --kinds "outlier cells" "real: pc1" \
        --shapes 20000x30 --seeds 3 --seconds 300 --jobs 8 --json results/tall.json

Methods take turns within a shape, so that a noisy neighbor disturbs all of them alike; the table
gives medians and the ratio of LCC's median to each. Peak memory is that of a fresh process during
``fit`` alone, above what it held before.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import subprocess
import sys
import tempfile
import time
import warnings
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import date
from pathlib import Path

import numpy as np
import scipy
import scipy.sparse as sp
import sklearn
from scipy.optimize import linprog
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.linear_model import LogisticRegression, RidgeClassifier, SGDClassifier
from sklearn.model_selection import train_test_split
from sklearn.preprocessing import StandardScaler
from sklearn.svm import LinearSVC

from lincent import LCC
from lincent.paper.datasets import load_dataset, make_noisy_classes

Data = tuple[object, np.ndarray]


class PaperProgram:
    """Equation LCC as printed, handed to scipy.optimize.linprog."""

    def fit(self, X, y):
        sign = np.where(y == y.max(), 1.0, -1.0)
        centers = X[sign < 0].mean(axis=0), X[sign > 0].mean(axis=0)
        difference, middle = centers[1] - centers[0], (centers[0] + centers[1]) / 2
        m, n = X.shape
        rows = sp.hstack([sp.csr_array(sign[:, None] * (middle - X)), -sp.eye_array(m)])
        apart = sp.hstack([sp.csr_array(-difference[None, :]), sp.csr_array((1, m))])
        result = linprog(
            np.concatenate([-difference, np.full(m, 2.0)]),
            A_ub=sp.vstack([rows, apart]),
            b_ub=np.append(np.zeros(m), -0.01),
            bounds=np.vstack([np.tile([-1.0, 1.0], (n, 1)), np.tile([-0.01, np.inf], (m, 1))]),
            method="highs",
        )
        self.objective_ = result.fun
        return self


METHODS: dict[str, Callable[[], object]] = {
    "LCC": LCC,
    "LogisticRegression()": LogisticRegression,
    "LogisticRegression(newton-cholesky)": lambda: LogisticRegression(solver="newton-cholesky"),
    "LinearSVC(dual='auto')": lambda: LinearSVC(dual="auto"),
    "LinearSVC(dual=False)": lambda: LinearSVC(dual=False),
    "LDA(svd)": lambda: LinearDiscriminantAnalysis(solver="svd"),
    "LDA(lsqr)": lambda: LinearDiscriminantAnalysis(solver="lsqr"),
    "RidgeClassifier()": RidgeClassifier,
    "SGDClassifier()": SGDClassifier,
    "linprog, paper's program": PaperProgram,
}
COMMON = [m for m in METHODS if m != "linprog, paper's program"]
LIGHT = ["LCC", "LogisticRegression()", "LinearSVC(dual='auto')", "LDA(lsqr)"]


def noisy(m: int, n: int) -> Callable[[], Data]:
    return lambda: make_noisy_classes(m, n, random_state=0)


def paper_set(name: str) -> Callable[[], Data]:
    def load() -> Data:
        bunch = load_dataset(name)
        X, _, y, _ = train_test_split(
            bunch.data, bunch.target, train_size=0.7, stratify=bunch.target, random_state=0
        )
        X = X[:, X.std(axis=0) > 0]
        return StandardScaler().fit_transform(X), y

    return load


def sparse(m: int, n: int, per_row: int) -> Callable[[], Data]:
    def make() -> Data:
        rng = np.random.default_rng(0)
        columns = np.sort(rng.integers(0, n, (m, per_row)), axis=1).ravel()
        X = sp.csr_matrix(
            (rng.random(m * per_row) + 0.5, columns, np.arange(0, m * per_row + 1, per_row)),
            shape=(m, n),
        )
        X.sum_duplicates()
        score = X @ rng.standard_normal(n)
        score += 0.3 * score.std() * rng.standard_normal(m)
        y = (score > np.median(score)).astype(int)
        wrong = rng.random(m) < 0.05
        return X, np.where(wrong, 1 - y, y)

    return make


@dataclass
class Case:
    """One shape: its data, its methods, and how often each is fitted."""

    data: Callable[[], Data]
    methods: list[str] = field(default_factory=lambda: COMMON)
    repeats: int = 5


PAPER_SETS = ["crab_gender", "glass", "parkinson", "ionosphere", "breast_cancer", "pima_diabetes"]
FULL = {
    **{f"{name} (70 %)": Case(paper_set(name), repeats=31) for name in PAPER_SETS},
    "german_credit (70 %)": Case(paper_set("german_credit"), repeats=31),
    "400 x 784": Case(noisy(400, 784), repeats=5),
    "3,000 x 1,500": Case(noisy(3_000, 1_500), ["LCC", "LDA(svd)", "LogisticRegression()"], 3),
    "20,000 x 30": Case(noisy(20_000, 30), [*COMMON, "linprog, paper's program"], 7),
    "50,000 x 100": Case(noisy(50_000, 100), repeats=7),
    "200,000 x 50": Case(noisy(200_000, 50), repeats=5),
    "1,000,000 x 50": Case(noisy(1_000_000, 50), repeats=3),
    "2,000,000 x 20": Case(noisy(2_000_000, 20), repeats=3),
    "50,000 x 5,000 sparse 0.2 %": Case(
        sparse(50_000, 5_000, 10), ["LCC", "LogisticRegression()", "LinearSVC(dual='auto')"], 1
    ),
    "100,000 x 20": Case(noisy(100_000, 20), LIGHT, 5),
    "1,000,000 x 20": Case(noisy(1_000_000, 20), LIGHT, 3),
    "10,000,000 x 20": Case(noisy(10_000_000, 20), ["LCC", "LogisticRegression()"], 2),
}
QUICK = {
    name: Case(FULL[name].data, [m for m in FULL[name].methods if m in [*LIGHT, "LDA(svd)"]], 3)
    for name in [
        "glass (70 %)",
        "german_credit (70 %)",
        "400 x 784",
        "20,000 x 30",
        "50,000 x 100",
        "200,000 x 50",
        "1,000,000 x 50",
    ]
}
PROFILES = {"quick": QUICK, "full": FULL}
LINPROG_ONCE = "linprog, paper's program"


def fit_times(case: Case) -> tuple[dict[str, float], object]:
    """Median seconds per method, methods taking turns, and the fitted LCC."""
    X, y = case.data()
    seconds: dict[str, list[float]] = {method: [] for method in case.methods}
    fitted = None
    for turn in range(case.repeats + 1):
        for method in case.methods:
            if method == LINPROG_ONCE and turn > 1:
                continue
            model = METHODS[method]()
            start = time.perf_counter()
            model.fit(X, y)
            if turn or case.repeats == 1 or method == LINPROG_ONCE:  # the first turn warms up
                seconds[method].append(time.perf_counter() - start)
            if method == "LCC":
                fitted = model
    return {method: float(np.median(s)) for method, s in seconds.items()}, fitted


def peak_memory(name: str) -> tuple[float, float]:
    """(MiB that ``fit`` took beyond what was held before, MiB of X), in a fresh process.

    The process reads the data from files: one that has made it may still hold freed memory, which
    ``fit`` would then seem not to need.
    """
    with tempfile.TemporaryDirectory() as folder:
        answers = [
            subprocess.run(
                [sys.executable, __file__, step, name, "--folder", folder],
                capture_output=True, text=True, check=True,
            ).stdout
            for step in ("--save", "--memory-of")
        ]  # fmt: skip
    answer = json.loads(answers[1])
    return answer["extra"], answer["X"]


def save(name: str, folder: Path) -> None:
    X, y = FULL[name].data()
    np.save(folder / "y.npy", y)
    if sp.issparse(X):
        sp.save_npz(folder / "X.npz", X)
    else:
        np.save(folder / "X.npy", X)


def measure_memory(folder: Path) -> None:
    def peak() -> float:
        for line in Path("/proc/self/status").read_text().splitlines():
            if line.startswith("VmHWM"):
                return int(line.split()[1]) / 1024
        return float("nan")

    dense = folder / "X.npy"
    X = np.load(dense) if dense.exists() else sp.load_npz(folder / "X.npz")
    y = np.load(folder / "y.npy")
    size = (X.data.nbytes + X.indices.nbytes) if sp.issparse(X) else X.nbytes
    LCC().fit(*make_noisy_classes(200, 5, random_state=0))  # imports and pools come first
    Path("/proc/self/clear_refs").write_text("5")  # resets the peak
    before = peak()
    LCC().fit(X, y)
    print(json.dumps({"extra": peak() - before, "X": size / 2**20}))


def machine() -> str:
    """The processor and how many of its cores this process may use."""
    for line in Path("/proc/cpuinfo").read_text().splitlines():
        if line.startswith("model name"):
            return f"{len(os.sched_getaffinity(0))} cores of {line.split(':')[1].strip()}"
    return f"{len(os.sched_getaffinity(0))} cores"


def human(seconds: float) -> str:
    return f"{seconds * 1e3:.1f} ms" if seconds < 1 else f"{seconds:.2f} s"


def report(profile: str, only: str) -> str:
    lines = [
        f"Measured {date.today()} by `benchmarks/bench_solver.py --profile {profile}` on "
        f"{machine()}; Python {platform.python_version()}, NumPy {np.__version__}, "
        f"SciPy {scipy.__version__}, scikit-learn {sklearn.__version__}. Medians; in brackets the "
        "time of LCC divided by that method's.",
        "",
        "| data | LCC | certified relative gap | extra memory | others |",
        "|---|---|---|---|---|",
    ]
    for name, case in PROFILES[profile].items():
        if only not in name:
            continue
        times, model = fit_times(case)
        own = times.pop("LCC")
        gap = model.duality_gap_
        memory = "" if "70 %" in name else "{:.0f} MiB (X: {:.0f})".format(*peak_memory(name))
        others = "; ".join(f"{m} {human(s)} ({own / s:.2f})" for m, s in times.items())
        lines.append(f"| {name} | {human(own)} | {gap:.0e} | {memory} | {others} |")
        print(lines[-1], flush=True)
    return "\n".join(lines) + "\n"


def workload_table(arguments: argparse.Namespace) -> str:
    import workload_ratios
    import workload_table

    absent = [kind for kind in workload_ratios.KINDS if workload_ratios.missing(kind)]
    if absent:
        print(f"left out, not on this machine: {', '.join(absent)}")
    shapes = [tuple(int(part) for part in shape.split("x")) for shape in arguments.shapes]
    groups = arguments.workloads or list(workload_ratios.GROUPS)
    todo = {
        key: workload_ratios.cells(key, arguments.kinds, shapes, arguments.seeds) for key in groups
    }
    found = []
    for r in workload_ratios.records(todo, arguments.seconds, arguments.jobs, arguments.clock):
        found.append(r)
        mark = "" if r.certified else "  NOT CERTIFIED"
        counts = "" if r.reads is None else f" reads {r.reads} memory {r.extra:.2f} X"
        print(
            f"{r.rows:>9,} x {r.columns:<6,} {r.kind:40s} seed {r.seed:<2} {r.ours:9.4f} s "
            f"{r.ratio:7.2f}  {r.iterations:4d} {r.solver} {r.relative_gap:.0e}{counts}{mark}",
            flush=True,
        )
        if arguments.json:
            workload_table.write(found, arguments.json)
    source = "`benchmarks/bench_solver.py --workloads`"
    return f"Measured {date.today()} by {source} on {machine()}.\n\n{workload_table.table(found)}"


def add_workload_options(parser: argparse.ArgumentParser) -> None:
    many = parser.add_argument_group("workloads")
    many.add_argument(
        "--workloads", nargs="*", metavar="GROUP", help="huge, tall, mid, small, wide, ...; all"
    )
    many.add_argument("--kinds", nargs="*", default=[], help="names of workloads.KINDS; all")
    many.add_argument("--shapes", nargs="*", default=[], metavar="ROWSxCOLUMNS")
    many.add_argument("--seeds", type=int, default=10)
    many.add_argument("--seconds", type=float, default=float("inf"), help="stop after so many")
    many.add_argument("--jobs", type=int, default=1, help="side by side, each on two cores")
    many.add_argument("--clock", choices=["wall", "processor"], default="wall")
    many.add_argument("--json", type=Path, help="write every fit to this file")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--profile", choices=PROFILES, default="quick")
    parser.add_argument("--only", default="", help="only data whose name has this in it")
    parser.add_argument("--write", type=Path, help="also write the table to this file")
    add_workload_options(parser)
    parser.add_argument("--save", help=argparse.SUPPRESS)
    parser.add_argument("--memory-of", help=argparse.SUPPRESS)
    parser.add_argument("--folder", type=Path, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    warnings.simplefilter("ignore")  # scikit-learn's convergence messages are not the subject
    if arguments.save:
        return save(arguments.save, arguments.folder)
    if arguments.memory_of:
        return measure_memory(arguments.folder)
    if arguments.workloads is not None:
        return print(workload_table(arguments))
    table = report(arguments.profile, arguments.only)
    print(table)
    if arguments.write:
        arguments.write.write_text(f"# Speed\n\n{table}")


if __name__ == "__main__":
    main()
