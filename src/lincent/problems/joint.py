"""Several linear classifiers on the same rows: separate binary problems, or one joint problem.

Scores f_ik = x_i.beta_k + b_k, one column for each of K classifiers; c_ik >= 0 costs, scaled by C;
phi any ``MarginLoss``, as a rule the one of ``regularized`` (``SmoothedHinge``).

Separate: K problems (P) of ``regularized`` with a free threshold, written as an intercept b.  With
signs s_ik (0: row i takes no part in problem k),

    minimize    |beta_k|^2 / 2 + C sum_i c_ik phi(s_ik f_ik)                for every k       (S)

Joint: the score of a row's own class y exceeds that of any other class by the margins,

    minimize    sum_k |beta_k|^2 + C sum_i sum_{k != y_i} c_ik phi(f_iy - f_ik)               (N)

over all classifiers at once (the sum of pairs of Weston and Watkins, 1999, with this loss).  For C
going to zero beta_y - beta_k is proportional to the difference of the centers of y and k, and with
two classes beta_1 - beta_0 solves (P) exactly.

Duals.  phi(z) = max over u of -u z - phi*(-u), phi* the convex conjugate, attained at the dual
weight u = -phi'(z) >= 0.  With alpha_ik = C c_ik u_ik and A_ik the coefficient of score k in the
gradient of row i (s_ik alpha_ik; or sum_l alpha_il for k = y_i and -alpha_ik else), any u >= 0 with

    sum_i A_ik = 0                                             for every k

gives the lower bound

    -C sum c_ik phi*(-u_ik) - sum_k |sum_i A_ik x_i|^2 / (2 r)                                (D)

with r = 1 for (S), column by column, and r = 2 for (N).  Multipliers of a point are made feasible
by factors in [0, 1] that go to one as the point goes to the solution (``feasible``).
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from lincent.problems.arrays import Matrix, Vector


class MarginLoss(ABC):
    """Base class of a loss phi(z) of z, the score times the sign of the class.

    phi is convex, decreasing, bounded from below, and its slope has a Lipschitz constant. A
    subclass gives four functions of arrays, element by element. ``SeparateLoss`` (two classes) and
    ``JointLoss`` (more) of ``lincent.problems.joint`` make a problem of them, which
    ``lincent.solvers.newton.joint.solve_path`` solves by Newton's method, with a lower bound from
    the conjugate.

    Attributes
    ----------
    max_curvature : float
        The Lipschitz constant, an upper bound on ``curvature``.

    Examples
    --------
    >>> import numpy as np
    >>> from lincent.problems import MarginLoss
    >>> class SquaredHinge(MarginLoss):
    ...     max_curvature = 2.0
    ...     def value(self, z):
    ...         return np.maximum(1 - z, 0) ** 2
    ...     def slope(self, z):
    ...         return -2 * np.maximum(1 - z, 0)
    ...     def curvature(self, z):
    ...         return 2.0 * (z < 1)
    ...     def conjugate(self, v):
    ...         return v + v**2 / 4
    >>> SquaredHinge().value(np.array([-1.0, 0.0, 2.0]))
    array([4., 1., 0.])
    """

    max_curvature: float

    @abstractmethod
    def value(self, z: Matrix) -> Matrix:
        """Return phi(z).

        Parameters
        ----------
        z : ndarray
            Scores times the sign of the class.

        Returns
        -------
        ndarray
            The loss.
        """

    @abstractmethod
    def slope(self, z: Matrix) -> Matrix:
        """Return the first derivative of phi.

        Parameters
        ----------
        z : ndarray
            Scores times the sign of the class.

        Returns
        -------
        ndarray
            Slopes, at most zero.
        """

    @abstractmethod
    def curvature(self, z: Matrix) -> Matrix:
        """Return the second derivative of phi.

        Parameters
        ----------
        z : ndarray
            Scores times the sign of the class.

        Returns
        -------
        ndarray
            Curvatures, at least zero; where the slope has a corner that of one side.
        """

    @abstractmethod
    def conjugate(self, v: Matrix) -> Matrix:
        """Return the convex conjugate, the maximum of v z - phi(z) over z.

        Parameters
        ----------
        v : ndarray
            Slopes, or values between a slope and zero.

        Returns
        -------
        ndarray
            Values of the conjugate.
        """

    def _evaluate(self, z: Matrix, costs: Matrix) -> tuple[Matrix, Matrix, Matrix, np.ndarray]:
        """Return c phi, c u, u and phi'' / max_curvature."""
        u = -self.slope(z)
        return costs * self.value(z), costs * u, u, self.curvature(z) / self.max_curvature


class SmoothedHinge(MarginLoss):
    """The hinge averaged over margins between ``low`` and ``high``: phi of ``regularized``.

    Parameters
    ----------
    low, high : float
        The ends of the margins.
    """

    def __init__(self, low: float, high: float) -> None:
        self.low, self.high, self.width = low, high, high - low
        self.max_curvature = 1.0 / self.width

    def value(self, z: Matrix) -> Matrix:
        """Return phi(z)."""
        return self._evaluate(z, np.ones_like(z))[0]

    def slope(self, z: Matrix) -> Matrix:
        """Return phi'(z), between -1 and 0."""
        return np.asarray(-np.clip((self.high - z) / self.width, 0.0, 1.0))

    def curvature(self, z: Matrix) -> Matrix:
        """Return phi''(z); both ends of the margins count as curved."""
        return np.where((z >= self.low) & (z <= self.high), self.max_curvature, 0.0)

    def conjugate(self, v: Matrix) -> Matrix:
        """Return phi*(v) for v between -1 and 0."""
        return v * (self.high + self.width / 2 * v)

    def _evaluate(self, z: Matrix, costs: Matrix) -> tuple[Matrix, Matrix, Matrix, np.ndarray]:
        """Return c phi, c u, u, and where phi is curved, in few passes over the arrays."""
        short = self.high - z
        curved = (short >= 0.0) & (short <= self.width)
        u = short / self.width
        np.minimum(np.maximum(u, 0.0, out=u), 1.0, out=u)
        alpha = costs * u
        return alpha * (short - self.width / 2 * u), alpha, u, curved


@dataclass(frozen=True, eq=False)
class LossAtScores:
    """Loss by classifier for C = 1, slope in the scores, dual weights u, and phi'' / max_curvature.

    Of the smoothed hinge the last, ``curved``, is boolean, and both ends of the margins count as
    curved: at zero all rows may be at one of them.
    """

    loss: Vector
    slope: Matrix
    dual_weight: Matrix
    curved: np.ndarray


@dataclass(frozen=True)
class SeparateLoss:
    """The loss of (S): ``side`` and ``cost`` are classifiers by classes.

    ``weight`` counts repetitions of rows; rows by classifiers, every problem has its own weights.
    """

    codes: np.ndarray
    weight: Vector
    side: Matrix
    cost: Matrix
    phi: MarginLoss
    ridge: float = 1.0
    """r."""
    sign: Matrix = field(init=False)
    costs: Matrix = field(init=False)

    def __post_init__(self) -> None:
        dtype = self.weight.dtype
        weight = self.weight if self.weight.ndim == 2 else self.weight[:, None]
        object.__setattr__(self, "sign", self.side.T[self.codes].astype(dtype))
        object.__setattr__(self, "costs", (self.cost.T[self.codes] * weight).astype(dtype))

    @property
    def blocks(self) -> int:
        """The number of independent problems."""
        return int(self.side.shape[0])

    def read(self, scores: Matrix) -> LossAtScores:
        """Evaluate the loss at these scores."""
        loss, alpha, u, curved = self.phi._evaluate(self.sign * scores, self.costs)
        return LossAtScores(loss.sum(axis=0, dtype=np.float64), -self.sign * alpha, u, curved)

    def hessian_product(self, at: LossAtScores, change: Matrix) -> Matrix:
        """Return the change of the slope with a change of the scores."""
        return self.hessian_diagonal(at) * change

    def hessian_diagonal(self, at: LossAtScores) -> Matrix:
        """Return the second derivative of the loss in each score."""
        return np.asarray(self.costs * at.curved * self.phi.max_curvature)

    def curvature(self) -> Matrix:
        """Return classifiers by classes: the largest curvature of a row of each class."""
        return self.cost * self.phi.max_curvature

    def bound(self, u: Matrix, scale: float, combine: Any) -> Vector:
        """Return the bound (D) of each problem; ``combine`` gives sum_i A_ik x_i."""
        alpha = scale * self.costs * u
        up, down = (np.where(self.sign * way > 0, alpha, 0.0).sum(axis=0) for way in (1, -1))
        least = np.minimum(up, down)
        keep_up, keep_down = (least / np.maximum(side, 1e-300) for side in (up, down))
        keep = np.where(self.sign > 0, keep_up, keep_down)
        combined = combine(self.sign * alpha * keep)
        conjugate = (scale * self.costs * self.phi.conjugate(-u * keep)).sum(axis=0)
        return np.asarray(-conjugate - (combined**2).sum(axis=0) / 2)


@dataclass(frozen=True)
class JointLoss:
    """The loss of (N): ``cost`` is classes by classifiers (its diagonal plays no part)."""

    codes: np.ndarray
    weight: Vector
    cost: Matrix
    phi: MarginLoss
    ridge: float = 2.0
    """r."""
    blocks: int = 1
    costs: Matrix = field(init=False)

    def __post_init__(self) -> None:
        costs = self.cost[self.codes] * self.weight[:, None]
        costs[np.arange(len(self.codes)), self.codes] = 0.0
        object.__setattr__(self, "costs", costs.astype(self.weight.dtype))

    def _pairs(self, scores: Matrix) -> Matrix:
        """From scores to the differences f_iy - f_ik."""
        own: Matrix = scores[np.arange(len(self.codes)), self.codes][:, None]
        return own - scores

    def _coefficients(self, pairs: Matrix) -> Matrix:
        """From amounts at pairs (i, k) to amounts at scores: plus at y_i, minus at k."""
        out = -pairs
        out[np.arange(len(self.codes)), self.codes] = pairs.sum(axis=1)
        return out

    def read(self, scores: Matrix) -> LossAtScores:
        """Evaluate the loss at these scores."""
        loss, alpha, u, curved = self.phi._evaluate(self._pairs(scores), self.costs)
        return LossAtScores(
            loss.sum(axis=0, dtype=np.float64), -self._coefficients(alpha), u, curved
        )

    def pair_curvature(self, at: LossAtScores) -> Matrix:
        """Return the second derivative of the loss in f_iy - f_ik."""
        return np.asarray(self.costs * at.curved * self.phi.max_curvature)

    def hessian_diagonal(self, at: LossAtScores) -> Matrix:
        """Return the second derivative of the loss in each score."""
        curvature = self.pair_curvature(at)
        curvature[np.arange(len(self.codes)), self.codes] = curvature.sum(axis=1)
        return curvature

    def hessian_product(self, at: LossAtScores, change: Matrix) -> Matrix:
        """Return the change of the slope with a change of the scores."""
        return self._coefficients(self.pair_curvature(at) * self._pairs(change))

    def curvature(self) -> Matrix:
        """Return classifiers by classes: the largest curvature of a row of each class."""
        curvature = self.cost.T.copy()
        np.fill_diagonal(curvature, 0.0)
        np.fill_diagonal(curvature, curvature.sum(axis=0))
        return curvature * self.phi.max_curvature

    def bound(self, u: Matrix, scale: float, combine: Any) -> Vector:
        """Return the bound (D); ``combine`` gives sum_i A_ik x_i."""
        alpha = scale * self.costs * u
        flow = np.zeros((len(self.cost), len(self.cost)))
        np.add.at(flow, self.codes, alpha)  # between the classes of rows and the other classes
        keep = feasible(flow)[self.codes]
        combined = combine(self._coefficients(alpha * keep))
        conjugate = float((scale * self.costs * self.phi.conjugate(-u * keep)).sum())
        return np.array([-conjugate - float((combined**2).sum()) / 4])


MulticlassLoss = SeparateLoss | JointLoss


def feasible(flow: Matrix) -> Matrix:
    """Return factors in [0, 1] on the flows between classes, after which all of them balance.

    With N the flows and e their excess, row sums minus column sums, potentials p with
    L p = e, L the Laplacian of N + N', give factors 1 - (p_y - p_k): the new flows balance, and a
    common factor brings them below one.  Where a factor would be negative, both directions of
    every pair are brought down to the smaller one, which balances as well.
    """
    both = flow + flow.T
    excess = flow.sum(axis=1) - flow.sum(axis=0)
    laplacian = np.diag(both.sum(axis=1)) - both
    potential = np.linalg.pinv(laplacian, hermitian=True) @ excess
    factor = 1.0 - (potential[:, None] - potential)
    left = flow * factor
    balanced = np.abs(left.sum(axis=1) - left.sum(axis=0)).max() <= 1e-9 * max(both.sum(), 1e-300)
    if balanced and np.all(factor[flow > 0] >= 0.0):
        factor = np.clip(factor, 0.0, None)
        return np.asarray(factor / max(1.0, float(factor.max())))
    least = np.minimum(flow, flow.T)
    return np.divide(least, flow, where=flow > 0, out=np.zeros_like(flow))
