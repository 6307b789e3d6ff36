"""DLS and DEL: regressions on one-hot targets that may be overshot, one per class.

With one-hot targets Y and directions E = 2Y - 1, targets may be dragged away from the other class
by M >= 0; |D|_* is the sum of singular values:

    minimize over D, M >= 0    |X D - Y - E o M|^2 + nuclear |D|_* + sum_jk ridge_j D_jk^2 / 2

The best M is max(E o (XD - Y), 0), and what remains is one squared hinge per class,

    sum_ik w_i max(0, Y_ik - E_ik (XD)_ik)^2 + nuclear |D|_* + sum_jk ridge_j D_jk^2 / 2

with row weights w: a regression is to be at least 1 on its own class and at most 0 on the others.

DLS: discriminative least squares regression (Xiang et al., IEEE TNNLS 23:1738, 2012).

A ridge of 2 ridge on the coefficients and none on the intercept, the last column of X; no nuclear
norm.

newton        Each column by the semismooth Newton method: the optimum.  With two classes the
              columns mirror each other, f_- = 1 - f_+, so one is enough; it is the squared-hinge
              SVM with C = 1 / (2 ridge) in disguise, g = 2f - 1.
alternating   The published program: from ridge regression, M and then D in turn, until the squared
              change of D is below 1e-4 or 30 rounds are over.  Short of the optimum, and kept
              because the paper's figures fit it better.  One factorization serves all rounds.

The rule of the method is the largest f_k.  The paper's variant is the nearest training row among
the images f(x) ("1nn").

DEL: discriminative elastic-net regression (Zhang et al., IEEE TIP 26:1466, 2017).

X is centered, and there is no intercept.  The dual, for A >= 0 and V = X'(E o A), is

    maximize    sum_ik A_ik Y_ik - A_ik^2 / (4 w_i)  -  |shrink(V, nuclear)|^2 / (2 ridge)

where shrink lowers the singular values; A = 2w max(0, Y - E o XD) makes the gap small as D
approaches the optimum, so it decides when to stop.

nuclear = 0: one squared hinge per class, by the semismooth Newton method.  Otherwise accelerated
proximal gradient (FISTA) with restarts, from there.

The published program couples the nuclear norm by a penalty of 1e-8 and so never feels it: its
output is that of nuclear = 0, which reproduces the paper.  The threshold passes through the grand
mean, which favors the smaller class.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import KW_ONLY, dataclass
from typing import Any, ClassVar, Literal

import numpy as np
from scipy.spatial import cKDTree
from sklearn.metrics import balanced_accuracy_score
from sklearn.utils._param_validation import StrOptions
from sklearn.utils.validation import check_is_fitted

from lincent.estimators.base import Classifier
from lincent.estimators.validation import COUNT, NONNEGATIVE, POSITIVE, check_rows
from lincent.paper.baselines._base import (
    Baseline,
    ManyClasses,
    signed_rows,
    warn_unfinished,
    with_ones,
)
from lincent.problems.centralization import relative_gap
from lincent.problems.hinge import Quadratic, SquaredHingeProgram
from lincent.solvers.cholesky import PositiveDefinite
from lincent.solvers.hinge import solve_squared_hinge
from lincent.solvers.newton.joint import Span
from lincent.solvers.solution import Controls, Solution

ENOUGH = 1e-9
"""Relative duality gap of the optimum; Newton's last step leaves 1e-12 or less."""


def shrink(V: np.ndarray, amount: float) -> np.ndarray:
    """Return V with its singular values lowered by ``amount``, not below zero."""
    left, values, right = np.linalg.svd(V, full_matrices=False)
    return np.asarray((left * np.maximum(values - amount, 0.0)) @ right)


@dataclass(frozen=True)
class OvershotRegression:
    """The problem as data; without a ridge on the last column of X, that is the intercept."""

    X: np.ndarray
    E: np.ndarray
    weight: np.ndarray
    ridge: np.ndarray
    nuclear: float = 0.0

    @property
    def Y(self) -> np.ndarray:
        return (self.E + 1) / 2

    def missed(self, D: np.ndarray) -> np.ndarray:
        return np.maximum(self.Y - self.E * (self.X @ D), 0.0)

    def smooth_gradient(self, D: np.ndarray) -> np.ndarray:
        loss_gradient = self.X.T @ (self.E * (2 * self.weight[:, None] * self.missed(D)))
        return np.asarray(self.ridge[:, None] * D - loss_gradient)

    def objective(self, D: np.ndarray) -> float:
        loss = float(self.weight @ (self.missed(D) ** 2).sum(axis=1))
        norm = float(np.linalg.norm(D, "nuc")) if self.nuclear else 0.0
        return loss + self.nuclear * norm + float(self.ridge @ (D**2).sum(axis=1)) / 2

    def dual_objective(self, D: np.ndarray) -> float:
        """Return a lower bound on the objective; every column of X has a ridge."""
        A = 2 * self.weight[:, None] * self.missed(D)
        V = shrink(self.X.T @ (self.E * A), self.nuclear)
        value = (A * self.Y).sum() - (A**2 / (4 * self.weight[:, None])).sum()
        return float(value - ((V**2).sum(axis=1) / (2 * self.ridge)).sum())

    def newton(self, classes: Iterable[int], controls: Controls) -> list[Solution]:
        """Return the minimizers of some columns, without the nuclear norm."""
        solutions = []
        for k in classes:
            intercept = None if self.ridge[-1] else self.E[:, k]
            quadratic = Quadratic(np.diag(self.ridge), intercept)
            rows = signed_rows(self.X, self.E[:, k])
            program = SquaredHingeProgram(quadratic, rows, self.Y[:, k], self.weight)
            solutions.append(solve_squared_hinge(program, controls))
        return solutions


def stacked(solutions: list[Solution]) -> np.ndarray:
    """Return one column per solution."""
    return np.stack([solution.certificate.beta for solution in solutions], axis=1)


def least_squares(problem: OvershotRegression, max_iter: int) -> tuple[np.ndarray, int]:
    """Return the minimizer of DLS, one column per class, and the most steps of a column."""
    n_classes = problem.E.shape[1]
    classes = [1] if n_classes == 2 else range(n_classes)
    solutions = problem.newton(classes, Controls(ENOUGH, max_iter))
    worst = max((one.certificate for one in solutions), key=lambda one: one.relative_gap)
    if not worst.relative_gap <= ENOUGH:
        warn_unfinished(worst.gap, worst.relative_gap, ENOUGH, max_iter, "the regressions")
    D = stacked(solutions)
    if n_classes == 2:
        mirror = -D
        mirror[-1] += 1.0
        D = np.hstack([mirror, D])
    return D, max(solution.iterations for solution in solutions)


def alternating(problem: OvershotRegression, most: int) -> tuple[np.ndarray, int]:
    """Return the answer of the published program, and its rounds, at most ``most``."""
    X, E, Y = problem.X, problem.E, problem.Y
    gram = signed_rows(X, np.ones(X.shape[0])).gram(problem.weight)
    system = PositiveDefinite(np.diag(problem.ridge) + 2 * gram)

    def regression(goal: np.ndarray) -> np.ndarray:
        return system.solve(np.asarray(2 * (X.T @ (problem.weight[:, None] * goal))))

    D, change, rounds = regression(Y), np.inf, 0
    while change >= 1e-4 and rounds < most:
        before, D = D, regression(Y + E * np.maximum(E * (X @ D - Y), 0.0))
        change, rounds = float(((D - before) ** 2).sum()), rounds + 1
    return D, rounds


def accelerated(
    problem: OvershotRegression, start: np.ndarray, tol: float, max_iter: int
) -> tuple[np.ndarray, int]:
    """Run FISTA with restarts whenever the momentum points uphill."""
    rows = problem.X * np.sqrt(problem.weight)[:, None]
    step = float(1.0 / (2 * np.linalg.norm(rows, 2) ** 2 + problem.ridge[0]))
    D, ahead, momentum = start, start, 1.0
    for iteration in range(1, max_iter + 1):
        moved = shrink(ahead - step * problem.smooth_gradient(ahead), step * problem.nuclear)
        if ((ahead - moved) * (moved - D)).sum() > 0:
            momentum = 1.0
        following = (1 + np.sqrt(1 + 4 * momentum**2)) / 2
        ahead = moved + (momentum - 1) / following * (moved - D)
        D, momentum = moved, following
        if iteration % 10 == 0:
            objective = problem.objective(D)
            if objective - problem.dual_objective(D) <= tol * objective:
                break
    return D, iteration


class Regressions:
    """One linear regression f_k per class, beside ``Classifier``; the largest wins."""

    classes_: np.ndarray
    coef_: np.ndarray
    intercept_: np.ndarray

    def responses(self, X: Any) -> np.ndarray:
        """Return the regressions f_k(x), one column per class.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            The samples.

        Returns
        -------
        ndarray of shape (n_samples, n_classes)
            One column per class.
        """
        check_is_fitted(self)
        return self._responses(check_rows(self, X))

    def _responses(self, X: np.ndarray) -> np.ndarray:
        return np.asarray(X @ self.coef_.T + self.intercept_)

    def _task_scores(self, X: np.ndarray) -> np.ndarray:
        scores = self._responses(X)
        return scores[:, 1] - scores[:, 0] if len(self.classes_) == 2 else scores

    def _directions(self, codes: np.ndarray) -> np.ndarray:
        """Return E: 1 for the own class, -1 for the others."""
        return np.where(codes[:, None] == np.arange(len(self.classes_)), 1.0, -1.0)


@dataclass(eq=False, repr=False)
class DiscriminativeLeastSquares(Regressions, ManyClasses, Baseline, Classifier):
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

    def _fit_classes(self, X: np.ndarray, codes: np.ndarray, weight: np.ndarray) -> None:
        space = Span(X)
        rows = with_ones(space.rows)
        ridge = np.append(np.full(rows.shape[1] - 1, 2.0 * self.ridge), 0.0)
        problem = OvershotRegression(rows, self._directions(codes), weight, ridge)
        if self.solver == "newton":
            D, self.n_iter_ = least_squares(problem, self.max_iter)
        else:
            D, self.n_iter_ = alternating(problem, min(30, self.max_iter))
        self.objective_ = problem.objective(D)
        self.coef_ = space.lift(D[:-1]).T
        self.intercept_ = D[-1]
        if self.discriminator == "1nn":
            self.images_ = self._responses(X)
            self._codes = codes

    def _task_scores(self, X: np.ndarray) -> np.ndarray:
        if self.discriminator != "1nn":
            return super()._task_scores(X)
        scores, labels = self._responses(X), range(len(self.classes_))
        distances = [cKDTree(self.images_[self._codes == k]).query(scores)[0] for k in labels]
        if len(self.classes_) == 2:
            return np.asarray(distances[0] - distances[1])
        return -np.stack(distances, axis=1)


@dataclass(eq=False, repr=False)
class DiscriminativeElasticNet(Regressions, ManyClasses, Baseline, Classifier):
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

    def _fit_classes(self, X: np.ndarray, codes: np.ndarray, weight: np.ndarray) -> None:
        mean = np.average(X, axis=0, weights=weight)
        space = Span(X - mean)
        E, ridge = self._directions(codes), np.full(space.rows.shape[1], float(self.ridge))
        problem = OvershotRegression(space.rows, E, weight, ridge, self.nuclear)
        D, self.n_iter_ = stacked(problem.newton(range(E.shape[1]), Controls())), 1
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
