"""Figures of doc/measured/family.md: what LCCCV and FQCC cost, FQCC against general
solvers, kernel times.

    python benchmarks/family.py                     every section, about 20 minutes
    python benchmarks/family.py drift times         some of them

Each section goes into doc/measured/family.md between the marks of its name. The kernel test and
FQCC against LCC are part of the study of the paper; benchmarks/study_page.py writes them.
"""

from __future__ import annotations

import datetime
import os
import platform
import subprocess
import sys
import time
import warnings
from pathlib import Path
from unittest import mock

import numpy as np
import ramp_lines
import ramp_slsqp
import scipy
import scipy.sparse as sp
import sklearn
from scipy.optimize import BFGS, Bounds, LinearConstraint, NonlinearConstraint, minimize
from sklearn.metrics import balanced_accuracy_score
from sklearn.model_selection import StratifiedShuffleSplit
from sklearn.preprocessing import StandardScaler
from workloads import DENSE, make, missing

from lincent import FQCC, LCC, LCCCV
from lincent.paper.datasets import load_dataset
from lincent.problems.centralization import lcc_program
from lincent.problems.ramp import RampProgram
from lincent.solvers import ramp
from lincent.solvers.lp import dispatch
from lincent.solvers.solution import Controls
from lincent.sources.dense import DenseRows

PAGE = Path(__file__).resolve().parent.parent / "doc" / "measured" / "family.md"


class LineSearchFQCC(FQCC):
    """FQCC that searches along lines for a lower point than the local optimum."""

    def _best(self, *given):
        with mock.patch.object(ramp, "solve", ramp_lines.solve):
            return super()._best(*given)


def splits(X, y, count):
    """Parts of stratified 70/30 splits."""
    for train, test in StratifiedShuffleSplit(count, test_size=0.3, random_state=0).split(X, y):
        yield X[train], y[train], X[test], y[test]


def random_problem(seed):
    rng = np.random.default_rng(seed)
    m, n = int(rng.integers(30, 81)), int(rng.integers(2, 9))
    y = np.where(np.arange(m) % 2, 1.0, -1.0)
    shift = rng.normal(size=n)
    shift *= rng.uniform(0.5, 3) / np.linalg.norm(shift)
    X = (
        rng.normal(size=(m, n)) @ (np.eye(n) + 0.3 * rng.normal(size=(n, n)))
        + np.outer(y, shift) / 2
    )
    count = int(rng.integers(0, m // 8 + 1))
    far = rng.choice(m, count, replace=False)
    X[far] -= np.outer(y[far], shift) * rng.uniform(1, 6, count)[:, None]
    X = (X - X.mean(axis=0)) / X.std(axis=0)
    low, high = X[y < 0].mean(axis=0), X[y > 0].mean(axis=0)
    rows = DenseRows(y[:, None] * (X - (low + high) / 2))
    costs = np.full(m, float(rng.choice([0.5, 2, 10])))
    margin = min(float(rng.choice([0.01, 0.1])), float(np.abs(high - low).sum()) / 2)
    return RampProgram(rows, costs, margin, high - low)


def trust_constr(form, start, controls, watch):
    """The interior point of SciPy, which is of the kind that the paper used."""
    apart = sp.csr_array(np.concatenate([form.d, np.zeros(form.m)])[None, :])
    return minimize(
        form.objective,
        start,
        jac=form.gradient,
        hess=BFGS(),
        method="trust-constr",
        callback=watch,
        bounds=Bounds(*np.array(form.bounds()).T),
        constraints=[
            NonlinearConstraint(
                form.slack,
                0.0,
                np.inf,
                jac=lambda v: sp.csr_array(form.slack_slope(v)),
                hess=BFGS(),
            ),
            LinearConstraint(apart, form.program.margin, np.inf),
        ],
        options={"maxiter": controls.max_iter, "gtol": controls.tol, "xtol": controls.tol},
    )


GENERAL = {"trust-constr": trust_constr, "SLSQP": ramp_slsqp.sequential_quadratic}


def problems(seeds=range(200), methods=tuple(GENERAL)):
    ours = {"convex-concave": ramp, "convex-concave with line search": ramp_lines}
    theirs = dict.fromkeys(methods)
    values = {name: [] for name in (*ours, *theirs)}
    seconds = dict.fromkeys(values, 0.0)
    for seed in seeds:
        program, rng = random_problem(seed), np.random.default_rng(0)
        linear = lcc_program(program.rows, program.difference, program.costs, program.margin)
        start = dispatch.solve(linear, "auto", Controls(), rng).certificate.beta
        for name in values:
            begin = time.process_time()
            if name in ours:
                found = ours[name].solve(program, start, "auto", Controls(), rng, 100)
            else:
                found = ramp_slsqp.solve(program, start, Controls(max_iter=200), GENERAL[name])
            seconds[name] += time.process_time() - begin
            values[name].append(found.objective)
    lines = [
        "| | processor seconds | "
        + " | ".join(f"at least as good as {t}" for t in theirs)
        + " | mean objective |"
    ]
    lines += ["|---|---|" + "---|" * (len(theirs) + 1)]
    behind = []
    for name in values:
        cells = []
        for other in theirs:
            theirs_values = np.array(values[other])
            unit = np.maximum(1, np.abs(theirs_values))
            worse = (np.array(values[name]) - theirs_values) / unit
            cells.append(f"{100 * np.mean(worse <= 1e-7):.1f} %" if name != other else "")
            if name in ours:
                behind.append(
                    f"- {name} behind {other}: {np.sum(worse > 1e-7)} of {len(worse)} problems, by "
                    f"at most {max(0.0, worse.max()):.2f} of the objective"
                )
        mean = np.mean(values[name])
        lines.append(f"| {name} | {seconds[name]:.1f} | " + " | ".join(cells) + f" | {mean:.4f} |")
    print("\n".join(lines), flush=True)
    return [*lines, "", *behind]


def fresh():
    """Problems that no choice in the line search was made on."""
    return problems(range(1000, 1200), ("SLSQP",))


def drift():
    lines = [
        "| set | model | distance of centers / spread within | accuracy | AUC of hard labels "
        "| FQCC or LCC objective |",
        "|---|---|---|---|---|---|",
    ]
    for code in ("PR", "IS", "PD", "GR"):
        data = load_dataset(code)
        X = data.data[:, data.data.std(axis=0) > 0]
        found = {"LCC": [], "FQCC": [], "FQCC with line search": []}
        for A, a, *_ in splits(X, data.target, 10):
            A = StandardScaler().fit_transform(A)
            for name, model in zip(found, (LCC(), FQCC(), LineSearchFQCC()), strict=True):
                line = model.fit(A, a).transform(A)[:, 0]
                apart = np.ptp(model.centers_ @ model.coef_[0])
                within = np.sqrt(np.mean([line[a == k].var() for k in model.classes_]))
                balanced = 100 * balanced_accuracy_score(a, model.predict(A))
                score = 100 * model.score(A, a)
                found[name].append([apart / within, score, balanced, model.objective_])
        for name, rows in found.items():
            ratio, score, balanced, objective = np.mean(rows, axis=0)
            lines.append(
                f"| {code} | {name} | {ratio:.2f} | {score:.1f} | {balanced:.1f} "
                f"| {objective:.3f} |"
            )
            print(lines[-1], flush=True)
    return lines


CHILD = """
import resource, sys, time, tracemalloc
import numpy as np
from lincent import KernelLCC
from lincent.paper.datasets import make_noisy_classes
from sklearn.svm import SVC
m, n_components, norm = int(sys.argv[1]), eval(sys.argv[2]), sys.argv[3]
X, y = make_noisy_classes(m, 20, random_state=0)
def build():
    return SVC() if norm == "SVC" else KernelLCC(norm=norm, n_components=n_components)
build().fit(X[:300], y[:300])
peak = lambda: resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
tracemalloc.start()
before, start, cpu = peak(), time.perf_counter(), time.process_time()
model = build().fit(X, y)
seconds, cpu = time.perf_counter() - start, time.process_time() - cpu
gap = getattr(model, "duality_gap_", float("nan"))
memory = max(peak() - before, tracemalloc.get_traced_memory()[1])
tracemalloc.stop()
score = model.score(X[:10000], y[:10000])
print(cpu, memory, gap, np.max(model.n_iter_), score, seconds)
"""


def child(m, n_components, norm):
    command = [sys.executable, "-c", CHILD, str(m), repr(n_components), norm]
    out = subprocess.run(command, capture_output=True, text=True, check=True)
    return [float(word) for word in out.stdout.split()]


def times():
    lines = [
        "| form | m | KernelLCC CPU s | relative gap | iterations | peak memory / (8 m²) "
        "| SVC CPU s | ratio |",
        "|---|---|---|---|---|---|---|---|",
    ]
    for norm, m in (*(("l2", m) for m in (500, 2000, 5000, 20_000)), ("linf", 500), ("linf", 2000)):
        ours, theirs = child(m, None, norm), child(m, None, "SVC")
        lines.append(
            f"| {norm} | {m} | {ours[0]:.2f} | {ours[2]:.1e} | {ours[3]:.0f} "
            f"| {ours[1] / (8 * m * m):.2f} | {theirs[0]:.3f} | {ours[0] / theirs[0]:.1f} |"
        )
        print(lines[-1], flush=True)
    return lines


def nystroem():
    lines = [
        "| rows × columns | n_components | CPU s | wall s | relative gap | peak memory MB "
        "| training accuracy |",
        "|---|---|---|---|---|---|---|",
    ]
    for m, components in ((100_000, 100), (100_000, 300), (1_000_000, 100), (1_000_000, 300)):
        cpu, memory, gap, _, score, wall = child(m, components, "linf")
        lines.append(
            f"| {m:,} × 20 | {components} | {cpu:.1f} | {wall:.1f} | {gap:.1e} "
            f"| {memory / 1e6:.0f} | {score:.3f} |"
        )
        print(lines[-1], flush=True)
    return lines


def least(kind, X, y, repeats):
    """The least processor time of several fits."""
    spent = []
    for _ in range(repeats):
        start = time.process_time()
        kind().fit(X, y)
        spent.append(time.process_time() - start)
    return min(spent)


def fits():
    """LCCCV and FQCC in units of a fit of LCC, over the dense kinds of ``workloads.py``."""
    lines = [
        "| rows × columns | kinds | LCCCV, median | worst | above 30 | FQCC, median | worst "
        "| above 4 |",
        "|---|---|---|---|---|---|---|---|",
    ]
    kinds = [kind for kind in DENSE if not missing(kind)]
    for kind in (LCC, LCCCV, FQCC):  # the first fit pays for imports
        kind().fit(*make("normal", 60, 3))
    for m, n in ((200, 6), (1_000, 24), (5_000, 20), (2_000, 50), (20_000, 30)):
        ratios = []
        for kind in kinds:
            X, y = make(kind, m, n, seed=1)
            one = least(LCC, X, y, 6)
            ratios.append([least(LCCCV, X, y, 2) / one, least(FQCC, X, y, 3) / one])
        cells = [f"{m:,} × {n}", str(len(kinds))]
        for column, bar in zip(np.transpose(ratios), (30, 4), strict=True):
            worst = int(column.argmax())
            cells += [f"{np.median(column):.1f}", f"{column[worst]:.1f} ({kinds[worst]})"]
            cells += [str(np.count_nonzero(column > bar))]
        lines.append("| " + " | ".join(cells) + " |")
        print(lines[-1], flush=True)
    return lines


SECTIONS = {f.__name__: f for f in (fits, drift, problems, fresh, times, nystroem)}


def stamp(name, seconds):
    versions = ", ".join(f"{m.__name__} {m.__version__}" for m in (np, scipy, sklearn))
    threads = os.environ.get("OMP_NUM_THREADS", "all")
    return (
        f"Measured {datetime.date.today()} on {os.cpu_count()} shared CPU cores "
        f"in {seconds:.0f} s, "
        f"OMP_NUM_THREADS={threads}, Python {platform.python_version()}, {versions}: "
        f"`python benchmarks/family.py {name}`."
    )


def write(name, lines):
    """Replace what stands between the marks of the section."""
    begin, end = f"<!-- begin {name} -->", f"<!-- end {name} -->"
    head, rest = PAGE.read_text("utf-8").split(begin)
    tail = rest.split(end)[1]
    PAGE.write_text("\n".join([head + begin, "", *lines, "", end]) + tail, "utf-8")


def main():
    chosen = sys.argv[1:] or list(SECTIONS)
    unknown = [name for name in chosen if name not in SECTIONS]
    if unknown:
        raise SystemExit(f"no section {unknown[0]!r}; choose from {', '.join(SECTIONS)}")
    for name in chosen:
        print(f"== {name}", flush=True)
        start = time.perf_counter()
        with warnings.catch_warnings(record=True) as said:
            warnings.simplefilter("always")
            lines = SECTIONS[name]()
        notes = [f"{len(said)} warnings, the first: {said[0].message}", ""] if said else []
        write(name, [*lines, "", *notes, stamp(name, time.perf_counter() - start)])


if __name__ == "__main__":
    main()
