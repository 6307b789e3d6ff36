"""What a cluster costs on data that would fit: the same fit in memory and on two workers.

    python benchmarks/distributed_overhead.py                   10,000,000 x 20
    python benchmarks/distributed_overhead.py --rows 1_000_000

Both sides have the same cores: in memory BLAS has as many threads as there are workers.  The
blocks lie in the workers' memory, as a previous step of a pipeline would have left them.
"""

import argparse
import datetime
import os
import statistics
import time

import dask.array as da
import numpy as np
from dask import delayed
from distributed import Client, LocalCluster, wait
from sklearn.base import clone
from threadpoolctl import threadpool_limits

from lincent import LCC


def block(number, rows, n):
    rng = np.random.default_rng([11, number])
    direction = np.random.default_rng(11).standard_normal(n)
    X = rng.standard_normal((rows, n))
    score = X @ direction
    return X, (score + score.std() * rng.standard_normal(rows) > 0).astype(np.int8)


def timed(function, repeats):
    seconds = []
    for _ in range(repeats):
        begin = time.perf_counter()
        answer = function()
        seconds.append(time.perf_counter() - begin)
    return answer, statistics.median(seconds)


def on_workers(m, n, size):
    """X and y as blocks that the workers make and keep."""
    X, y = [], []
    for k in range(-(-m // size)):
        rows = min(size, m - k * size)
        made = delayed(block, nout=2)(k, rows, n)
        X.append(da.from_delayed(made[0], (rows, n), float))
        y.append(da.from_delayed(made[1], (rows,), np.int8))
    X, y = da.concatenate(X).persist(), da.concatenate(y).persist()
    wait([X, y])
    return X, y


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=int, default=10_000_000)
    parser.add_argument("--columns", type=int, default=20)
    parser.add_argument("--block", type=int, default=500_000)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--verbose", action="store_true", help="print every read")
    settings = parser.parse_args()
    model = LCC(random_state=0, verbose=int(settings.verbose))
    m, n, size = settings.rows, settings.columns, settings.block
    parts = [block(k, min(size, m - k * size), n) for k in range(-(-m // size))]
    X, y = (np.concatenate(part) for part in zip(*parts, strict=True))
    del parts
    with threadpool_limits(settings.workers):
        here, memory = timed(lambda: clone(model).fit(X, y), settings.repeats)
    load = os.getloadavg()[0]
    del X, y
    with (
        LocalCluster(
            n_workers=settings.workers,
            threads_per_worker=1,
            memory_limit=0,
            dashboard_address=":0",
        ) as cluster,
        Client(cluster),
    ):
        X, y = on_workers(m, n, size)
        there, spread = timed(lambda: clone(model).fit(X, y), settings.repeats)
    difference = abs(here.objective_ - there.objective_) / max(1, abs(here.objective_))
    print(
        "| date | rows x columns | in memory s | on workers s | ratio | difference of objectives | "
        "load on the machine |\n|---|---|---|---|---|---|---|\n"
        f"| {datetime.date.today()} | {m:,} x {n} | {memory:.2f} | {spread:.2f} | "
        f"{spread / memory:.2f} | {difference:.1e} | {load:.1f} |"
    )


if __name__ == "__main__":
    main()
