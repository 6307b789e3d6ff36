"""The regularized centralization problem and its certificate.

Signed rows a_i = y_i (x_i - l) as in ``centralization``, costs c_i >= 0.  The box is replaced by an
L2 term, LCC's hinge (s - z)_+ is averaged over margins s uniform on [lo, hi], and the threshold
may leave the midpoint of the centers by t:

    minimize over beta, t    |beta|^2 / 2 + sum_i c_i phi(z_i),    z_i = a_i.beta - y_i t     (P)

    phi(z) = 0                          z >= hi
             (hi - z)^2 / (2 (hi - lo)) lo < z < hi
             (lo + hi)/2 - z            z <= lo

There is no separate reward for the distance of the centers: with costs that give both classes the
same total c, sum_i c_i a_i = c d, so the gradient of the rows inside the margins is along
d = C+ - C-, and for costs going to zero beta is proportional to d.

The dual.  phi(z) = max over 0 <= u <= 1 of u (hi - z) - (hi - lo) u^2 / 2, attained at the dual
weight u(z) = clip((hi - z)/(hi - lo), 0, 1).  With alpha_i = c_i u_i, any alpha with
0 <= alpha_i <= c_i and sum_i y_i alpha_i = 0 (needed only if t is free) gives the lower bound

    hi sum_i alpha_i - (hi - lo)/2 sum_i alpha_i^2 / c_i - |sum_i alpha_i a_i|^2 / 2           (D)

of (P).  At alpha_i = c_i u(z_i) with the best t the two differ by |gradient|^2 / 2 exactly, so a
small gradient is a small gap; but the gap that is reported is (P) minus (D), computed separately.

With |beta|_1 in the place of |beta|^2 / 2 the last term of (D) becomes a constraint: any such alpha
with |sum_i alpha_i a_i| <= 1 in every column gives the lower bound

    hi sum_i alpha_i - (hi - lo)/2 sum_i alpha_i^2 / c_i.                                     (D1)

Scaling any alpha down to the constraint keeps the others, so again every point has a gap.

Scale.  Rows times s and costs divided by s^2 are the same problem, with an objective divided by
s^2; so a gap is relative to a size that scales with it.  That is the objective itself or, where
little of it is left, the objective at beta = 0 and t = 0, phi(0) sum_i c_i; but no more than one,
as in the other problems (``unit_of``).
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from lincent.problems.arrays import Matrix, Rows, Vector
from lincent.problems.centralization import Certificate

BLOCK_ROWS = 16_384
"""Vectors of this length stay in the cache from one operation to the next."""


@dataclass(frozen=True)
class RegularizedProgram:
    """Problem (P) as data.  All costs are positive; ``free`` says whether t may leave zero."""

    rows: Rows
    sign: Vector
    costs: Vector
    low: float
    high: float
    free: bool = True
    means: Matrix | None = None
    shape: tuple[int, int] = field(init=False, repr=False)
    width: float = field(init=False, repr=False)
    """hi - lo."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "shape", self.rows.shape)
        object.__setattr__(self, "width", self.high - self.low)

    @cached_property
    def unit(self) -> float:
        """The size of an objective that counts as zero."""
        return unit_of(self.low, self.high, float(self.costs.sum()))

    def positions(self, projected: Vector, t: float) -> Vector:
        """Return all z_i; ``projected`` is ``rows.dot(beta)``."""
        return projected - t * self.sign if t else projected

    def dual_weights(self, z: Vector) -> Vector:
        """Return all u(z_i), the negative slope of phi: between 0 and 1."""
        u = np.subtract(self.high, z)
        u /= self.width
        return np.clip(u, 0.0, 1.0, out=u)

    def loss(self, z: Vector, u: Vector) -> float:
        """Return sum_i c_i phi(z_i), given u = dual_weights(z)."""
        # phi = u (hi - z) - width u^2 / 2, in all three ranges.
        value = np.multiply(u, -0.5 * self.width)
        value += self.high
        value -= z
        value *= u
        return float(self.costs @ value)

    def primal(self, beta: Vector, z: Vector, u: Vector) -> float:
        """Return the objective of (P)."""
        return float(beta @ beta) / 2 + self.loss(z, u)

    def dual(self, alpha: Vector, combined: Vector) -> float:
        """Return the bound (D); ``combined`` is ``rows.tdot(alpha)``."""
        spread = np.divide(alpha, self.costs)
        spread *= alpha
        bound = self.high * float(alpha.sum()) - self.width / 2 * float(spread.sum())
        return bound - float(combined @ combined) / 2

    def primal_l1(self, beta: Vector, z: Vector, u: Vector) -> float:
        """Return the objective with the L1 term."""
        return float(np.abs(beta).sum()) + self.loss(z, u)

    def dual_l1(self, alpha: Vector) -> float:
        """Return the bound (D1) for alpha that meets its constraints."""
        spread = float((alpha * (alpha / self.costs)).sum())
        return self.high * float(alpha.sum()) - self.width / 2 * spread

    def balanced(self, alpha: Vector) -> Vector:
        """Return feasible multipliers: the larger class sum is scaled down to the other."""
        if not self.free:
            return alpha
        down, up = by_class(alpha, self.sign)
        keep = (min(1.0, up / down) if down else 1.0), (min(1.0, down / up) if up else 1.0)
        return alpha * np.where(self.sign > 0, keep[1], keep[0])

    def dual_sums(self, projected: Vector, t: float, along: Vector | None = None) -> DualSums:
        """Sum over all rows at threshold t, block by block so that each stays in the cache."""
        down = up = rise = work = 0.0
        for start in range(0, len(self.sign), BLOCK_ROWS):
            part = slice(start, start + BLOCK_ROWS)
            u = np.multiply(self.sign[part], t)
            u -= projected[part]
            u += self.high
            u *= 1.0 / self.width
            np.maximum(u, 0.0, out=u)
            np.minimum(u, 1.0, out=u)
            inside = self.costs[part] @ ((u > 0.0) & (u < 1.0)).astype(np.float64)
            u *= self.costs[part]
            below, above = by_class(u, self.sign[part])
            down += below
            up += above
            rise += float(inside) / self.width
            if along is not None:
                work += float(u @ along[part])
        return DualSums(up + down, up - down, rise, work)


def unit_of(low: float, high: float, cost: float) -> float:
    """Return the objective at beta = 0 and t = 0, or one where that is more (or nothing)."""
    u = min(max(high / (high - low), 0.0), 1.0)
    return min(u * (high - (high - low) * u / 2) * cost, 1.0) or 1.0


def by_class(alpha: Vector, sign: Vector) -> tuple[float, float]:
    """Sum over the negative and over the positive class.

    Half of sum -+ difference is fast; where one class is next to nothing it would lose its digits,
    and each class is summed separately.
    """
    total, excess = float(alpha.sum()), float(alpha @ sign)
    down, up = (total - excess) / 2, (total + excess) / 2
    if min(down, up) > 1e-3 * total:  # thirteen digits are left
        return down, up
    return float(alpha.sum(where=sign < 0)), float(alpha.sum(where=sign > 0))


@dataclass(frozen=True)
class DualSums:
    """Sums of c_i u_i: total, signed by class, their derivative in t, and along a step."""

    total: float
    excess: float
    rise: float
    work: float


def certify(program: RegularizedProgram, beta: Vector, t: float) -> Certificate:
    """Certify a point from the problem alone: two products with the rows."""
    z = program.positions(program.rows.dot(beta), t)
    u = program.dual_weights(z)
    alpha = program.balanced(program.costs * u)
    return Certificate(
        beta=beta,
        alpha=alpha,
        t=t,
        objective=program.primal(beta, z, u),
        dual_objective=program.dual(alpha, program.rows.tdot(alpha)),
        unit=program.unit,
    )


def certify_l1(
    program: RegularizedProgram, beta: Vector, t: float, alpha: Vector | None = None
) -> Certificate:
    """Certify a point of the problem with the L1 term, with given multipliers or its own."""
    z = program.positions(program.rows.dot(beta), t)
    u = program.dual_weights(z)
    alpha = program.costs * u if alpha is None else np.clip(alpha, 0.0, program.costs)
    alpha = program.balanced(alpha)
    alpha = alpha / max(1.0, float(np.abs(program.rows.tdot(alpha)).max()))
    return Certificate(
        beta=beta,
        alpha=alpha,
        t=t,
        objective=program.primal_l1(beta, z, u),
        dual_objective=program.dual_l1(alpha),
        unit=program.unit,
    )
