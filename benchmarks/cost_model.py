"""What a fit in blocks costs, member by member: the model of doc/measured/scale.md.

    python benchmarks/cost_model.py                     constants, check, predictions
    python benchmarks/cost_model.py --write             and put them into doc/measured/scale.md
    python benchmarks/cost_model.py --only LCC AutoLCC --columns 100
    python benchmarks/cost_model.py --largest 400_000   with fewer rows than 1,200,000

With m rows in k blocks, W workers and R reads

    reading     R m (bytes of a row) / (bandwidth W)
    computing   (c m + f + R k task) / W
    scheduler   R k (tasks for a block) (seconds for a task): it is one process
    client      what is done between the reads: samples, bands, choices
    traffic     R W (what is sent) + k (sums of a block) + rows that are brought

Three fits here, of few and many rows and in few and many blocks, give c, f (what does not grow with
the rows: samples, Hessians of a share of them), R, the client's seconds and the bytes; tasks that
do nothing, on a cluster of two processes, give what a task costs each side.  All are processor
seconds, so that other work on the machine does not count.  The check fits the same on that cluster
at three sizes, and compares what all processes used with what the model says.  The bandwidth is
yours to give; no cluster as large as those predicted was tried.
"""

import argparse
import contextlib
import datetime
import math
import pickle
import threading
import time
import warnings
from dataclasses import dataclass
from pathlib import Path

import cloudpickle
import dask
import dask.array as da
import numpy as np
import psutil
from distributed import Client, LocalCluster, wait

from lincent import (
    LCC,
    LCCCV,
    AdditiveLCC,
    AdditiveLCCCV,
    AutoLCC,
    KernelLCC,
    RegularizedLCC,
    RegularizedLCCCV,
    StructuredLCC,
    StructuredLCCCV,
)
from lincent.solvers.lp import screening
from lincent.sources.dask.schedule import Schedule
from lincent.sources.dask.source import SAMPLE_ENTRIES, SPARE_ENTRIES, SPARE_WORK

PAGE = Path(__file__).resolve().parent.parent / "doc" / "measured" / "scale.md"
BEGIN, END = "<!-- cost_model.py begins -->", "<!-- cost_model.py ends -->"
MEMBERS = {
    "LCC": lambda: LCC(random_state=0),
    "LCCCV": lambda: LCCCV(random_state=0),
    "RegularizedLCC": lambda: RegularizedLCC(random_state=0),
    "RegularizedLCCCV": lambda: RegularizedLCCCV(),
    "StructuredLCC": lambda: StructuredLCC(n_centers=10),
    "StructuredLCCCV": lambda: StructuredLCCCV(10),
    "AdditiveLCC": lambda: AdditiveLCC(),
    "AdditiveLCCCV": lambda: AdditiveLCCCV(0),
    "KernelLCC(norm='linf', n_components=50)": lambda: KernelLCC(norm="linf", n_components=50),
    "AutoLCC": lambda: AutoLCC(feature_maps=["columns", "splines"]),
}
BANDS = ("LCC", "LCCCV", "KernelLCC(norm='linf', n_components=50)")
"""Their sample and band, and what these cost the client, grow with the rows."""
AFTER_SAMPLE, AFTER_STEP = 2.0, 0.25
"""Band after a sample of k rows, times sqrt(n / k) of all, and what a Newton step leaves of it."""
BLOCKS = 16, 32
LOADED = 3
"""Tasks for a block of a stored array: its rows, its labels, the work."""
NOTHING = 2_000


def data(m, n):
    rng = np.random.default_rng(n)
    X = rng.standard_normal((m, n), dtype=np.float32)
    score = X @ rng.standard_normal(n) + X[:, 0] ** 2
    return X, (score + score.std() * rng.standard_normal(m) > 1).astype(np.int8)


@dataclass
class Seen:
    """Reads, processor seconds inside and outside of them, bytes of questions and of answers."""

    reads: int = 0
    inside: float = 0.0
    client: float = 0.0
    sent: int = 0
    back: int = 0


@contextlib.contextmanager
def watched():
    seen, original = Seen(), Schedule.read_all

    def read_all(self, requests, halt):
        begin = time.thread_time()
        original(self, requests, halt)
        seen.inside += time.thread_time() - begin
        seen.reads += 1
        # What is pickled here costs processor time, which is the watcher's own.
        seen.sent += sum(len(cloudpickle.dumps(request.work)) for request in requests)
        seen.back += sum(len(pickle.dumps(one)) for r in requests for one in r.answers)
        seen.client -= time.thread_time() - begin

    Schedule.read_all = read_all
    begin = time.process_time()
    try:
        yield seen
    finally:
        Schedule.read_all = original
    seen.client += time.process_time() - begin


def in_blocks(X, y, count):
    size = -(-len(X) // count)
    return da.from_array(X, chunks=(size, -1)), da.from_array(y, chunks=size)


def look(make, m, n, count):
    """One fit here, on one thread."""
    X, y = in_blocks(*data(m, n), count)
    with dask.config.set(scheduler="synchronous"), watched() as seen:
        make().fit(X, y)
    return seen


@dataclass
class Constants:
    """Of one member, at a number of columns."""

    rows: float
    """Seconds for a row, all reads together, and beside the rows."""
    fixed: float
    reads: int
    client: float
    sent: float
    """Bytes for each worker, all reads together."""
    block: float
    """Bytes that come back from each block, and of rows that are brought whatever the blocks."""
    brought: float


def constants(make, n, least, most):
    few, many, cut = (
        look(make, m, n, count)
        for m, count in ((least, BLOCKS[0]), (most, BLOCKS[0]), (most, BLOCKS[1]))
    )
    per_block = max(0.0, (cut.back - many.back) / (BLOCKS[1] - BLOCKS[0]))
    more = max(0.0, many.inside / many.reads - few.inside / few.reads)
    rows = more * many.reads / (most - least)
    return Constants(
        rows=rows,
        fixed=max(0.0, many.inside - rows * most),
        reads=many.reads,
        client=many.client,
        sent=many.sent,
        block=per_block,
        brought=max(0.0, many.back - BLOCKS[0] * per_block),
    )


def band(m, n):
    """Rows of the sample and of the last band, and the number of Newton steps, of LCC."""
    k = min(screening.sample_size(m, n), SAMPLE_ENTRIES // n)
    rows = min(1.0, AFTER_SAMPLE * math.sqrt(n / k)) * m
    few = max(screening.EXACT_ROWS * n, min(SPARE_ENTRIES // n, SPARE_WORK // n**2))
    steps = 0
    while rows > few and steps < screening.NEWTON_STEPS:
        rows, steps = AFTER_STEP * rows, steps + 1
    return k, rows, steps


def grown(name, m, n, measured):
    """How much larger sample and band are than in the fits measured, and how many reads more."""
    if name not in BANDS:
        return 1.0, 0
    n = 50 if name.startswith("Kernel") else n
    (k, rows, steps), (k0, rows0, steps0) = band(m, n), band(measured, n)
    return (k + rows) / (k0 + rows0), steps - steps0


def parts_used(client):
    """Processor seconds so far: of the client, of the scheduler (and messages), of the workers."""
    loop = next(t.native_id for t in threading.enumerate() if t.name == "IO loop")
    times = {t.id: t.user_time + t.system_time for t in psutil.Process().threads()}
    workers = sum(client.run(time.process_time).values())
    return np.array([time.process_time() - times[loop], times[loop], workers])


def used_by(client, function, idle=0.0):
    """What a function used, less what the processes use while they only wait (in a second)."""
    before, begin = parts_used(client), time.perf_counter()
    function()
    return parts_used(client) - before - idle * (time.perf_counter() - begin)


def idling(client, seconds=5.0):
    """What client, scheduler and workers use in a second of doing nothing."""
    return used_by(client, lambda: time.sleep(seconds)) / seconds


def nothing(k):
    return k


def task_costs(client):
    """Processor seconds of client, scheduler and workers for a task that does nothing."""
    call = dask.delayed(nothing, pure=False)

    def many():
        client.gather(client.compute([call(k) for k in range(NOTHING)]))

    many()
    return used_by(client, many) / NOTHING


def stored(m, n):
    # Copied there: what comes over a wire lies anywhere in its message, and is slow to use.
    blocks = in_blocks(*data(m, n), BLOCKS[0])
    X, y = (part.map_blocks(np.copy, dtype=part.dtype).persist() for part in blocks)
    wait([X, y])
    return X, y


def check(name, make, found, task, n, client, idle, largest):
    """Lines of measured and predicted processor seconds on the cluster."""
    make().fit(*stored(20_000, n))  # what is imported and compiled once
    for m in (largest // 4, largest // 2, largest):
        X, y = stored(m, n)
        measured = used_by(client, lambda X=X, y=y: make().fit(X, y), idle)
        growth, more = grown(name, m, n, largest // 2)
        tasks = (found.reads + more) * BLOCKS[0]
        share = 1 + more / found.reads
        said = tasks * task + [found.client * growth, 0.0, found.fixed + found.rows * share * m]
        off = said.sum() / measured.sum() - 1
        cells = " | ".join(f"{a:.1f} / {b:.1f}" for a, b in zip(said, measured, strict=True))
        yield f"| `{name}` | {m:,} | {cells} | {100 * off:+.0f} % |"


def predict(name, found, task, m, n, workers, settings):
    """Seconds (all, scheduler's, client's) and bytes (all, to the client) of a fit."""
    growth, more = grown(name, m, n, settings.largest // 2)
    reads = found.reads + more
    blocks = math.ceil(m / settings.block)
    row = settings.bytes * n + 1
    reading = reads * m * row / (settings.bandwidth * workers)
    computing = found.rows * (reads / found.reads) * m + found.fixed + reads * blocks * task[2]
    computing /= workers
    scheduler = reads * blocks * LOADED * (task[0] + task[1])
    client = found.client * growth
    home = math.sqrt(blocks) * found.block + found.brought * growth
    traffic = workers * found.sent + blocks * found.block + home
    # Workers load and compute while the scheduler is busy with the next tasks.
    total = max(reading + computing, scheduler) + client
    return total, reading + computing, scheduler, client, traffic, home


def said_seconds(value):
    for size, unit in ((86_400, "d"), (3_600, "h"), (60, "min")):
        if value >= 2 * size:
            return f"{value / size:.0f} {unit}"
    return f"{value:.0f} s" if value >= 10 else f"{value:.1f} s"


def said_bytes(value):
    for size, unit in ((1e12, "TB"), (1e9, "GB"), (1e6, "MB")):
        if value >= size:
            return f"{value / size:.1f} {unit}"
    return f"{value / 1e3:.0f} kB"


def head(*names):
    return "| " + " | ".join(names) + " |\n" + "|---" * len(names) + "|"


def predictions(found, task, n, settings):
    yield head(
        "member", "rows", "workers", "all", "workers' part", "scheduler's", "client's", "traffic",
        "to the client",
    )  # fmt: skip
    for name, one in found.items():
        for m in (10**9, 10**10, 10**12):
            for workers in (100, 1_000):
                *seconds, traffic, home = predict(name, one, task, m, n, workers, settings)
                cells = [*map(said_seconds, seconds), said_bytes(traffic), said_bytes(home)]
                rows = f"10^{round(math.log10(m))}"
                yield f"| `{name}` | {rows} | {workers:,} | " + " | ".join(cells) + " |"


def report(settings):
    n = settings.columns
    names = settings.only or list(MEMBERS)
    found = {}
    yield f"Constants at {n} columns, float32, {datetime.date.today()}, processor seconds:\n"
    yield head(
        "member", "reads", "ns a row, all reads", "beside the rows s", "client s",
        "sent to a worker", "sums of a block", "rows brought",
    )  # fmt: skip
    for name in names:
        one = found[name] = constants(
            MEMBERS[name], n, settings.largest // 6, settings.largest // 2
        )
        sizes = " | ".join(map(said_bytes, (one.sent, one.block, one.brought)))
        times = f"{1e9 * one.rows:.0f} | {one.fixed:.1f} | {one.client:.1f}"
        yield f"| `{name}` | {one.reads} | {times} | {sizes} |"
    with (
        dask.config.set({"distributed.worker.profile.enabled": False}),
        LocalCluster(
            n_workers=2, threads_per_worker=1, memory_limit=0, dashboard_address=":0"
        ) as cluster,
        Client(cluster) as client,
    ):
        task, idle = task_costs(client), idling(client)
        yield (
            f"\nA task that does nothing costs the client {1e3 * task[0]:.2f} ms, the scheduler "
            f"and messages {1e3 * task[1]:.2f} ms, a worker {1e3 * task[2]:.2f} ms: "
            f"{1 / (task[0] + task[1]):,.0f} tasks a second at most.\n"
        )
        yield (
            "Predicted / measured processor seconds on two worker processes, "
            f"{BLOCKS[0]} blocks in their memory:\n"
        )
        yield head("member", "rows", "client", "scheduler", "workers", "deviation of the sum")
        for name in names:
            here = task, n, client, idle, settings.largest
            yield from check(name, MEMBERS[name], found[name], *here)
    yield (
        f"\nPredicted for {n} float32 columns in blocks of {settings.block:,} rows, "
        f"{settings.bandwidth / 1e6:.0f} MB/s for each worker:\n"
    )
    yield from predictions(found, task, n, settings)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--columns", type=int, default=20)
    parser.add_argument("--bytes", type=int, default=4, help="of one value")
    parser.add_argument("--bandwidth", type=float, default=500e6, help="bytes/s of one worker")
    parser.add_argument("--block", type=int, default=1_000_000, help="rows in a block")
    parser.add_argument("--largest", type=int, default=1_200_000, help="rows in the check")
    parser.add_argument("--only", nargs="+", choices=list(MEMBERS))
    parser.add_argument("--write", action="store_true", help="into doc/measured/scale.md")
    settings = parser.parse_args()
    warnings.simplefilter("ignore")
    lines = []
    for line in report(settings):
        print(line, flush=True)
        lines.append(line)
    if settings.write:
        page = PAGE.read_text()
        head, rest = page.split(BEGIN)
        tail = rest.split(END)[1]
        PAGE.write_text(f"{head}{BEGIN}\n" + "\n".join(lines) + f"\n{END}{tail}")


if __name__ == "__main__":
    main()
