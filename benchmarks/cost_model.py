"""What a fit in blocks costs, from measured parts: the model of doc/scale.md.

    python benchmarks/cost_model.py --rows 1_000_000_000 --columns 100 --workers 64

Processor seconds per row of each read are measured on one block for several widths and fitted as
a + b n; the exact solve on the client likewise, as band (c n + d n^2).  They are processor
seconds (``time.process_time``), so other work on the machine does not count.  Reading from disk or
network is a bandwidth per worker that you give.
"""

import argparse
import datetime
import math
import time

import numpy as np

from lincent import LCC
from lincent.passes.dask import block_work, survey
from lincent.passes.dask.band import SAMPLE_ENTRIES, SPARE_ENTRIES, SPARE_WORK
from lincent.passes.dask.block import Setting, Sides
from lincent.solvers.lp import screening

WIDTHS = (10, 20, 50, 100)
TASK = 1e-3
"""Seconds a scheduler needs for a task (Dask's own figure)."""


def processor_seconds(function, repeats=3):
    function()
    best = np.inf
    for _ in range(repeats):
        begin = time.process_time()
        function()
        best = min(best, time.process_time() - begin)
    return best


def data(m, n, dtype=np.float32):
    rng = np.random.default_rng(n)
    X = rng.standard_normal((m, n), dtype=dtype)
    score = X @ rng.standard_normal(n).astype(dtype)
    return X, (score + score.std() * rng.standard_normal(m) > 0).astype(np.int8)


def reads(n, rows=200_000):
    """Processor seconds per row of the kinds of read."""
    X, y = data(rows, n)
    sides = Sides(np.array([0, 1], np.int8), np.array([-1, 1], np.int8), np.ones(2))
    setting = Setting(sides, np.zeros(n), 0.01, 2.0)
    beta = LCC(random_state=0).fit(X[:20_000], y[:20_000]).coef_[0]
    away = np.abs(X @ beta - 0.01)
    width = float(np.quantile(away, 0.01))
    at = {"setting": setting, "beta": beta, "width": width}
    points = {"setting": setting, "points": [beta, 1.001 * beta], "width": width}
    return {
        "survey": processor_seconds(lambda: survey.survey(X, y, None, n=n)) / rows,
        "look and smooth": processor_seconds(lambda: block_work.look(X, y, None, **at)) / rows,
        "look and split": processor_seconds(lambda: block_work.look(X, y, None, small=True, **at))
        / rows,
        "check": processor_seconds(lambda: block_work.check(X, y, None, **points)) / rows,
    }


def solves():
    """Processor seconds of the exact solve for some bands."""
    for m, n in [(20_000, 10), (40_000, 20), (20_000, 50), (20_000, 100)]:
        X, y = data(m, n, np.float64)
        model = LCC(solver="interior-point")
        yield m, n, processor_seconds(lambda model=model, X=X, y=y: model.fit(X, y), repeats=1)


def plan(m, n):
    """Rows of the sample, of the last band, and the number of Newton steps."""
    k = min(screening.sample_size(m, n), SAMPLE_ENTRIES // n)
    band = min(1.0, screening.BAND * math.sqrt(n / k)) * m
    few = max(screening.EXACT_ROWS * n, min(SPARE_ENTRIES // n, SPARE_WORK // n**2))
    steps = 0
    while band > few and steps < screening.NEWTON_STEPS:
        band, steps = screening.SHRINK * band, steps + 1
    return k, int(band), steps, band <= few


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=int, default=1_000_000_000)
    parser.add_argument("--columns", type=int, default=100)
    parser.add_argument("--workers", type=int, default=64)
    parser.add_argument("--bytes", type=int, default=4, help="of one value")
    parser.add_argument("--bandwidth", type=float, default=500e6, help="bytes/s of one worker")
    parser.add_argument("--block", type=int, default=250_000, help="rows in a block")
    settings = parser.parse_args()
    m, n, workers = settings.rows, settings.columns, settings.workers
    print(f"{datetime.date.today()}, processor nanoseconds per row of a read\n")
    measured = {width: reads(width) for width in WIDTHS}
    kinds = list(measured[WIDTHS[0]])
    print("| read | " + " | ".join(f"n = {w}" for w in WIDTHS) + " | a + b n |")
    print("|---|" + "---|" * (len(WIDTHS) + 1))
    cost = {}
    for kind in kinds:
        values = [measured[width][kind] for width in WIDTHS]
        b, a = np.polyfit(WIDTHS, values, 1)
        cost[kind] = a + b * n
        cells = " | ".join(f"{1e9 * value:.0f}" for value in values)
        print(f"| {kind} | {cells} | {1e9 * a:.0f} + {1e9 * b:.1f} n |")
    points = list(solves())
    table = np.array([[rows * width, rows * width**2] for rows, width, _ in points], dtype=float)
    seconds = np.array([point[2] for point in points])
    # Relative errors count: each equation divided by its right-hand side.
    c, d = np.linalg.lstsq(table / seconds[:, None], np.ones(len(points)), rcond=None)[0]
    print("\n| exact solve | processor seconds | model |\n|---|---|---|")
    for (rows, width, second), row in zip(points, table, strict=True):
        print(f"| {rows:,} x {width} | {second:.2f} | {row @ (c, d):.2f} |")
    k, band, steps, ahead = plan(m, n)
    disk = settings.bytes * n / settings.bandwidth
    kinds = ["survey", "check"] + ["look and smooth"] * steps + ["look and split"] * (2 - ahead)
    tasks = 2 * math.ceil(m / settings.block) * TASK
    reading = sum(m * (cost[kind] + disk) / workers + tasks for kind in kinds)
    reading += m * disk / workers + tasks  # the sample
    solving = band * (c * n + d * n**2)
    sampling = k * n * settings.bytes / settings.bandwidth
    print(
        f"\n{m:,} x {n}, {workers} workers at {settings.bandwidth / 1e6:.0f} MB/s: "
        f"{len(kinds) + 1} reads, sample {k:,} rows, band {band:,} rows\n"
        f"reads {reading:.0f} s (of which scheduler {(len(kinds) + 1) * tasks:.0f} s), "
        f"sample to the client {sampling:.0f} s, exact solve {solving:.0f} s of one core; "
        f"client memory {8e-9 * n * (k + 3 * band):.1f} GB"
    )


if __name__ == "__main__":
    main()
