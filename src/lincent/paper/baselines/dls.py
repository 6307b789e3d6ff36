"""DLS: discriminative least squares regression (Xiang et al., IEEE TNNLS 23:1738, 2012).

With one-hot targets Y and directions E = 2Y - 1, targets may be dragged away from the other class:

    minimize over W, t, M >= 0     |X W + 1 t' - Y - E o M|^2 + ridge |W|^2

The best M is max(E o (XW + 1t' - Y), 0), and what remains is one squared hinge per class,

    sum_ik max(0, T_ik - E_ik f_k(x_i))^2 + ridge |W|^2,      T = 1 for the own class, 0 for others:

f_k is to be at least 1 on its own class and at most 0 on the others.

newton        Each column by the semismooth Newton method: the optimum.  With two classes the
              columns mirror each other, f_- = 1 - f_+, so one is enough; it is the squared-hinge
              SVM with C = 1 / (2 ridge) in disguise, g = 2f - 1.
alternating   The published program: from ridge regression, M and then W in turn, until the squared
              change of W and t is below 1e-4 or 30 rounds are over.  Short of the optimum, and kept
              because the paper's figures fit it better.  One factorization serves all rounds.

The rule of the method is the largest f_k.  The paper's variant is the nearest training row among
the images f(x) ("1nn").
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from scipy.spatial import cKDTree
from sklearn.utils.validation import check_is_fitted

from lincent.estimators.base import atomic
from lincent.estimators.validation import check_choice, check_count, check_positive, check_rows
from lincent.paper.baselines._base import (
    ManyClasses,
    RowSpace,
    signed_rows,
    warn_unfinished,
    with_ones,
)
from lincent.problems.hinge import Quadratic, SquaredHingeProgram
from lincent.solvers.cholesky import PositiveDefinite
from lincent.solvers.hinge import solve_squared_hinge
from lincent.solvers.solution import Controls

DISCRIMINATORS = ("argmax", "1nn")
SOLVERS = ("newton", "alternating")
ROUNDS = 30
SMALL_CHANGE = 1e-4
ENOUGH = 1e-9
"""Relative duality gap of the optimum; Newton's last step leaves 1e-12 or less."""


@dataclass(frozen=True)
class DraggedRegression:
    """The problem as data: rows Z with a last column of ones, directions E, targets (E + 1)/2."""

    Z: Any
    E: np.ndarray
    weight: np.ndarray
    ridge: float

    @property
    def Y(self) -> np.ndarray:
        return (self.E + 1) / 2

    @property
    def P(self) -> np.ndarray:
        """The Hessian of the ridge; the intercept is free."""
        P = 2 * self.ridge * np.eye(self.Z.shape[1])
        P[-1, -1] = 0.0
        return P

    def objective(self, U: np.ndarray) -> float:
        missed = np.maximum(self.Y - self.E * (self.Z @ U), 0.0)
        return float(self.weight @ (missed**2).sum(axis=1) + self.ridge * (U[:-1] ** 2).sum())


def newton(problem: DraggedRegression, max_iter: int) -> tuple[np.ndarray, int]:
    """The minimizer, one column per class, and the most steps that a column took."""
    two = problem.E.shape[1] == 2
    answers = []
    for k in [1] if two else range(problem.E.shape[1]):
        quadratic = Quadratic(problem.P, problem.E[:, k])
        rows = signed_rows(problem.Z, problem.E[:, k])
        column = SquaredHingeProgram(quadratic, rows, problem.Y[:, k], problem.weight)
        answers.append(solve_squared_hinge(column, Controls(ENOUGH, max_iter)))
    worst = max((answer.certificate for answer in answers), key=lambda found: found.relative_gap)
    if not worst.relative_gap <= ENOUGH:
        warn_unfinished(worst.gap, worst.relative_gap, ENOUGH, max_iter, "the regressions")
    U = np.stack([answer.certificate.beta for answer in answers], axis=1)
    if two:
        mirror = -U
        mirror[-1] += 1.0
        U = np.hstack([mirror, U])
    return U, max(answer.iterations for answer in answers)


def alternating(problem: DraggedRegression, most: int) -> tuple[np.ndarray, int]:
    """The answer of the published program, and its rounds, of which there are 1 to ``most``."""
    Z, E, Y = problem.Z, problem.E, problem.Y
    gram = signed_rows(Z, np.ones(Z.shape[0])).gram(problem.weight)
    system = PositiveDefinite(problem.P + 2 * gram)

    def regression(goal: np.ndarray) -> np.ndarray:
        return system.solve(np.asarray(2 * (Z.T @ (problem.weight[:, None] * goal))))

    U, change, rounds = regression(Y), np.inf, 0
    while change >= SMALL_CHANGE and rounds < most:
        before, U = U, regression(Y + E * np.maximum(E * (Z @ U - Y), 0.0))
        change, rounds = float(((U - before) ** 2).sum()), rounds + 1
    return U, rounds


class DiscriminativeLeastSquares(ManyClasses):
    """Least squares on one-hot targets that may be overshot, with a ridge.

    Parameters
    ----------
    ridge : float, default=0.5
        Weight of the squared coefficients (the paper's lambda).
    discriminator : {"argmax", "1nn"}, default="argmax"
        The largest regression wins, or the class of the nearest training row in the space of the
        regressions (the variant behind the paper's table).
    solver : {"newton", "alternating"}, default="newton"
        The optimum, or where the published program stops (behind the paper's table).
    max_iter : int, default=100
        Newton steps for each class. The published program ends after 30 rounds, or after
        ``max_iter`` if that is fewer.

    Attributes
    ----------
    coef_ : ndarray of shape (n_classes, n_features)
        The regressions f_k.
    intercept_ : ndarray of shape (n_classes,)
    objective_ : float
    n_iter_ : int
        The most Newton steps that a class needed, or the rounds of the published program.
    images_ : ndarray of shape (n_samples, n_classes)
        The regressions of the training rows, with ``discriminator="1nn"``.
    classes_ : ndarray of shape (n_classes,)

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from lincent.paper.baselines import DiscriminativeLeastSquares
    >>> X, y = load_iris(return_X_y=True)
    >>> float(DiscriminativeLeastSquares(discriminator="1nn").fit(X, y).score(X, y))
    1.0
    """

    _accept_sparse = "csr"

    def __init__(
        self,
        ridge: float = 0.5,
        *,
        discriminator: Literal["argmax", "1nn"] = "argmax",
        solver: Literal["newton", "alternating"] = "newton",
        max_iter: int = 100,
    ) -> None:
        self.ridge = ridge
        self.discriminator = discriminator
        self.solver = solver
        self.max_iter = max_iter

    @atomic
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> DiscriminativeLeastSquares:
        """Fit the regressions.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
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
        space = RowSpace(X)
        E = np.where(codes[:, None] == np.arange(len(self.classes_)), 1.0, -1.0)
        problem = DraggedRegression(with_ones(space.coordinates), E, weight, float(self.ridge))
        if self.solver == "newton":
            U, self.n_iter_ = newton(problem, self.max_iter)
        else:
            U, self.n_iter_ = alternating(problem, min(ROUNDS, self.max_iter))
        self.objective_ = problem.objective(U)
        self.coef_ = space.lift(U[:-1]).T
        self.intercept_ = U[-1]
        if self.discriminator == "1nn":
            self.images_ = self._responses(X)
            self._codes = codes
        return self

    def responses(self, X: Any) -> np.ndarray:
        """The regressions f_k(x).

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            The rows.

        Returns
        -------
        ndarray of shape (n_samples, n_classes)
            One column per class.
        """
        check_is_fitted(self)
        return self._responses(check_rows(self, X, accept_sparse=self._accept_sparse))

    def _check_params(self) -> None:
        check_positive("ridge", self.ridge)
        check_choice("discriminator", self.discriminator, DISCRIMINATORS)
        check_choice("solver", self.solver, SOLVERS)
        check_count("max_iter", self.max_iter)

    def _responses(self, X: Any) -> np.ndarray:
        return np.asarray(X @ self.coef_.T + self.intercept_)

    def _scores(self, X: Any) -> np.ndarray:
        """Regressions, or minus the distance to the nearest training row of each class."""
        scores = self._responses(X)
        if self.discriminator == "1nn":
            near = [
                cKDTree(self.images_[self._codes == k]).query(scores)[0]
                for k in range(len(self.classes_))
            ]
            scores = -np.stack(near, axis=1)
        return scores[:, 1] - scores[:, 0] if len(self.classes_) == 2 else scores
