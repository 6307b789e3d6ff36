"""
A first table
=============

Fits the linear centralization classifier to every data set at hand and prints one line for each:
size, certificate, accuracy on held-out rows. Nothing is fetched from the network.

scikit-learn's embedded sets are always there. The sets of the paper are added where they are
found: in the folder that ``LINCENT_DATA`` names, in the cache, or in an installed package.
"""

import time

import numpy as np
from sklearn.datasets import load_breast_cancer, load_digits, load_iris, load_wine
from sklearn.metrics import balanced_accuracy_score
from sklearn.model_selection import train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from lincent import LCC
from lincent.datasets import list_datasets, load_dataset


# %%
# Two-class problems inside scikit-learn
# --------------------------------------
def one_against_rest(loader, label):
    X, y = loader(return_X_y=True)
    return X, np.where(y == label, 1, 0)


def embedded():
    yield "breast cancer (WDBC)", load_breast_cancer(return_X_y=True)
    yield "iris: versicolor or not", one_against_rest(load_iris, 1)
    yield "wine: cultivar 1 or not", one_against_rest(load_wine, 1)
    yield "digits: eight or not", one_against_rest(load_digits, 8)


# %%
# The sets of the paper, where they are found
# -------------------------------------------
def of_the_paper():
    for record in list_datasets():
        if record.available and len(record.classes) == 2:
            data = load_dataset(record.name, download_if_missing=False)
            if np.isfinite(data.data).all():
                yield f"{record.name} {record.code}", (data.data, data.target)


def missing():
    return [record.name for record in list_datasets() if not record.available]


# %%
# One fit, one line
# -----------------
def table_row(name, X, y):
    parts = train_test_split(X, y, test_size=0.3, stratify=y, random_state=0)
    X_train, X_test, y_train, y_test = parts
    start = time.perf_counter()
    model = make_pipeline(StandardScaler(), LCC()).fit(X_train, y_train)
    seconds = time.perf_counter() - start
    lcc = model[-1]
    scores = [
        100 * balanced_accuracy_score(labels, model.predict(rows))
        for rows, labels in ((X_train, y_train), (X_test, y_test))
    ]
    return (
        f"{name:<26}{len(X):>6}{X.shape[1]:>5}{scores[0]:>8.1f}{scores[1]:>8.1f}"
        f"{lcc.objective_:>13.6f}{lcc.duality_gap_:>10.1e}{int(np.max(lcc.n_iter_)):>6}"
        f"{1000 * seconds:>8.1f}  {lcc.solver_}"
    )


def main():
    print("LCC with the paper's defaults, 70/30 split, z-scored; balanced accuracy in percent")
    header = (
        f"{'data set':<26}{'rows':>6}{'cols':>5}{'train':>8}{'test':>8}"
        f"{'objective':>13}{'gap':>10}{'iter':>6}{'ms':>8}  solver"
    )
    print(header)
    print("-" * len(header))
    for source in (embedded, of_the_paper):
        for name, (X, y) in source():
            print(table_row(name, X, y))
    if missing():
        print(f"Not on this machine: {', '.join(missing())}.")
        print("The field `how` of lincent.datasets.list_datasets() says how to get each of them.")


if __name__ == "__main__":
    main()
