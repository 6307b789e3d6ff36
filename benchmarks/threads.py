"""Does a fit with the default number of threads ever cost more than with one?

    python benchmarks/threads.py                      every estimator, 100 x 5 to 1,000,000 x 50
    python benchmarks/threads.py --only LCCCV --largest 200000 --cores 2
    python benchmarks/threads.py --cores 16 --seconds 1500 --json results/threads16.json
    python benchmarks/threads.py --everyday --cores 2 everyone at 200 x 10, 200 x 200, 5,000 x 85

For each estimator and shape: wall and processor time with as many BLAS threads as the machine has,
over those with one thread, the two in turns in one process; small shapes of all estimators first.
The bar: a median of 1.0 and never above 1.1 (wall), 1.3 and 2 (processor), 1.3 at worst (processor)
for ``--everyday``.  ``--cores`` pins the process to so many cores first; ``--json`` is written
after every fit, so that a run that is ended keeps what it has.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import time
import warnings
from pathlib import Path

parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
parser.add_argument("--only", nargs="*", default=[], help="names of estimators; all")
parser.add_argument("--largest", type=int, default=1_000_000, help="leave out more rows than this")
parser.add_argument("--cores", type=int, help="pin to so many cores")
parser.add_argument("--everyday", action="store_true", help="the shapes of everyday tables")
parser.add_argument("--turns", type=int, default=5)
parser.add_argument("--seconds", type=float, default=float("inf"), help="stop after so many")
parser.add_argument("--json", type=Path, help="the file for every comparison so far")
arguments = parser.parse_args()
if arguments.cores and "PINNED" not in os.environ:
    # BLAS counts the cores when it is loaded: the process starts again, pinned.
    os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[: arguments.cores])
    os.execve(sys.executable, [sys.executable, *sys.argv], {**os.environ, "PINNED": "1"})

import numpy as np  # noqa: E402
from threadpoolctl import ThreadpoolController  # noqa: E402
from workloads import make  # noqa: E402

import lincent  # noqa: E402
from lincent.paper import baselines  # noqa: E402

ONE = ThreadpoolController()
MOST_TURNS = 60
AT_LEAST = 0.5
"""Seconds for fits that take milliseconds: the least of few turns would be noise."""
ENOUGH = 10.0
"""Seconds after which no further turn is taken."""
WHOLE = 20.0
"""A single fit that takes as long needs none to warm up."""
SMALL = [(100, 5), (200, 6), (846, 18), (462, 255), (1_000, 24), (5_000, 20)]
MIDDLE = [*SMALL, (20_000, 30)]
LARGE = [*MIDDLE, (50_000, 100), (10_000, 500), (100_000, 50), (1_000_000, 10), (1_000_000, 50)]
SHAPES = {
    "LCC": LARGE,
    "RegularizedLCC": LARGE,
    "LCCCV": [*MIDDLE, (100_000, 50)],
    "RegularizedLCCCV": [*MIDDLE, (100_000, 50)],
    "FQCC": [*MIDDLE, (100_000, 50)],
    "StructuredLCC": [*MIDDLE, (100_000, 50)],
    "AdditiveLCC": [*MIDDLE, (100_000, 50)],
    "StructuredLCCCV": SMALL,
    "AdditiveLCCCV": SMALL,
    "KernelLCC": [*SMALL, (20_000, 30)],
    "AutoLCC": SMALL,
    "baselines.LinearSVM": SMALL,
    "baselines.TwinSVC": SMALL[:3],
    "baselines.MinimaxProbabilityMachine": SMALL,
    "baselines.RegularizedLDA": SMALL,
    "baselines.DiscriminativeLeastSquares": SMALL,
    "baselines.DiscriminativeElasticNet": SMALL[:3],
}
EVERYDAY = [(200, 10), (200, 200), (5_000, 85)]
if arguments.everyday:
    SHAPES = dict.fromkeys(SHAPES, EVERYDAY)
BARS = {"wall": (1.0, 1.1), "processor": (1.3, 2.0)}


def build(name):
    package = baselines if name.startswith("baselines.") else lincent
    return getattr(package, name.removeprefix("baselines."))()


def once(name, X, y):
    wall, processor = time.perf_counter(), time.process_time()
    build(name).fit(X, y)
    return time.perf_counter() - wall, time.process_time() - processor


def compare(name, shape):
    """Least (wall, processor) with one thread and with the default, in turns: others work, too."""
    X, y = make("normal", *shape, seed=0)
    one, default = [], []
    for turn in range(MOST_TURNS):
        with ONE.limit(limits=1):
            one.append(once(name, X, y))
        default.append(once(name, X, y))
        spent = sum(wall for wall, _ in one + default)
        if one[0][0] > WHOLE or (turn and spent > ENOUGH):
            break
        if turn >= arguments.turns and spent > AT_LEAST:
            break
    warm = slice(len(one) > 1, None)
    return np.min(one[warm], axis=0), np.min(default[warm], axis=0)


def summary(records):
    """Median and worst of both clocks, as text."""
    for which, (median, worst) in BARS.items():
        ratios = sorted((r[which], r["name"], r["rows"], r["columns"]) for r in records)
        middle = float(np.median([ratio for ratio, *_ in ratios]))
        ratio, name, rows, columns = ratios[-1]
        yield (
            f"{which}: median {middle:.2f} (bar {median}), worst {ratio:.2f} (bar {worst}): "
            f"{name} {rows:,} x {columns:,}"
        )


def keep(records):
    if arguments.json:
        cores = len(os.sched_getaffinity(0))
        whole = {"cores": cores, "records": records, "summary": list(summary(records))}
        arguments.json.parent.mkdir(parents=True, exist_ok=True)
        part = arguments.json.with_suffix(".part")
        part.write_text(json.dumps(whole, indent=1))
        part.replace(arguments.json)


warnings.simplefilter("ignore")
began, records = time.monotonic(), []
print(f"{len(os.sched_getaffinity(0))} cores; default BLAS threads: "
      f"{[entry['num_threads'] for entry in ONE.info()]}")  # fmt: skip
todo = [
    (name, shape)
    for name, shapes in SHAPES.items()
    for shape in shapes
    if (not arguments.only or name in arguments.only) and shape[0] <= arguments.largest
]
for name, shape in sorted(todo, key=lambda item: item[1][0] * item[1][1]):
    if time.monotonic() - began > arguments.seconds:
        print(f"{len(todo) - len(records)} of {len(todo)} were not measured: the time is over")
        break
    one, default = compare(name, shape)
    wall, processor = (float(ratio) for ratio in default / one)
    print(f"{name:36s} {shape[0]:>9,} x {shape[1]:<5,} one {one[0]:8.4f} s  default "
          f"{default[0]:8.4f} s  wall {wall:5.2f}  processor {processor:5.2f}",
          flush=True)  # fmt: skip
    records.append({
        "name": name, "rows": shape[0], "columns": shape[1], "wall": wall, "processor": processor,
        "one": [float(s) for s in one], "default": [float(s) for s in default],
    })  # fmt: skip
    keep(records)
for line in summary(records):
    print(line)
