"""The leaderboard: accuracy and fit time on real two-class sets, one row per fit.

    OMP_NUM_THREADS=1 python benchmarks/leaderboard.py run [--splits 10] [--jobs 2]
    python benchmarks/leaderboard.py page

``run`` is a study like any other: its rows are in results/leaderboard/runs.parquet
and it goes on where it stopped.  Protocol: stratified 70/30 splits, the same for all methods;
constant columns dropped and columns standardized on the training part; hard = area under the ROC
curve of the hard labels (balanced accuracy), auc = of the scores.  Tuning is by cross-validated
score AUC inside the training part, and counts as fit time.
"""

import argparse

import numpy as np
from leaderboard_sets import PAPER, ROOT, all_sets
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV, StratifiedKFold
from sklearn.pipeline import make_pipeline
from sklearn.svm import SVC, LinearSVC

from lincent import LCC, RegularizedLCC, RegularizedLCCCV, StructuredLCC, StructuredLCCCV
from lincent.study import Problem
from lincent.study.procedures import procedure1
from lincent.study.reports.terminal import progress_bar
from lincent.study.results import run_study

FOLDER = ROOT / "results" / "leaderboard"
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
    import lincent.rivals as room

    found = {name: getattr(room, name) for name in room.__all__}
    return {name: made() for name, made in found.items() if hasattr(made, "fit")}


def plan(n_splits):
    """All methods on all sets; the paper's other methods on the paper's sets."""
    problems = [
        Problem(name, X, y.astype(str), title=name, origin=source)
        for name, source, X, y in all_sets()
    ]
    of_paper = [problem for problem in problems if problem.name in PAPER]
    return procedure1(problems, methods().items(), runs=n_splits) + procedure1(
        of_paper, rivals().items(), runs=n_splits
    )


def run(n_splits, jobs, time_limit):
    """Run what is not yet in the folder, and describe it beside the rows."""
    with progress_bar() as progress:
        result = run_study(
            "leaderboard", plan(n_splits), {"runs": n_splits}, (), seed=0, jobs=jobs,
            time_limit=time_limit, folder=FOLDER, progress=progress, retry=False,
        )  # fmt: skip
    result.save(FOLDER)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("what", choices=["run", "page"])
    parser.add_argument("--splits", type=int, default=10)
    parser.add_argument("--jobs", type=int, default=1, help="worker processes")
    parser.add_argument("--time-limit", type=float, default=600.0, help="seconds for one fit")
    arguments = parser.parse_args()
    if arguments.what == "run":
        run(arguments.splits, arguments.jobs, arguments.time_limit)
    else:
        from leaderboard_page import write_page

        write_page(FOLDER)
