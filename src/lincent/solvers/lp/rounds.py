"""Rounds of screening: the rows near the margin solved exactly, the others as a sum.

Rows with a_i.beta far below s are summed into the linear term, those far above are dropped, the
rest, the band, is kept:

    minimize  (g - sum_below c_i a_i).beta + sum_band c_i (s - a_i.beta)_+     in a trust region

The restricted objective never exceeds the true one: a row outside the band counts by its tangent.
So this is a cutting-plane model (Kelley 1960), every round gives a valid bound, rows on the wrong
side of the margin join the band, and the rounds end at the optimum of the whole.

The trust region keeps the model where it is good.  Where the gap has not halved in three rounds the
band is made wider; where that does not help either, the search ends as stalled, for another solver
to continue.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from lincent import _threads
from lincent.problems.arrays import AllRows, Checked, EvaluatedRows, Vector
from lincent.problems.centralization import Certificate, Program
from lincent.solvers.bounds import Bounds
from lincent.solvers.lp import interior_point, simplex
from lincent.solvers.lp.smoothing import Evaluated
from lincent.solvers.solution import Controls, Solution, Status

NAME = "screening"

# Trade-offs, measured on the tall shapes of ``benchmarks/workloads.py``.
TRUST = 4.0
"""Widths of the band that a coefficient may move by."""
GUESSED_ROUNDS = 8
"""Rounds from a guess; where it was not near, a sample is."""
INNER_TOL = 0.2
"""Tolerance of a subproblem, in ``tol``; less, in a small box, where that was not enough."""
MOST_RETREATS = 8
PATIENCE = 3
"""Rounds in which the gap must halve."""


def solve_subproblem(program: Program, controls: Controls, start: Vector | None = None) -> Solution:
    """Solve some rows of a large program, a sample or a band, to ``controls.tol``.

    Where they are few the simplex reaches their vertex in a few milliseconds; else, and where
    pivots lead nowhere, the interior point solves them.
    """
    rows, steps = program.rows, 0
    if simplex.is_applicable(*program.shape) and not (rows.sparse or rows.is_remote):
        with _threads.limits_for_size(*program.shape):
            solution = simplex.solve(program, controls, start)
        if solution.status is Status.OPTIMAL:
            return solution
        steps = solution.iterations
    solution = interior_point.solve(program, controls, start)
    return replace(solution, iterations=steps + solution.iterations)


class Rounds:
    """One search: the best point, the best bound, and the band between them.

    ``scale`` and ``spread`` are the scales of the features and how far each coefficient may move,
    from a sample; from a guess the band itself says it.
    """

    def __init__(
        self,
        program: Program,
        whole: AllRows,
        point: Evaluated,
        controls: Controls,
        scale: Vector | None = None,
        spread: Vector | None = None,
    ) -> None:
        self.program, self.whole, self.controls = program, whole, controls
        self.view: EvaluatedRows | None = point.view  # of the best point, where it was kept
        self.beta = point.beta
        self.width = point.width
        self.split = point.view.split(self.width)
        self.scale = self.split.rows.column_scale() if scale is None else scale
        self.radius = TRUST * self.width * (1.0 / self.scale if spread is None else spread)
        self.most = GUESSED_ROUNDS if spread is None else 40
        self.bounds = Bounds()
        self.bounds.offer_primal(point.objective, None)
        self.inner_tol = INNER_TOL * controls.tol
        self.gaps: list[float] = []
        self.widenings = self.retreats = 0

    def run(self, iterations: int) -> Solution:
        """Iterate until the gap is closed."""
        status: Status | None = None
        for number in range(self.most):
            # The local variables of a round end with it: a view is as long as the data.
            steps, status = self._round(number)
            iterations += steps
            if status is not None:
                break
        return self._answer(status or Status.ITERATION_LIMIT, iterations)

    def _round(self, number: int) -> tuple[int, Status | None]:
        """Return the steps of one round, and how the search has ended, if it has."""
        small = self._restricted()
        within = replace(self.controls, tol=self.inner_tol, watch=None)
        inner = solve_subproblem(small, within, self.beta)
        point = inner.certificate
        held = self._held(point.beta)
        self._raise_bound(point)
        checked = self.split.check(point.beta)
        if self.bounds.offer_primal(self.program.value(point.beta, checked.loss), None):
            self.beta, self.view = point.beta, checked.view
        gap = self.bounds.relative_gap
        self.controls.reached(
            f"round {number + 1}", self.bounds.objective, gap,
            f"  band {small.shape[0]}  misplaced {checked.misplaced}  at trust region {held}",
        )  # fmt: skip
        if gap <= 0.4 * self.controls.tol:  # half is left for the rounding of the certificate
            return inner.iterations, Status.OPTIMAL
        if inner.status is Status.TIME_LIMIT or self.controls.out_of_time():
            return inner.iterations, Status.TIME_LIMIT
        return inner.iterations, None if self._go_on(checked, held, gap) else Status.STALLED

    def _restricted(self) -> Program:
        """Return the program of the band, with the violating rows in the linear term."""
        program, split = self.program, self.split
        return replace(
            program,
            rows=split.rows,
            costs=split.costs,
            linear=program.linear - split.summed,
            offset=program.offset + program.margin * split.summed_cost,
            lower=np.maximum(program.lower, self.beta - self.radius),
            upper=np.minimum(program.upper, self.beta + self.radius),
        )

    def _held(self, beta: Vector) -> int:
        """Return how many coefficients the trust region holds back."""
        program = self.program
        at_edge = np.abs(beta - self.beta) >= self.radius * (1 - 1e-6)
        return int(np.count_nonzero(at_edge & (beta > program.lower) & (beta < program.upper)))

    def _raise_bound(self, point: Certificate) -> None:
        """Keep the bound that the dual weights of the round give for the whole, if it is best."""
        program, split = self.program, self.split
        combined = split.summed + split.rows.tdot(point.alpha)
        total = split.summed_cost + float(point.alpha.sum())
        t = program.best_t(combined, point.t)
        value = program.bound(total, t, combined)
        self.bounds.offer_dual(value, (split, point.alpha, combined, t))

    def _go_on(self, checked: Checked, held: int, gap: float) -> bool:
        """Prepare the next round; False where nothing is left to try."""
        band = self.split.rows.shape[0]
        if checked.misplaced > band / 2 and self.retreats < MOST_RETREATS:
            # The model was followed to where it is void.  The rows that it missed there need not
            # matter here: take a band around the best point, and shorter steps.
            self.retreats += 1
            self.radius = self.radius / 4
            self._widen(min(1.5 * band, band + 2 * checked.misplaced))
            return True
        self.gaps.append(gap)
        if held:
            self.radius = self.radius * 4
        elif not checked.misplaced:  # a gap says little there, a vertex everything
            self.inner_tol *= 1e-3
        self.split = self.split.grow(checked)
        waited = len(self.gaps) > PATIENCE
        if waited and gap > self.gaps[-1 - PATIENCE] / 2:
            if self.widenings == 2:
                return False
            self.widenings += 1
            self.gaps.clear()
            self._widen(4 * band)
        return True

    def _widen(self, band: float) -> None:
        """Add the rows nearest to the margin at the best point to the band."""
        most = self.program.shape[0] - 1
        if self.view is None:
            self.view = self.whole.look(self.beta, 0)
        self.split = self.split.wider(self.view, self.view.width(min(int(band), most)))

    def _answer(self, status: Status, iterations: int) -> Solution:
        """Return the certificate, as ``certify`` does it, from sums that are known."""
        self.view = None
        split, alpha, combined, t = self.bounds.dual
        multipliers = split.multipliers(alpha, combined)
        answer = self.bounds.certificate(self.beta, multipliers, t)
        return Solution(status, answer, iterations, NAME, scale=self.scale)
