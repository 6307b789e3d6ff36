"""The centralization problem (a linear program) and its certificate.

Two classes with labels y_i in {-1, +1}, class centers C- and C+, d = C+ - C-, midpoint
l = (C- + C+)/2 and signed rows a_i = y_i (x_i - l).  Equation LCC of the paper, with its slacks
eliminated and the constant C * sum(margin) added, is

    minimize over beta    g.beta + sum_i c_i (s - a_i.beta)_+
    subject to            lo <= beta <= hi,   d.beta >= separation                       (P)

with g = -d, c_i = C * (weight of row i), s = separation = margin, lo = -1, hi = 1.  ``offset``
gives the constant back, so that the objective reported is the paper's.  The general form also
serves restricted problems (rows summed into g, a trust region as lo and
hi), the quadratic form (other slopes in g) and kernels.

The dual.  For any alpha_i in [0, c_i] and t >= 0 and r = g - sum_i alpha_i a_i - t d,

    s * sum_i alpha_i + separation * t + sum_j min(lo_j r_j, hi_j r_j)                   (D)

is a lower bound of (P).  So any feasible beta and any (alpha, t) together prove how far beta can
be from the optimum: that difference is the duality gap, one product with the rows for each side.

An infinite cost c_i makes row i a hard constraint a_i.beta >= s.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import numpy as np

from lincent.problems.arrays import Matrix, Rows, Vector

HARD_FEASIBILITY = 1e-9
"""A hard row counts as met when a_i.beta >= s - HARD_FEASIBILITY * (s + |a_i.beta| scale)."""
SEPARATION_FEASIBILITY = 1e-9
"""d.beta >= separation counts as met up to this fraction of it, and the rounding of d.beta."""
ROUNDING = 1e-13
"""Of the sum of |d_j beta_j|: a thousand times the error of the product d.beta."""
ONLY_POINT = 1e-12
"""A separation within this fraction of the largest leaves one vertex of the box."""


@dataclass(frozen=True)
class Program:
    """Problem (P) as data."""

    rows: Rows
    costs: Vector
    margin: float
    linear: Vector
    difference: Vector
    separation: float
    lower: Vector
    upper: Vector
    offset: float = 0.0
    shape: tuple[int, int] = field(init=False, repr=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "shape", self.rows.shape)

    @property
    def largest_separation(self) -> float:
        """The largest ``separation`` for which a feasible point exists."""
        return float(self.difference @ self.farthest_point)

    @property
    def farthest_point(self) -> Vector:
        """The point of the box with the largest d.beta."""
        return np.where(self.difference > 0, self.upper, self.lower)

    @property
    def hard(self) -> bool:
        """Whether some rows are hard constraints."""
        return bool(np.isinf(self.costs.max(initial=0.0)))

    @property
    def infeasible(self) -> bool:
        """Whether no point of the box has d.beta >= separation."""
        return not self._reaches(self.farthest_point)

    @property
    def one_point(self) -> bool:
        """Whether ``separation`` leaves a single point of the box, the farthest."""
        return self.separation >= self.largest_separation * (1 - ONLY_POINT)

    def _reaches(self, beta: Vector) -> bool:
        """Whether d.beta >= separation, up to rounding."""
        rounding = ROUNDING * float(np.abs(self.difference) @ np.abs(beta))
        reach = float(self.difference @ beta)
        return reach >= self.separation - SEPARATION_FEASIBILITY * abs(self.separation) - rounding

    def feasible(self, beta: Vector) -> Vector:
        """Move a point into the box and, towards the farthest point, to d.beta >= separation."""
        beta = np.clip(beta, self.lower, self.upper)
        reach = float(self.difference @ beta)
        if reach >= self.separation:
            return beta
        # Scaling keeps the direction, so it is preferred where the box allows it.
        if reach > 0:
            scaled = beta * (self.separation / reach)
            if np.all(scaled >= self.lower) and np.all(scaled <= self.upper):
                return scaled
        # A coordinate with d_j = 0, up to rounding, stays: at the largest separation all others are
        # fixed.
        steep = np.abs(self.difference) > ROUNDING * np.abs(self.difference).max()
        vertex = np.where(steep, self.farthest_point, beta)
        length = (self.separation - reach) / max(float(self.difference @ vertex) - reach, 1e-300)
        return beta + min(length, 1.0) * (vertex - beta)

    def primal(self, beta: Vector, projected: Vector) -> float:
        """Return the objective of (P) or infinity; ``projected`` is ``rows.dot(beta)``."""
        if not self._reaches(beta):
            return np.inf
        violation = self.margin - projected
        np.maximum(violation, 0.0, out=violation)
        value = self.offset + float(self.linear @ beta)
        if not self.hard:
            return value + float(self.costs @ violation)
        hard = np.isinf(self.costs)
        # A hard row is met up to rounding; anything beyond is infeasible.
        slack = HARD_FEASIBILITY * (self.margin + float(np.max(np.abs(projected))))
        if np.any(violation[hard] > slack):
            return np.inf
        return value + float(self.costs[~hard] @ violation[~hard])

    def value(self, beta: Vector, loss: float) -> float:
        """Return the objective of (P), given the loss sum_i c_i (s - a_i.beta)_+."""
        if not self._reaches(beta):
            return np.inf
        return self.offset + float(self.linear @ beta) + loss

    def dual(self, alpha: Vector, t: float, combined: Vector) -> float:
        """Return the bound (D); ``combined`` is ``rows.tdot(alpha)``."""
        return self.bound(float(np.sum(alpha)), t, combined)

    def bound(self, total: float, t: float, combined: Vector) -> float:
        """Return the bound (D) from sum_i alpha_i and sum_i alpha_i a_i."""
        rest = self.linear - combined - t * self.difference
        return self.offset + self.margin * total + self.separation * t + self._box_minimum(rest)

    def materialize(self) -> Program:
        """Return the problem with its rows and costs in the form of an exact solve."""
        rows, costs = self.rows.materialize(), np.asarray(self.costs)
        unchanged = rows is self.rows and costs is self.costs
        return self if unchanged else replace(self, rows=rows, costs=costs)

    def best_t(self, combined: Vector, guess: float) -> float:
        """Return the t >= 0 with the largest (D) for a given ``rows.tdot(alpha)``.

        (D) is concave and piecewise linear in t, with a breakpoint where a coordinate of r changes
        sign.  Coordinates with d_j = 0, up to rounding, are left out: at their breakpoints (D)
        would be all rounding.
        """
        d = self.difference
        seen = np.abs(d) > ROUNDING * np.abs(d).max(initial=0.0)
        order = (self.linear[seen] - combined[seen]) / d[seen]
        order = np.sort(order[order > 0])
        base = self.linear - combined

        def slope(t: float) -> float:
            rest = base - t * d
            return self.separation - float(d @ np.where(rest > 0, self.lower, self.upper))

        # slope is decreasing in t: bisect over the sorted breakpoints.
        lo, hi = 0, len(order)
        while lo < hi:
            mid = (lo + hi) // 2
            if slope(float(order[mid]) * (1 + 1e-15) + 1e-300) > 0:
                lo = mid + 1
            else:
                hi = mid
        candidates = [0.0, max(guess, 0.0), *map(float, order[lo : lo + 1])]
        candidates += map(float, order[max(lo - 1, 0) : lo])
        values = [self.separation * t + self._box_minimum(base - t * d) for t in candidates]
        return candidates[int(np.argmax(values))]

    def corner_t(self, combined: Vector) -> float:
        """Return a t for which r leads to the farthest point, nearly flat columns aside.

        Those would need a t so large that its rounding exceeds all else.
        """
        steep = np.abs(self.difference) > 1e-4 * np.abs(self.difference).max()
        rest = self.linear - combined
        return float(np.max(np.abs(rest[steep] / self.difference[steep]), initial=0.0))

    def _box_minimum(self, r: Vector) -> float:
        """Return the minimum of r.beta over the box."""
        return float(np.minimum(self.lower * r, self.upper * r).sum())


@dataclass(frozen=True)
class Certificate:
    """A feasible point, a dual bound, and so a bound of the distance to the optimum.

    ``duality_gap_`` of an estimator is the largest ``relative_gap`` of its certificates.

    ``rounding`` bounds the floating-point error of both values and belongs to the gap.  ``unit`` is
    the size of an objective that counts as zero: one, or less where the data is of a smaller scale.
    """

    beta: Vector
    alpha: Vector
    t: float
    objective: float
    dual_objective: float
    rounding: float = 0.0
    unit: float = 1.0
    relative_gap: float = field(init=False)
    """The gap relative to the objective."""

    def __post_init__(self) -> None:
        value = relative_gap(self.gap, self.objective, self.unit)
        object.__setattr__(self, "relative_gap", value)

    @property
    def gap(self) -> float:
        """The duality gap, with its floating-point error."""
        return max(self.objective - self.dual_objective, 0.0) + self.rounding


def relative_gap(gap: float, objective: float, unit: float = 1.0) -> float:
    """Return gap / max(unit, |objective|); infinite where there is no feasible point."""
    return gap / max(unit, abs(objective)) if np.isfinite(objective) else np.inf


def certify(program: Program, beta: Vector, alpha: Vector, t: float) -> Certificate:
    """Certify a claimed solution from the problem alone: two products with the rows."""
    beta = program.feasible(np.asarray(beta, dtype=np.float64))
    alpha = np.maximum(alpha, 0.0)
    np.minimum(alpha, program.costs, out=alpha)
    combined = program.rows.tdot(alpha)
    objective = program.primal(beta, program.rows.dot(beta))
    t = max(t, 0.0)
    bound = program.dual(alpha, t, combined)
    # Another t would not reduce a smaller gap beyond rounding.
    if not objective - bound <= 1e-13 * max(1.0, abs(objective)):
        t = program.best_t(combined, t)
        bound = program.dual(alpha, t, combined)
    return Certificate(beta, alpha, t, objective, bound)


def better_sides(one: Certificate, other: Certificate) -> Certificate:
    """Return the point of the lower objective with the higher of two bounds."""
    lower = min(one, other, key=lambda side: side.objective)
    higher = max(one, other, key=lambda side: side.dual_objective)
    return replace(higher, beta=lower.beta, objective=lower.objective)


def difference_of(centers: Matrix, spread: Vector | float = 0.0) -> Vector:
    """Return d of two centers, zero where they agree up to rounding.

    A constant column has rows of zeros; with a d_j of one rounding it would still take part in
    d.beta >= separation, and in bases that are singular but for that digit.  Where both centers are
    about zero, the range of a column bounds the rounding of its sums.
    """
    d = np.asarray(centers[1] - centers[0])
    d[np.abs(d) <= 2.0**-49 * np.maximum(np.abs(centers[0]), spread)] = 0.0
    return d


def lcc_program(rows: Rows, difference: Vector, costs: Vector, margin: float) -> Program:
    """Return equation LCC of the paper as a problem."""
    n = rows.shape[1]
    # With hard rows the paper's constant is infinite; it is left out.
    offset = -margin * float(costs.sum())
    return Program(
        rows=rows,
        costs=costs,
        margin=margin,
        linear=-difference,
        difference=difference,
        separation=margin,
        lower=-np.ones(n),
        upper=np.ones(n),
        offset=offset if np.isfinite(offset) else 0.0,
    )
