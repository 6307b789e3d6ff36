"""AdditiveLCCCV with up to 40 pairs of columns beside at most 10, on untouched two-class tables.

    python benchmarks/leaderboard.py export results/tables.npz
    OMP_NUM_THREADS=1 python benchmarks/additive_pairs.py results/tables.npz

Tables that took part in a choice of defaults are left out, as are classes of fewer than 26 rows;
4,000 rows of larger ones are used.  Stratified splits of 70 to 30 percent, seconds of processor
time.  "At most 10" is the search of earlier versions: half as many pairs as columns, up to 60
columns.
"""

import sys
import time
import warnings

import numpy as np
from joblib import Parallel, delayed
from leaderboard_sets import load
from sklearn.metrics import log_loss, roc_auc_score
from sklearn.model_selection import train_test_split

from lincent import AdditiveLCCCV
from lincent.estimators import additive

MOST_ROWS = 4_000
SPLITS = 2
SEARCHES = ((10, 60), (40, 200))  # most pairs, and columns up to which pairs are tried


def compare(X, y, split):
    """Return AUC, log loss and seconds with few pairs, then with more."""
    warnings.simplefilter("ignore")
    if len(y) > MOST_ROWS:
        rows = np.random.default_rng(0).choice(len(y), MOST_ROWS, replace=False)
        X, y = X.iloc[rows], y[rows]
    train, test = train_test_split(np.arange(len(y)), test_size=0.3, stratify=y, random_state=split)
    measured = []
    for additive.MOST_PAIRS, additive.COLUMNS_FOR_PAIRS in SEARCHES:
        began = time.process_time()
        model = AdditiveLCCCV(keep_columns="all").fit(X.iloc[train], y[train])
        seconds = time.process_time() - began
        p = model.predict_proba(X.iloc[test])[:, 1]
        measured += [roc_auc_score(y[test], p), log_loss(y[test], p), seconds]
    return measured


def main(paths):
    sets = [(f"{name} {len(y)}", X, y) for path in paths for name, X, y in load(path)]
    sets = [
        (name, X, y)
        for name, X, y in sets
        if not name.startswith("development") and len(set(y)) == 2 and np.bincount(y).min() > 25
    ]
    jobs = (delayed(compare)(X, y, split) for _, X, y in sets for split in range(SPLITS))
    table = np.reshape(Parallel(n_jobs=-1)(jobs), (len(sets), SPLITS, 6)).mean(axis=1)
    print(f"{'table':30s}    AUC  log loss  s      more pairs: AUC, log loss, s")
    for (name, _, _), (auc, loss, seconds, more, less, longer) in zip(sets, table, strict=True):
        change = f"{more - auc:+.4f} {less - loss:+.4f} {longer:5.2f}"
        print(f"{name:30s} {auc:.4f} {loss:.4f} {seconds:5.2f}    {change}")
    print("means", table.mean(axis=0).round(4), "of", len(sets), "tables")
    for title, gain in (
        ("AUC", table[:, 3] - table[:, 0]),
        ("log loss", table[:, 1] - table[:, 4]),
    ):
        print(f"{title}: better on {np.sum(gain > 0)}, worse on {np.sum(gain < 0)}")


if __name__ == "__main__":
    main(sys.argv[1:])
