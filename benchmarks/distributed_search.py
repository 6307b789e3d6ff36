"""LCCCV and KernelLCC over blocks on two workers, beside the same fits in memory.

    python benchmarks/distributed_search.py                   1,000,000 x 20
    python benchmarks/distributed_search.py --rows 200_000

Prints seconds, reads of the data, what was asked in them and the largest difference of scores and
objectives, and the processor seconds of each part.  The blocks lie in the workers' memory.  In
memory BLAS has as many threads as there are workers.
"""

import argparse
import datetime
import os
import threading
import time
from collections import Counter

import dask.array as da
import numpy as np
import psutil
from distributed import Client, LocalCluster, wait
from threadpoolctl import threadpool_limits

from lincent import LCCCV, KernelLCC
from lincent.sources.dask.schedule import Schedule


def make(m, n):
    rng = np.random.default_rng(7)
    X = rng.standard_normal((m, n))
    score = X @ rng.standard_normal(n) + 0.3 * (X[:, 0] ** 2 - 1)
    return X, (score + score.std() * rng.standard_normal(m) > 0).astype(np.int8)


def count_reads():
    """The number of requests by verb and, under the name "reads", of reads; counted from now on."""
    reads, original = Counter(), Schedule.read_all

    def counted(self, requests, halt):
        reads["reads"] += 1
        reads.update(request.verb for request in requests)
        original(self, requests, halt)

    Schedule.read_all = counted
    return reads


def processor(client):
    """Processor seconds so far: of the client, of the scheduler, of the workers.

    A LocalCluster has its scheduler on a thread of the client's process, which also carries the
    client's messages.
    """
    loop = next(t.native_id for t in threading.enumerate() if t.name == "IO loop")
    times = {t.id: t.user_time + t.system_time for t in psutil.Process().threads()}
    workers = sum(client.run(time.process_time).values())
    return np.array([time.process_time() - times[loop], times[loop], workers])


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
        f"KernelLCC(norm='linf', n_components={settings.landmarks})": lambda: KernelLCC(
            norm="linf", n_components=settings.landmarks, random_state=0
        ),
    }
    print(f"{datetime.date.today()}, load {os.getloadavg()[0]:.1f}")
    names = [
        "rows x columns", "model", "in memory s", "on workers s", "reads", "requests",
        "relative difference of objectives", "difference of scores", "in memory, processor s",
        "client, scheduler, workers, processor s",
    ]  # fmt: skip
    print("| " + " | ".join(names) + " |\n" + "|---" * len(names) + "|")
    reads = count_reads()
    with (
        LocalCluster(
            n_workers=2, threads_per_worker=1, memory_limit=0, dashboard_address=":0"
        ) as cluster,
        Client(cluster) as client,
    ):
        blocks = da.from_array(X, chunks=(settings.block, -1)).persist()
        labels = da.from_array(y, chunks=settings.block).persist()
        wait([blocks, labels])
        for name, make_model in models.items():
            here, there = make_model(), make_model()
            used = time.process_time()
            with threadpool_limits(2):
                memory = timed(here, X, y)
            used = time.process_time() - used
            reads.clear()
            before = processor(client)
            spread = timed(there, blocks, labels)
            parts = ", ".join(f"{value:.1f}" for value in processor(client) - before)
            difference = abs(here.objective_ - there.objective_) / max(1, abs(here.objective_))
            scores = "-"
            if isinstance(here, LCCCV):
                table = (model.cv_results_["mean_test_score"] for model in (here, there))
                scores = f"{np.nanmax(np.abs(np.subtract(*table))):.1e}"
                same = here.relative_margin_ == there.relative_margin_
                scores += ", the same choice" if same else ", ANOTHER choice"
            count = reads.pop("reads")
            print(
                f"| {settings.rows:,} x {settings.columns} | {name} | {memory:.1f} | {spread:.1f} "
                f"| {count} | {reads.total()} | {difference:.1e} | {scores} | {used:.1f} "
                f"| {parts} |"
            )
            print(f"<!-- {dict(reads)} -->")


if __name__ == "__main__":
    main()
