"""TSV: the twin bounded support vector machine (Jayadeva et al., IEEE TPAMI 29:905, 2007;
Shao et al., IEEE TNN 22:962, 2011).

With H = (A, 1) the positive rows and G = (B, 1) the negative ones, u = (w+, b+), v = (w-, b-):

    minimize over u    |Hu|^2 / 2 + c3 |u|^2 / 2 + c1 sum_j max(0, 1 + g_j.u)
    minimize over v    |Gv|^2 / 2 + c4 |v|^2 / 2 + c2 sum_i max(0, 1 - h_i.v)

The plane u lies near the positive rows and keeps the negative ones at -1 or below.  The intercepts
are part of the ridge.  Each problem is a hinge loss with a positive definite quadratic, solved
exactly by the interior point of ``solvers.hinge`` without any m x m matrix.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from lincent.estimators.choices import Strategy
from lincent.estimators.classifier import Classifier
from lincent.estimators.validation import check_count, check_positive
from lincent.paper.baselines._base import warn_unfinished
from lincent.paper.baselines._planes import Plane, PlaneProblem, TwinPlanes, most_iterations
from lincent.paper.baselines._rows import signed_rows
from lincent.problems.hinge import HingeProgram, Quadratic
from lincent.solvers.hinge import solve_hinge
from lincent.solvers.solution import Controls


class TwinSVC(TwinPlanes, Classifier):
    """Twin bounded support vector machine: the nearer of two planes wins.

    Parameters
    ----------
    c1, c2 : float, default=0.1
        Cost of slack for the plane of ``classes_[1]`` and for that of ``classes_[0]``.
    c3, c4 : float, default=0.1
        Ridge of the two planes, intercepts included.
    multi_class : {"ovr", "ovo"}, default="ovr"
        How more than two classes are reduced to two.
    tol : float, default=1e-9
        Relative duality gap.
    max_iter : int, default=100
        Interior-point iterations for each plane.
    n_jobs : int, default=None
        Two-class problems fitted at the same time.

    Attributes
    ----------
    plane_coef_ : ndarray of shape (n_problems, 2, n_features)
        The planes: of the negative class first, then of the positive.
    plane_intercept_ : ndarray of shape (n_problems, 2)
    objective_, duality_gap_ : ndarray of shape (2,) or (n_problems, 2)
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

    def __init__(
        self,
        c1: float = 0.1,
        c2: float = 0.1,
        c3: float = 0.1,
        c4: float = 0.1,
        *,
        multi_class: Strategy = "ovr",
        tol: float = 1e-9,
        max_iter: int = 100,
        n_jobs: int | None = None,
    ) -> None:
        self.c1 = c1
        self.c2 = c2
        self.c3 = c3
        self.c4 = c4
        self.multi_class = multi_class
        self.tol = tol
        self.max_iter = max_iter
        self.n_jobs = n_jobs

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> TwinSVC:
        """Find the planes.

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
        return self._fit(X, y, sample_weight)

    def _check_params(self) -> None:
        super()._check_params()
        check_positive("tol", self.tol)
        check_count("max_iter", self.max_iter)

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

    def _store_more(self, parts: list[tuple[Plane, Plane]]) -> None:
        gaps = np.array([[plane.gap for plane in pair] for pair in parts])
        self.duality_gap_ = gaps[0] if len(parts) == 1 else gaps
        self.n_iter_ = most_iterations(parts)
