"""SVM: the linear soft-margin machine (Cortes & Vapnik, Machine Learning 20:273, 1995).

    minimize over w, b     |w|^2 / 2 + C sum_i max(0, 1 - y_i (w.x_i + b))

The intercept is not penalized.  The printed lambda of the paper, lambda |w|^2 + mean(slack), is the
same problem at C = 1 / (2 lambda m); what it ran is C = 1.

Solved exactly by the interior point of ``solvers.hinge``.  Given w, the losses are a piecewise
linear function of b alone whose breakpoints lie at y_i - w.x_i; where its minimum is an interval
(no support vector on the margin) b is the middle of it.
"""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from typing import Any, ClassVar

import numpy as np

from lincent.estimators.base import COMMON_CONSTRAINTS, POSITIVE, Classifier, Strategy
from lincent.estimators.problem import BinaryProblem
from lincent.paper.baselines._base import (
    BinaryBaseline,
    Hyperplanes,
    as_float,
    one_or_all,
    signed_rows,
    warn_unfinished,
    with_ones,
)
from lincent.problems.arrays import relative_gap
from lincent.problems.hinge import HingeProgram, Quadratic
from lincent.solvers.hinge import solve_hinge
from lincent.solvers.newton.joint import Span
from lincent.solvers.solution import Controls


@dataclass(frozen=True)
class _Hyperplane:
    coef: np.ndarray
    intercept: float
    objective: float
    dual_objective: float
    iterations: int


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
class LinearSVM(Hyperplanes, BinaryBaseline, Classifier):
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

    def _fit_task(self, problem: BinaryProblem) -> _Hyperplane:
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
        dual = min(answer.dual_objective, objective)
        coef = space.lift(u[:-1])
        return _Hyperplane(coef, float(u[-1]), objective, dual, solution.iterations)

    def _store(self, parts: list[_Hyperplane]) -> None:
        super()._store(parts)
        self.objective_ = one_or_all([part.objective for part in parts])
        self.dual_objective_ = one_or_all([part.dual_objective for part in parts])
        self.duality_gap_ = max(
            relative_gap(part.objective - part.dual_objective, part.objective) for part in parts
        )
        self.n_iter_ = one_or_all([part.iterations for part in parts])
