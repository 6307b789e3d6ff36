"""Several rules on the same rows at once: separate two-class problems, or one for all classes.

Scores f_ik = x_i.beta_k + b_k, one column for each of K rules; phi and its pull u as in
``regularized``; c_ik >= 0 costs, scaled by C.

Separate: K problems (P) of ``regularized`` with a free threshold, written with an offset b instead
of the cut, which is the same.  With signs s_ik (0: row i takes no part in problem k),

    minimize    |beta_k|^2 / 2 + C sum_i c_ik phi(s_ik f_ik)                for every k       (S)

Native: every row is to be nearer to its own class y than to any other, by the margins,

    minimize    sum_k |beta_k|^2 + C sum_i sum_{k != y_i} c_ik phi(f_iy - f_ik)               (N)

over all rules at once (the sum of pairs of Weston and Watkins, 1999, with our loss).  Rows pull the
rule of their own class toward them and push those of all others away; for C going to zero
beta_y - beta_k is proportional to the difference of the centers of y and k, and with two classes
beta_1 - beta_0 solves (P) exactly.

Duals.  phi(z) = max over 0 <= u <= 1 of u (hi - z) - (hi - lo) u^2 / 2.  With alpha_ik = C c_ik
u_ik and A_ik the amount by which the multipliers of row i pull score k up (s_ik alpha_ik; or sum_l
alpha_il for k = y_i and -alpha_ik else), any alpha in [0, C c] with

    sum_i A_ik = 0                                             for every k

gives the lower bound

    hi sum alpha - (hi - lo)/2 sum alpha^2 / (C c) - sum_k |sum_i A_ik x_i|^2 / (2 r)         (D)

with r = 1 for (S), column by column, and r = 2 for (N).  Multipliers of a point are made feasible
by factors in [0, 1] that go to one as the point goes to the solution (``feasible``).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from lincent.problems.arrays import Matrix, Vector


@dataclass(frozen=True, eq=False)
class Read:
    """The loss of each rule for C = 1, its slope in the scores, the pulls u, and where phi bends.

    Both ends of the margins count as bent: at zero all rows may be at one of them.
    """

    loss: Vector
    slope: Matrix
    pull: Matrix
    bent: np.ndarray


class MulticlassLoss(Protocol):
    """How the scores of a row make its loss.  Arrays are rows by rules."""

    @property
    def codes(self) -> np.ndarray: ...

    @property
    def weight(self) -> Vector: ...

    @property
    def ridge(self) -> float:
        """r."""

    @property
    def blocks(self) -> int:
        """Into how many independent problems the rules fall: K or 1."""

    def read(self, scores: Matrix) -> Read:
        """What the rows say at these scores."""

    def bend(self, at: Read, change: Matrix) -> Matrix:
        """The change of the slope with a change of the scores."""

    def bends(self, at: Read) -> Matrix:
        """The second derivative of the loss in each score by itself."""

    def curvature(self) -> Matrix:
        """Rules by classes: about how much a row of each class can bend each rule."""

    def bound(self, pull: Matrix, scale: float, combine: Any) -> Vector:
        """The lower bound (D) of each block; ``combine`` gives sum_i A_ik x_i."""


@dataclass(frozen=True)
class SeparateLoss:
    """(S): ``side`` and ``cost`` are rules by classes; ``weight`` counts repetitions of rows.

    Where it is rows by rules, every problem has weights of its own.
    """

    codes: np.ndarray
    weight: Vector
    side: Matrix
    cost: Matrix
    low: float
    high: float
    ridge: float = 1.0

    def __post_init__(self) -> None:
        kind = self.weight.dtype
        object.__setattr__(self, "sign", self.side.T[self.codes].astype(kind))
        weight = self.weight if self.weight.ndim == 2 else self.weight[:, None]
        object.__setattr__(self, "costs", (self.cost.T[self.codes] * weight).astype(kind))

    sign: Matrix = None  # type: ignore[assignment]
    costs: Matrix = None  # type: ignore[assignment]

    @property
    def blocks(self) -> int:
        return int(self.side.shape[0])

    def read(self, scores: Matrix) -> Read:
        loss, alpha, pull, bent = _losses(self, self.sign * scores)
        return Read(loss, -self.sign * alpha, pull, bent)

    def bend(self, at: Read, change: Matrix) -> Matrix:
        return self.bends(at) * change

    def bends(self, at: Read) -> Matrix:
        """The second derivative of the loss in each score by itself, which is all of it."""
        return np.where(at.bent, self.costs, 0.0) / (self.high - self.low)

    def curvature(self) -> Matrix:
        return self.cost / (self.high - self.low)

    def bound(self, pull: Matrix, scale: float, combine: Any) -> Vector:
        alpha = scale * self.costs * pull
        up, down = (np.where(self.sign * way > 0, alpha, 0.0).sum(axis=0) for way in (1, -1))
        least = np.minimum(up, down)
        keep_up, keep_down = (least / np.maximum(side, 1e-300) for side in (up, down))
        alpha *= np.where(self.sign > 0, keep_up, keep_down)
        combined = combine(self.sign * alpha)
        spread = np.divide(alpha * alpha, scale * self.costs, where=self.costs > 0, out=alpha * 0)
        total = self.high * alpha.sum(axis=0) - (self.high - self.low) / 2 * spread.sum(axis=0)
        return np.asarray(total - (combined**2).sum(axis=0) / 2)


@dataclass(frozen=True)
class JointLoss:
    """(N): ``cost`` is classes by rules (its diagonal plays no part)."""

    codes: np.ndarray
    weight: Vector
    cost: Matrix
    low: float
    high: float
    ridge: float = 2.0
    blocks: int = 1

    def __post_init__(self) -> None:
        costs = self.cost[self.codes] * self.weight[:, None]
        costs[np.arange(len(self.codes)), self.codes] = 0.0
        object.__setattr__(self, "costs", costs.astype(self.weight.dtype))

    costs: Matrix = None  # type: ignore[assignment]

    def _own(self, values: Matrix) -> Matrix:
        own: Matrix = values[np.arange(len(self.codes)), self.codes][:, None]
        return own

    def _spread(self, pulls: Matrix) -> Matrix:
        """From amounts at pairs (i, k) to amounts at scores: up at y_i, down at k."""
        out = -pulls
        out[np.arange(len(self.codes)), self.codes] = pulls.sum(axis=1)
        return out

    def read(self, scores: Matrix) -> Read:
        loss, alpha, pull, bent = _losses(self, self._own(scores) - scores)
        return Read(loss, -self._spread(alpha), pull, bent)

    def bends(self, at: Read) -> Matrix:
        """The second derivative of the loss in each score by itself."""
        curved = self.curved(at)
        curved[np.arange(len(self.codes)), self.codes] = curved.sum(axis=1)
        return curved

    def curved(self, at: Read) -> Matrix:
        """The second derivative of the loss in f_iy - f_ik, where it bends."""
        curved: Matrix = np.where(at.bent, self.costs, 0.0) / (self.high - self.low)
        return curved

    def bend(self, at: Read, change: Matrix) -> Matrix:
        return self._spread(self.curved(at) * (self._own(change) - change))

    def curvature(self) -> Matrix:
        bent = self.cost.T.copy()
        np.fill_diagonal(bent, 0.0)
        np.fill_diagonal(bent, bent.sum(axis=0))
        return bent / (self.high - self.low)

    def bound(self, pull: Matrix, scale: float, combine: Any) -> Vector:
        alpha = scale * self.costs * pull
        alpha *= feasible(self._flow(alpha))[self.codes]
        combined = combine(self._spread(alpha))
        spread = np.divide(alpha * alpha, scale * self.costs, where=self.costs > 0, out=alpha * 0)
        total = self.high * float(alpha.sum())
        total -= (self.high - self.low) / 2 * float(spread.sum())
        return np.array([total - float((combined**2).sum()) / 4])

    def _flow(self, alpha: Matrix) -> Matrix:
        """Classes by rules: what the rows of each class pull against each rule."""
        n = len(self.cost)
        flow = np.zeros((n, n))
        np.add.at(flow, self.codes, alpha)
        return flow


def _losses(
    program: SeparateLoss | JointLoss, z: Matrix
) -> tuple[Vector, Matrix, Matrix, np.ndarray]:
    """The loss of each rule at positions z, c u, u, and where phi bends."""
    width = program.high - program.low
    short = program.high - z
    bent = (short >= 0.0) & (short <= width)
    pull = short / width
    np.minimum(np.maximum(pull, 0.0, out=pull), 1.0, out=pull)
    alpha = program.costs * pull
    loss = alpha * (short - width / 2 * pull)
    return loss.sum(axis=0, dtype=np.float64), alpha, pull, bent


def feasible(flow: Matrix) -> Matrix:
    """Factors in [0, 1] on the flows between classes, after which none gains or loses.

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
