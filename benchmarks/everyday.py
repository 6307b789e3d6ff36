"""Everyday use, measured: the path, LCCCV, and a million rows from file to answers.

    python benchmarks/everyday.py             # all; about five minutes
    python benchmarks/everyday.py tuning      # path and LCCCV against one fit and their bars
    python benchmarks/everyday.py files       # fit and predict on 1,000,000 x 30, CSV and Parquet

Times of the first part are processor times (the machine may be shared), medians of repeats; those
of the second are wall times as the commands print them. Peak memory is that of the whole process.
"""

from __future__ import annotations

import json
import os
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

from lincent import LCC, LCCCV, lcc_path

ROWS, COLUMNS = 1_000_000, 30
REPEATS = 7
PATH_BAR, SEARCH_BAR = 4.0, 30.0
"""Fits that a path of 15 margins, and a search over 5 folds of them, may cost."""


def noisy(flip, m=5000, n=30, seed=0):
    """A linear truth with noise, label flips, correlated columns; standardized."""
    rng = np.random.default_rng(seed)
    w = rng.normal(size=n)
    X = rng.normal(size=(m, n)) @ (np.eye(n) + 0.3 * rng.normal(size=(n, n)) / np.sqrt(n))
    y = X @ w + 0.5 * rng.normal(size=m) * np.linalg.norm(w) > 0
    y ^= rng.random(m) < flip
    return (X - X.mean(axis=0)) / X.std(axis=0), y.astype(int)


def informative(m=5000, n=30, seed=0):
    from sklearn.datasets import make_classification

    X, y = make_classification(m, n, n_informative=10, flip_y=0.05, random_state=seed)
    return (X - X.mean(axis=0)) / X.std(axis=0), y


def separable(m=5000, n=30, seed=1):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(m, n))
    return X, (X @ rng.normal(size=n) > 0).astype(int)


def processor_times(*functions):
    """Medians of processor times, taken in turn so that a busy moment is shared by all."""
    times = [[] for _ in functions]
    for _ in range(REPEATS):
        found = []
        for function, record in zip(functions, times, strict=True):
            start = time.process_time()
            found.append(function())
            record.append(time.process_time() - start)
    return [float(np.median(record)) for record in times], found


def made():
    """Tables of 5,000 x 30 whose margins run through all kinds of solutions."""
    yield "noisy, 5 % flipped", *noisy(0.05)
    yield "noisy, 1 % flipped", *noisy(0.01)
    yield "make_classification", *informative()
    yield "separable", *separable()
    yield "separable, seed 2", *separable(seed=2)


def searched():
    """The sets of the paper (70 %, prepared as there), and 5,000 x 100 integers with 1 : 16."""
    from workloads import make as workload

    from lincent.paper.datasets.registry import DatasetNotFoundError
    from lincent.paper.study import load_problem, paper

    for code in paper.SETS:
        try:
            problem = load_problem(code)
        except DatasetNotFoundError as error:
            print(f"{code}: {error}")
            continue
        train, _ = problem.split(0)
        X = problem.preparation().fit_transform(problem.rows(train))
        yield f"{code}, {X.shape[0]} x {X.shape[1]}", X, problem.y[train]
    for seed in range(2):
        X, y = workload("integers 1:16", 5_000, 100, seed)
        yield f"integers 1:16, seed {seed}", X, y


def tuning():
    print("15 margins 2^-7 .. 2^7 in lcc_path, 5 folds x 15 relative margins in LCCCV")
    print(f"{'data':<24}{'fit':>9}{'path':>8}{'/fit':>6}{'LCCCV':>8}{'/fit':>6}  points certified")
    paths, searches = [], []
    for name, X, y in made():
        path, search = ratios(name, X, y)
        paths.append(path)
        searches.append(search)
    searches += [ratios(*data)[1] for data in searched()]
    for name, found, bar in (("path", paths, PATH_BAR), ("LCCCV", searches, SEARCH_BAR)):
        result = "met" if max(found) <= bar else "MISSED"
        print(f"bar {name} <= {bar:g} x one fit on all data: {max(found):.1f} at worst, {result}")


def ratios(name, X, y):
    """How many fits a path and a search cost, printed with what they did."""
    LCC().fit(X, y)
    (one, path, tuned), (_, solved, model) = processor_times(
        lambda: LCC().fit(X, y), lambda: lcc_path(X, y), lambda: LCCCV().fit(X, y)
    )
    asked = solved.certified[:, solved.feasible]
    kinds = {kind: int((solved.solvers == kind).sum()) for kind in np.unique(solved.solvers)}
    worst = float(np.nanmax(model.cv_results_["relative_gap"]))
    print(
        f"{name:<24}{1e3 * one:7.1f}ms{1e3 * path:6.0f}ms{path / one:6.1f}"
        f"{1e3 * tuned:6.0f}ms{tuned / one:6.1f}  {int(asked.sum())}/{asked.size} {kinds}; "
        f"LCCCV worst gap {worst:.0e}; {int(solved.n_iters.sum())} steps in the path",
        flush=True,
    )
    return path / one, tuned / one


def run(*arguments):
    """A command in a process of its own: what it printed, wall and processor seconds, peak MB."""
    read, write = os.pipe()
    start = time.perf_counter()
    command = [sys.executable, *map(str, arguments)]
    child = os.posix_spawn(
        command[0], command, os.environ, file_actions=[(os.POSIX_SPAWN_DUP2, write, 1)]
    )
    os.close(write)
    with os.fdopen(read) as pipe:
        text = pipe.read()
    _, status, usage = os.wait4(child, 0)
    if status:
        raise SystemExit(f"{' '.join(command)} failed")
    wall = time.perf_counter() - start
    return text, wall, usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024


def command(*arguments):
    text, *rest = run("-m", "lincent", *arguments, "--json")
    return json.loads(text), *rest


def make(folder):
    """Write the table; in a process of its own, since a child's peak counts its parent's memory."""
    import pyarrow as pa
    from pyarrow import csv, parquet

    X, y = noisy(0.05, m=ROWS, n=COLUMNS, seed=2)
    columns = {f"x{j}": np.round(X[:, j], 5) for j in range(COLUMNS)}
    names = [f"r{k:07d}" for k in range(ROWS)]
    table = pa.table({"id": names, **columns, "y": np.where(y, "yes", "no")})
    csv.write_csv(table, Path(folder) / "data.csv")
    # The worst case for memory: one row group.
    parquet.write_table(table, Path(folder) / "data.parquet", row_group_size=ROWS)


def check(folder):
    """The answers against those of Python on the whole table."""
    from pyarrow import parquet

    from lincent.export import load_model
    from lincent.tables.read import UserTable
    from lincent.tables.schema import to_frame

    root = Path(folder)
    model = load_model(root / "model.lincent")
    table = parquet.read_table(root / "data.parquet")
    frame = to_frame(model.schema, UserTable(table))
    answers = parquet.read_table(root / "out.parquet")
    scores = model.pipeline.decision_function(frame)
    chances = model.pipeline.predict_proba(frame)[:, 1]
    same = np.mean(np.array(answers["class"].to_pylist()) == model.pipeline.predict(frame))
    off = np.abs(answers["score"].to_numpy() - scores).max()
    chance = np.abs(answers["probability_yes"].to_numpy() - chances).max()
    print(f"against Python: {same:.4%} of the classes equal, score off by {off:.0e}, probability "
          f"by {chance:.0e}")  # fmt: skip


def files():
    with tempfile.TemporaryDirectory() as folder:
        root, here = Path(folder), Path(__file__)
        run(here, "make", root)
        size = (root / "data.csv").stat().st_size / 1e6
        print(f"{ROWS:,} x {COLUMNS}: CSV {size:.0f} MB; load {os.getloadavg()[0]:.1f}")
        model = root / "model.lincent"
        found, wall, cpu, peak = command(
            "fit", root / "data.csv", "--target", "y", "--id", "id", "-o", model
        )
        print(f"fit from CSV: {wall:.0f} s, {cpu:.0f} s of processor, peak {peak:.0f} MB, relative "
              f"gap {found['certificate']['relative_gap']:.0e}")  # fmt: skip
        with open(root / "data.csv") as file:
            (root / "tiny.csv").write_text("".join(file.readline() for _ in range(3)))
        start = command("predict", model, root / "tiny.csv", "-o", root / "tiny.out.csv")[2]
        for source in ("data.csv", "data.parquet"):
            for sink in ("out.csv", "out.parquet"):
                found, wall, cpu, peak = command(
                    "predict", model, root / source, "-o", root / sink, "--force"
                )
                print(
                    f"predict {source} -> {sink}: {found['rows_per_second']:,} rows/s as printed, "
                    f"{ROWS / (cpu - start):,.0f} rows per processor second after the start "
                    f"({start:.1f} s); in all {wall:.1f} s, peak {peak:.0f} MB"
                )
        print(run(here, "check", root)[0].strip())


if __name__ == "__main__":
    parts = {"tuning": tuning, "files": files}
    if sys.argv[1:2] in (["make"], ["check"]):
        globals()[sys.argv[1]](sys.argv[2])
        sys.exit()
    for part in sys.argv[1:] or parts:
        parts[part]()
