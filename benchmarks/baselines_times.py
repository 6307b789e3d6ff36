"""Fit times of LCC and the baselines, tall and wide data.

    OMP_NUM_THREADS=1 python benchmarks/baselines_times.py [--repeats 3]

Two Gaussian classes a little apart (one third of the rows positive), z-scored; every estimator with
its defaults, so an optimum to its default tolerance. The figure is the least processor time of the
repeats, which other users of the machine disturb little. Prints the table and writes it into
doc/measured/baselines.md.
"""

import argparse
import time

import numpy as np
from baselines_page import stamp, write_section

from lincent import LCC
from lincent.paper.baselines import (
    DiscriminativeElasticNet,
    DiscriminativeLeastSquares,
    LinearSVM,
    MinimaxProbabilityMachine,
    RegularizedLDA,
    StructuralMPM,
    TwinSVC,
    WeightedTwinSVC,
)

SHAPES = [(500, 10), (1000, 25), (5000, 50), (2000, 100), (200, 1000), (500, 3500)]
MODELS = [
    LCC(),
    RegularizedLDA(),
    LinearSVM(),
    DiscriminativeLeastSquares(),
    MinimaxProbabilityMachine(),
    StructuralMPM(random_state=0),
    TwinSVC(),
    WeightedTwinSVC(),
    DiscriminativeElasticNet(),
]


def two_classes(m, n, seed=0):
    """Correlated rows whose classes overlap when there are few columns."""
    rng = np.random.default_rng(seed)
    y = np.where(np.arange(m) < m // 3, 1, 0)
    factors = rng.normal(size=(m, 5)) @ rng.normal(size=(5, n))
    X = rng.normal(size=(m, n)) + factors / 2
    X[y == 1] += rng.normal(size=n) * 1.5 / np.sqrt(n)
    return (X - X.mean(axis=0)) / X.std(axis=0), y


def milliseconds(model, X, y, repeats):
    """The least processor time of several fits."""
    times = []
    for _ in range(repeats):
        start = time.process_time()
        model.fit(X, y)
        times.append(time.process_time() - start)
    return 1000 * min(times)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--repeats", type=int, default=3)
    repeats = parser.parse_args().repeats
    if repeats < 1:
        parser.error(f"--repeats {repeats} measures nothing: give at least 1.")
    rows = {type(model).__name__: [] for model in MODELS}
    for m, n in SHAPES:
        X, y = two_classes(m, n)
        for model in MODELS:
            rows[type(model).__name__].append(milliseconds(model, X, y, repeats))
    lines = [
        f"Processor time of one fit in milliseconds, the least of {repeats}; rows × columns of "
        "synthetic "
        "data.",
        "",
        "| | " + " | ".join(f"{m} × {n}" for m, n in SHAPES) + " |",
        "|---" + "|---:" * len(SHAPES) + "|",
        *(
            f"| {name} | " + " | ".join(f"{t:.1f}" for t in times) + " |"
            for name, times in rows.items()
        ),
        "",
        stamp(f"python benchmarks/baselines_times.py --repeats {repeats}"),
    ]
    print("\n".join(lines))
    write_section("baselines_times.py", lines)


if __name__ == "__main__":
    main()
