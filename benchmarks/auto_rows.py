"""AutoLCC beside HistGradientBoosting as rows grow: seconds, memory, accuracy.

    python benchmarks/auto_rows.py [ROWS ...]          10,000 and 100,000 unless told

Each size is a process of its own, in which both take turns on the same rows: 20 columns, of which
some matter in waves, in products and through twelve hidden units.  Seconds are of the wall and of
the processor; memory is how far a fit drives the process beyond what it held before, in sizes of X.
"""

import os
import resource
import subprocess
import sys
import time

import numpy as np
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.metrics import balanced_accuracy_score, roc_auc_score

from lincent import AutoLCC

COLUMNS = 20


def table(rows, seed):
    """Rows and classes; the law that ties them is the same for every seed."""
    law, rng = np.random.default_rng(99), np.random.default_rng(seed)
    X = rng.normal(size=(rows, COLUMNS))
    hidden = np.tanh(1.5 * X @ law.normal(size=(COLUMNS, 12)) / np.sqrt(COLUMNS))
    score = hidden @ law.normal(size=12) + 1.5 * np.sin(2 * X[:, 0]) + X[:, 1] * X[:, 2]
    score += 0.7 * (np.abs(X[:, 3]) > 1)
    return X, (score + 0.7 * rng.logistic(size=rows) > np.median(score)).astype(int)


def peak():
    """The most memory that this process has held, in bytes."""
    return 1024 * resource.getrusage(resource.RUSAGE_SELF).ru_maxrss


def measured(model, X, y, unseen, labels):
    """Seconds, processor seconds, balanced accuracy and AUC of a fit."""
    wall, busy = time.perf_counter(), time.process_time()
    model.fit(X, y)
    wall, busy = time.perf_counter() - wall, time.process_time() - busy
    chance = model.predict_proba(unseen)[:, 1]
    hard = balanced_accuracy_score(labels, model.predict(unseen))
    return wall, busy, hard, roc_auc_score(labels, chance)


def one_size(rows):
    """Print the line of one size."""
    X, y = table(rows, 0)
    unseen, labels = table(20_000, 1)
    AutoLCC().fit(X[:2000], y[:2000])  # what is loaded once is not the price of a fit
    before = peak()
    auto = measured(model := AutoLCC(), X, y, unseen, labels)
    memory = (peak() - before) / X.nbytes
    boosting = measured(HistGradientBoostingClassifier(), X, y, unseen, labels)
    print(
        f"| {rows:,} | {auto[0]:.1f} ({auto[1]:.1f}) | {boosting[0]:.1f} ({boosting[1]:.1f}) "
        f"| {auto[0] / boosting[0]:.1f} ({auto[1] / boosting[1]:.1f}) | {1e6 * auto[1] / rows:.0f} "
        f"| {memory:.1f} | {100 * auto[2]:.1f}, {100 * auto[3]:.1f} "
        f"| {100 * boosting[2]:.1f}, {100 * boosting[3]:.1f} | {len(model.ensemble_)} "
        f"| {model.duality_gap_:.0e} |",
        flush=True,
    )


def main(sizes):
    load = os.getloadavg()[0]
    print(f"{os.cpu_count()} cores, load {load:.1f}; seconds of the wall (of the processor)\n")
    print(
        "| rows | AutoLCC, s | boosting, s | ratio | μs a row | memory, X | AutoLCC: hard, AUC "
        "| boosting | members | largest gap |\n|---|---|---|---|---|---|---|---|---|---|",
        flush=True,
    )
    for rows in sizes:
        subprocess.run([sys.executable, __file__, "--one", str(rows)], check=True)


if __name__ == "__main__":
    if sys.argv[1:2] == ["--one"]:
        one_size(int(sys.argv[2]))
    else:
        main([int(size) for size in sys.argv[1:]] or [10_000, 100_000])
