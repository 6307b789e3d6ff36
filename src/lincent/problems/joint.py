"""Several linear classifiers on the same rows: separate binary problems, or one joint problem.

Scores f_ik = x_i.beta_k + b_k, one column for each of K classifiers; phi and its dual weight u as
in ``regularized``; c_ik >= 0 costs, scaled by C.

Separate: K problems (P) of ``regularized`` with a free threshold, written as an intercept b.  With
signs s_ik (0: row i takes no part in problem k),

    minimize    |beta_k|^2 / 2 + C sum_i c_ik phi(s_ik f_ik)                for every k       (S)

Joint: the score of a row's own class y exceeds that of any other class by the margins,

    minimize    sum_k |beta_k|^2 + C sum_i sum_{k != y_i} c_ik phi(f_iy - f_ik)               (N)

over all classifiers at once (the sum of pairs of Weston and Watkins, 1999, with this loss).  For C
going to zero beta_y - beta_k is proportional to the difference of the centers of y and k, and with
two classes beta_1 - beta_0 solves (P) exactly.

Duals.  phi(z) = max over 0 <= u <= 1 of u (hi - z) - (hi - lo) u^2 / 2.  With alpha_ik = C c_ik
u_ik and A_ik the coefficient of score k in the gradient of row i (s_ik alpha_ik; or sum_l alpha_il
for k = y_i and -alpha_ik else), any alpha in [0, C c] with

    sum_i A_ik = 0                                             for every k

gives the lower bound

    hi sum alpha - (hi - lo)/2 sum alpha^2 / (C c) - sum_k |sum_i A_ik x_i|^2 / (2 r)         (D)

with r = 1 for (S), column by column, and r = 2 for (N).  Multipliers of a point are made feasible
by factors in [0, 1] that go to one as the point goes to the solution (``feasible``).
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from lincent.problems.arrays import Matrix, Vector


@dataclass(frozen=True, eq=False)
class LossAtScores:
    """Loss by classifier for C = 1, slope in the scores, dual weights u, and where phi is curved.

    Both ends of the margins count as curved: at zero all rows may be at one of them.
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
    low: float
    high: float
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
        loss, alpha, u, curved = _losses(self, self.sign * scores)
        return LossAtScores(loss, -self.sign * alpha, u, curved)

    def hessian_product(self, at: LossAtScores, change: Matrix) -> Matrix:
        """Return the change of the slope with a change of the scores."""
        return self.hessian_diagonal(at) * change

    def hessian_diagonal(self, at: LossAtScores) -> Matrix:
        """Return the second derivative of the loss in each score."""
        return np.where(at.curved, self.costs, 0.0) / (self.high - self.low)

    def curvature(self) -> Matrix:
        """Return classifiers by classes: the curvature of a row of each class in the margins."""
        return self.cost / (self.high - self.low)

    def bound(self, u: Matrix, scale: float, combine: Any) -> Vector:
        """Return the bound (D) of each problem; ``combine`` gives sum_i A_ik x_i."""
        alpha = scale * self.costs * u
        up, down = (np.where(self.sign * way > 0, alpha, 0.0).sum(axis=0) for way in (1, -1))
        least = np.minimum(up, down)
        keep_up, keep_down = (least / np.maximum(side, 1e-300) for side in (up, down))
        alpha *= np.where(self.sign > 0, keep_up, keep_down)
        combined = combine(self.sign * alpha)
        squares = _squares(alpha, scale * self.costs)
        total = self.high * alpha.sum(axis=0) - (self.high - self.low) / 2 * squares.sum(axis=0)
        return np.asarray(total - (combined**2).sum(axis=0) / 2)


@dataclass(frozen=True)
class JointLoss:
    """The loss of (N): ``cost`` is classes by classifiers (its diagonal plays no part)."""

    codes: np.ndarray
    weight: Vector
    cost: Matrix
    low: float
    high: float
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
        loss, alpha, u, curved = _losses(self, self._pairs(scores))
        return LossAtScores(loss, -self._coefficients(alpha), u, curved)

    def pair_curvature(self, at: LossAtScores) -> Matrix:
        """Return the second derivative of the loss in f_iy - f_ik."""
        curvature: Matrix = np.where(at.curved, self.costs, 0.0) / (self.high - self.low)
        return curvature

    def hessian_diagonal(self, at: LossAtScores) -> Matrix:
        """Return the second derivative of the loss in each score."""
        curvature = self.pair_curvature(at)
        curvature[np.arange(len(self.codes)), self.codes] = curvature.sum(axis=1)
        return curvature

    def hessian_product(self, at: LossAtScores, change: Matrix) -> Matrix:
        """Return the change of the slope with a change of the scores."""
        return self._coefficients(self.pair_curvature(at) * self._pairs(change))

    def curvature(self) -> Matrix:
        """Return classifiers by classes: the curvature of a row of each class in the margins."""
        curvature = self.cost.T.copy()
        np.fill_diagonal(curvature, 0.0)
        np.fill_diagonal(curvature, curvature.sum(axis=0))
        return curvature / (self.high - self.low)

    def bound(self, u: Matrix, scale: float, combine: Any) -> Vector:
        """Return the bound (D); ``combine`` gives sum_i A_ik x_i."""
        alpha = scale * self.costs * u
        flow = np.zeros((len(self.cost), len(self.cost)))
        np.add.at(flow, self.codes, alpha)  # between the classes of rows and the other classes
        alpha *= feasible(flow)[self.codes]
        combined = combine(self._coefficients(alpha))
        total = self.high * float(alpha.sum())
        total -= (self.high - self.low) / 2 * float(_squares(alpha, scale * self.costs).sum())
        return np.array([total - float((combined**2).sum()) / 4])


MulticlassLoss = SeparateLoss | JointLoss


def _losses(
    program: MulticlassLoss, z: Matrix
) -> tuple[Vector, Matrix, Matrix, np.ndarray[Any, Any]]:
    """Compute the loss of each classifier at positions z, c u, u, and where phi is curved."""
    width = program.high - program.low
    short = program.high - z
    curved = (short >= 0.0) & (short <= width)
    u = short / width
    np.minimum(np.maximum(u, 0.0, out=u), 1.0, out=u)
    alpha = program.costs * u
    loss = alpha * (short - width / 2 * u)
    return loss.sum(axis=0, dtype=np.float64), alpha, u, curved


def _squares(alpha: Matrix, costs: Matrix) -> Matrix:
    """Return alpha^2 / c, zero where the cost is."""
    return np.divide(alpha * alpha, costs, where=costs > 0, out=alpha * 0)


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
