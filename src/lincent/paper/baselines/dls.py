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

from dataclasses import KW_ONLY, dataclass
from typing import Any, ClassVar, Literal

import numpy as np
from scipy.spatial import cKDTree
from sklearn.utils._param_validation import StrOptions

from lincent.estimators.base import COUNT, POSITIVE
from lincent.paper.baselines._base import (
    ManyClasses,
    Regressions,
    signed_rows,
    warn_unfinished,
    with_ones,
)
from lincent.problems.hinge import Quadratic, SquaredHingeProgram
from lincent.solvers.cholesky import PositiveDefinite
from lincent.solvers.hinge import solve_squared_hinge
from lincent.solvers.newton.joint import Span
from lincent.solvers.solution import Controls

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
    """Return the minimizer, one column per class, and the most steps that a column took."""
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
    """Return the answer of the published program, and its rounds, at most ``most``."""
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


@dataclass(eq=False, repr=False)
class DiscriminativeLeastSquares(Regressions, ManyClasses):
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

    ridge: float = 0.5
    _: KW_ONLY
    discriminator: Literal["argmax", "1nn"] = "argmax"
    solver: Literal["newton", "alternating"] = "newton"
    max_iter: int = 100

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "ridge": [POSITIVE],
        "discriminator": [StrOptions({"argmax", "1nn"})],
        "solver": [StrOptions({"newton", "alternating"})],
        "max_iter": [COUNT],
    }

    def _fit_rows(self, X: np.ndarray, codes: np.ndarray, weight: np.ndarray) -> None:
        space = Span(X)
        E = np.where(codes[:, None] == np.arange(len(self.classes_)), 1.0, -1.0)
        problem = DraggedRegression(with_ones(space.rows), E, weight, float(self.ridge))
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

    def _scores(self, X: np.ndarray) -> np.ndarray:
        if self.discriminator != "1nn":
            return super()._scores(X)
        scores, labels = self._responses(X), range(len(self.classes_))
        distances = [cKDTree(self.images_[self._codes == k]).query(scores)[0] for k in labels]
        if len(self.classes_) == 2:
            return np.asarray(distances[0] - distances[1])
        return -np.stack(distances, axis=1)
