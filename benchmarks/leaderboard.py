"""The leaderboard: accuracy and fit time on real two-class sets, one row per fit.

    OMP_NUM_THREADS=1 python benchmarks/leaderboard.py run [--splits 10] [--jobs 2]
    python benchmarks/leaderboard.py page

``run`` appends to results/leaderboard/rows.csv and goes on where it stopped.  Protocol: stratified
70/30 splits, the same for all methods; constant columns dropped and columns standardized on the
training part; hard = area under the ROC curve of the hard labels (balanced accuracy), auc = of the
scores.  Tuning is by cross-validated score AUC inside the training part, and counts as fit time.
"""

import argparse
import csv
import json
import os
import platform
import time
import warnings
from datetime import UTC, datetime

import numpy as np
from joblib import Parallel, delayed
from leaderboard_sets import PAPER, ROOT, all_sets
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import balanced_accuracy_score, roc_auc_score
from sklearn.model_selection import GridSearchCV, StratifiedKFold, train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC, LinearSVC

from lincent import LCC, RegularizedLCC, RegularizedLCCCV, StructuredLCC, StructuredLCCCV

FOLDER = ROOT / "results" / "leaderboard"
FIELDS = ["dataset", "split", "method", "hard", "auc", "seconds", "gap", "status"]
C_WIDE = list(10.0 ** np.arange(-4, 3))
C_SVM = list(10.0 ** np.arange(-5, 2))
RBF = {"C": [0.1, 1.0, 10.0, 100.0], "gamma": ["scale", 0.01, 0.03, 0.1]}


def tuned(estimator, grid, folds=5):
    return GridSearchCV(
        estimator, grid, scoring="roc_auc", cv=StratifiedKFold(folds, shuffle=True, random_state=0)
    )


def methods():
    even = [0.5, 0.5]
    lda = LinearDiscriminantAnalysis(solver="lsqr", priors=even)
    return {
        "LCC": LCC(),
        "RegularizedLCC": RegularizedLCC(),
        "RegularizedLCCCV": RegularizedLCCCV(),
        "StructuredLCC": StructuredLCC(),
        "StructuredLCCCV": StructuredLCCCV(),
        "LogisticRegression": LogisticRegression(max_iter=1000),
        "LogisticRegression balanced": LogisticRegression(class_weight="balanced", max_iter=1000),
        "LogisticRegression balanced, tuned": tuned(
            LogisticRegression(class_weight="balanced", max_iter=1000), {"C": C_WIDE}
        ),
        "LinearSVC": LinearSVC(max_iter=20000),
        "LinearSVC balanced": LinearSVC(class_weight="balanced", max_iter=20000),
        "LinearSVC balanced, tuned": tuned(
            LinearSVC(class_weight="balanced", max_iter=20000), {"C": C_SVM}
        ),
        "LDA": LinearDiscriminantAnalysis(),
        "LDA balanced": LinearDiscriminantAnalysis(priors=even),
        "LDA balanced, tuned": tuned(lda, {"shrinkage": [0.0, 0.03, 0.1, 0.2, 0.4, 0.7, 1.0]}),
        "local centers + LogisticRegression": make_pipeline(
            StructuredLCC(), LogisticRegression(C=0.1, class_weight="balanced", max_iter=1000)
        ),
        "SVC-RBF": SVC(),
        "SVC-RBF balanced": SVC(class_weight="balanced"),
        "SVC-RBF balanced, tuned": tuned(SVC(class_weight="balanced"), RBF, folds=3),
        "HistGradientBoosting balanced": HistGradientBoostingClassifier(
            class_weight="balanced", random_state=0
        ),
    }


def rivals():
    """The paper's other methods, run on the paper's sets only."""
    try:
        import lincent.rivals as room
    except ImportError:
        return {}
    found = {name: getattr(room, name) for name in room.__all__}
    return {name: made() for name, made in found.items() if hasattr(made, "fit")}


def scores_of(model, X):
    if hasattr(model, "decision_function"):
        return model.decision_function(X)
    return model.predict_proba(X)[:, 1]


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
    return {
        "hard": 100 * balanced_accuracy_score(y_test, model.predict(test)),
        "auc": 100 * roc_auc_score(y_test, scores_of(model, test)),
        "seconds": seconds,
        "gap": gap_of(model),
        "status": "ok",
    }


def split_of(X, y, seed):
    train, test, y_train, y_test = train_test_split(
        X, y, test_size=0.3, stratify=y, random_state=seed
    )
    varies = np.ptp(train, axis=0) > 0
    scaler = StandardScaler().fit(train[:, varies])
    return scaler.transform(train[:, varies]), scaler.transform(test[:, varies]), y_train, y_test


def run(n_splits, jobs):
    FOLDER.mkdir(parents=True, exist_ok=True)
    path = FOLDER / "rows.csv"
    done = set()
    if path.exists():
        with path.open(newline="") as file:
            done = {(r["dataset"], r["split"], r["method"]) for r in csv.DictReader(file)}
    sets = list(all_sets())
    (FOLDER / "about.json").write_text(json.dumps(about(sets), indent=1))
    todo = [
        delayed(fits)(name, X, y, seed, missing)
        for seed in range(n_splits)
        for name, _, X, y in sets
        if (missing := [k for k in names_for(name) if (name, str(seed), k) not in done])
    ]
    with path.open("a", newline="") as file:
        table = csv.DictWriter(file, FIELDS)
        if not done:
            table.writeheader()
        parts = Parallel(n_jobs=jobs, return_as="generator_unordered")(todo)
        for count, rows in enumerate(parts, 1):
            table.writerows(rows)
            file.flush()
            now = datetime.now(UTC).strftime("%H:%M:%S")
            print(f"{count} of {len(todo)} splits of sets done", now, flush=True)


def names_for(dataset):
    return [*methods(), *(rivals() if dataset in PAPER else {})]


def fits(name, X, y, seed, wanted):
    """The rows of one split of one set."""
    models = methods() | (rivals() if name in PAPER else {})
    parts = split_of(X, y, seed)
    return [
        {"dataset": name, "split": seed, "method": method} | guarded(models[method], parts)
        for method in wanted
    ]


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


def about(sets):
    import sklearn

    return {
        "date": datetime.now(UTC).strftime("%Y-%m-%d"),
        "python": platform.python_version(),
        "numpy": np.__version__,
        "scikit-learn": sklearn.__version__,
        "machine": f"one thread a fit, {os.cpu_count()} cores",
        "sets": [[name, source, *X.shape, int(y.sum())] for name, source, X, y in sets],
    }


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("what", choices=["run", "page"])
    parser.add_argument("--splits", type=int, default=10)
    parser.add_argument("--jobs", type=int, default=1, help="splits of sets at a time")
    arguments = parser.parse_args()
    if arguments.what == "run":
        run(arguments.splits, arguments.jobs)
    else:
        from leaderboard_page import write_page

        write_page(FOLDER)
