"""Default estimators on real tables: KernelLCC beside SVC, probabilities where rows are outliers.

    OMP_NUM_THREADS=1 python benchmarks/defaults_on_tables.py kernel
    OMP_NUM_THREADS=1 python benchmarks/defaults_on_tables.py outliers

Two-class sets of ``leaderboard_sets`` (see there for what to install) that took part in no choice
of defaults and have at most 1,500 rows; stratified splits of 70 to 30 percent.  ``kernel``:
standardized columns, ``KernelLCC()`` and ``SVC()``; the training accuracy is that with one label in
ten flipped.  ``outliers``: columns as they came, and one row in seventy is sixty times too large;
log loss of ``predict_proba``, of ``CalibratedClassifierCV`` around the same estimator, and of the
class frequencies.
"""

import argparse
import warnings

import numpy as np
import pandas
from leaderboard_sets import untouched_two_class
from sklearn.calibration import CalibratedClassifierCV
from sklearn.metrics import balanced_accuracy_score, log_loss, roc_auc_score
from sklearn.model_selection import train_test_split
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

import lincent

ESTIMATORS = {
    "LCC": lincent.LCC(probability="sigmoid"),
    "LCCCV": lincent.LCCCV(probability="sigmoid"),
    "FQCC": lincent.FQCC(probability="sigmoid"),
    "KernelLCC": lincent.KernelLCC(probability="sigmoid"),
    "RegularizedLCC": lincent.RegularizedLCC(probability="sigmoid"),
    "RegularizedLCCCV": lincent.RegularizedLCCCV(),
    "StructuredLCC": lincent.StructuredLCC(probability="sigmoid"),
    "StructuredLCCCV": lincent.StructuredLCCCV(),
    "AdditiveLCC": lincent.AdditiveLCC(probability="sigmoid"),
    "AdditiveLCCCV": lincent.AdditiveLCCCV(),
    "AutoLCC": lincent.AutoLCC(),
}


def kernel(count, splits):
    rows = []
    for name, X, y in untouched_two_class(count):
        for split in range(splits):
            parts = train_test_split(X, y, test_size=0.3, stratify=y, random_state=split)
            train, test, y_train, y_test = parts
            scaler = StandardScaler().fit(train)
            train, test = scaler.transform(train), scaler.transform(test)
            flip = np.random.default_rng(split).random(len(y_train)) < 0.1
            flipped = np.where(flip, 1 - y_train, y_train)
            for method, model in (("KernelLCC", lincent.KernelLCC()), ("SVC", SVC())):
                model.fit(train, y_train)
                metrics = {
                    "balanced accuracy": balanced_accuracy_score(y_test, model.predict(test)),
                    "AUC": roc_auc_score(y_test, model.decision_function(test)),
                    "training accuracy, flipped": model.fit(train, flipped).score(train, flipped),
                }
                rows.append({"set": name, "method": method, **metrics})
    table = pandas.DataFrame(rows)
    print(table.groupby("method").mean(numeric_only=True).round(4))
    worst = table.groupby(["method", "set"]).mean()["training accuracy, flipped"]
    print("largest training accuracy on flipped labels:")
    print(worst.groupby("method").max().round(4))


def outliers(count, splits):
    rows = []
    for name, X, y in untouched_two_class(count):
        for split in range(splits):
            far = np.random.default_rng(split).permutation(len(X))[: max(1, len(X) // 70)]
            spoiled = X.copy()
            spoiled[far] *= 60.0
            parts = train_test_split(spoiled, y, test_size=0.3, stratify=y, random_state=split)
            train, test, y_train, y_test = parts
            base = log_loss(y_test, np.full(len(y_test), y_train.mean()))
            frequency = np.bincount(y_train) / len(y_train)
            for method, model in ESTIMATORS.items():
                own = model.fit(train, y_train).predict_proba(test)
                ratio = np.log(frequency[y_test] / own[np.arange(len(own)), y_test])
                plain = type(model)()
                around = CalibratedClassifierCV(plain, cv=5).fit(train, y_train)
                rows.append(
                    {
                        "set": name,
                        "method": method,
                        "own": log_loss(y_test, own),
                        "CalibratedClassifierCV": log_loss(y_test, around.predict_proba(test)),
                        "base rate": base,
                        "variance": ratio.var(ddof=1) / len(ratio),
                    }
                )
        print(name, flush=True)
    table = pandas.DataFrame(rows)
    print(table.groupby("method", sort=False).mean(numeric_only=True).round(4))
    by_set = table.groupby(["method", "set"], sort=False).mean(numeric_only=True)
    by_set["standard error"] = np.sqrt(by_set.pop("variance") / splits)
    for method in ("own", "CalibratedClassifierCV"):
        above = by_set[by_set[method] >= by_set["base rate"]]
        beyond = above[method] > above["base rate"] + 2 * above["standard error"]
        print(
            f"{method}: {len(above)} of {len(by_set)} means of a set are not below the base rate, "
            f"{beyond.sum()} of them by more than two standard errors"
        )
        print(above.round(4).to_string())


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("what", choices=("kernel", "outliers"))
    parser.add_argument("--sets", type=int, default=20)
    parser.add_argument("--splits", type=int, default=2)
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    {"kernel": kernel, "outliers": outliers}[options.what](options.sets, options.splits)


if __name__ == "__main__":
    main()
