"""SVM, TSV and WSV: the support vector machines of the paper, with one plane and with two.

SVM: the linear soft-margin machine (Cortes & Vapnik, Machine Learning 20:273, 1995).

    minimize over w, b     |w|^2 / 2 + C sum_i max(0, 1 - y_i (w.x_i + b))

The intercept is not penalized.  The printed lambda of the paper, lambda |w|^2 + mean(slack), is the
same problem at C = 1 / (2 lambda m); what it ran is C = 1.

Solved exactly by the interior point of ``solvers.hinge``.  Given w, the losses are a piecewise
linear function of b alone whose breakpoints lie at y_i - w.x_i; where its minimum is an interval
(no support vector on the margin) b is the middle of it.

TSV and WSV, the twin support vector machines: each class has a plane of its own.

The plane of a class, u = (w+, b+) for the positive one and v = (w-, b-) for the negative one, lies
close to the samples of its class and away from the others.  The score is the difference of the two
distances,

    |w-.x + b-| / |w-| - |w+.x + b+| / |w+|,

positive where the plane of the positive class is nearer.  It is not linear in x, so there is no
single ``coef_``.  With H = (A, 1) the positive samples and G = (B, 1) the negative ones:

TSV, the twin bounded SVM (Jayadeva et al., IEEE TPAMI 29:905, 2007; Shao et al., IEEE TNN 22:962,
2011)

    minimize over u    |Hu|^2 / 2 + c3 |u|^2 / 2 + c1 sum_j max(0, 1 + g_j.u)
    minimize over v    |Gv|^2 / 2 + c4 |v|^2 / 2 + c2 sum_i max(0, 1 - h_i.v)

The intercepts are part of the ridge.  Each problem is a hinge loss with a positive definite
quadratic, solved exactly by the interior point of ``solvers.hinge`` without any m x m matrix.

WSV, the weighted linear loss twin SVM (Shao et al., Knowledge-Based Systems 73:276, 2015), has a
weighted linear loss with sample weights r, q in place of the hinge, so each plane is one linear
system:

    u:  minimize |Hu|^2/2 + c3|u|^2/2 + c1 r.(1 + Gu)    ->   u = -c1 (H'H + c3 I)^-1 G'r
    v:  minimize |Gv|^2/2 + c4|v|^2/2 + c2 q.(1 - Hv)    ->   v = +c2 (G'G + c4 I)^-1 H'q

Twice: first with equal weights (the fraction of the own class, m+/m for r and m-/m for q), then
with weight 1e-5 for samples whose slack xi = 1 + Gu exceeds the mean of |xi|, and 1 for the others.
Distances are scale free, so c1 and c2 act through the second weights only; c3 and c4 regularize.
The published program divides by c1 where the formula multiplies: its 0.1 is c1 = c2 = 10 here.
"""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import KW_ONLY, dataclass
from typing import Any, ClassVar, NamedTuple

import numpy as np

from lincent.estimators.base import Classifier
from lincent.estimators.linear import squeeze_single
from lincent.estimators.problem import BinaryProblem
from lincent.estimators.validation import COMMON_CONSTRAINTS, POSITIVE, Strategy
from lincent.paper.baselines._base import (
    Baseline,
    Hyperplanes,
    as_float,
    signed_rows,
    warn_unfinished,
    with_ones,
)
from lincent.problems.centralization import relative_gap
from lincent.problems.hinge import HingeProgram, Quadratic
from lincent.solvers.cholesky import PositiveDefinite
from lincent.solvers.hinge import solve_hinge
from lincent.solvers.newton.joint import Span
from lincent.solvers.solution import Controls


class Plane(NamedTuple):
    """(w, b) in one vector, with its objective and duality gap."""

    u: np.ndarray
    objective: float
    gap: float = 0.0
    iterations: int = 1


def best_intercept(projected: np.ndarray, sign: np.ndarray, costs: np.ndarray) -> float:
    """Return the middle of the interval of intercepts that minimize the hinge losses."""
    breakpoints = sign - projected
    order = np.argsort(breakpoints, kind="stable")
    # A breakpoint of the positive class ends its slope -c, one of the negative class starts +c:
    # either way the slope rises by c, from minus the cost of the positive class.
    slopes = np.cumsum(costs[order]) - costs[sign > 0].sum()
    level = 1e-9 * costs.sum()
    first = min(int(np.searchsorted(slopes, -level)), len(order) - 1)
    last = min(int(np.searchsorted(slopes, level, side="right")), len(order) - 1)
    return float(breakpoints[order[first]] + breakpoints[order[last]]) / 2


@dataclass(eq=False, repr=False)
class LinearSVM(Hyperplanes, Baseline, Classifier):
    """Linear support vector machine with an unpenalized intercept, solved to certified optimality.

    Parameters
    ----------
    C : float, default=1.0
        Cost of a unit of slack, on the sum over rows.
    class_weight : dict, "balanced" or None, default=None
        Factors on ``C`` for the rows of each class.
    multi_class : {"ovr", "ovo"}, default="ovr"
        How more than two classes are reduced to two.
    tol : float, default=1e-9
        Relative duality gap.
    max_iter : int, default=100
        Interior-point iterations.
    n_jobs : int, default=None
        Two-class problems fitted at the same time.

    Attributes
    ----------
    coef_ : ndarray of shape (n_problems, n_features)
    intercept_ : ndarray of shape (n_problems,)
    objective_, dual_objective_ : float or ndarray of shape (n_problems,)
    duality_gap_ : float
        The largest relative duality gap, gap / max(1, abs(objective)), over the fitted problems.
        The certificate: the optimum lies between the two objectives.
    n_iter_ : int or ndarray of shape (n_problems,)
    classes_ : ndarray of shape (n_classes,)

    Examples
    --------
    >>> from lincent.paper.baselines import LinearSVM
    >>> model = LinearSVM().fit([[0.0], [1.0], [3.0], [4.0]], [0, 0, 1, 1])
    >>> model.coef_.round(6).tolist(), model.intercept_.round(6).tolist()
    ([[1.0]], [-2.0])
    """

    C: float = 1.0
    _: KW_ONLY
    class_weight: Any = None
    multi_class: Strategy = "ovr"
    tol: float = 1e-9
    max_iter: int = 100
    n_jobs: int | None = None

    _parameter_constraints: ClassVar[dict[str, Any]] = {**COMMON_CONSTRAINTS, "C": [POSITIVE]}

    def _fit_task(self, problem: BinaryProblem) -> Plane:
        problem = problem.drop_zero_weight()
        sign, costs = problem.sign, self.C * problem.cost
        space = Span(as_float(problem.X))
        rows = signed_rows(with_ones(space.rows), sign)
        P = np.eye(rows.shape[1])
        P[-1, -1] = 0.0
        program = HingeProgram(Quadratic(P, sign), rows, costs)
        solution = solve_hinge(program, Controls(self.tol, self.max_iter))
        answer = solution.certificate
        u = answer.beta.copy()
        u[-1] = best_intercept(np.asarray(space.rows @ u[:-1]), sign, costs)
        objective = program.objective(u)
        if not objective <= answer.objective:  # rounding, with costs of very different size
            u, objective = answer.beta, answer.objective
        # What is judged is what is stored.
        gap = objective - answer.dual_objective
        if gap > self.tol * objective:
            warn_unfinished(gap, gap / objective, self.tol, self.max_iter, problem.name)
        u = np.append(space.lift(u[:-1]), u[-1])
        return Plane(u, objective, max(gap, 0.0), solution.iterations)

    def _store(self, parts: list[Plane]) -> None:
        u, objective, gap, iterations = zip(*parts, strict=True)
        self.coef_, self.intercept_ = np.array(u)[:, :-1], np.array(u)[:, -1]
        self.objective_ = squeeze_single(objective)
        self.dual_objective_ = squeeze_single(np.subtract(objective, gap))
        self.duality_gap_ = max(map(relative_gap, gap, objective))
        self.n_iter_ = squeeze_single(iterations)


class PlaneProblem(NamedTuple):
    """One of the two planes: ``own`` rows to lie on, ``other`` rows to stay away from."""

    own: Any
    own_weight: np.ndarray
    other: Any
    other_weight: np.ndarray
    loss: float
    ridge: float
    name: str

    def quadratic(self) -> np.ndarray:
        """H'WH + ridge I: the squared distances to the own rows, and the ridge."""
        rows = signed_rows(self.own, np.ones(self.own.shape[0]))
        P = rows.gram(self.own_weight)
        P.flat[:: P.shape[0] + 1] += self.ridge
        return P


@dataclass(eq=False, repr=False)
class TwinPlanes:
    """Two planes per two-class problem, beside ``Classifier``; subclasses say how one is found.

    Subclasses have the parameters c1, c2 (losses) and c3, c4 (ridges).
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **COMMON_CONSTRAINTS,
        **{name: [POSITIVE] for name in ("c1", "c2", "c3", "c4")},
    }
    c1: float = 0.1
    c2: float = 0.1
    c3: float = 0.1
    c4: float = 0.1
    _: KW_ONLY
    multi_class: Strategy = "ovr"
    n_jobs: int | None = None

    @abstractmethod
    def _fit_plane(self, problem: PlaneProblem) -> Plane:
        """Find one plane; its positive side is that of the other class's -1 (see the subclass)."""

    def _fit_task(self, problem: BinaryProblem) -> tuple[Plane, Plane]:
        problem = problem.drop_zero_weight()
        weight, name = problem.weight, problem.name
        space = Span(with_ones(as_float(problem.X)))
        Z, high, low = space.rows, problem.sign > 0, problem.sign < 0
        up = PlaneProblem(Z[high], weight[high], Z[low], weight[low], self.c1, self.c3, name)
        down = PlaneProblem(Z[low], weight[low], Z[high], weight[high], self.c2, self.c4, name)
        below, above = (self._fit_plane(side) for side in (down, up))
        return below._replace(u=space.lift(below.u)), above._replace(u=space.lift(above.u))

    def _store(self, parts: list[tuple[Plane, Plane]]) -> None:
        u = np.array([[plane.u for plane in pair] for pair in parts])
        self.plane_coef_ = u[..., :-1]
        self.plane_intercept_ = u[..., -1]
        self.objective_ = np.array([[plane.objective for plane in pair] for pair in parts])
        if len(parts) == 1:
            self.objective_ = self.objective_[0]

    def _task_scores(self, X: Any) -> np.ndarray:
        norm = np.linalg.norm(self.plane_coef_, axis=2)
        # A plane without direction (all features constant) is at the same distance everywhere.
        norm[norm == 0] = 1.0
        values = np.einsum("if,pkf->ipk", X, self.plane_coef_) + self.plane_intercept_
        distances = np.abs(values) / norm
        return np.asarray(distances[..., 0] - distances[..., 1])


@dataclass(eq=False, repr=False)
class TwinSVC(TwinPlanes, Baseline, Classifier):
    """Twin bounded support vector machine: the nearer of two planes wins.

    Parameters
    ----------
    c1, c2 : float, default=0.1
        Cost of slack for the plane of ``classes_[1]`` and for that of ``classes_[0]``.
    c3, c4 : float, default=0.1
        Ridge of the two planes, intercepts included.
    multi_class : {"ovr", "ovo"}, default="ovr"
        How more than two classes are reduced to two.
    n_jobs : int, default=None
        Two-class problems fitted at the same time.
    tol : float, default=1e-9
        Relative duality gap.
    max_iter : int, default=100
        Interior-point iterations for each plane.

    Attributes
    ----------
    plane_coef_ : ndarray of shape (n_problems, 2, n_features)
        The planes: of the negative class first, then of the positive.
    plane_intercept_ : ndarray of shape (n_problems, 2)
    objective_, dual_objective_ : ndarray of shape (2,) or (n_problems, 2)
    duality_gap_ : float
        The largest relative duality gap, gap / max(1, abs(objective)), over the fitted planes.
    n_iter_ : int or ndarray of shape (n_problems,)
        Of the slower plane.
    classes_ : ndarray of shape (n_classes,)

    Examples
    --------
    >>> import numpy as np
    >>> from lincent.paper.baselines import TwinSVC
    >>> t = np.linspace(-1, 1, 20)
    >>> X = np.vstack([np.c_[t, 0 * t], np.c_[t, 2 + t / 2]])
    >>> y = np.repeat([0, 1], 20)
    >>> float(TwinSVC().fit(X, y).score(X, y))
    1.0
    """

    _: KW_ONLY
    tol: float = 1e-9
    max_iter: int = 100

    def _fit_plane(self, problem: PlaneProblem) -> Plane:
        # Both planes keep the other class on their positive side; a plane has no sign of its own.
        rows = signed_rows(problem.other, np.ones(problem.other.shape[0]))
        costs = problem.loss * problem.other_weight
        program = HingeProgram(Quadratic(problem.quadratic()), rows, costs)
        solution = solve_hinge(program, Controls(self.tol, self.max_iter))
        answer = solution.certificate
        if not solution.certified(self.tol):
            warn_unfinished(answer.gap, answer.relative_gap, self.tol, self.max_iter, problem.name)
        return Plane(answer.beta, answer.objective, answer.gap, max(solution.iterations, 1))

    def _store(self, parts: list[tuple[Plane, Plane]]) -> None:
        super()._store(parts)
        gaps = np.array([[plane.gap for plane in pair] for pair in parts])
        self.dual_objective_ = self.objective_ - gaps.reshape(self.objective_.shape)
        self.duality_gap_ = max(
            relative_gap(plane.gap, plane.objective) for pair in parts for plane in pair
        )
        self.n_iter_ = squeeze_single([max(plane.iterations for plane in pair) for pair in parts])


class WeightedTwinSVC(TwinPlanes, Baseline, Classifier):
    """Weighted linear loss twin SVM: two planes from two linear systems, reweighted once.

    Parameters
    ----------
    c1, c2 : float, default=0.1
        Loss factors of the plane of ``classes_[1]`` and of that of ``classes_[0]``. They act
        through the second weights only; the paper's table is reproduced by 10.
    c3, c4 : float, default=0.1
        Ridge of the two planes, intercepts included.
    multi_class : {"ovr", "ovo"}, default="ovr"
        How more than two classes are reduced to two.
    n_jobs : int, default=None
        Two-class problems fitted at the same time.

    Attributes
    ----------
    plane_coef_ : ndarray of shape (n_problems, 2, n_features)
        The planes: of the negative class first, then of the positive.
    plane_intercept_ : ndarray of shape (n_problems, 2)
    objective_ : ndarray of shape (2,) or (n_problems, 2)
        Of the second pass, with its weights.
    classes_ : ndarray of shape (n_classes,)

    Examples
    --------
    >>> import numpy as np
    >>> from lincent.paper.baselines import WeightedTwinSVC
    >>> t = np.linspace(-1, 1, 20)
    >>> X = np.vstack([np.c_[t, t + 1], np.c_[t, 1 - t]])
    >>> y = np.repeat([0, 1], 20)
    >>> float(WeightedTwinSVC().fit(X, y).score(X, y))
    1.0
    """

    def _fit_plane(self, problem: PlaneProblem) -> Plane:
        # Both planes have the other class on their positive side; a plane has no sign of its own.
        P = problem.quadratic()
        system = PositiveDefinite(P)
        count = problem.other_weight
        share = problem.own_weight.sum() / (problem.own_weight.sum() + count.sum())

        def plane(weight: np.ndarray) -> np.ndarray:
            return problem.loss * system.solve(np.asarray(problem.other.T @ (weight * count)))

        slack = 1 - problem.other @ plane(np.full(len(count), share))
        far = slack > np.average(np.abs(slack), weights=count)
        weight = np.where(far, 1e-5, 1.0)
        u = plane(weight)
        losses = (weight * count) @ (1 - problem.other @ u)
        return Plane(u, float(u @ (P @ u) / 2 + problem.loss * losses))
