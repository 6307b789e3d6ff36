"""The leaderboard: accuracy and fit time on real sets, one row per fit.

    python benchmarks/leaderboard.py export results/leaderboard.npz
    OMP_NUM_THREADS=1 python benchmarks/leaderboard.py run results/leaderboard.npz \\
        --rows results/leaderboard.csv --splits 5 --jobs 16 --minutes 7
    python benchmarks/leaderboard.py page results/leaderboard.csv

``export`` needs the packages that carry the sets; ``run`` needs lincent and scikit-learn, and
goes on where its file of rows ends; ``page`` writes doc/leaderboard.md from the rows. Protocol:
stratified 70/30 splits, the same for all methods; constant columns dropped and columns
standardized on the training part. hard = balanced accuracy (for two classes the area under the
ROC curve of the hard labels), auc = area under the ROC curve of the scores (for more classes the
mean of one against the rest). Tuning is by cross-validation inside the training part, and counts
as fit time.
"""

import argparse
import csv
import json
import os
import platform
import time
import warnings
from datetime import UTC, datetime
from pathlib import Path

import numpy as np
from joblib import Parallel, delayed
from leaderboard_methods import many_class_methods, two_class_methods
from leaderboard_sets import export, load
from sklearn.metrics import balanced_accuracy_score, roc_auc_score
from sklearn.model_selection import train_test_split
from sklearn.preprocessing import StandardScaler

FIELDS = ["dataset", "split", "method", "hard", "auc", "accuracy", "seconds", "gap", "status"]


def methods_for(codes):
    return two_class_methods() if codes.max() == 1 else many_class_methods()


def split_of(X, y, seed):
    train, test, y_train, y_test = train_test_split(
        X, y, test_size=0.3, stratify=y, random_state=seed
    )
    varies = np.ptp(train, axis=0) > 0
    scaler = StandardScaler().fit(train[:, varies])
    return scaler.transform(train[:, varies]), scaler.transform(test[:, varies]), y_train, y_test


def area(model, X, y):
    """The area under the ROC curve of the scores."""
    if hasattr(model, "decision_function"):
        scores = model.decision_function(X)
    else:
        scores = model.predict_proba(X)
        scores = scores[:, 1] if scores.shape[1] == 2 else scores
    if scores.ndim == 1:
        return roc_auc_score(y, scores)
    there = np.unique(y)
    return float(np.mean([roc_auc_score(y == k, scores[:, k]) for k in there]))


def gap_of(model):
    """The relative duality gap, where the model has one."""
    if not hasattr(model, "duality_gap_"):
        return np.nan
    unit = max(1.0, abs(float(np.max(np.abs(getattr(model, "objective_", 1.0))))))
    return float(np.max(model.duality_gap_)) / unit


def one_fit(model, parts):
    train, test, y_train, y_test = parts
    start = time.perf_counter()
    model.fit(train, y_train)
    seconds = time.perf_counter() - start
    predicted = model.predict(test)
    return {
        "hard": 100 * balanced_accuracy_score(y_test, predicted),
        "auc": 100 * area(model, test, y_test),
        "accuracy": 100 * float(np.mean(predicted == y_test)),
        "seconds": seconds,
        "gap": gap_of(model),
        "status": "ok",
    }


def guarded(model, parts):
    """A method that fails on a set loses that set; the run goes on."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            row = one_fit(model, parts)
        except Exception as error:
            return {"status": f"{type(error).__name__}: {error}"[:200]}
    kinds = sorted({w.category.__name__ for w in caught})
    return row | ({"status": " ".join(kinds)} if kinds else {})


def fit_once(name, X, y, seed, method, ends):
    """One row; None where the time for the run is over."""
    if time.time() > ends:
        return None
    model = methods_for(y)[method]
    row = {"dataset": name, "split": seed, "method": method}
    return row | guarded(model, split_of(X, y, seed))


def run(path, rows_path, n_splits, jobs, minutes, only):
    ends = time.time() + 60 * minutes
    sets = [entry for entry in load(path) if not only or entry[0] in only]
    rows_path.parent.mkdir(parents=True, exist_ok=True)
    rows_path.with_suffix(".json").write_text(json.dumps(about(sets), indent=1))
    done = set()
    if rows_path.exists():
        with rows_path.open(newline="") as file:
            done = {(r["dataset"], r["split"], r["method"]) for r in csv.DictReader(file)}
    # Split by split, so that what is there when the time is over is complete for the first ones.
    todo = [
        delayed(fit_once)(name, X, y, seed, method, ends)
        for seed in range(n_splits)
        for name, _, X, y in sets
        for method in methods_for(y)
        if (name, str(seed), method) not in done
    ]
    with rows_path.open("a", newline="") as file:
        table = csv.DictWriter(file, FIELDS)
        if not done:
            table.writeheader()
        made = Parallel(n_jobs=jobs, return_as="generator_unordered", batch_size=1)(todo)
        for count, row in enumerate(made, 1):
            if row is not None:
                table.writerow(row)
                file.flush()
            if count % 500 == 0 or count == len(todo):
                now = datetime.now(UTC).strftime("%H:%M:%S")
                print(f"{count} of {len(todo)} fits", now, flush=True)


def about(sets):
    import scipy
    import sklearn

    import lincent

    return {
        "date": datetime.now(UTC).strftime("%Y-%m-%d"),
        "python": platform.python_version(),
        "numpy": np.__version__,
        "scipy": scipy.__version__,
        "scikit-learn": sklearn.__version__,
        "lincent": lincent.__version__,
        "machine": f"one thread a fit, {os.cpu_count()} cores",
        "sets": [[name, source, *X.shape, np.bincount(y).tolist()] for name, source, X, y in sets],
    }


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("what", choices=["export", "run", "page"])
    parser.add_argument("file", type=Path)
    parser.add_argument("--rows", type=Path, default=Path("results/leaderboard.csv"))
    parser.add_argument("--splits", type=int, default=5)
    parser.add_argument("--jobs", type=int, default=1, help="fits at a time")
    parser.add_argument("--minutes", type=float, default=1e6, help="begin no fit after so many")
    parser.add_argument("--only", nargs="*", default=[], help="names of sets")
    given = parser.parse_args()
    if given.what == "export":
        export(given.file)
    elif given.what == "run":
        run(given.file, given.rows, given.splits, given.jobs, given.minutes, given.only)
    else:
        from leaderboard_page import write_page

        write_page(given.file)


if __name__ == "__main__":
    main()
