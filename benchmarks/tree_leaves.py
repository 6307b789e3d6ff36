"""RegularizedLCC on the leaves of trees beside the trees themselves, for each kind of ensemble.

    OMP_NUM_THREADS=1 python benchmarks/tree_leaves.py [--sets 20] [--splits 2]

Two-class sets of ``leaderboard_sets`` (see there for what to install) that took part in no choice
of defaults, at most 1,500 rows; stratified splits of 70 to 30 percent; C from five values by three
folds, each with trees of its own.  The trees are those of ``TreeLeaves().ensemble_``.
"""

import argparse
import warnings

import pandas
from leaderboard_sets import untouched_two_class
from scipy.stats import wilcoxon
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import GridSearchCV, train_test_split
from sklearn.pipeline import Pipeline

from lincent import RegularizedLCC
from lincent.features import TreeLeaves

KINDS = ("extra_trees", "random_forest", "hist_gradient_boosting")
COSTS = {"classifier__C": [0.01, 0.03, 0.1, 0.3, 1.0]}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--sets", type=int, default=20)
    parser.add_argument("--splits", type=int, default=2)
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    rows = []
    for name, X, y in untouched_two_class(options.sets):
        for split in range(options.splits):
            parts = train_test_split(X, y, test_size=0.3, stratify=y, random_state=split)
            train, test, y_train, y_test = parts
            for kind in KINDS:
                steps = [("leaves", TreeLeaves(kind)), ("classifier", RegularizedLCC())]
                search = GridSearchCV(Pipeline(steps), COSTS, cv=3, scoring="roc_auc")
                model = search.fit(train, y_train).best_estimator_
                trees = model[0].ensemble_.predict_proba(test)[:, 1]
                rows.append(
                    {
                        "set": name,
                        "kind": kind,
                        "trees": roc_auc_score(y_test, trees),
                        "leaves": roc_auc_score(y_test, model.decision_function(test)),
                        "gap": model[-1].duality_gap_,
                    }
                )
        print(name, flush=True)
    table = pandas.DataFrame(rows).groupby(["kind", "set"]).mean().reset_index()
    for kind in KINDS:
        own = table[table["kind"] == kind]
        difference = own["leaves"] - own["trees"]
        print(
            f"{kind}: AUC of the trees {own['trees'].mean():.4f}, on their leaves "
            f"{own['leaves'].mean():.4f}; better on {(difference > 0).sum()}, worse on "
            f"{(difference < 0).sum()}, p {wilcoxon(difference).pvalue:.3f}, largest gap "
            f"{own['gap'].max():.0e}"
        )


if __name__ == "__main__":
    main()
