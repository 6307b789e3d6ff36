"""What must not change a model: weights as repetitions, orders of samples, columns and labels.

The table of the guide (doc/guide/unequal_classes.md) says what holds for which estimator: the same
scores of other samples up to rounding, on random problems.  Groups that are given to a search are
the groups of its folds.
"""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from sklearn.model_selection import GroupKFold, PredefinedSplit

from campaigns.outcome import Outcome
from campaigns.selection import QUICK
from lincent.estimators.registry import ESTIMATORS, estimator_class

EXCEPT = {
    "weights": set(),
    "samples": set(),
    "columns": {
        "LCCCV", "RegularizedLCCCV", "StructuredLCC", "StructuredLCCCV", "AdditiveLCCCV", "AutoLCC",
        "KernelLCC",
    },
    "labels": set(),
    "groups": {name for name in ESTIMATORS if "cv" not in QUICK.get(name, {})},
}  # fmt: skip
"""Estimators that the guide exempts, by change."""
ROUNDING = {"AutoLCC": 1e-3}
"""Of scores; 1e-6 for others.  Fold models of AutoLCC are solved to a tolerance of the search."""


def trial(rng: np.random.Generator) -> Outcome:
    """One random trial."""
    change = str(rng.choice([*EXCEPT]))
    names = [name for name in ESTIMATORS if name not in EXCEPT[change]]
    return check(
        {"change": change, "name": str(rng.choice(names)), "seed": int(rng.integers(2**31))}
    )


def check(instance: dict[str, Any]) -> Outcome:
    """Fit to a table and to the changed one, and compare the scores of other samples."""
    rng = np.random.default_rng(instance["seed"])
    n, columns = int(rng.integers(40, 120)), int(rng.integers(2, 6))
    y = np.arange(n) % int(rng.integers(2, 4))
    X = rng.normal(size=(n, columns))
    X[:, 0] += rng.uniform(0.5, 2.0) * y
    other = rng.normal(size=(50, columns))
    name, change = instance["name"], instance["change"]

    def scores(at: Any, labels: Any, order: Any = slice(None), **given: Any) -> np.ndarray:
        model = estimator_class(name)(**{**QUICK.get(name, {}), **given.pop("params", {})})
        model.fit(X[at][:, order], labels, **given)
        return np.asarray(model.decision_function(other[:, order]))

    whole = np.arange(n)
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        if change == "weights":
            weight = rng.integers(1, 4, n)
            twice = np.repeat(whole, weight)
            pair = scores(whole, y, sample_weight=weight.astype(float)), scores(twice, y[twice])
        elif change == "samples":
            order = rng.permutation(n)
            pair = scores(whole, y), scores(order, y[order])
        elif change == "columns":
            pair = scores(whole, y), scores(whole, y, rng.permutation(columns))
        elif change == "labels":
            last = int(y.max())
            pair = scores(whole, y), scores(whole, last - y)
            pair = pair[0], -pair[1] if last == 1 else pair[1][:, ::-1]
        else:
            groups = rng.integers(0, 8, n)
            folds = np.empty(n, dtype=int)
            for k, (_, test) in enumerate(GroupKFold(3).split(X, y, groups)):
                folds[test] = k
            params = {"cv": PredefinedSplit(folds)}
            pair = (
                scores(whole, y, groups=groups, params={"cv": GroupKFold(3)}),
                scores(whole, y, params=params),
            )
    off = float(np.abs(pair[0] - pair[1]).max() / np.abs(pair[0]).max())
    fault = (
        "" if off <= ROUNDING.get(name, 1e-6) else f"{name}, {change}: scores differ by {off:.1e}"
    )
    return Outcome(change, fault, instance if fault else {})
