"""AutoLCC beside boosting as rows grow: seconds, memory, accuracy.

    python benchmarks/auto_rows.py [ROWS ...]          10,000 and 100,000 unless told

Each size is a process of its own, in which all take turns on the same rows: 20 columns, of which
some matter in waves, in products and through twelve hidden units.  Boosting is LightGBM, or
scikit-learn's where that is not installed, with its defaults; all on OMP_NUM_THREADS threads.
Seconds are of the wall and of the processor; memory is how far a fit drives the process beyond what
it held before, in sizes of X.
"""

import importlib.util
import os
import resource
import subprocess
import sys
import time
import warnings

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


def boosting(threads):
    """Return the name and a model of boosting with its defaults."""
    if not importlib.util.find_spec("lightgbm"):
        return "HistGradientBoosting", HistGradientBoostingClassifier(random_state=0)
    from lightgbm import LGBMClassifier

    return "LightGBM", LGBMClassifier(n_jobs=threads, verbose=-1)


def one_size(rows):
    """Print a line for each method at one size."""
    warnings.filterwarnings("ignore", "X does not have valid feature names")
    X, y = table(rows, 0)
    unseen, labels = table(20_000, 1)
    AutoLCC().fit(X[:2000], y[:2000])  # what is loaded once is not the price of a fit
    before, threads = peak(), int(os.environ.get("OMP_NUM_THREADS", os.cpu_count()))
    auto = measured(model := AutoLCC(n_jobs=threads), X, y, unseen, labels)
    memory = (peak() - before) / X.nbytes
    print(
        f"| {rows:,} | AutoLCC | {line(auto)} | | {1e6 * auto[1] / rows:.0f} | {memory:.1f} "
        f"| {len(model.ensemble_)} | {model.duality_gap_:.0e} |",
        flush=True,
    )
    name, booster = boosting(threads)
    other = measured(booster, X, y, unseen, labels)
    ratio = f"{auto[0] / other[0]:.1f} ({auto[1] / other[1]:.1f})"
    print(
        f"| {rows:,} | {name} | {line(other)} | {ratio} | {1e6 * other[1] / rows:.0f} | | | |",
        flush=True,
    )


def line(found):
    """Return balanced accuracy, AUC and seconds as cells of a table."""
    wall, busy, hard, auc = found
    return f"{100 * hard:.2f} | {100 * auc:.2f} | {wall:.1f} ({busy:.1f})"


def main(sizes):
    load = os.getloadavg()[0]
    print(f"{os.cpu_count()} cores, load {load:.1f}; seconds of the wall (of the processor)\n")
    print(
        "| rows | method | balanced accuracy | AUC | seconds | AutoLCC takes as many times "
        "| μs a row | memory, X | members | largest gap |\n|" + "---|" * 10,
        flush=True,
    )
    for rows in sizes:
        subprocess.run([sys.executable, __file__, "--one", str(rows)], check=True)


if __name__ == "__main__":
    if sys.argv[1:2] == ["--one"]:
        one_size(int(sys.argv[2]))
    else:
        main([int(size) for size in sys.argv[1:]] or [10_000, 100_000])
