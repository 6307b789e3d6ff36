"""Fit times of the regularized and structured forms, beside scikit-learn, in one run.

    OMP_NUM_THREADS=1 python benchmarks/regularized_times.py

RegularizedLCC and LogisticRegression() take turns on the same data; the least of several times is
kept for each, since a busy machine only ever adds (``--cpu`` counts processor time instead, which
leaves out the time that other processes take).  StructuredLCC at 100,000 x 20 is compared with
SVC-RBF, whose time is measured on smaller sets and extrapolated by the power law that they follow.
"""

import platform
import sys
import time
import tracemalloc
from datetime import UTC, datetime

import numpy as np
from sklearn.datasets import make_classification
from sklearn.linear_model import LogisticRegression
from sklearn.svm import SVC

from lincent import RegularizedLCC, StructuredLCC

SHAPES = [
    (500, 10, 60),
    (1_000, 30, 60),
    (2_000, 20, 60),
    (2_000, 50, 40),
    (5_000, 30, 40),
    (10_000, 20, 40),
    (10_000, 50, 30),
    (10_000, 100, 30),
    (20_000, 100, 15),
    (50_000, 20, 15),
    (50_000, 100, 7),
    (100_000, 20, 9),
    (100_000, 50, 7),
    (1_000_000, 20, 3),
    (1_000_000, 50, 3),
]
FEW_COLUMNS = [
    (500, 10, 0.1),
    (2_000, 50, 0.1),
    (10_000, 100, 0.1),
    (100_000, 20, 0.01),
    (300, 1_000, 0.1),
]
SVC_ROWS = (2_000, 4_000, 8_000)
MEMORY_ROWS = (25_000, 50_000, 100_000)


def gaussian(m, n, seed=0):
    """Two overlapping classes, a third of the rows in one, correlated columns."""
    rng = np.random.default_rng(seed)
    mix = np.eye(n) + 0.3 * rng.standard_normal((n, n)) / np.sqrt(n)
    X = rng.standard_normal((m, n)) @ mix
    score = X @ rng.standard_normal(n) / np.sqrt(n)
    y = (score + rng.standard_normal(m) > 0.6).astype(int)
    X -= X.mean(axis=0)
    X /= X.std(axis=0)
    return X, y


def curved(m, n, seed=0):
    """Classes that differ in radius as well as in place, with some noise in the labels."""
    X, _ = gaussian(m, n, seed)
    rng = np.random.default_rng(seed + 1)
    score = np.linalg.norm(X[:, :5], axis=1) - 2.1 + 0.3 * X[:, 5] + 0.3 * rng.standard_normal(m)
    return X, (score > 0).astype(int)


clock = time.process_time if "--cpu" in sys.argv else time.perf_counter


def seconds(estimator, X, y):
    start = clock()
    estimator.fit(X, y)
    return clock() - start


def clustered(m, n):
    """scikit-learn's own generator: informative, redundant and useless columns."""
    X, y = make_classification(m, n, n_informative=n // 2, n_redundant=n // 5, random_state=0)
    return (X - X.mean(axis=0)) / X.std(axis=0), y


def regularized(data):
    print(f"{data.__name__} data")
    print("rows x columns      RegularizedLCC  LogisticRegression  ratio  relative gap")
    for m, n, rounds in SHAPES:
        X, y = data(m, n)
        ours, other = [], []
        for _ in range(rounds):
            model = RegularizedLCC()
            ours.append(seconds(model, X, y))
            other.append(seconds(LogisticRegression(), X, y))
        gap = model.duality_gap_
        print(
            f"{m:9,d} x {n:<4d} {1000 * min(ours):14.2f} ms {1000 * min(other):14.2f} ms "
            f"{min(ours) / min(other):9.2f} {gap:12.1e}",
            flush=True,
        )


def few_columns(data):
    """The L1 term beside liblinear's; both stop by their own default tolerance."""
    print(
        "rows x columns   C      RegularizedLCC(norm='l1')  LogisticRegression(l1)   columns used"
    )
    for m, n, C in FEW_COLUMNS:
        X, y = data(m, n)
        ours = RegularizedLCC(C, norm="l1")
        other = LogisticRegression(
            C=C, l1_ratio=1.0, solver="liblinear", class_weight="balanced", random_state=0
        )
        times = [(seconds(ours, X, y), seconds(other, X, y)) for _ in range(3)]
        first, second = (1000 * min(column) for column in zip(*times, strict=True))
        gap = ours.duality_gap_
        used = f"{np.count_nonzero(ours.coef_)} and {np.count_nonzero(other.coef_)}"
        print(f"{m:9,d} x {n:<4d} {C:5g} {first:14.1f} ms {second:20.1f} ms  {used}  {gap:.0e}")


def structured():
    times = []
    for m in SVC_ROWS:
        X, y = curved(m, 20)
        times.append(min(seconds(SVC(), X, y) for _ in range(2)))
        print(f"SVC-RBF        {m:7,d} x 20  {times[-1]:8.2f} s", flush=True)
    power, level = np.polyfit(np.log(SVC_ROWS), np.log(times), 1)
    expected = float(np.exp(level + power * np.log(100_000)))
    X, y = curved(100_000, 20)
    model = StructuredLCC()
    took = min(seconds(model, X, y) for _ in range(2))
    print(f"SVC-RBF        100,000 x 20  {expected:8.2f} s (extrapolated, rows^{power:.2f})")
    print(f"StructuredLCC  100,000 x 20  {took:8.2f} s, {took / expected:.3f} of SVC-RBF")
    X, y = curved(8_000, 20)
    half = len(y) // 2
    for estimator in (StructuredLCC(), SVC()):
        score = estimator.fit(X[:half], y[:half]).score(X[half:], y[half:])
        print(f"accuracy at 4,000 rows: {type(estimator).__name__} {score:.3f}")


def memory():
    """The peak of what a fit allocates, the data itself left out."""
    for m in MEMORY_ROWS:
        X, y = curved(m, 20)
        tracemalloc.start()
        StructuredLCC().fit(X, y)
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        print(f"StructuredLCC  {m:7,d} x 20  {peak / 2**20:6.0f} MB, {peak / m:.0f} bytes a row")


if __name__ == "__main__":
    print(datetime.now(UTC).strftime("%Y-%m-%d"), platform.python_version(), "2 shared CPU cores")
    regularized(gaussian)
    regularized(clustered)
    few_columns(clustered)
    structured()
    memory()
