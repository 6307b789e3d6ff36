"""LCCCV and KernelLCC over blocks on two workers, beside the same fits in memory.

    python benchmarks/distributed_search.py                   1,000,000 x 20
    python benchmarks/distributed_search.py --rows 200_000

Prints seconds, reads of the data and the largest difference of scores and objectives.  The blocks
lie in the workers' memory.  In memory BLAS has as many threads as there are workers.
"""

import argparse
import datetime
import os
import threading
import time
from collections import Counter

import dask.array as da
import numpy as np
from distributed import Client, LocalCluster, wait
from threadpoolctl import threadpool_limits

from lincent import LCCCV, KernelLCC
from lincent.passes.dask.run import Schedule


def make(m, n):
    rng = np.random.default_rng(7)
    X = rng.standard_normal((m, n))
    score = X @ rng.standard_normal(n) + 0.3 * (X[:, 0] ** 2 - 1)
    return X, (score + score.std() * rng.standard_normal(m) > 0).astype(np.int8)


def count_reads():
    """The number of reads by verb, counted from now on."""
    reads, lock, original = Counter(), threading.Lock(), Schedule.run

    def counted(self, verb, *rest, **named):
        with lock:
            reads[verb] += 1
        return original(self, verb, *rest, **named)

    Schedule.run = counted
    return reads


def timed(model, X, y):
    begin = time.perf_counter()
    model.fit(X, y)
    return time.perf_counter() - begin


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--columns", type=int, default=20)
    parser.add_argument("--block", type=int, default=50_000)
    parser.add_argument("--landmarks", type=int, default=100)
    settings = parser.parse_args()
    X, y = make(settings.rows, settings.columns)
    models = {
        "LCCCV(), 5 folds, 15 margins": lambda: LCCCV(random_state=0),
        f"KernelLCC(n_components={settings.landmarks})": lambda: KernelLCC(
            n_components=settings.landmarks, random_state=0
        ),
    }
    print(f"{datetime.date.today()}, load {os.getloadavg()[0]:.1f}")
    print(
        "| rows x columns | model | in memory s | on workers s | reads | relative difference of "
        "objectives | difference of scores |\n|---|---|---|---|---|---|---|"
    )
    reads = count_reads()
    with (
        LocalCluster(
            n_workers=2, threads_per_worker=1, memory_limit=0, dashboard_address=":0"
        ) as cluster,
        Client(cluster),
    ):
        blocks = da.from_array(X, chunks=(settings.block, -1)).persist()
        labels = da.from_array(y, chunks=settings.block).persist()
        wait([blocks, labels])
        for name, make_model in models.items():
            here, there = make_model(), make_model()
            with threadpool_limits(2):
                memory = timed(here, X, y)
            reads.clear()
            spread = timed(there, blocks, labels)
            difference = abs(here.objective_ - there.objective_) / max(1, abs(here.objective_))
            scores = "-"
            if isinstance(here, LCCCV):
                table = (model.cv_results_["mean_test_score"] for model in (here, there))
                scores = f"{np.nanmax(np.abs(np.subtract(*table))):.1e}"
            print(
                f"| {settings.rows:,} x {settings.columns} | {name} | {memory:.1f} | {spread:.1f} "
                f"| {sum(reads.values())} | {difference:.1e} | {scores} |"
            )
            print(f"<!-- {dict(reads)} -->")


if __name__ == "__main__":
    main()
