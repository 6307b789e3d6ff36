"""Does a fit with the default number of threads ever cost more than with one?

    python benchmarks/threads.py                      every estimator, 100 x 5 to 1,000,000 x 50
    python benchmarks/threads.py --only LCCCV --largest 200000 --cores 2
    python benchmarks/threads.py --everyday --cores 2 everyone at 200 x 10, 200 x 200, 5,000 x 85

For each estimator and shape: wall and processor time with as many BLAS threads as the machine has,
over those with one thread, the two in turns in one process.
The bar: never above 1.1 (wall) and 2 (processor), 1.3 (processor) for ``--everyday``.  ``--cores``
pins the process to so many cores first.
"""

from __future__ import annotations

import argparse
import os
import sys
import time
import warnings

parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
parser.add_argument("--only", nargs="*", default=[], help="names of estimators; all")
parser.add_argument("--largest", type=int, default=1_000_000, help="leave out more rows than this")
parser.add_argument("--cores", type=int, help="pin to so many cores")
parser.add_argument("--everyday", action="store_true", help="the shapes of everyday tables")
parser.add_argument("--turns", type=int, default=5)
parser.add_argument("--seconds", type=float, default=float("inf"), help="stop after so many")
arguments = parser.parse_args()
if arguments.cores and "PINNED" not in os.environ:
    # BLAS counts the cores when it is loaded: the process starts again, pinned.
    os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[: arguments.cores])
    os.execve(sys.executable, [sys.executable, *sys.argv], {**os.environ, "PINNED": "1"})

import numpy as np  # noqa: E402
from threadpoolctl import ThreadpoolController  # noqa: E402
from workloads import make  # noqa: E402

import lincent  # noqa: E402
from lincent import rivals  # noqa: E402

ONE = ThreadpoolController()
SMALL = [(100, 5), (200, 6), (846, 18), (462, 255), (1_000, 24), (5_000, 20)]
SHAPES = {
    "LCC": [*SMALL, (20_000, 30), (50_000, 100), (10_000, 500), (100_000, 50), (1_000_000, 10),
            (1_000_000, 50)],
    "RegularizedLCC": [*SMALL, (20_000, 30), (50_000, 100), (10_000, 500), (100_000, 50),
                       (1_000_000, 50)],
    "FQCC": [*SMALL, (20_000, 30)],
    "StructuredLCC": [*SMALL, (20_000, 30)],
    "LCCCV": [*SMALL, (20_000, 30)],
    "RegularizedLCCCV": [*SMALL, (20_000, 30)],
    "StructuredLCCCV": SMALL,
    "KernelLCC": [(100, 5), (200, 6), (1_000, 24)],
    "rivals.LinearSVM": SMALL,
    "rivals.TwinSVC": SMALL[:3],
    "rivals.MinimaxProbabilityMachine": SMALL,
    "rivals.RegularizedLDA": SMALL,
    "rivals.DiscriminativeLeastSquares": SMALL,
    "rivals.DiscriminativeElasticNet": SMALL[:3],
}  # fmt: skip
EVERYDAY = [(200, 10), (200, 200), (5_000, 85)]
MORE = ("AdditiveLCC", "AdditiveLCCCV", "AutoLCC")
if arguments.everyday:
    SHAPES = dict.fromkeys((*SHAPES, *MORE), EVERYDAY)
    # A kernel matrix of 5,000 rows takes minutes and is all long products.
    SHAPES["KernelLCC"] = EVERYDAY[:2]


def build(name):
    room = rivals if name.startswith("rivals.") else lincent
    return getattr(room, name.removeprefix("rivals."))


def once(kind, X, y):
    wall, processor = time.perf_counter(), time.process_time()
    kind().fit(X, y)
    return time.perf_counter() - wall, time.process_time() - processor


def compare(name, shape):
    """Least (wall, processor) with one thread and with the default, in turns: others work, too."""
    X, y = make("normal", *shape, seed=0)
    kind = build(name)
    one, default = [], []
    for turn in range(arguments.turns + 1):
        with ONE.limit(limits=1):
            one.append(once(kind, X, y))
        default.append(once(kind, X, y))
        if turn and sum(wall for wall, _ in one + default) > 10.0:
            break
    return np.min(one[1:], axis=0), np.min(default[1:], axis=0)


warnings.simplefilter("ignore")
began = time.monotonic()
print(f"{len(os.sched_getaffinity(0))} cores; default BLAS threads: "
      f"{[entry['num_threads'] for entry in ONE.info()]}")  # fmt: skip
worst = {"wall": (0.0, ""), "processor": (0.0, "")}
for name, shapes in SHAPES.items():
    for shape in shapes:
        if (arguments.only and name not in arguments.only) or shape[0] > arguments.largest:
            continue
        if time.monotonic() - began > arguments.seconds:
            break
        one, default = compare(name, shape)
        ratio = default / one
        print(f"{name:36s} {shape[0]:>9,} x {shape[1]:<5,} one {one[0]:8.4f} s  default "
              f"{default[0]:8.4f} s  wall {ratio[0]:5.2f}  processor {ratio[1]:5.2f}",
              flush=True)  # fmt: skip
        for k, which in enumerate(worst):
            worst[which] = max(worst[which], (float(ratio[k]), f"{name} {shape}"))
for which, (ratio, where) in worst.items():
    print(f"worst {which}: {ratio:.2f} ({where})")
