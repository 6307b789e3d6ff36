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

from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from lincent.estimators.base import atomic
from lincent.estimators.validation import check_count, check_nonnegative, check_positive, check_rows
from lincent.paper.baselines._base import ManyClasses, RowSpace, signed_rows, warn_unfinished
from lincent.problems.arrays import relative_gap
from lincent.problems.hinge import Quadratic, SquaredHingeProgram
from lincent.solvers.hinge import solve_squared_hinge
from lincent.solvers.solution import Controls

CHECK_EVERY = 10


def shrink(V: np.ndarray, amount: float) -> np.ndarray:
    """V with its singular values lowered by ``amount``, not below zero."""
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
    """The minimizer without the nuclear norm, column by column."""
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
    """FISTA with restarts whenever the momentum points uphill."""
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


class DiscriminativeElasticNet(ManyClasses):
    """Least squares on one-hot targets that may be overshot, with a nuclear norm and a ridge.

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
    mean_ : ndarray of shape (n_features,)
        The center of the rows.
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

    def __init__(
        self,
        nuclear: float = 0.5,
        ridge: float = 0.5,
        *,
        tol: float = 1e-8,
        max_iter: int = 20000,
    ) -> None:
        self.nuclear = nuclear
        self.ridge = ridge
        self.tol = tol
        self.max_iter = max_iter

    @atomic
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> DiscriminativeElasticNet:
        """Fit the regressions.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            The rows.
        y : array-like of shape (n_samples,)
            The class of each row.
        sample_weight : array-like of shape (n_samples,), default=None
            How often each row counts.

        Returns
        -------
        self
            The fitted estimator.
        """
        X, codes, weight = self._validated(X, y, sample_weight)
        self.mean_ = np.average(X, axis=0, weights=weight)
        space = RowSpace(X - self.mean_)
        E = np.where(codes[:, None] == np.arange(len(self.classes_)), 1.0, -1.0)
        problem = ElasticProblem(space.coordinates, E, weight, self.nuclear, self.ridge)
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
        return self

    def responses(self, X: Any) -> np.ndarray:
        """The regressions f_k(x), one column per class.

        The paper scores each column by the sign of f_k and averages; see ``column_mean_auc``.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            The rows.

        Returns
        -------
        ndarray of shape (n_samples, n_classes)
            One column per class.
        """
        check_is_fitted(self)
        return self._responses(check_rows(self, X, accept_sparse=False))

    def _check_params(self) -> None:
        check_nonnegative("nuclear", self.nuclear)
        check_positive("ridge", self.ridge)
        check_positive("tol", self.tol)
        check_count("max_iter", self.max_iter)

    def _responses(self, X: Any) -> np.ndarray:
        return np.asarray((X - self.mean_) @ self.coef_.T)

    def _scores(self, X: Any) -> np.ndarray:
        scores = self._responses(X)
        return scores[:, 1] - scores[:, 0] if len(self.classes_) == 2 else scores
