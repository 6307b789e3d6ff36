"""The leaderboard: accuracy and fit time of AutoLCC and 17 others on raw tables.

    python benchmarks/leaderboard.py export results/tables.npz
    OMP_NUM_THREADS=1 python benchmarks/leaderboard.py run results/tables.npz \\
        --rows results/leaderboard.csv --jobs 16 --splits 5
    python benchmarks/leaderboard.py report results/leaderboard.csv

``export`` needs the packages of ``leaderboard_sets``.  Tables are as they came: missing values
stay, text is a category.  Sets whose names begin with "development" took part in choices of
defaults; figures for readers come from the others, which are run without ``--development``.
``leaderboard_methods`` has the methods; those for small tables run on at most 3,000 rows.
Stratified splits of 70 to 30 percent, the same for all methods; one thread for each fit; seconds
are processor time, tuning included.  AutoLCC predicts with its own ``predict``; the classes of
other methods are predicted with all classes weighted equally (the probability divided by the
frequency), as AutoLCC does.  To compare two versions of lincent, run it twice with another
PYTHONPATH and ``--label``, and report both files.
"""

import argparse
import sys
import time
import warnings
from pathlib import Path

import numpy as np
import pandas
from joblib import Parallel, delayed
from leaderboard_methods import large_methods, small_methods
from leaderboard_sets import PACKAGES, export, load
from scipy.stats import wilcoxon
from sklearn.metrics import balanced_accuracy_score, log_loss, roc_auc_score
from sklearn.model_selection import train_test_split

SMALL = 3_000
METRICS = {"balanced_accuracy": "balanced accuracy", "auc": "AUC", "log_loss": "log loss"}
COLUMNS = ["set", "rows", "classes", "method", "split", *METRICS, "seconds"]
OURS = ("AutoLCC", "AdditiveLCCCV", "StructuredLCCCV", "RegularizedLCCCV", "LCC")
PAGE = """# Tables of the leaderboard

Written by `benchmarks/leaderboard.py report --page` from `leaderboard.csv`. Raw tables that took
part in no choice of defaults: of two classes, and of many, each cut to 1,500 rows, and of two
classes with 3,000 to 30,000 rows; those of R packages are the pool of `leaderboard_raw.py`. On
2026-11-19, one thread a fit, on 2 shared cores of an AMD EPYC.

Means over sets; balanced accuracy and AUC in percent (AUC of many classes is the mean of one
against the rest). Seconds are the median over sets of the processor time of a fit, tuning included.
Ranks are means over sets. p is that of a two-sided Wilcoxon test over the sets, AutoLCC against the
method, not adjusted for the number of tests. Where a method has finished fewer splits than AutoLCC,
a second table has the splits that all have finished.
"""


def one_fit(name, method, split, X, y, ends):
    """Return a row of metrics on held-out samples and seconds of the fit; None after the end."""
    if time.time() > ends:
        return None
    warnings.simplefilter("ignore")
    train, test = train_test_split(np.arange(len(y)), test_size=0.3, stratify=y, random_state=split)
    model = (large_methods() | small_methods())[method]()
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


def run(path, rows, given):
    """Fit methods to sets, a split after the other, the largest sets first; keep what is done."""
    sets = sorted(load(path), key=lambda entry: -entry[1].size)
    large, every = list(large_methods()), [*large_methods(), *small_methods()]
    ends = time.time() + 60 * given.minutes
    rows.parent.mkdir(exist_ok=True)
    if not rows.exists():
        rows.write_text(",".join(COLUMNS) + "\n", "utf-8")
    done = pandas.read_csv(rows)
    done = set(zip(done["set"], done["rows"], done["method"], done["split"], strict=True))
    todo = [
        (name, method, split, X, y, ends)
        for split in range(given.splits)
        for name, X, y in sets
        if name.startswith("development") == given.development
        for method in (every if len(y) <= SMALL else large)
        if not given.methods or method in given.methods
        if method not in given.without and (name, len(y), method + given.label, split) not in done
    ]
    fits = Parallel(n_jobs=given.jobs, return_as="generator_unordered", batch_size=1)(
        delayed(one_fit)(*one) for one in todo
    )
    for row in fits:
        if row is not None:
            frame = pandas.DataFrame([row], columns=COLUMNS)
            frame["method"] += given.label
            frame.to_csv(rows, index=False, header=False, mode="a")


def tables(frame):
    """Yield a title and a table for each group of sets, the best mean ranks first.

    Where a method has finished fewer splits than AutoLCC, a second table has the splits of all.
    """
    part = np.where(frame["set"].str.startswith("development"), "Development", "Untouched")
    classes = np.where(frame["classes"] > 2, "many classes", "two classes")
    rows = np.where(frame["rows"] > SMALL, f"above {SMALL:,} rows", f"up to {SMALL:,} rows")
    pool = np.where(frame["set"].str.contains("/"), " of R packages", "")  # of leaderboard_raw
    keys = [pandas.Series(part), pandas.Series(classes), pandas.Series(rows), pandas.Series(pool)]
    for (part, classes, rows, pool), group in frame.reset_index(drop=True).groupby(keys):
        finished = group.groupby(["method", "split"])["set"].nunique() == group["set"].nunique()
        n_splits = finished.groupby("method").sum()  # the first ones: later splits begin later
        n_splits = n_splits[n_splits > 0]
        for count in sorted({n_splits.min(), n_splits["AutoLCC"]}, reverse=True):
            names = n_splits.index[n_splits >= count]
            chosen = group[group["method"].isin(names) & (group["split"] < count)]
            splits = "1 split" if count == 1 else f"{count} splits"
            sets = f"{chosen['set'].nunique()} sets{pool}"
            title = f"{part}, {classes}, {rows}: {sets}, {splits}"
            yield title, table(chosen)


def table(chosen):
    """Return means, mean ranks and p-values by method, as text."""
    means = chosen.groupby(["set", "method"]).mean(numeric_only=True).unstack("method")
    columns, places = {}, 0
    for metric, name in METRICS.items():
        values, loss = means[metric].round(9), metric == "log_loss"
        mean = values.mean()
        ranks = values.rank(axis=1, ascending=loss).mean()
        differences = values.sub(values["AutoLCC"], axis=0)
        p = differences.apply(lambda one: wilcoxon(one).pvalue if one.any() else 1.0)
        columns[name] = mean.map("{:.4f}".format) if loss else (100 * mean).map("{:.2f}".format)
        columns[f"rank ({name})"] = ranks.map("{:.2f}".format)
        columns[f"p ({name})"] = p.map(lambda p: "<.001" if p < 0.001 else f"{p:.3f}")
        columns[f"p ({name})"]["AutoLCC"] = ""
        places = places + ranks
    columns["seconds"] = means["seconds"].median().map("{:.3g}".format)
    return pandas.DataFrame(columns).loc[places.sort_values().index]


def report(paths, page=None):
    """Print the tables, or write them as a page."""
    lines = []
    for title, found in tables(pandas.concat([pandas.read_csv(path) for path in paths])):
        if page is None:
            print(f"\n{title}\n{found.to_string()}")
            continue
        lines += [f"\n## {title}\n", "| method | " + " | ".join(found) + " |"]
        lines += ["|---" * (found.shape[1] + 1) + "|"]
        for name, row in found.iterrows():
            name = f"**{name}**" if name in OURS else name
            lines.append(f"| {name} | " + " | ".join(row) + " |")
    if page is not None:
        page.write_text(PAGE + "\n".join(lines) + "\n", "utf-8")


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("what", choices=["export", "run", "report"])
    parser.add_argument("files", type=Path, nargs="+")
    parser.add_argument("--rows", type=Path, default=Path("results/leaderboard.csv"))
    parser.add_argument("--jobs", type=int, default=1, help="fits at a time")
    parser.add_argument("--splits", type=int, default=1)
    parser.add_argument("--label", default="", help="added to the names of methods")
    parser.add_argument("--methods", nargs="*", default=[], help="only these")
    parser.add_argument("--without", nargs="*", default=[], help="methods to leave out")
    parser.add_argument("--development", action="store_true", help="only sets that took part")
    parser.add_argument("--minutes", type=float, default=1e6, help="begin no fit after so many")
    parser.add_argument("--page", type=Path, help="write the report to this file")
    given = parser.parse_args()
    if given.what == "export":
        export(given.files[0])
    elif given.what == "run":
        run(given.files[0], given.rows, given)
    else:
        report(given.files, given.page)


if __name__ == "__main__":
    sys.path.insert(0, str(PACKAGES))
    main()
