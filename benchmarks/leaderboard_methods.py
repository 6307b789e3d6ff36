"""The methods of the leaderboard: lincent's with their defaults, the others tuned as a user would.

LightGBM, XGBoost, CatBoost and ExplainableBoosting are there where they are installed.  They, the
histogram boosting of scikit-learn and lincent's methods of tables handle categories and missing
values themselves; the others have one-hot categories and imputed, standardized numbers.  Tuned
methods are chosen by the log loss of three folds.  One thread each: what runs side by side are
fits.
"""

import importlib.util
import inspect
from functools import partial

import numpy as np
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
from sklearn.model_selection import GridSearchCV, StratifiedKFold
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler
from sklearn.svm import SVC

import lincent

C = list(10.0 ** np.arange(-4, 3))
SHRINKAGE = [0.0, 0.03, 0.1, 0.2, 0.4, 0.7, 1.0]
RBF = {
    "estimator__C": [0.1, 1.0, 10.0, 100.0],
    "estimator__gamma": ["scale", 0.01, 0.03, 0.1],
}
LEAVES = {"min_samples_leaf": [1, 3, 10]}
BOOST = [
    {"learning_rate": [rate], "n_estimators": [trees], "max_depth": [3, 5, 8]}
    for rate, trees in ((0.05, 200), (0.1, 100))
]
HIST = {"learning_rate": [0.05, 0.1], "max_leaf_nodes": [7, 15, 31]}


def tuned(estimator, grid):
    splitter = StratifiedKFold(3, shuffle=True, random_state=0)
    return GridSearchCV(estimator, grid, scoring="neg_log_loss", cv=splitter)


def encoded(model, numbers="passthrough"):
    """The model behind one-hot categories and prepared numbers."""
    one_hot = OneHotEncoder(handle_unknown="ignore", sparse_output=False)
    categories = make_column_selector(dtype_include="category")
    return make_pipeline(make_column_transformer((one_hot, categories), remainder=numbers), model)


def standardized(model):
    return encoded(model, make_pipeline(SimpleImputer(add_indicator=True), StandardScaler()))


def imputed(model):
    return encoded(model, SimpleImputer(strategy="median", add_indicator=True))


class CatBoost(ClassifierMixin, BaseEstimator):
    """CatBoost with the categories of the frame, of which a missing value is one more."""

    def __init__(self, learning_rate=0.1, n_estimators=100, max_depth=6):
        self.learning_rate = learning_rate
        self.n_estimators = n_estimators
        self.max_depth = max_depth

    def _pool(self, X, y=None):
        from catboost import Pool

        names = X.columns[X.dtypes == "category"].tolist()
        text = {name: X[name].astype(object).fillna("missing").astype(str) for name in names}
        return Pool(X.assign(**text), y, cat_features=names)

    def fit(self, X, y):
        from catboost import CatBoostClassifier

        quiet = {"verbose": False, "allow_writing_files": False, "thread_count": 1}
        self.model = CatBoostClassifier(random_seed=0, **quiet, **self.get_params())
        self.model.fit(self._pool(X, y))
        self.classes_ = self.model.classes_
        return self

    def predict(self, X):
        return self.model.predict(self._pool(X)).ravel()

    def predict_proba(self, X):
        return self.model.predict_proba(self._pool(X))


def auto():
    # 0.2.0, to which the next version is compared, has no such parameter and leaves nothing out.
    known = "keep_columns" in inspect.signature(lincent.AutoLCC).parameters
    return lincent.AutoLCC(**({"keep_columns": "all"} if known else {}))


def boosters():
    """Return functions that make the boosters which are installed, by name."""
    made = {}
    if importlib.util.find_spec("lightgbm"):
        from lightgbm import LGBMClassifier

        grid = [how | {"max_depth": [depth], "num_leaves": [min(2**depth, 32)]}
                for how in BOOST for depth in how["max_depth"]]  # fmt: skip
        made["LightGBM tuned"] = lambda: tuned(LGBMClassifier(num_threads=1, verbose=-1), grid)
    if importlib.util.find_spec("xgboost"):
        from xgboost import XGBClassifier

        quick = {"n_jobs": 1, "enable_categorical": True}
        made["XGBoost tuned"] = lambda: tuned(XGBClassifier(**quick), BOOST)
    if importlib.util.find_spec("catboost"):
        made["CatBoost tuned"] = lambda: tuned(CatBoost(), BOOST)
    return made


def large_methods():
    """Return functions that make the methods for tables of any size, by name."""
    return {
        "AutoLCC": auto,
        "HistGradientBoosting": lambda: HistGradientBoostingClassifier(random_state=0),
        "RandomForest": lambda: encoded(
            RandomForestClassifier(300, min_samples_leaf=2, random_state=0)
        ),
        **boosters(),
    }


def small_methods():
    """Return functions that make the methods for small tables alone, by name."""
    hist = HistGradientBoostingClassifier(random_state=0)
    svc = CalibratedClassifierCV(SVC(), cv=3, ensemble=False)
    lda = LinearDiscriminantAnalysis(solver="lsqr")
    logistic = LogisticRegression(max_iter=1000)
    made = {
        "AdditiveLCCCV": lambda: lincent.AdditiveLCCCV(keep_columns="all"),
        "StructuredLCCCV": lambda: standardized(lincent.StructuredLCCCV()),
        "RegularizedLCCCV": lambda: standardized(lincent.RegularizedLCCCV()),
        "LCC": lambda: standardized(lincent.LCC(probability="sigmoid")),
        "HistGradientBoosting tuned": lambda: tuned(hist, HIST),
        "SVC tuned": lambda: standardized(tuned(svc, RBF)),
        "LogisticRegression tuned": lambda: standardized(tuned(logistic, {"C": C})),
        "LDA tuned": lambda: standardized(tuned(lda, {"shrinkage": SHRINKAGE})),
        "KNeighbors tuned": lambda: standardized(
            tuned(KNeighborsClassifier(), {"n_neighbors": [5, 10, 20, 40]})
        ),
    }
    forests = {"RandomForest": RandomForestClassifier, "ExtraTrees": ExtraTreesClassifier}
    for name, kind in forests.items():
        made[f"{name} tuned"] = partial(imputed, tuned(kind(300, random_state=0), LEAVES))
    if importlib.util.find_spec("interpret"):
        from interpret.glassbox import ExplainableBoostingClassifier

        made["ExplainableBoosting"] = lambda: ExplainableBoostingClassifier(
            n_jobs=1, random_state=0
        )
    return made
