"""The methods of the leaderboard, for two classes and for more.

ExplainableBoosting is there where interpret-core is installed; everything else needs lincent and
scikit-learn alone.  One thread each: what runs side by side are fits.
"""

import importlib.util

import numpy as np
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.ensemble import (
    ExtraTreesClassifier,
    HistGradientBoostingClassifier,
    RandomForestClassifier,
)
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV, StratifiedKFold
from sklearn.pipeline import make_pipeline
from sklearn.svm import SVC, LinearSVC

import lincent
from lincent import LCC, AutoLCC, RegularizedLCC, RegularizedLCCCV, StructuredLCC, StructuredLCCCV

C_WIDE = list(10.0 ** np.arange(-4, 3))
C_SVM = list(10.0 ** np.arange(-5, 2))
RBF = {"C": [0.1, 1.0, 10.0, 100.0], "gamma": ["scale", 0.01, 0.03, 0.1]}
FOREST = {"min_samples_leaf": [1, 3, 10]}
BOOST = {"learning_rate": [0.05, 0.15], "max_leaf_nodes": [7, 31]}


def tuned(estimator, grid, folds=3, scoring="roc_auc"):
    splitter = StratifiedKFold(folds, shuffle=True, random_state=0)
    return GridSearchCV(estimator, grid, scoring=scoring, cv=splitter)


def additive():
    """AdditiveLCC and AdditiveLCCCV."""
    return {name: getattr(lincent, name)() for name in ("AdditiveLCC", "AdditiveLCCCV")}


def boosted_curves():
    """ExplainableBoosting, where it is installed."""
    if importlib.util.find_spec("interpret") is None:
        return {}
    from interpret.glassbox import ExplainableBoostingClassifier

    return {"ExplainableBoosting": ExplainableBoostingClassifier(n_jobs=1, random_state=0)}


def two_class_methods():
    even = [0.5, 0.5]
    lda = LinearDiscriminantAnalysis(solver="lsqr", priors=even)
    logistic = LogisticRegression(class_weight="balanced", max_iter=1000)
    linear = LinearSVC(class_weight="balanced", max_iter=20000)
    return {
        "AutoLCC": AutoLCC(),
        **additive(),
        "LCC": LCC(),
        "RegularizedLCC": RegularizedLCC(),
        "RegularizedLCCCV": RegularizedLCCCV(),
        "StructuredLCC": StructuredLCC(),
        "StructuredLCCCV": StructuredLCCCV(),
        "LogisticRegression balanced": logistic,
        "LogisticRegression balanced, tuned": tuned(logistic, {"C": C_WIDE}, 5),
        "LinearSVC balanced": linear,
        "LinearSVC balanced, tuned": tuned(linear, {"C": C_SVM}, 5),
        "LDA balanced, tuned": tuned(lda, {"shrinkage": [0.0, 0.03, 0.1, 0.2, 0.4, 0.7, 1.0]}, 5),
        "local centers + LogisticRegression": make_pipeline(
            StructuredLCC(), LogisticRegression(C=0.1, class_weight="balanced", max_iter=1000)
        ),
        "SVC-RBF balanced": SVC(class_weight="balanced"),
        "SVC-RBF balanced, tuned": tuned(SVC(class_weight="balanced"), RBF),
        **trees("balanced", "roc_auc"),
        **boosted_curves(),
    }


def trees(class_weight, scoring):
    weigh = {"class_weight": class_weight, "random_state": 0}
    forest, extra = (kind(300, **weigh) for kind in (RandomForestClassifier, ExtraTreesClassifier))
    boost = HistGradientBoostingClassifier(**weigh)
    return {
        "RandomForest balanced": forest,
        "RandomForest balanced, tuned": tuned(forest, FOREST, scoring=scoring),
        "ExtraTrees balanced": extra,
        "ExtraTrees balanced, tuned": tuned(extra, FOREST, scoring=scoring),
        "HistGradientBoosting balanced": boost,
        "HistGradientBoosting balanced, tuned": tuned(boost, BOOST, scoring=scoring),
    }


def many_class_methods():
    score = "balanced_accuracy"
    logistic = LogisticRegression(class_weight="balanced", max_iter=1000)
    return {
        "AutoLCC": AutoLCC(),
        "RegularizedLCC": RegularizedLCC(),
        "RegularizedLCC, one-vs-rest": RegularizedLCC(multi_class="ovr"),
        "RegularizedLCC, native": RegularizedLCC(multi_class="joint"),
        "RegularizedLCCCV": RegularizedLCCCV(),
        "StructuredLCC": StructuredLCC(),
        "StructuredLCC, one-vs-one": StructuredLCC(multi_class="ovo"),
        "StructuredLCCCV": StructuredLCCCV(),
        "LogisticRegression balanced": logistic,
        "LogisticRegression balanced, tuned": tuned(logistic, {"C": C_WIDE}, 3, score),
        "SVC-RBF balanced": SVC(class_weight="balanced"),
        "SVC-RBF balanced, tuned": tuned(SVC(class_weight="balanced"), RBF, 3, score),
        **trees("balanced", score),
    }
