"""From identified rows to the exact optimum: the dual in the null space of a working set.

Once an augmented Lagrangian has named the hinges near the kink, the others have their multipliers
at a bound.  The working set M (see ``working_set``) has a few more hinges than columns, so the
multipliers x that meet the dual's equation  M'x = g - (the others)  are

    x = x0 + N w,        N a basis of the null space of M',    k = hinges - rank of M variables w,

and the dual restricted to M is a program in k variables with bounds (``few_variables``).  Its
multipliers p say by how much each hinge is off its kink, M beta = h + p, which gives beta.  Then
all rows are checked.  A misplaced hinge a_i (its multiplier at the wrong bound) joins with one
column,  -M inv(M'M) a_i  and 1 for itself, and needs no new factorization.  Hinges that are firmly
at a bound leave the program: their variables are eliminated, which makes the next rounds tiny; a
price with the wrong sign brings them back.

Costs: one factorization of order n, one solve with it per variable, and the small programs.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.linalg import lapack

from lincent.problems.arrays import Certificate, Index, Matrix, Vector
from lincent.solvers.cholesky import NotPositiveDefiniteError
from lincent.solvers.lp.few_variables import maximize
from lincent.solvers.lp.few_variables_vertex import Vertex
from lincent.solvers.lp.working_set import Hinges, WorkingSet
from lincent.solvers.solution import Controls, Solution, Status


@dataclass(frozen=True)
class Tuning:
    """Measured on sparse 50,000 x 5,000, uniform and text-like."""

    beyond_rank: int = 8
    """Null-space vectors drawn beyond the expected number, to see whether columns depend."""
    null: float = 1e-4
    """A drawn vector adds no direction if less than this share of it is left."""
    clean: float = 1e-9
    """M'N relative to its terms up to which the basis need not be projected again."""
    loose: float = 1e-5
    """Complementarity from which on the vertex is near enough for exchanges."""
    exchanges: int = 5
    """Exchanges per variable that a round may take."""
    most_joining: float = 2.0
    """Misplaced hinges, in first variables, beyond which the identified point was not near."""
    many_joining: int = 30
    """Above this many misplaced hinges another interior point is cheaper than exchanges."""
    rounds: int = 25
    refinements: int = 1
    most_refinements: int = 8
    """Steps of iterative refinement, and the most where only digits are missing."""


TUNING = Tuning()
SETTLED = 2
"""Refinements of a vertex: what the second finds is of the order of rounding."""


@dataclass(frozen=True)
class Start:
    """Hinges near the kink, a multiplier for every hinge, and what is certified so far."""

    chosen: Index
    dual: Vector
    """Outside the chosen hinges every multiplier is at a bound."""
    best: Certificate
    steps: int


def finish(hinges: Hinges, start: Start, controls: Controls, tuning: Tuning = TUNING) -> Solution:
    """The certified vertex that the start is near."""
    try:
        rounds = _Rounds(hinges, start, controls, tuning)
    except NotPositiveDefiniteError:
        return Solution(Status.STALLED, start.best, start.steps, "")
    best, status = start.best, Status.STALLED
    for number in range(tuning.rounds):
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
        if not rounds.optimal or len(joining) > tuning.most_joining * rounds.spare:
            break  # not near the optimum: other solvers are faster from here
        if len(joining):
            rounds.join(joining, controls)
        elif hinges.lacking or not rounds.refine_more():
            break
    return Solution(status, best, start.steps + rounds.steps, "")


class _Rounds:
    """The null-space program, round after round."""

    def __init__(self, hinges: Hinges, start: Start, controls: Controls, tuning: Tuning) -> None:
        self.hinges, self.tuning, self.refinements = hinges, tuning, tuning.refinements
        self.base = hinges.working(start.chosen)
        self.index = start.chosen
        self.dual = start.dual.copy()
        self._refine()
        self.steps = 0
        N = _null_space(self.base, tuning)
        self.spare = N.shape[1]
        self._approach(N, self.dual[self.index], controls)

    def _approach(self, N: Matrix, now: Vector, controls: Controls) -> None:
        """A vertex near the optimum of the working set, by an interior point."""
        top, at = self.hinges.top[self.index], self.hinges.at[self.index]
        loose = maximize(N, -now, top - now, N.T @ at, self.tuning.loose, controls)
        self.steps += loose.steps
        unit = float(np.abs(loose.multipliers).max()) or float(np.abs(at).max()) or 1.0
        self.vertex = Vertex(N, now + N @ loose.w, top, at, loose.held, unit)

    def _refine(self) -> None:
        """Bring the multipliers of the working set onto the dual's equation."""
        for _ in range(self.refinements):
            rest = self.hinges.rest(self.dual)
            self.dual[self.index[: self.base.shape[0]]] += self.base.dot(self.base.solve(rest))

    def solve(self, controls: Controls) -> Certificate:
        """The optimal vertex of the working set, certified over all rows."""
        vertex = self.vertex
        before = vertex.exchanges
        self.optimal = vertex.descend(self.tuning.exchanges * vertex.N.shape[1], controls)
        vertex.refresh()
        self.steps += vertex.exchanges - before
        self._settle()
        self.dual = np.clip(self.dual, 0.0, self.hinges.top)
        self.point = self._point(vertex.multipliers())
        return self.hinges.judge(self.point, self.dual)

    def _settle(self) -> None:
        """Refined multipliers with those of the vertex at their bounds again.

        Refinement spreads its correction over the whole working set; what it takes from a bound
        would be lost in the box.
        """
        vertex = self.vertex
        self.dual[self.index] = vertex.value
        for _ in range(SETTLED):
            self._refine()
            vertex.value = self.dual[self.index]
            vertex.settle()
            self.dual[self.index] = vertex.value

    def _point(self, price: Vector) -> Vector:
        """The point with M point = h + p on the working set."""
        base = self.base
        wanted = (self.hinges.at[self.index] + price)[: base.shape[0]]
        point = base.solve(base.tdot(wanted))
        for _ in range(self.refinements):
            point = point + base.solve(base.tdot(wanted - base.dot(point)))
        return point

    def misplaced(self) -> Index:
        """Hinges outside whose multiplier is at the wrong bound, the worst first."""
        beyond = self.hinges.beyond(self.point)
        at_top = self.dual > self.hinges.top / 2
        wrong = np.where(at_top, beyond, -beyond)
        wrong[self.index] = 0.0
        bad = np.flatnonzero(wrong > 0.0)
        return bad[np.argsort(-wrong[bad])]

    def refine_more(self) -> bool:
        """Where the vertex is right, only digits are missing; False if these were all."""
        self.refinements += self.tuning.refinements + 1
        return self.refinements <= self.tuning.most_refinements

    def join(self, joining: Index, controls: Controls) -> None:
        """Let misplaced hinges join the working set, without a new factorization."""
        base, hinges = self.base, self.hinges
        columns = np.zeros((len(self.index), len(joining)))
        columns[: base.shape[0]] = -base.dot(base.solve(hinges.columns(joining)))
        at_bound = self.dual[joining], hinges.top[joining], hinges.at[joining]
        self.vertex.join(columns, *at_bound)
        self.index = np.concatenate([self.index, joining])
        if len(joining) > self.tuning.many_joining:
            self._approach(np.linalg.qr(self.vertex.N)[0], self.vertex.value, controls)


def _null_space(base: WorkingSet, tuning: Tuning) -> Matrix:
    """An orthonormal basis of the null space of M': random vectors less their share in M."""
    count, n = base.shape
    rng = np.random.default_rng(count)
    expected = max(count - n, 0)
    while True:
        drawn = min(expected + tuning.beyond_rank, count)
        N = rng.standard_normal((count, drawn))
        N -= base.dot(base.solve(base.tdot(N)))
        work, tau, _, _ = lapack.dgeqrf(np.asfortranarray(N), overwrite_a=1)
        left = np.abs(work.diagonal())
        kept = int(np.count_nonzero(left > tuning.null * np.sqrt(count)))
        if kept < drawn or drawn == count:
            break
        expected = 2 * drawn  # columns depend on each other: the null space is larger
    if kept == 0:
        return np.zeros((count, 0))
    basis = lapack.dorgqr(work[:, :kept], tau[:kept], overwrite_a=1)[0]
    some = basis @ rng.standard_normal(kept)
    if float(np.abs(base.tdot(some)).max()) > tuning.clean * float(
        np.abs(base.tdot(np.abs(some))).max()
    ):
        # Once more, against what an ill-conditioned normal matrix has left in it.
        basis -= base.dot(base.solve(base.tdot(basis)))
    return np.ascontiguousarray(basis)
