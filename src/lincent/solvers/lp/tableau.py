"""From a point near the optimum to the optimal vertex, by exchanging one equation at a time.

Everything in (P) that can bend or stop a line is a hinge: the rows, the two sides of the box and
the separation, e_i = (a_i; unit_j; -unit_j; d) with right-hand sides h_i = (s; lo_j; -hi_j; sep).
Beyond its right-hand side a row costs c_i per unit and a constraint costs a penalty that is larger
than any multiplier it can have, so (P) is

    minimize over beta    g.beta + sum_i c_i (h_i - e_i.beta)_+

A vertex is where n independent hinges, the basis B, are met with equality.  With the residuals of
the basis as coordinates, every hinge and the objective are affine; the tableau

    T = [ E inv(B)   E beta - h ]          the hinges that are not met with equality
        [ lambda     objective  ]          lambda = (g - sum_{i beyond} c_i e_i) inv(B)

has them as rows.  The vertex is optimal when 0 <= lambda_k <= c_k for every k of the basis: lambda
are the multipliers.  Otherwise hinge k leaves, upwards or downwards, and the objective falls until
enough other hinges have been passed (the slope grows by c_i |rate_i| at each); the one at which it
stops falling enters.  That is one rank-one change of T.

The first basis is the one an interior point suggests: the rows of E, weighted by how stiff each
hinge is there, are eliminated with row pivoting, and the first n pivots are n independent hinges
that are likely to be in the optimal basis.  Three or four interior-point steps leave a few
exchanges, each of which costs a fraction of such a step when the problem is small.

Right-hand sides are spread by a part in 1e9, so that no two rows bend at the same place: ties
could make the exchanges go round in circles.  A basis that is optimal with these is optimal without
them, since the multipliers do not depend on h.  Where hundreds of rows meet (one-hot columns), the
point is soon right, and exchanges would still go through the order of that spread; multipliers of
all that meet are then looked for at once, as A'alpha = rest with 0 <= alpha <= c.

Collinear and constant columns leave directions in which nothing changes, and a vertex lies where
they meet the box: at a coefficient of 1 for a column that says nothing.  There the multiplier of
the box is zero.  Such sides are let go, and the answer is the point nearest to where the exchanges
began that meets the other equations.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import blas, lapack

from lincent.problems.arrays import Certificate, Matrix, Vector
from lincent.problems.centralization import Program, certify
from lincent.problems.double_double import pair, product_sums
from lincent.solvers.lp.vertex import fitting, to_vertex

GOLDEN = 0.6180339887498949


@dataclass(frozen=True)
class Tuning:
    """What the exchanges trade; measured on 10,000 degenerate programs."""

    spread: float = 1e-9  # of right-hand sides: less lets ties cycle, more moves the vertex
    penalty: float = 1e3  # times the most that a column can pull: above any multiplier
    optimal: float = 1e-11  # of a cost by which a multiplier may be beyond it, and
    exact: float = 3e-18  # where that leaves a gap: a dozen roundings of a side's pull
    nothing: float = 1e-13  # of the objective: a column that can change no more is mute
    loose: float = 1e-9  # of a column's pull below which a side of the box holds nothing
    tiny_rate: float = 1e-9  # of the largest: a slower hinge would divide by rounding
    closed: float = 1e-10  # relative gap up to which the point nearest to the start is as good
    many_ties: int = 2  # per column: before the first exchange only so many are worth a look
    tied: float = 100.0  # times the spread: rows nearer to the kink than that are on it
    between_ties: int = 8  # exchanges, beside one for every two columns, between looks for ties
    nearest: int = 64  # hinges that are sorted first; seldom are more passed


TUNING = Tuning()


def crossover(
    program: Program, start: Vector, stiffness: Vector, most: int, unit: Vector | None = None
) -> Certificate | None:
    """The certified optimal vertex, or None if ``most`` exchanges do not reach it.

    ``stiffness`` has one positive number for each row, lower side, upper side and d; ``unit`` is
    the size of the columns where it is known.
    """
    tableau = Tableau(program, stiffness, unit)
    if not tableau.usable:
        return None
    n = program.shape[1]
    stage, ties = TUNING.between_ties + n // 2, TUNING.many_ties * n
    best: Certificate | None = None
    while most >= 0 and not tableau.stuck:
        tied = tableau.tied(start, ties)
        if tied is not None:
            return tied
        if tableau.descend(min(stage, most)):
            answer = tableau.certificate(start)
            if best is None or answer.gap < best.gap:
                best = answer
            if best.relative_gap <= TUNING.closed:
                return best
            if not tableau.tighten():
                if tableau.by_exact_multipliers(2 * n):
                    answer = tableau.certificate(start)
                    best = answer if answer.gap < best.gap else best
                return best
        most, ties = most - stage - 1, n
    return best


class Tableau:
    """The hinges and the objective, as seen from a vertex."""

    def __init__(self, program: Program, stiffness: Vector, unit: Vector | None = None) -> None:
        m, n = program.shape
        rows, d = program.rows.dense(), program.difference
        # The sides of the box in the units of the rows, so that rates can be compared.
        unit = program.rows.column_scale() if unit is None else unit
        pull = TUNING.penalty * (np.abs(program.linear) + program.costs @ np.abs(rows)) / unit
        total = float(pull.sum()) / max(float(np.abs(d / unit).max()), 1e-300)
        self.costs = np.concatenate([program.costs, pull, pull, [total]])
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
        self.exchanges, self.stuck, self.optimal = 0, False, TUNING.optimal
        self.looked = 0  # exchanges that were made when the tableau was formed
        weight = np.sqrt(stiffness)
        weight[m:-1].reshape(2, n)[:] /= unit
        self.basis = independent_rows(self.hinges * weight[:, None])
        self.usable = self._look()

    def _set_limits(self, program: Program) -> None:
        self.program = program
        self.limits[: program.shape[0]] = program.margin
        self.limits[-1] = program.separation

    def _look(self) -> bool:
        """Form the tableau at the vertex of the basis; False where the basis is singular."""
        hinges, basis, self.looked = self.hinges, self.basis, self.exchanges
        count, n = hinges.shape
        factor, pivots, info = lapack.dgetrf(hinges[basis])
        if info != 0:
            return False
        self.T = np.empty((count + 1, n + 1), order="F")
        np.matmul(hinges, lapack.dgetri(factor, pivots)[0], out=self.T[:-1, :n])
        self.T[basis, :n] = 0.0
        self.T[basis, np.arange(n)] = 1.0
        return self._stand()

    def aim(self, program: Program, *, fresh: bool) -> bool:
        """Be at the vertex that the basis has in a program of another margin.

        Rates do not depend on right-hand sides, so they stay as they are; ``fresh`` forms them
        anew, without the rounding of the exchanges that were made.
        """
        self._set_limits(program)
        return self._look() if fresh else self._stand()

    def _stand(self) -> bool:
        """Where every hinge is at the vertex of the basis, and the slopes of the objective."""
        program, T, basis = self.program, self.T, self.basis
        m, n = program.shape
        bends = self.limits.copy()
        beyond = T[:m, :n] @ bends[basis] - program.margin
        # The basis stays where its hinges bend: their shifts move the vertex.
        self.spread = TUNING.spread * float(np.abs(beyond).sum()) / m
        bends[:m] -= self.spread * _scattered(m)
        T[:-1, n] = T[:-1, :n] @ bends[basis] - bends
        T[basis, n] = 0.0
        self.side = np.where(T[:-1, n] < 0, -1.0, 1.0)
        # The lower sides of the box are hinges: they have the inverse of the basis, and the vertex.
        per_unit = program.linear / self.hinges[m : m + n].diagonal()
        T[-1] = per_unit @ T[m : m + n]
        T[-1, n] += float(per_unit @ bends[m : m + n])
        T[-1] -= np.where(self.side < 0, self.costs, 0.0) @ T[:-1]
        return bool(np.isfinite(T[-1]).all())

    def descend(self, most: int) -> bool:
        """Exchange until the vertex is optimal; False if that takes more than ``most``."""
        T, costs, basis, side = self.T, self.costs, self.basis, self.side
        n = T.shape[1] - 1
        multiplier, cost = T[-1, :n], costs[basis]
        for _ in range(most + 1):
            wrong = np.maximum(-multiplier, multiplier - cost)
            wrong -= self.optimal * cost
            asked = (wrong > 0.0).nonzero()[0]
            if len(asked) == 0:
                return True
            k = int(asked[0] if len(asked) == 1 else self._steepest(asked, wrong))
            leaving, upwards = basis[k], multiplier[k] < 0
            side[leaving] = 1.0 if upwards else -1.0
            rate = side * T[:-1, k]
            if upwards:
                np.negative(rate, out=rate)
            entering = self._passed(rate, -float(wrong[k]))
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
            # In place: T is in the order of columns.
            blas.dger(-1.0, T[:, k].copy(), change, a=T, overwrite_a=1)
            basis[k], cost[k] = entering, costs[entering]
            self.exchanges += 1
            self._exchanged()
        return False

    def tighten(self) -> bool:
        """Ask for multipliers as good as rounding lets them be; False where these are.

        Where margins are small, columns pull with millions of times the objective, and the part of
        a pull that is else let pass is a gap.  The tableau is formed anew, without the rounding of
        the exchanges that were made.
        """
        if self.optimal == TUNING.exact and self.exchanges == self.looked:
            return False
        self.optimal = TUNING.exact
        return self._look()

    def by_exact_multipliers(self, most: int) -> bool:
        """Exchange by multipliers with twice the digits; whether that has changed the vertex.

        Of columns that are the same but for rounding, the last digits of a sum tell which is at the
        box, and on which side.
        """
        before, self.optimal = self.exchanges, 0.0
        for _ in range(most):
            self._set_exact_multipliers()
            if self.descend(0) or self.stuck:
                break
        return self.exchanges > before

    def _set_exact_multipliers(self) -> None:
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

    def _steepest(self, asked: NDArray[np.intp], wrong: Vector) -> int:
        """Of some columns, the one along which the objective falls most per length."""
        columns = self.T.T.take(asked, axis=0)[:, :-1]  # one after the other, as they are stored
        length = np.einsum("ij,ij->i", columns, columns)
        return int(asked[(wrong[asked] / np.sqrt(length)).argmax()])

    def _exchanged(self) -> None:
        """For a form whose objective depends on the vertex (``solvers.ramp``); here it does not."""

    def _passed(self, rate: Vector, slope: float) -> int:
        """Pass hinges while the objective falls; the one where it stops falling, or -1."""
        T, side, costs = self.T, self.side, self.costs
        near = (rate > TUNING.tiny_rate * rate[rate.argmax()]).nonzero()[0]
        rate = rate.take(near)
        when = side.take(near)
        when *= T[:-1, -1].take(near)
        when /= rate
        rate *= costs.take(near)
        if len(near) > 4 * TUNING.nearest:
            first = (when <= np.partition(when, TUNING.nearest)[TUNING.nearest]).nonzero()[0]
            if slope + rate[first].sum() >= 0:
                near, when, rate = near[first], when[first], rate[first]
        order = when.argsort()
        place = int(rate.take(order).cumsum().searchsorted(-slope))
        if place == len(order):
            return -1
        passed = near.take(order[:place])
        if place:
            turned = side.take(passed)
            T[-1] -= (turned * costs.take(passed)) @ T[passed]
            side[passed] = -turned
        return int(near[order[place]])

    def tied(self, start: Vector, ties: int) -> Certificate | None:
        """The vertex here if more than so many rows meet in it and it is optimal.

        Exchanges among tied rows change the multipliers and hardly the point.  Multipliers of all
        of them that fit together are found at once (``fitting``).
        """
        program, basis = self.program, self.basis
        m, n = program.shape
        kink = np.abs(self.T[:m, n]) <= TUNING.tied * self.spread
        if np.count_nonzero(kink) <= ties:
            return None
        on, alpha = kink.nonzero()[0], np.where(self.side[:m] < 0, program.costs, 0.0)
        alpha[on] = 0.0
        costs, apart = program.costs[on], (basis == m + 2 * n).nonzero()[0]
        if len(apart):  # around what it is now, as if it had a cost
            costs = np.append(costs, 2.0 * max(float(self.T[-1, apart[0]]), 0.0))
        at = basis[(basis >= m) & (basis < m + 2 * n)] - m
        free = np.ones(n, dtype=bool)
        free[at % n] = False
        rest = program.linear - program.rows.tdot(alpha)
        rows, unit = self.hinges[np.append(on, basis[apart])], self.hinges[m : m + n].diagonal()
        found = fitting((rows / unit)[:, free], (rest / unit)[free], costs)
        if found is None:
            return None
        alpha[on], t = found[: len(on)], float(found[len(on) :].sum())
        multiplier = ((rest - found @ rows) / unit)[at % n]
        multiplier[at >= n] *= -1.0
        beta = lapack.dgesv(self.hinges[basis], self.limits[basis])[2]
        answer = self._judged(start, (beta, alpha, t), at, multiplier)
        return answer if answer.relative_gap <= TUNING.closed else None

    def certificate(self, start: Vector) -> Certificate:
        """The vertex judged on the program itself, without penalty and without the spread."""
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
        return self._judged(start, (beta, alpha, t), basis[sides] - m, multiplier[sides])

    def _judged(
        self,
        start: Vector,
        point: tuple[Vector, Vector, float],
        at: NDArray[np.intp],
        multiplier: Vector,
    ) -> Certificate:
        """The vertex, or the point nearest to the start without the sides that hold nothing."""
        program, (beta, alpha, t) = self.program, point
        if len(at) == 0:
            return certify(program, beta, alpha, t)
        m, n = program.shape
        column = at % n
        # Exactly: a solve beside rows of a larger scale leaves a digit or two.
        beta[column] = np.where(at < n, program.lower[column], program.upper[column])
        # The penalty of a side is TUNING.penalty times the most that its column can pull.
        pull = self.costs[m : m + n] / TUNING.penalty
        width = -self.limits[m : m + n] - self.limits[m + n : -1]
        mute = pull * width <= TUNING.nothing * program.margin * float(program.costs.sum())
        held = column[(multiplier > TUNING.loose * pull[column]) & ~mute[column]]
        if len(held) == len(column):
            return certify(program, beta, alpha, t)
        near, free, kink = start.copy(), ~mute, np.zeros(m, dtype=bool)
        near[held] = beta[held]
        free[held], kink[self.basis[self.basis < m]] = False, True
        met = bool((self.basis == m + 2 * n).any())
        nearest = to_vertex(program, near, alpha, t, kink, free, met)
        if nearest is not None and nearest.relative_gap > TUNING.closed:
            # The way from the start was long: its rounding is a gap where the point is small.
            nearest = to_vertex(program, nearest.beta, nearest.alpha, nearest.t, kink, free, met)
        if nearest is not None and nearest.relative_gap <= TUNING.closed:
            return nearest
        # A row was on the way to the nearest point, beyond which the vertex is no longer optimal.
        # Objectives tell that also where the rounding of multipliers is most of both gaps.
        vertex = certify(program, beta, alpha, t)
        if nearest is None or vertex.gap < nearest.gap:
            return vertex
        worse = nearest.objective - vertex.objective
        return vertex if worse > TUNING.closed * max(1.0, abs(vertex.objective)) else nearest


@lru_cache(maxsize=16)
def _scattered(m: int) -> Vector:
    """m different numbers between 0 and 1, neighbors far apart."""
    numbers = np.asarray(np.arange(1, m + 1) * GOLDEN % 1.0, dtype=np.float64)
    numbers.flags.writeable = False
    return numbers


def independent_rows(weighted: Matrix) -> NDArray[np.intp]:
    """n independent rows, heavy ones first: the pivots of an elimination."""
    n = weighted.shape[1]
    if n == 0:
        return np.empty(0, dtype=np.intp)
    _, pivots, _ = lapack.dgetrf(np.asfortranarray(weighted), overwrite_a=1)
    order = np.arange(len(weighted))
    for i, p in enumerate(pivots[:n].tolist()):
        order[i], order[p] = order[p], order[i]
    return order[:n].copy()
