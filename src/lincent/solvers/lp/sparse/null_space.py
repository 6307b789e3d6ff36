"""From identified hinges to the exact optimum: the dual in the null space of a working set.

Once the hinges near their breakpoints are identified, the others have their dual weights at a
bound.  The working set M (see ``hinges``) has a few more hinges than columns, so the weights x that
meet the dual's equation  M'x = g - (the others)  are

    x = x0 + N w,        N a basis of the null space of M',    k = hinges - rank of M variables w,

and the dual restricted to M is a linear program in k variables with two-sided bounds,

    maximize over w    q.w      subject to    low <= N w <= high                           (W)

Pivots (``Vertex``) lead to its optimal vertex, from the one whose bounds the identified weights are
nearest to; this is the null-space active-set method of Fletcher (*Practical Methods of
Optimization*, 1987, chapters 8 and 10).  The multipliers p of (W) say by how much each hinge is off
its breakpoint, M beta = h + p, which gives beta.  Then all rows are checked.  A misplaced hinge a_i
(its weight at the wrong bound) joins with one column,  -M inv(M'M) a_i  and 1 for itself, and needs
no new factorization.

Costs: one factorization of order n, one solve with it per variable, and the small programs.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.linalg import lapack

from lincent.problems.arrays import Index, Matrix, Vector
from lincent.problems.centralization import Certificate
from lincent.solvers.cholesky import NotPositiveDefiniteError
from lincent.solvers.lp.simplex import independent_rows
from lincent.solvers.lp.sparse.hinges import Hinges, WorkingSet
from lincent.solvers.solution import Controls, Solution, Status

ROUNDS = 25


@dataclass(frozen=True)
class FaceStart:
    """Hinges near their breakpoints, a dual weight for every hinge, and the best certificate."""

    chosen: Index
    dual: Vector
    """Outside the chosen hinges every dual weight is at a bound."""
    best: Certificate
    steps: int
    distance: Vector | None = None
    """How far each chosen hinge is from active, where the farthest may be dropped."""
    origin: Vector | float = 0.0
    """A point near the optimum."""


def nearest_hinges(
    distance: Vector, count: int, dual: Vector, costs: Vector, best: Certificate, steps: int
) -> FaceStart:
    """Return so many hinges of (P) nearest to active, and the separation.

    The ``dual`` weights of the others become zero, or the cost of a row that is nearer to it.
    """
    chosen = np.sort(np.argpartition(distance, count - 1)[:count])
    bounds = np.zeros(len(dual))
    bounds[: len(costs)] = np.where(dual[: len(costs)] > costs / 2, costs, 0.0)
    chosen, distance = np.append(chosen, len(distance)), np.append(distance[chosen], -np.inf)
    bounds[chosen] = dual[chosen]
    return FaceStart(chosen, bounds, best, steps, distance, best.beta)


def finish(
    hinges: Hinges, start: FaceStart, controls: Controls, most_joining: float = 3.0
) -> Solution:
    """Return the certified vertex that the start is near.

    ``most_joining``: misplaced hinges of all rounds, in first variables, beyond which the start was
    not near.
    """
    try:
        rounds = _Rounds(hinges, start)
    except NotPositiveDefiniteError:
        return Solution(Status.STALLED, start.best, start.steps, "")
    best, status, joined = start.best, Status.STALLED, 0
    for number in range(ROUNDS):
        answer = rounds.solve(controls)
        best = min(best, answer, key=lambda point: point.relative_gap)
        joining = rounds.misplaced()
        controls.reached(
            f"null space, round {number + 1}", best.objective, best.relative_gap,
            f"  {rounds.steps} steps, {len(joining)} misplaced",
        )  # fmt: skip
        if best.relative_gap <= controls.tol:
            status = Status.OPTIMAL
            break
        if controls.out_of_time():
            status = Status.TIME_LIMIT
            break
        joined += len(joining)
        if not rounds.optimal or joined > most_joining * rounds.spare:
            break  # not near the optimum: other solvers are faster from here
        if len(joining):
            rounds.join(joining)
        elif hinges.lacking or not rounds.refine_more():
            break
    return Solution(status, best, start.steps + rounds.steps, "")


class _Rounds:
    """The null-space program and its rounds."""

    def __init__(self, hinges: Hinges, start: FaceStart) -> None:
        self.hinges, self.refinements = hinges, 1  # steps of iterative refinement
        self.index, self.dual = start.chosen, start.dual / hinges.scale
        self.base = hinges.working(self.index)
        nullity, spare = _nullity(self.base), max(self.base.shape[0] - self.base.shape[1], 0)
        if start.distance is not None and nullity > 2 * spare + 16:
            # Features depend on each other: fewer hinges make a vertex.
            count = len(start.chosen) - (nullity - spare)
            kept = start.distance <= np.partition(start.distance, count - 1)[count - 1]
            self.index, dropped = start.chosen[kept], start.chosen[~kept]
            top = hinges.top[dropped]
            self.dual[dropped] = np.where(self.dual[dropped] > top / 2, top, 0.0)
            self.base, nullity = hinges.working(self.index), 0
        self.origin = np.zeros(self.base.shape[1]) + start.origin
        self._refine()
        self.steps = 0
        N = _null_space(self.base, nullity)
        self.spare = N.shape[1]
        now, top, at = self.dual[self.index], hinges.top[self.index], hinges.at[self.index]
        typical = float(np.median(np.where(np.isfinite(top), top, 1.0)))
        inside = np.maximum(np.minimum(now, top - now), 0.0)
        unit = float(np.abs(at).max()) or 1.0
        self.vertex = Vertex(N, now, top, at, 1.0 / (inside + 1e-9 * typical), unit)

    def _refine(self) -> None:
        """Correct the dual weights of the working set to meet the dual's equation."""
        for _ in range(self.refinements):
            rest = self.hinges.rest(self.dual)
            self.dual[self.index[: self.base.shape[0]]] += self.base.dot(self.base.solve(rest))

    def solve(self, controls: Controls) -> Certificate:
        """Return the optimal vertex of the working set, certified over all rows."""
        vertex = self.vertex
        before = vertex.pivots
        self.optimal = vertex.descend(5 * vertex.N.shape[1], controls)
        vertex.refresh()
        self.steps += vertex.pivots - before
        self._settle()
        self.dual = np.clip(self.dual, 0.0, self.hinges.top)
        self.point = self._point()
        return self.hinges.certify(self.point, self.dual)

    def _settle(self) -> None:
        """Refine the dual weights twice, each time with those of the vertex back at their bounds.

        Refinement distributes its correction over the whole working set; what it takes from a
        bound would be lost when the weights are clipped.
        """
        vertex = self.vertex
        self.dual[self.index] = vertex.value
        for _ in range(2):  # a third correction is of the order of rounding
            self._refine()
            vertex.value = self.dual[self.index]
            vertex.settle()
            self.dual[self.index] = vertex.value

    def _point(self) -> Vector:
        """Return the point at which all working hinges outside E are active, and near the start.

        Each correction takes the residuals of E that make those of all hinges an image M delta, so
        that errors of N do not add up.  A direction that no hinge depends on keeps its start.
        """
        base, point = self.base, self.origin
        for _ in range(1 + self.refinements):
            rest = -self.hinges.beyond(point)[self.index]
            rest += self.vertex.multipliers(rest)
            point = point + base.solve(base.tdot(rest[: base.shape[0]]))
        return point

    def misplaced(self) -> Index:
        """Return hinges outside whose dual weight is at the wrong bound, the worst first."""
        beyond = self.hinges.beyond(self.point)
        at_top = self.dual > self.hinges.top / 2
        wrong = np.where(at_top, beyond, -beyond)
        wrong[self.index] = 0.0
        bad = np.flatnonzero(wrong > 0.0)
        return bad[np.argsort(-wrong[bad])]

    def refine_more(self) -> bool:
        """Refine more often: only digits are missing.  False after the most."""
        self.refinements += 2
        return self.refinements <= 8

    def join(self, joining: Index) -> None:
        """Add misplaced hinges to the working set, without a new factorization."""
        base, hinges = self.base, self.hinges
        columns = np.zeros((len(self.index), len(joining)))
        columns[: base.shape[0]] = -base.dot(base.solve(hinges.columns(joining)))
        at_bound = self.dual[joining], hinges.top[joining], hinges.at[joining]
        self.vertex.join(columns, *at_bound)
        self.index = np.concatenate([self.index, joining])


def _project(base: WorkingSet, N: Matrix) -> None:
    """Project columns onto the null space of M', some at a time: products of all are large."""
    for start in range(0, N.shape[1], 64):
        part = N[:, start : start + 64]
        part -= base.dot(base.solve(base.tdot(part)))


def _nullity(base: WorkingSet) -> int:
    """Estimate the dimension of the null space of M' from projections of eight random vectors."""
    N = np.random.default_rng(base.shape[0]).standard_normal((base.shape[0], 8))
    _project(base, N)
    return int(np.square(N).sum() / 8)


def _null_space(base: WorkingSet, expected: int = 0) -> Matrix:
    """Return an orthonormal basis of the null space of M': random vectors, projected."""
    count, n = base.shape
    expected = max(expected, count - n, 0)
    rng = np.random.default_rng(count)
    while True:
        drawn = min(expected + int(np.sqrt(expected)) + 8, count)  # more, to see all of it
        N = rng.standard_normal((count, drawn))
        _project(base, N)
        N, tau, _, _ = lapack.dgeqrf(np.asfortranarray(N), overwrite_a=1)
        left = np.abs(N.diagonal())
        kept = int(np.count_nonzero(left > 1e-4 * np.sqrt(count)))
        if kept < drawn or drawn == count:
            break
        expected = 2 * drawn
    if kept == 0:
        return np.zeros((count, 0))
    basis = lapack.dorgqr(N[:, :kept], tau[:kept], overwrite_a=1)[0]
    some = basis @ rng.standard_normal(kept)
    if float(np.abs(base.tdot(some)).max()) > 1e-9 * float(np.abs(base.tdot(np.abs(some))).max()):
        # Once more, against what an ill-conditioned normal matrix has left in it.
        _project(base, basis)
    return np.ascontiguousarray(basis)


PRICE = 1e4
"""Penalty of a violated bound in units of the largest multiplier: exact if above one."""
REFRESH = 100
"""Pivots after which inv(N_E) is recomputed."""


class Vertex:
    """A vertex of (W), improved by pivots; rows and variables may be added.

    With its bounds as hinges of a large price (W) is

        minimize  -q.w + sum_i price (low_i - v_i)_+ + price (v_i - high_i)_+,    v = v0 + N w

    and at a vertex k independent rows, the basis E, are at a bound.  With the subgradient

        G = -q + price (sum of N_i over the rows above high - the same over those below low)

    of all other rows, the vertex is optimal if  y = -inv(N_E') G  lies in [-price, 0] for rows at
    ``low`` and in [0, price] for rows at ``high``.  Otherwise a row leaves its bound: its column
    of inv(N_E) is the direction, v passes other bounds while the objective falls, and the row at
    which it stops falling enters.  A pivot costs one product with N and a rank-one change of
    inv(N_E).  A vertex need not be feasible, so any basis is a start.

    ``value`` is v now, between 0 and ``high``; ``gain`` are the prices of v in q = N'gain;
    ``held`` says how firmly each row is at a bound, and the firmest independent rows are the first
    basis; ``unit`` is the size of a multiplier.
    """

    def __init__(
        self, N: Matrix, value: Vector, high: Vector, gain: Vector, held: Vector, unit: float
    ) -> None:
        self.N, self.value, self.high, self.gain = N, value.copy(), high, gain
        self.unit = unit
        self.E: Index = independent_rows(N * held[:, None])
        self.q = N.T @ gain
        self.at_high = value > high / 2
        self.pivots = 0
        self.refresh()

    def refresh(self) -> bool:
        """Recompute inv(N_E) and put the rows of E at their bounds with it."""
        if len(self.E) == 0:
            self.inverse = np.zeros((0, 0))
            return True
        factor, pivots, failed = lapack.dgetrf(self.N[self.E])
        if failed:
            return False
        self.inverse = np.ascontiguousarray(lapack.dgetri(factor, pivots)[0])
        self.settle()
        return True

    def settle(self) -> None:
        """Put the rows of E exactly at their bounds."""
        wanted = np.where(self.at_high[self.E], self.high[self.E], 0.0)
        self.value += self.N @ (self.inverse @ (wanted - self.value[self.E]))
        self.value[self.E] = wanted

    def join(self, columns: Matrix, value: Vector, high: Vector, gain: Vector) -> None:
        """Add rows at a bound, with a new variable each; ``columns`` are their effects."""
        have, k = self.N.shape
        count = len(value)
        N = np.zeros((have + count, k + count))
        N[:have, :k], N[:have, k:] = self.N, columns
        N[have:, k:] = np.eye(count)
        inverse = np.zeros((k + count, k + count))
        inverse[:k, :k] = self.inverse
        inverse[:k, k:] = -self.inverse @ columns[self.E]
        inverse[k:, k:] = np.eye(count)
        self.N, self.inverse = N, inverse
        self.E = np.concatenate([self.E, have + np.arange(count)])
        self.at_high = np.concatenate([self.at_high, value > high / 2])
        self.value = np.concatenate([self.value, value])
        self.high = np.concatenate([self.high, high])
        self.q = np.concatenate([self.q, self.gain @ columns + gain])
        self.gain = np.concatenate([self.gain, gain])

    def multipliers(self, gain: Vector | None = None) -> Vector:
        """Return p with N'(gain + p) = 0, zero off E: of the gain of (W), its multipliers."""
        p = np.zeros(len(self.N))
        p[self.E] = -(self.inverse.T @ (self.q if gain is None else gain @ self.N))
        return p

    @np.errstate(over="ignore", invalid="ignore")  # a singular basis ends the pivots
    def descend(self, most: int, controls: Controls) -> bool:
        """Pivot until the vertex is optimal; False if it takes more than ``most`` pivots."""
        # Bounds are moved apart by up to 1e-10 of their width, so that no two tie.
        slack = 1e-10 * np.where(np.isfinite(self.high), self.high, 1.0)
        slack = slack * (np.arange(1, len(slack) + 1) * 0.6180339887498949 % 1.0)
        unit, price = self.unit, PRICE * self.unit
        G, outside = self._subgradient(price, slack)
        for count in range(most):
            y = -(self.inverse.T @ G)
            if not np.isfinite(y).all():
                return False
            at_high = self.at_high[self.E]
            wrong = np.where(at_high, np.maximum(-y, y - price), np.maximum(y, -y - price))
            length = np.einsum("ij,ij->j", self.inverse, self.inverse)
            steep = np.where(wrong > 1e-10 * unit, wrong / np.sqrt(length), 0.0)
            worst = int(steep.argmax()) if len(steep) else 0
            if not steep.any():
                return True
            if count % 16 == 15 and controls.out_of_time():
                return False
            # y beyond the price: further out; y of the wrong sign: inwards.
            inward = bool(y[worst] < 0) == bool(at_high[worst])
            up = bool(at_high[worst]) != inward
            direction = self.inverse[:, worst] if up else -self.inverse[:, worst]
            move = self.N @ direction
            leaving = int(self.E[worst])
            if not inward:
                outside[leaving] = 1.0 if up else -1.0  # beyond its bound already
            passed = self._follow(move, -float(wrong[worst]), price, slack, outside)
            if passed is None:
                return False
            length, entering, bound_high = passed
            self.value += length * move
            self.pivots += 1
            if entering == leaving:  # it reaches its own other bound first
                self.at_high[leaving] = bound_high
            else:
                self._replace(worst, entering, bound_high)
            if self.pivots % REFRESH == 0 and not self.refresh():
                return False
            G, outside = self._subgradient(price, slack)
        return False

    def _subgradient(self, price: float, slack: Vector) -> tuple[Vector, Vector]:
        """Return G, and for each row -1 below its range, 1 above it, 0 inside or in E."""
        outside = np.where(self.value < -slack, -1.0, 0.0)
        outside[self.value > self.high + slack] = 1.0
        outside[self.E] = 0.0
        beyond = np.flatnonzero(outside)
        return price * (outside[beyond] @ self.N[beyond]) - self.q, outside

    def _follow(
        self, move: Vector, slope: float, price: float, slack: Vector, outside: Vector
    ) -> tuple[float, int, bool] | None:
        """Return how far to go, the row that enters, and whether at its upper bound."""
        free = np.abs(move) > 1e-11 * float(np.abs(move).max())
        rising, falling = free & (move > 0), free & (move < 0)
        # Each row has a breakpoint at low and at high; going up it meets low (if below), then high.
        parts = []
        for rows, bound, top in (
            (rising & (outside < 0), -slack, False),
            (rising & (outside <= 0) & np.isfinite(self.high), self.high + slack, True),
            (falling & (outside > 0), self.high + slack, True),
            (falling & (outside >= 0), -slack, False),
        ):
            index = np.flatnonzero(rows)
            when = (bound[index] - self.value[index]) / move[index]
            parts.append((index, np.maximum(when, 0.0), np.full(len(index), top)))
        index = np.concatenate([part[0] for part in parts])
        when = np.concatenate([part[1] for part in parts])
        is_high = np.concatenate([part[2] for part in parts])
        order = np.argsort(when)
        rises = np.cumsum(price * np.abs(move[index[order]]))
        place = int(np.searchsorted(rises, -slope))
        if place == len(order):
            return None
        chosen = order[place]
        return float(when[chosen]), int(index[chosen]), bool(is_high[chosen])

    def _replace(self, position: int, entering: int, at_high: bool) -> None:
        """Let a row enter E at a position: a rank-one change of the inverse."""
        self.E[position] = entering
        self.at_high[entering] = at_high
        change = self.N[entering] @ self.inverse
        pivot = change[position]
        change[position] -= 1.0
        self.inverse -= np.outer(self.inverse[:, position], change / pivot)
