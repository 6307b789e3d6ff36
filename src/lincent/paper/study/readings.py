"""Readings that the paper's text does not force, each set beside another one that was measured.

The paper leaves settings unsaid, prints two formulas that cannot be what was run, and gives one set
a column fewer than it has. What this package takes instead is in
`lincent.paper.baselines.paper_settings`; here stands what else the text could mean.
Every alternative is run on the splits of procedure 1, so
its effect is a measurement, and a cell that disagrees with the paper is explained by such a
measurement or not at all.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin, clone

from lincent.paper.study.agreement import Agreement
from lincent.paper.study.cells import make_cell
from lincent.paper.study.methods import Method, find_method
from lincent.paper.study.problem import Problem
from lincent.paper.study.runner import Plan
from lincent.paper.study.summary import pivot

PROCEDURE = "reading"
IS_32 = "IS, 32 columns"


@dataclass(frozen=True)
class OtherReading:
    """Another reading of one method.

    Attributes
    ----------
    code : str
        Name in the table of runs.
    of : str
        The paper's method.
    what : str
        What is read differently, for a sentence: "with ...".
    make : callable
        Returns the estimator, not fitted.
    """

    code: str
    of: str
    what: str
    make: Callable[[], BaseEstimator]

    def method(self) -> Method:
        """Return the reading as a method of a study; scored as the paper's method is."""
        own = find_method(self.of)
        return Method(self.code, self.what, "reading", self.make(), (), own.paper_scoring)


class PerRow(ClassifierMixin, BaseEstimator):
    """A classifier whose parameter ``C`` is ``total`` divided by the number of training rows.

    Both the SVM that the paper prints, lambda |w|^2 + (1/m) sum of slacks, and an LCC whose lambda
    multiplies the mean of the slacks are of this kind.
    """

    def __init__(self, estimator: Any = None, total: float = 1.0) -> None:
        self.estimator = estimator
        self.total = total

    def fit(self, X: Any, y: Any) -> PerRow:
        """Fit with the cost that the number of rows gives."""
        self.model_ = clone(self.estimator).set_params(C=self.total / len(y)).fit(X, y)
        self.classes_ = self.model_.classes_
        return self

    def predict(self, X: Any) -> np.ndarray:
        """The classes of rows."""
        return np.asarray(self.model_.predict(X))

    def decision_function(self, X: Any) -> np.ndarray:
        """The scores of rows."""
        return np.asarray(self.model_.decision_function(X))


class PrintedLDA(ClassifierMixin, BaseEstimator):
    """LDA by the formulas of the paper's background section.

    beta = (S1 + S2)^-1 (mu2 - mu1) and k = mu2.S2^-1 mu2 / 2 - mu1.S1^-1 mu1 / 2, a row being of
    the second class where x.beta > k; each S is lambda S + (1 - lambda) I.
    """

    def __init__(self, shrinkage: float = 0.5) -> None:
        self.shrinkage = shrinkage

    def fit(self, X: Any, y: Any) -> PrintedLDA:
        """Estimate means and covariances."""
        X, y = np.asarray(X, dtype=float), np.asarray(y)
        self.classes_ = np.unique(y)
        share, identity = self.shrinkage, np.eye(X.shape[1])
        parts = [X[y == label] for label in self.classes_]
        means = [part.mean(axis=0) for part in parts]
        spreads = [
            share * np.cov(part, rowvar=False).reshape(identity.shape) + (1 - share) * identity
            for part in parts
        ]
        lengths = [m @ np.linalg.solve(S, m) / 2 for m, S in zip(means, spreads, strict=True)]
        self.coef_ = np.linalg.solve(spreads[0] + spreads[1], means[1] - means[0])
        self.threshold_ = float(lengths[1] - lengths[0])
        return self

    def decision_function(self, X: Any) -> np.ndarray:
        """x.beta - k."""
        return np.asarray(np.asarray(X) @ self.coef_ - self.threshold_)

    def predict(self, X: Any) -> np.ndarray:
        """The side of the threshold."""
        return np.asarray(self.classes_[(self.decision_function(X) > 0).astype(int)])


class RawDistanceTwin(ClassifierMixin, BaseEstimator):
    """The twin SVM whose distances to the planes are not divided by the length of the normals."""

    def __init__(self, estimator: Any = None) -> None:
        self.estimator = estimator

    def fit(self, X: Any, y: Any) -> RawDistanceTwin:
        """Fit the two planes."""
        self.model_ = clone(self.estimator).fit(X, y)
        self.classes_ = self.model_.classes_
        return self

    def decision_function(self, X: Any) -> np.ndarray:
        """How much nearer a row is to the second plane, in units of each plane's own score."""
        values = np.abs(X @ self.model_.plane_coef_[0].T + self.model_.plane_intercept_[0])
        return np.asarray(values[:, 0] - values[:, 1])

    def predict(self, X: Any) -> np.ndarray:
        """The class of the nearer plane."""
        return np.asarray(self.classes_[(self.decision_function(X) > 0).astype(int)])


def _changed(code: str, **values: Any) -> Callable[[], BaseEstimator]:
    return lambda: clone(find_method(code).estimator).set_params(**values)


READINGS = (
    OtherReading(
        "LCC/mean", "LCC", "lambda on the mean of the slacks instead of their sum",
        lambda: PerRow(find_method("LCC").estimator, 2.0),
    ),
    OtherReading(
        "LDA/printed", "LDA", "the printed sum of covariances and the printed threshold", PrintedLDA
    ),
    OtherReading("LDA/plain", "LDA", "no shrinkage", _changed("LDA", shrinkage=0.0)),
    OtherReading(
        "SVM/printed", "SVM", "the printed formula, C = 1/(2 lambda m)",
        lambda: PerRow(find_method("SVM").estimator, 0.5),
    ),
    OtherReading(
        "DLS/argmax", "DLS", "the larger regression instead of the nearest neighbor",
        _changed("DLS", discriminator="argmax"),
    ),
    OtherReading(
        "DLS/exact", "DLS", "the exact optimum instead of where the published program stops",
        _changed("DLS", solver="newton"),
    ),
    OtherReading("DLS/0.1", "DLS", "a ridge of 0.1 instead of 0.5", _changed("DLS", ridge=0.1)),
    OtherReading(
        "SMP/1e-10", "SMP", "a ridge of 1e-10 instead of 1e-8", _changed("SMP", ridge=1e-10)
    ),
    OtherReading("SMP/1e-4", "SMP", "a ridge of 1e-4 instead of 1e-8", _changed("SMP", ridge=1e-4)),
    OtherReading(
        "WSV/formula", "WSV", "c1 = c2 = 0.1 in the published formula",
        _changed("WSV", c1=0.1, c2=0.1),
    ),
    OtherReading(
        "TSV/raw", "TSV", "distances that are not divided by the length of the normal",
        lambda: RawDistanceTwin(find_method("TSV").estimator),
    ),
    OtherReading(
        "DEL/nuclear", "DEL", "a nuclear norm that acts, of weight 0.5",
        _changed("DEL", nuclear=0.5),
    ),
)  # fmt: skip


def reading_plan(problems: list[Problem], methods: list[Method], runs: int, seed: int) -> Plan:
    """Plan every reading on the first splits of procedure 1.

    The ionosphere set is run with the 32 columns of the paper's table as well (its first column is
    the one that a table of 32 could lack beside the constant one).
    """
    codes = {method.code for method in methods}
    variants = [reading.method() for reading in READINGS if reading.of in codes]
    pairs = [(problem, variants) for problem in problems]
    pairs += [
        (replace(problem, name=IS_32, X=problem.X[:, 1:], digest=""), methods)
        for problem in problems
        if problem.name == "IS"
    ]
    cells = [
        make_cell(problem, method, PROCEDURE, split, seed)
        for problem, found in pairs
        for split in range(runs)
        for method in found
    ]
    return Plan(
        tuple(cells),
        {problem.digest: problem for problem, _ in pairs},
        {method.code: method for _, found in pairs for method in found},
    )


@dataclass(frozen=True)
class Effect:
    """What another reading does to one cell; percent, on the same splits."""

    what: str
    method: str
    dataset: str
    row: str
    taken: float
    other: float
    runs: int

    @property
    def shift(self) -> float:
        """The other reading minus the one taken."""
        return self.other - self.taken


def effects(frame: Any, method: str, dataset: str, row: str) -> list[Effect]:
    """Return the measured effect of every other reading of a method on one cell."""
    taken = 100 * pivot(frame, dataset, f"{row}_paper_auc")
    found = []
    sources = [(r.code, r.what, dataset) for r in READINGS if r.of == method]
    if dataset == "IS":
        sources.append((method, "the 32 columns of the paper's table instead of 33", IS_32))
    for code, what, name in sources:
        other = 100 * pivot(frame, name, f"{row}_paper_auc", PROCEDURE)
        if method not in taken or code not in other:
            continue
        both = other[[code]].join(taken[method].rename("taken"), how="inner").dropna()
        if len(both):
            means = both.mean()
            found.append(
                Effect(
                    what, method, dataset, row, float(means["taken"]), float(means[code]), len(both)
                )
            )
    return found


def explanation(frame: Any, cell: Agreement) -> str:
    """Return what was measured about a cell that disagrees with the paper.

    Of the other readings of its method, those under which the cell comes nearer to the printed
    number, each with how far it moves; where there is none, the cell is unexplained.
    """
    found = effects(frame, cell.method, cell.dataset, cell.row)
    nearer = [e for e in found if abs(cell.difference + e.shift) < abs(cell.difference)]
    if not nearer:
        tried = f", none of {len(found)} other readings comes nearer" if found else ""
        return f"unexplained{tried}"
    nearer.sort(key=lambda effect: abs(cell.difference + effect.shift))
    told = [
        f"with {effect.what} it is {effect.other:.2f} instead of {effect.taken:.2f} on "
        f"{effect.runs} splits"
        for effect in nearer[:2]
    ]
    return "measured: " + "; ".join(told)
