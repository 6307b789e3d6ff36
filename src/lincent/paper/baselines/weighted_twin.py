"""WSV: the weighted linear loss twin SVM (Shao et al., Knowledge-Based Systems 73:276, 2015).

The hinge of the twin machine becomes a weighted linear loss, so each plane is one linear system.
With H = (A, 1), G = (B, 1), u = (w+, b+), v = (w-, b-) and row weights r, q:

    u:  minimize |Hu|^2/2 + c3|u|^2/2 + c1 r.(1 + Gu)    ->   u = -c1 (H'H + c3 I)^-1 G'r
    v:  minimize |Gv|^2/2 + c4|v|^2/2 + c2 q.(1 - Hv)    ->   v = +c2 (G'G + c4 I)^-1 H'q

Twice: first with equal weights (the share of the own class, m+/m for r and m-/m for q), then with
weight 1e-5 for rows whose slack xi = 1 + Gu exceeds the mean of |xi|, and 1 for the others.

Distances are scale free, so c1 and c2 act through the second weights only; c3 and c4 regularize.
The published program divides by c1 where the formula multiplies: its 0.1 is c1 = c2 = 10 here.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from lincent.estimators.choices import Strategy
from lincent.estimators.classifier import Classifier
from lincent.paper.baselines._planes import Plane, PlaneProblem, TwinPlanes
from lincent.solvers.cholesky import PositiveDefinite

FAR_WEIGHT = 1e-5


class WeightedTwinSVC(TwinPlanes, Classifier):
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

    def __init__(
        self,
        c1: float = 0.1,
        c2: float = 0.1,
        c3: float = 0.1,
        c4: float = 0.1,
        *,
        multi_class: Strategy = "ovr",
        n_jobs: int | None = None,
    ) -> None:
        self.c1 = c1
        self.c2 = c2
        self.c3 = c3
        self.c4 = c4
        self.multi_class = multi_class
        self.n_jobs = n_jobs

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> WeightedTwinSVC:
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
        weight = np.where(far, FAR_WEIGHT, 1.0)
        u = plane(weight)
        losses = (weight * count) @ (1 - problem.other @ u)
        return Plane(u, float(u @ (P @ u) / 2 + problem.loss * losses))
