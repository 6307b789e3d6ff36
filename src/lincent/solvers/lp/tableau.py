"""The simplex tableau of the centralization program: from a point near the optimum to the vertex.

Everything in (P) that can bend or stop a line is a hinge: the rows, the two sides of the box and
the separation, e_i = (a_i; unit_j; -unit_j; d) with right-hand sides h_i = (s; lo_j; -hi_j; sep).
Beyond its right-hand side a row costs c_i per unit and a constraint costs a penalty that is larger
than any dual weight it can have, so (P) is

    minimize over beta    g.beta + sum_i c_i (h_i - e_i.beta)_+

A vertex is where n independent hinges, the basis B, are active.  With the residuals of the basis as
coordinates, every hinge and the objective are affine; the tableau

    T = [ E inv(B)   E beta - h ]          the hinges that are not active
        [ lambda     objective  ]          lambda = (g - sum_{i violated} c_i e_i) inv(B)

has them as rows.  The vertex is optimal when 0 <= lambda_k <= c_k for every k of the basis: lambda
are the dual weights.  Otherwise hinge k leaves, upwards or downwards, and the objective falls until
enough other breakpoints have been passed (the slope grows by c_i |rate_i| at each); the hinge at
which it stops falling enters (the long-step rule of Barrodale and Roberts 1973).  A pivot is one
rank-one change of T.

The first basis is the one an interior point suggests (crossover; Megiddo 1991): the rows of E,
weighted by how close each hinge is to active there, are eliminated with row pivoting, and the first
n pivots are n independent hinges that are likely to be in the optimal basis.

Right-hand sides are perturbed by a part in 1e9, so that no two rows tie: ties could make the pivots
cycle.  A basis that is optimal with these is optimal without them, since the dual weights do not
depend on h.

Collinear and constant features leave directions in which nothing changes, and a vertex lies where
they meet the box: at a coefficient of 1 for a feature without information.  There the dual weight
of the box is zero.  Such sides are released, and the answer is the point nearest to the start that
meets the other equations.
"""

from __future__ import annotations

from functools import lru_cache

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import blas, lapack

from lincent.problems.arrays import Certificate, Matrix, Vector
from lincent.problems.centralization import Program, certify
from lincent.problems.double_double import pair, product_sums
from lincent.solvers.lp.vertex import to_vertex

PERTURBATION = 1e-9
"""Of right-hand sides, relative to the mean distance: less lets ties cycle."""
PENALTY = 1e3
"""Times the largest dual weight that a side of the box can have."""
OPTIMAL, EXACT = 1e-11, 3e-18
"""Fraction of a cost by which a dual weight may be out of its range; and where that leaves a gap, a
dozen rounding errors of a side's weight."""
CLOSED = 1e-10
"""Relative gap up to which the point nearest to the start is as good as the vertex."""
NEAREST = 64
"""Breakpoints that are sorted first; seldom are more passed."""


def crossover(
    program: Program, start: Vector, weight: Vector, most: int, unit: Vector | None = None
) -> Certificate | None:
    """Return the certified optimal vertex, or None if ``most`` pivots do not reach it.

    ``weight`` has one positive number for each row, lower side, upper side and d, the larger the
    likelier it is active; ``unit`` is the scale of the features where it is known.
    """
    tableau = Tableau(program, weight, unit)
    if not tableau.usable:
        return None
    n = program.shape[1]
    best: Certificate | None = None
    while tableau.descend(most - tableau.pivots):
        answer = tableau.certificate(start)
        if best is None or answer.gap < best.gap:
            best = answer
        if best.relative_gap <= CLOSED:
            return best
        if not tableau.tighten():
            if tableau.by_exact_weights(2 * n):
                answer = tableau.certificate(start)
                best = answer if answer.gap < best.gap else best
            return best
    return best


class Tableau:
    """The hinges and the objective, as seen from a vertex."""

    def __init__(self, program: Program, weight: Vector, unit: Vector | None = None) -> None:
        m, n = program.shape
        rows, d = program.rows.dense(), program.difference
        # The sides of the box in the scale of the rows, so that rates can be compared.
        unit = program.rows.column_scale() if unit is None else unit
        side = PENALTY * (np.abs(program.linear) + program.costs @ np.abs(rows)) / unit
        total = float(side.sum()) / max(float(np.abs(d / unit).max()), 1e-300)
        self.costs = np.concatenate([program.costs, side, side, [total]])
        self.hinges = np.zeros((m + 2 * n + 1, n), order="F")
        self.hinges[:m] = rows
        column = np.arange(n)
        self.hinges[m + column, column] = unit
        self.hinges[m + n + column, column] = -unit
        self.hinges[-1] = d
        self.limits = np.empty(m + 2 * n + 1)
        self.limits[m : m + n] = unit * program.lower
        self.limits[m + n : -1] = -unit * program.upper
        self._set_limits(program)
        self.pivots, self.stuck, self.tolerance = 0, False, OPTIMAL
        self.formed = 0  # pivots that were made when the tableau was formed
        weight = np.sqrt(weight)
        weight[m:-1].reshape(2, n)[:] /= unit
        self.basis = independent_rows(self.hinges * weight[:, None])
        self.usable = self._form()

    def _set_limits(self, program: Program) -> None:
        self.program = program
        self.limits[: program.shape[0]] = program.margin
        self.limits[-1] = program.separation

    def _form(self) -> bool:
        """Form the tableau at the vertex of the basis; False where the basis is singular."""
        hinges, basis, self.formed = self.hinges, self.basis, self.pivots
        count, n = hinges.shape
        factor, pivots, info = lapack.dgetrf(hinges[basis])
        if info != 0:
            return False
        self.T = np.empty((count + 1, n + 1), order="F")
        np.matmul(hinges, lapack.dgetri(factor, pivots)[0], out=self.T[:-1, :n])
        self.T[basis, :n] = 0.0
        self.T[basis, np.arange(n)] = 1.0
        return self._set_vertex()

    def aim(self, program: Program, *, fresh: bool) -> bool:
        """Move to the vertex that the basis has in a program of another margin.

        Rates do not depend on right-hand sides, so they stay; ``fresh`` recomputes them, without
        the rounding of the pivots that were made.
        """
        self._set_limits(program)
        return self._form() if fresh else self._set_vertex()

    def _set_vertex(self) -> bool:
        """Compute the residuals of all hinges at the vertex, and the slopes of the objective."""
        program, T, basis = self.program, self.T, self.basis
        m, n = program.shape
        limits = self.limits.copy()
        beyond = T[:m, :n] @ limits[basis] - program.margin
        # The perturbations of the hinges in the basis move the vertex.
        self.perturbation = PERTURBATION * float(np.abs(beyond).sum()) / m
        limits[:m] -= self.perturbation * _scattered(m)
        T[:-1, n] = T[:-1, :n] @ limits[basis] - limits
        T[basis, n] = 0.0
        self.side = np.where(T[:-1, n] < 0, -1.0, 1.0)
        # The lower sides of the box are hinges: they have the inverse of the basis, and the vertex.
        per_unit = program.linear / self.hinges[m : m + n].diagonal()
        T[-1] = per_unit @ T[m : m + n]
        T[-1, n] += float(per_unit @ limits[m : m + n])
        T[-1] -= np.where(self.side < 0, self.costs, 0.0) @ T[:-1]
        return bool(np.isfinite(T[-1]).all())

    def descend(self, most: int) -> bool:
        """Pivot until the vertex is optimal; False if that takes more than ``most`` pivots."""
        T, costs, basis, side = self.T, self.costs, self.basis, self.side
        n = T.shape[1] - 1
        multiplier, cost, columns = T[-1, :n], costs[basis], T[:-1, :n]
        squares = np.einsum("ij,ij->j", columns, columns)
        for _ in range(most + 1):
            wrong = np.maximum(-multiplier, multiplier - cost)
            wrong -= self.tolerance * cost
            # Steepest edge: the objective falls most per length.
            k = int((wrong / np.sqrt(squares)).argmax())
            if not wrong[k] > 0.0:
                return True
            leaving, upwards, column = basis[k], multiplier[k] < 0, T[:, k].copy()
            side[leaving] = 1.0 if upwards else -1.0
            rate = side * column[:-1]
            if upwards:
                np.negative(rate, out=rate)
            entering = self._pass_breakpoints(rate, -float(wrong[k]))
            if entering < 0:
                self.stuck = True
                return False
            if not upwards:
                T[-1, k] -= cost[k]
            if side[entering] < 0:
                T[-1] += costs[entering] * T[entering]
            change = T[entering].copy()
            change[k] -= 1.0
            change /= T[entering, k]
            turn = change[:n]
            product = column[:-1] @ columns
            squares += turn * (turn * product[k] - 2.0 * product)
            np.maximum(squares, 1.0 + turn * turn, out=squares)  # rounding
            squares[k] = product[k] / T[entering, k] ** 2
            column[-1] = T[-1, k]
            # In place: T is in the order of columns.
            blas.dger(-1.0, column, change, a=T, overwrite_a=1)
            basis[k], cost[k] = entering, costs[entering]
            self.pivots += 1
            self._pivoted()
        return False

    def tighten(self) -> bool:
        """Require dual weights as exact as rounding permits; False where they already are.

        Where margins are small, dual weights are millions of times the objective, and the fraction
        of one that is usually tolerated is a gap.  The tableau is recomputed, without the rounding
        of the pivots that were made.
        """
        if self.tolerance == EXACT and self.pivots == self.formed:
            return False
        self.tolerance = EXACT
        return self._form()

    def by_exact_weights(self, most: int) -> bool:
        """Pivot by dual weights with twice the digits; return whether the vertex has changed.

        Of features that are equal up to rounding, the last digits of a sum decide which is at the
        box, and on which side.
        """
        before, self.tolerance = self.pivots, 0.0
        for _ in range(most):
            self._set_exact_weights()
            if self.descend(0) or self.stuck:
                break
        return self.pivots > before

    def _set_exact_weights(self) -> None:
        program, basis = self.program, self.basis
        m, n = program.shape
        beyond = (self.side[:m] < 0).nonzero()[0]
        beyond = beyond[~np.isin(beyond, basis)]
        rows, costs = program.rows.dense()[beyond], program.costs[beyond]
        rest = pair(program.linear) + product_sums(rows, costs[:, None], axis=0).times(-1.0)
        hinges = self.hinges[basis]
        factor, pivots, _ = lapack.dgetrf(hinges)
        first = lapack.dgetrs(factor, pivots, rest.value, trans=1)[0]
        left = rest + product_sums(hinges, first[:, None], axis=0).times(-1.0)
        self.T[-1, :n] = first + lapack.dgetrs(factor, pivots, left.value, trans=1)[0]

    def _pivoted(self) -> None:
        """Update an objective that depends on the vertex (``solvers.ramp``); here it does not."""

    def _pass_breakpoints(self, rate: Vector, slope: float) -> int:
        """Pass breakpoints while the objective falls; return the entering hinge, or -1."""
        T, side, costs = self.T, self.side, self.costs
        ahead = (rate > 1e-9 * rate[rate.argmax()]).nonzero()[0]  # slower ones divide by rounding
        rate = rate.take(ahead)
        when = side.take(ahead)
        when *= T[:-1, -1].take(ahead)
        when /= rate
        rate *= costs.take(ahead)
        if len(ahead) > 4 * NEAREST:
            first = (when <= np.partition(when, NEAREST)[NEAREST]).nonzero()[0]
            if slope + rate[first].sum() >= 0:
                ahead, when, rate = ahead[first], when[first], rate[first]
        order = when.argsort()
        place = int(rate.take(order).cumsum().searchsorted(-slope))
        if place == len(order):
            return -1
        passed = ahead.take(order[:place])
        if place:
            turned = side.take(passed)
            T[-1] -= (turned * costs.take(passed)) @ T[passed]
            side[passed] = -turned
        return int(ahead[order[place]])

    def certificate(self, start: Vector) -> Certificate:
        """Return the vertex certified on (P) itself, without penalty and perturbation."""
        program, basis = self.program, self.basis
        m, n = program.shape
        factor, pivots, _ = lapack.dgetrf(self.hinges[basis])
        beta = lapack.dgetrs(factor, pivots, self.limits[basis])[0]
        alpha = np.where(self.side[:m] < 0, program.costs, 0.0)
        rows = basis[basis < m]
        alpha[rows] = 0.0
        rest = program.linear - program.rows.tdot(alpha)
        multiplier = lapack.dgetrs(factor, pivots, rest, trans=1)[0]
        alpha[rows] = multiplier[basis < m]
        t = max(float(multiplier[basis == m + 2 * n].sum()), 0.0)
        sides = (basis >= m) & (basis < m + 2 * n)
        return self._certify(start, (beta, alpha, t), basis[sides] - m, multiplier[sides])

    def _certify(
        self,
        start: Vector,
        point: tuple[Vector, Vector, float],
        at: NDArray[np.intp],
        multiplier: Vector,
    ) -> Certificate:
        """Return the vertex, or the point nearest to the start without sides of zero weight."""
        program, (beta, alpha, t) = self.program, point
        if len(at) == 0:
            return certify(program, beta, alpha, t)
        m, n = program.shape
        column = at % n
        # Exactly: a solve beside rows of a larger scale leaves a digit or two.
        beta[column] = np.where(at < n, program.lower[column], program.upper[column])
        largest = self.costs[m : m + n] / PENALTY  # dual weight that a side can have
        width = -self.limits[m : m + n] - self.limits[m + n : -1]
        # A feature that can change less than 1e-13 of the objective has no say.
        mute = largest * width <= 1e-13 * program.margin * float(program.costs.sum())
        held = column[(multiplier > 1e-9 * largest[column]) & ~mute[column]]
        if len(held) == len(column):
            return certify(program, beta, alpha, t)
        near, free, active = start.copy(), ~mute, np.zeros(m, dtype=bool)
        near[held] = beta[held]
        free[held], active[self.basis[self.basis < m]] = False, True
        met = bool((self.basis == m + 2 * n).any())
        nearest = to_vertex(program, near, alpha, t, active, free, met)
        if nearest is not None and nearest.relative_gap > CLOSED:
            # The way from the start was long: its rounding is a gap if the point is small.
            nearest = to_vertex(program, nearest.beta, nearest.alpha, nearest.t, active, free, met)
        if nearest is not None and nearest.relative_gap <= CLOSED:
            return nearest
        # A row was passed on the way to the nearest point, beyond which the vertex is not optimal.
        # Objectives show that also where rounding of dual weights is most of both gaps.
        vertex = certify(program, beta, alpha, t)
        if nearest is None or vertex.gap < nearest.gap:
            return vertex
        worse = nearest.objective - vertex.objective
        return vertex if worse > CLOSED * max(1.0, abs(vertex.objective)) else nearest


@lru_cache(maxsize=16)
def _scattered(m: int) -> Vector:
    """Return m different numbers between 0 and 1, neighbors far apart (golden ratio)."""
    numbers = np.asarray(np.arange(1, m + 1) * 0.6180339887498949 % 1.0, dtype=np.float64)
    numbers.flags.writeable = False
    return numbers


def independent_rows(weighted: Matrix) -> NDArray[np.intp]:
    """Return n independent rows, heavy ones first: the pivots of an elimination."""
    n = weighted.shape[1]
    if n == 0:
        return np.empty(0, dtype=np.intp)
    _, pivots, _ = lapack.dgetrf(np.asfortranarray(weighted), overwrite_a=1)
    order = np.arange(len(weighted))
    for i, p in enumerate(pivots[:n].tolist()):
        order[i], order[p] = order[p], order[i]
    return order[:n].copy()
