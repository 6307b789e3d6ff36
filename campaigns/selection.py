"""Selection and explanation by scikit-learn on all estimators: the right features, or a message.

Two of five features carry the classes.  Whatever a tool keeps or ranks first must be among them,
and a calibrated or stacked model must classify about as well as the estimator alone.  Where there
is a `coef_`, it has one row for each score, and gives it.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
from sklearn.calibration import CalibratedClassifierCV
from sklearn.ensemble import StackingClassifier
from sklearn.feature_selection import RFE, RFECV, SelectFromModel, SequentialFeatureSelector
from sklearn.inspection import partial_dependence, permutation_importance
from sklearn.linear_model import LogisticRegression

from campaigns.outcome import Outcome
from lincent.estimators.registry import BASELINES, ESTIMATORS, estimator_class

QUICK: dict[str, dict[str, Any]] = {
    "AutoLCC": {"feature_maps": ["splines"], "cv": 2},
    "KernelLCC": {"n_components": 20},
    "LCCCV": {"cv": 3},
    "RegularizedLCCCV": {"cv": 3},
    "StructuredLCCCV": {"cv": 3},
    "AdditiveLCCCV": {"cv": 3},
}
"""Parameters with which the slow ones are fitted in a short time."""
Problem = tuple[np.ndarray, np.ndarray, set[int]]


def trial(rng: np.random.Generator) -> Outcome:
    """One random trial."""
    names = [*ESTIMATORS, *BASELINES]
    seed = int(rng.integers(2**31))
    return check({"seed": seed, "name": str(rng.choice(names)), "tool": str(rng.choice([*TOOLS]))})


def draw(rng: np.random.Generator) -> Problem:
    """Return samples of two or three classes, and the two features that tell them apart."""
    signal = rng.permutation(5)[:2]
    y = np.arange(90) % int(rng.integers(2, 4))
    X = rng.normal(size=(90, 5))
    X[:, signal[0]] += 4.0 * (y > 0)
    X[:, signal[1]] += 4.0 * (y == y.max())
    return X, y, {*signal.tolist()}


def _kept(tool: Callable[[Any], Any]) -> Callable[[Any, Problem], str]:
    """Return a check that the two features with a signal are kept."""

    def check_support(model: Any, problem: Problem) -> str:
        X, y, signal = problem
        kept = {*np.flatnonzero(tool(model).fit(X, y).get_support()).tolist()}
        # Of two classes either feature may do alone.
        right = kept & signal if len({*y.tolist()}) == 2 else signal <= kept
        return "" if right else f"kept {sorted(kept)} of {sorted(signal)}"

    return check_support


def _permuted(model: Any, problem: Problem) -> str:
    X, y, signal = problem
    ranks = permutation_importance(model.fit(X, y), X, y, n_repeats=3, random_state=0)
    best = int(np.argmax(ranks.importances_mean))
    return "" if best in signal else f"feature {best} is first, not one of {sorted(signal)}"


def _dependence(model: Any, problem: Problem) -> str:
    X, y, signal = problem
    model.fit(X, y)
    sizes = [
        np.ptp(partial_dependence(model, X, [k], response_method="decision_function").average)
        for k in range(5)
    ]
    best = int(np.argmax(sizes))
    return "" if best in signal else f"feature {best} matters most, not one of {sorted(signal)}"


def _wrapped(tool: Callable[[Any], Any]) -> Callable[[Any, Problem], str]:
    """Return a check that a model of models classifies as well, with probabilities."""

    def check_scores(model: Any, problem: Problem) -> str:
        X, y, _ = problem
        alone = model.fit(X, y).score(X, y)
        both = tool(model).fit(X, y)
        shares = both.predict_proba(X)
        if not np.allclose(shares.sum(axis=1), 1.0) or not np.isfinite(shares).all():
            return "probabilities do not add up to one"
        reached = both.score(X, y)
        return "" if reached > alone - 0.15 else f"accuracy {reached:.2f}, alone {alone:.2f}"

    return check_scores


def _read_as_linear(model: Any, problem: Problem) -> str:
    """Read `coef_` as shap and others do: one row for each column of the decision function."""
    X, y, _ = problem
    scores = model.fit(X, y).decision_function(X)
    if not hasattr(model, "coef_") or hasattr(model, "responses"):  # one regression per class
        return ""
    read = X @ np.atleast_2d(model.coef_).T + model.intercept_
    scores = scores.reshape(len(X), -1)
    if read.shape != scores.shape:
        return f"{read.shape[1]} rows of coefficients for {scores.shape[1]} scores"
    off = float(np.abs(read - scores).max() / np.abs(scores).max())
    return "" if off <= 1e-9 else f"coefficients give scores that differ by {off:.1e}"


TOOLS: dict[str, Callable[[Any, Problem], str]] = {
    "RFE": _kept(lambda model: RFE(model, n_features_to_select=2)),
    "RFECV": _kept(lambda model: RFECV(model, min_features_to_select=2, cv=2)),
    "SelectFromModel": _kept(lambda model: SelectFromModel(model, max_features=2)),
    "SequentialFeatureSelector": _kept(
        lambda model: SequentialFeatureSelector(model, n_features_to_select=2, cv=2)
    ),
    "permutation_importance": _permuted,
    "coef_": _read_as_linear,
    "partial_dependence": _dependence,
    "CalibratedClassifierCV": _wrapped(lambda model: CalibratedClassifierCV(model, cv=3)),
    "StackingClassifier": _wrapped(
        lambda model: StackingClassifier([("m", model)], LogisticRegression(), cv=3)
    ),
}


def check(instance: dict[str, Any]) -> Outcome:
    """Apply a tool to an estimator."""
    name, tool = instance["name"], instance["tool"]
    model = estimator_class(name)(**QUICK.get(name, {}))
    problem = draw(np.random.default_rng(instance["seed"]))
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        try:
            kind, fault = tool, TOOLS[tool](model, problem)
        except ValueError as error:  # no coefficients: scikit-learn names the argument to give
            kind, fault = f"{tool}: refused", ""
            if "importance" not in str(error):
                fault = f"{type(error).__name__}: {str(error)[:200]}"
    return Outcome(kind, f"{name}, {tool}: {fault}" if fault else "", instance if fault else {})
