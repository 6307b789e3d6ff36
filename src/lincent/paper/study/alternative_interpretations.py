"""Interpretations that the paper's text also allows, each measured beside the one that was taken.

The paper leaves settings unsaid, prints two formulas that cannot be what was run, and gives one set
a column fewer than it has. What this package takes is in `lincent.model_selection.methods`;
here is what else the text could mean. Every alternative is run on the splits of procedure 1, so its
effect is a measurement: a number that disagrees with the paper is explained by such a measurement
or not at all.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin, clone

from lincent.model_selection.experiment import Plan, Problem, plan_runs
from lincent.model_selection.methods import Method, find_method
from lincent.model_selection.statistics import pivot
from lincent.paper.baselines import RegularizedLDA, TwinSVC
from lincent.paper.study import paper

PROCEDURE = "interpretation"
IS_32 = "IS, 32 columns"


@dataclass(eq=False, repr=False)
class CostPerSample(ClassifierMixin, BaseEstimator):
    """A classifier whose parameter ``C`` is ``total`` divided by the number of training samples.

    Both the SVM that the paper prints, lambda |w|^2 + (1/m) sum of slacks, and an LCC whose lambda
    multiplies the mean of the slacks are of this kind.
    """

    estimator: Any = None
    total: float = 1.0

    def fit(self, X: Any, y: Any) -> CostPerSample:
        """Fit with the cost that the number of samples gives."""
        self.model_ = clone(self.estimator).set_params(C=self.total / len(y)).fit(X, y)
        self.classes_ = self.model_.classes_
        return self

    def predict(self, X: Any) -> np.ndarray:
        """Return the classes of samples."""
        return np.asarray(self.model_.predict(X))

    def decision_function(self, X: Any) -> np.ndarray:
        """Return the decision values of samples."""
        return np.asarray(self.model_.decision_function(X))


class PrintedLDA(RegularizedLDA):
    """LDA by the formulas of the paper's background section.

    beta = (S1 + S2)^-1 (mu2 - mu1) and k = mu2.S2^-1 mu2 / 2 - mu1.S1^-1 mu1 / 2, a sample being of
    the second class where x.beta > k; each S is lambda S + (1 - lambda) I.
    """

    def _fit_classes(self, X: np.ndarray, codes: np.ndarray, weight: np.ndarray) -> None:
        means, covariances = [], []
        for k in range(2):
            samples, identity = X[codes == k], np.eye(X.shape[1])
            covariance = np.cov(samples, rowvar=False).reshape(identity.shape)
            means.append(samples.mean(axis=0))
            covariances.append(self.shrinkage * covariance + (1 - self.shrinkage) * identity)
        lengths = [m @ np.linalg.solve(S, m) / 2 for m, S in zip(means, covariances, strict=True)]
        self.coef_ = np.linalg.solve(covariances[0] + covariances[1], means[1] - means[0])[None]
        self.intercept_ = np.array([lengths[0] - lengths[1]])


class RawDistanceTwin(TwinSVC):
    """The twin SVM whose distances to the planes are not divided by the length of the normals."""

    def _task_scores(self, X: Any) -> np.ndarray:
        values = np.abs(np.einsum("if,pkf->ipk", X, self.plane_coef_) + self.plane_intercept_)
        return np.asarray(values[..., 0] - values[..., 1])


CLASSES = {cls.__name__: cls for cls in (CostPerSample, PrintedLDA, RawDistanceTwin)}


def make_interpretation(code: str) -> Method:
    """Return an interpretation as a method; it is scored as the paper's method is."""
    data = paper.INTERPRETATIONS[code]
    method = find_method(data["method"])
    estimator = CLASSES[data["class"]]() if "class" in data else method.estimator
    estimator = estimator.set_params(**data.get("params", {}))
    if isinstance(estimator, CostPerSample):
        estimator.estimator = method.estimator
    return Method(code, data["what"], "paper", estimator, (), method.paper_scoring)


def interpretation_plan(
    problems: list[Problem], methods: list[Method], n_splits: int, random_state: int
) -> Plan:
    """Plan every interpretation on the first splits of procedure 1.

    The ionosphere set is run with the 32 columns of the paper's table as well (its first column is
    the one that a table of 32 could lack beside the constant one).
    """
    codes = {method.code for method in methods}
    variants = [
        make_interpretation(code)
        for code, data in paper.INTERPRETATIONS.items()
        if data["method"] in codes
    ]
    narrow = [
        replace(problem, name=IS_32, X=problem.X[:, 1:], digest="")
        for problem in problems
        if problem.name == "IS"
    ]
    splits = {"n_splits": n_splits, "random_state": random_state}
    return plan_runs(problems, variants, PROCEDURE, **splits) + plan_runs(
        narrow, methods, PROCEDURE, **splits
    )


def effects(frame: Any, method: str, dataset: str, row: str) -> Any:
    """Measure the effect of every other interpretation of a method on one number.

    Returns
    -------
    pandas.DataFrame
        What is interpreted differently; the score as taken and with the other interpretation, in
        percent on the same splits; the shift from one to the other; the number of splits.
    """
    import pandas

    taken = 100 * pivot(frame, dataset, f"{row}_paper_auc")
    sources = [
        (code, data["what"], dataset)
        for code, data in paper.INTERPRETATIONS.items()
        if data["method"] == method
    ]
    if dataset == "IS":
        sources.append((method, "the 32 columns of the paper's table instead of 33", IS_32))
    lines = []
    for code, what, name in sources:
        other = 100 * pivot(frame, name, f"{row}_paper_auc", PROCEDURE)
        if method in taken and code in other:
            both = taken[[method]].join(other[code].rename("other"), how="inner").dropna()
            lines += [(method, what, dataset, *both.mean(), len(both))] if len(both) else []
    names = ["method", "what", "dataset", "taken", "other", "runs"]
    measured = pandas.DataFrame(lines, columns=names)
    return measured.assign(shift=measured["other"] - measured["taken"])


def explanation(frame: Any, number: Any) -> str:
    """Return what was measured about a number that disagrees with the paper.

    Of the other interpretations of its method, the two under which it comes closest to the printed
    number, each with how far it moves; where none comes closer, the number is unexplained.
    """
    measured = effects(frame, number.method, number.dataset, number.row)
    left = (number.difference + measured["shift"]).abs()
    order = left[left < abs(number.difference)].sort_values(kind="stable").index
    if order.empty:
        count = len(measured)
        tried = f", none of {count} other interpretations comes nearer" if count else ""
        return f"unexplained{tried}"
    return "measured: " + "; ".join(
        f"with {effect.what} it is {effect.other:.2f} instead of {effect.taken:.2f} on "
        f"{effect.runs} splits"
        for effect in measured.loc[order[:2]].itertuples()
    )
