"""DEL: discriminative elastic-net regression (Zhang et al., IEEE TIP 26:1466, 2017).

With X centered, no intercept, one-hot Y and E = 2Y - 1:

    minimize over D, M >= 0    |X D - (Y + E o M)|^2 + nuclear |D|_* + ridge |D|^2 / 2

Eliminating M leaves F(D) = sum_ik max(0, T_ik - E_ik (XD)_ik)^2 with T = 1 for the own class and
0 for the others.  |D|_* is the sum of singular values.  Its dual, for A >= 0 and V = X'(E o A), is

    maximize    sum_ik A_ik T_ik - A_ik^2 / (4 w_i)  -  |shrink(V, nuclear)|^2 / (2 ridge)

where shrink lowers the singular values and w_i are the row weights; A = 2w max(0, T - E o XD) makes
the gap small as D approaches the optimum, so it decides when to stop.

nuclear = 0: one squared hinge per class, by the semismooth Newton method.  Otherwise accelerated
proximal gradient (FISTA) with restarts, from there.

The published program couples the nuclear norm by a penalty of 1e-8 and so never feels it: its
output is that of nuclear = 0, which reproduces the paper.  The threshold passes through the grand
mean, which favors the smaller class.
"""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from typing import Any, ClassVar

import numpy as np
from sklearn.metrics import balanced_accuracy_score

from lincent.estimators.base import COUNT, NONNEGATIVE, POSITIVE
from lincent.paper.baselines._base import ManyClasses, Regressions, signed_rows, warn_unfinished
from lincent.problems.arrays import relative_gap
from lincent.problems.hinge import Quadratic, SquaredHingeProgram
from lincent.solvers.hinge import solve_squared_hinge
from lincent.solvers.newton.joint import Span
from lincent.solvers.solution import Controls

CHECK_EVERY = 10


def shrink(V: np.ndarray, amount: float) -> np.ndarray:
    """Return V with its singular values lowered by ``amount``, not below zero."""
    left, values, right = np.linalg.svd(V, full_matrices=False)
    return np.asarray((left * np.maximum(values - amount, 0.0)) @ right)


@dataclass(frozen=True)
class ElasticProblem:
    """The problem as data; rows are centered."""

    X: np.ndarray
    E: np.ndarray
    weight: np.ndarray
    nuclear: float
    ridge: float

    @property
    def T(self) -> np.ndarray:
        return np.asarray(self.E > 0, dtype=float)

    def missed(self, D: np.ndarray) -> np.ndarray:
        return np.maximum(self.T - self.E * (self.X @ D), 0.0)

    def smooth_gradient(self, D: np.ndarray) -> np.ndarray:
        loss_gradient = self.X.T @ (self.E * (2 * self.weight[:, None] * self.missed(D)))
        return np.asarray(self.ridge * D - loss_gradient)

    def objective(self, D: np.ndarray) -> float:
        loss = float(self.weight @ (self.missed(D) ** 2).sum(axis=1))
        norm = float(np.linalg.norm(D, "nuc")) if self.nuclear else 0.0
        return loss + self.nuclear * norm + self.ridge / 2 * float((D**2).sum())

    def dual_objective(self, D: np.ndarray) -> float:
        A = 2 * self.weight[:, None] * self.missed(D)
        V = shrink(self.X.T @ (self.E * A), self.nuclear)
        value = (A * self.T).sum() - (A**2 / (4 * self.weight[:, None])).sum()
        return float(value - (V**2).sum() / (2 * self.ridge))


def newton(problem: ElasticProblem) -> np.ndarray:
    """Return the minimizer without the nuclear norm, column by column."""
    quadratic = Quadratic(problem.ridge * np.eye(problem.X.shape[1]))
    columns = []
    for k in range(problem.E.shape[1]):
        rows = signed_rows(problem.X, problem.E[:, k])
        column = SquaredHingeProgram(quadratic, rows, problem.T[:, k], problem.weight)
        columns.append(solve_squared_hinge(column, Controls()).certificate.beta)
    return np.stack(columns, axis=1)


def accelerated(
    problem: ElasticProblem, start: np.ndarray, tol: float, max_iter: int
) -> tuple[np.ndarray, int]:
    """Run FISTA with restarts whenever the momentum points uphill."""
    rows = problem.X * np.sqrt(problem.weight)[:, None]
    step = float(1.0 / (2 * np.linalg.norm(rows, 2) ** 2 + problem.ridge))
    D, ahead, momentum = start, start, 1.0
    for iteration in range(1, max_iter + 1):
        moved = shrink(ahead - step * problem.smooth_gradient(ahead), step * problem.nuclear)
        if ((ahead - moved) * (moved - D)).sum() > 0:
            momentum = 1.0
        following = (1 + np.sqrt(1 + 4 * momentum**2)) / 2
        ahead = moved + (momentum - 1) / following * (moved - D)
        D, momentum = moved, following
        if iteration % CHECK_EVERY == 0:
            objective = problem.objective(D)
            if objective - problem.dual_objective(D) <= tol * objective:
                break
    return D, iteration


@dataclass(eq=False, repr=False)
class DiscriminativeElasticNet(Regressions, ManyClasses):
    """Least squares on one-hot targets that may be overshot, with a nuclear norm and a ridge.

    The paper scores each regression by its sign and averages; see ``column_mean_auc``.

    Parameters
    ----------
    nuclear : float, default=0.5
        Weight of the nuclear norm (lambda_1). The paper's figures need 0: the published program
        does not feel it.
    ridge : float, default=0.5
        Weight of half the squared coefficients (lambda_2).
    tol : float, default=1e-8
        Relative duality gap.
    max_iter : int, default=20000
        Accelerated gradient steps.

    Attributes
    ----------
    coef_ : ndarray of shape (n_classes, n_features)
        The regressions, columns of D.
    intercept_ : ndarray of shape (n_classes,)
        Zero at the mean of the samples.
    objective_, dual_objective_ : float
    duality_gap_ : float
        Relative duality gap, gap / max(1, abs(objective)).
    n_iter_ : int
    classes_ : ndarray of shape (n_classes,)

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from lincent.paper.baselines import DiscriminativeElasticNet
    >>> X, y = load_iris(return_X_y=True)
    >>> model = DiscriminativeElasticNet().fit(X, y)
    >>> model.duality_gap_ <= 1e-8
    True
    """

    nuclear: float = 0.5
    ridge: float = 0.5
    _: KW_ONLY
    tol: float = 1e-8
    max_iter: int = 20000

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "nuclear": [NONNEGATIVE],
        "ridge": [POSITIVE],
        "tol": [POSITIVE],
        "max_iter": [COUNT],
    }

    def _fit_rows(self, X: np.ndarray, codes: np.ndarray, weight: np.ndarray) -> None:
        mean = np.average(X, axis=0, weights=weight)
        space = Span(X - mean)
        E = np.where(codes[:, None] == np.arange(len(self.classes_)), 1.0, -1.0)
        problem = ElasticProblem(space.rows, E, weight, self.nuclear, self.ridge)
        D, self.n_iter_ = newton(problem), 1
        if self.nuclear > 0:
            D, self.n_iter_ = accelerated(problem, D, self.tol, self.max_iter)
        self.objective_ = problem.objective(D)
        self.dual_objective_ = min(problem.dual_objective(D), self.objective_)
        gap = self.objective_ - self.dual_objective_
        self.duality_gap_ = relative_gap(gap, self.objective_)
        relative = gap / (self.objective_ or 1.0)
        if relative > self.tol:
            warn_unfinished(gap, relative, self.tol, self.max_iter, "all classes")
        self.coef_ = space.lift(D).T
        self.intercept_ = -(self.coef_ @ mean)


def column_mean_auc(estimator: Any, X: Any, y: Any) -> float:
    """Compute the paper's score of DEL: the mean over classes of the AUC of the sign of f_k.

    Parameters
    ----------
    estimator : fitted classifier with ``responses``
        Alone, or at the end of a pipeline.
    X : array-like of shape (n_samples, n_features)
        The rows.
    y : array-like of shape (n_samples,)
        The class of each row.

    Returns
    -------
    float
        The mean over the two regressions of the AUC of their signs.
    """
    if hasattr(estimator, "steps"):
        X, estimator = estimator[:-1].transform(X), estimator[-1]
    positive = estimator.responses(X) > 0
    own = np.asarray(y)[:, None] == estimator.classes_
    scores = [balanced_accuracy_score(*columns) for columns in zip(own.T, positive.T, strict=True)]
    return float(np.mean(scores))
