"""The rows near the kink solved exactly, the others as a sum; as often as it takes.

Rows with a_i.beta far below s are summed into the linear term, those far above are dropped, the
rest, the band, is kept:

    minimize  (g - sum_out c_i a_i).beta + sum_band c_i (s - a_i.beta)_+          in a small box

The restricted objective never exceeds the true one: a row outside the band counts by its tangent.
So this is a cutting-plane model, every round gives a valid bound, rows found on the wrong side of
the kink join the band, and the rounds end at the optimum of the whole.

The small box, the trust region, keeps the model where it is good.  Where the model's optimum is
worse than the best point so far, the best point on the way to it is taken instead.  Where the gap
has not halved in three rounds the band is made wider; where that does not help either, the search
ends as stalled, for another solver to go on.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from lincent.problems.arrays import AllRows, Certificate, Checked, EvaluatedRows, SplitRows, Vector
from lincent.problems.centralization import Program
from lincent.solvers.lp import part
from lincent.solvers.lp.ruler import Ruler
from lincent.solvers.lp.smoothing import Near
from lincent.solvers.solution import Controls, Solution, Status

NAME = "screening"


@dataclass(frozen=True)
class Tuning:
    """What the rounds trade; measured on the tall shapes of ``benchmarks/workloads.py``."""

    trust: float = 4.0  # widths of the band that a coefficient may move by
    most_rounds: int = 40
    guessed_rounds: int = 8  # from a guess: where it was not near, a sample is
    inner_tol: float = 0.2  # times tol; less, in a small box, where that was not enough
    enough: float = 0.4  # of tol: a half is left for what rounding can have done to the gap
    stricter: float = 1e-3  # times that: a gap says little there, a vertex everything
    loose: float = 1e-2  # of the gap is enough while many rows are misplaced
    many: float = 0.25  # of the band misplaced are many
    bad: float = 0.5  # of the band misplaced: the step was too long
    shorter: float = 4.0  # times, after such a step
    larger: float = 1.5  # times as many rows then
    most_retreats: int = 8
    longer: float = 4.0  # times, after a step that the trust region held back
    patience: int = 3  # rounds in which the gap must halve
    wider: int = 4  # times as many rows in the band after a stall
    most_widenings: int = 2
    lengths: tuple[float, ...] = (0.7, 0.5, 0.3, 0.15, 0.05)  # of the way to a point that is worse


TUNING = Tuning()


@dataclass
class _Bound:
    """The best dual point so far, in the split that it belongs to."""

    value: float = -np.inf
    split: SplitRows | None = None
    alpha: Vector | None = None
    combined: Vector | None = None
    t: float = 0.0


class Rounds:
    """One search: the best point, the best bound, and the band between them."""

    def __init__(
        self,
        program: Program,
        whole: AllRows,
        near: Near,
        controls: Controls,
        ruler: Ruler | None = None,
    ) -> None:
        self.program, self.whole, self.controls = program, whole, controls
        self.view: EvaluatedRows | None = near.view  # from the best point, where it was kept
        self.beta, self.objective = near.beta, near.objective
        self.width = near.width
        self.split = near.view.split(self.width)
        # From a guess the band itself says how large the columns are.
        self.scale = self.split.rows.column_scale() if ruler is None else ruler.scale
        spread = 1.0 / self.scale if ruler is None else ruler.spread
        self.radius = TUNING.trust * self.width * spread
        self.most = TUNING.guessed_rounds if ruler is None else TUNING.most_rounds
        self.bound = _Bound()
        self.inner_tol, self.loose = TUNING.inner_tol * controls.tol, 0.0
        self.gaps: list[float] = []
        self.widenings = self.retreats = 0
        self.longer = 1.0

    def run(self, iterations: int) -> Solution:
        """Round after round until the gap is closed."""
        status: Status | None = None
        for number in range(self.most):
            # What a round has seen ends with it: a view is as long as the data.
            steps, status = self._round(number)
            iterations += steps
            if status is not None:
                break
        return self._answer(status or Status.ITERATION_LIMIT, iterations)

    def _round(self, number: int) -> tuple[int, Status | None]:
        """The steps of one round, and how the search has ended, if it has."""
        small = self._restricted()
        within = replace(self.controls, tol=max(self.inner_tol, self.loose), watch=None)
        inner = part.solve(small, within, self.beta)
        point = inner.certificate
        held = self._held(point.beta)
        self._raise_bound(point)
        checked = self.split.check(point.beta)
        self._lower_objective(point.beta, checked)
        gap = self._relative_gap()
        self.controls.reached(
            f"round {number + 1}", self.objective, gap,
            f"  band {small.shape[0]}  misplaced {checked.misplaced}  at trust region {held}",
        )  # fmt: skip
        if gap <= TUNING.enough * self.controls.tol:
            return inner.iterations, Status.OPTIMAL
        if inner.status is Status.TIME_LIMIT or self.controls.out_of_time():
            return inner.iterations, Status.TIME_LIMIT
        many = checked.misplaced > TUNING.many * small.shape[0]
        self.loose = TUNING.loose * gap if many else 0.0
        return inner.iterations, None if self._go_on(checked, held, gap) else Status.STALLED

    def _restricted(self) -> Program:
        """The band alone, with the rows beyond it in the linear term, in the trust region."""
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
        """How many coefficients the trust region holds back."""
        program = self.program
        at_edge = np.abs(beta - self.beta) >= self.radius * (1 - 1e-6)
        return int(np.count_nonzero(at_edge & (beta > program.lower) & (beta < program.upper)))

    def _raise_bound(self, point: Certificate) -> None:
        """The bound on the whole that the round's multipliers give, if it is the best."""
        program, split = self.program, self.split
        combined = split.summed + split.rows.tdot(point.alpha)
        total = split.summed_cost + float(point.alpha.sum())
        t = program.best_t(combined, point.t)
        value = program.bound(total, t, combined)
        if value > self.bound.value:
            self.bound = _Bound(value, split, point.alpha, combined, t)

    def _lower_objective(self, beta: Vector, checked: Checked) -> None:
        """The new point if it is better, else the best one on the way to it."""
        program = self.program
        value = program.value(beta, checked.loss)
        if value < self.objective:
            self.beta, self.objective, self.view = beta, value, checked.view
        elif np.isfinite(value) and value - self.objective > self.controls.tol * abs(value):
            lengths = np.array(TUNING.lengths)
            there = checked.view or self.whole.look(beta, 0)
            losses = self._best_view().along(there, lengths)
            points = [self.beta + length * (beta - self.beta) for length in lengths]
            values = [program.value(b, float(v)) for b, v in zip(points, losses, strict=True)]
            best = int(np.argmin(values))
            if values[best] < self.objective:
                between = self._best_view().between(there, float(lengths[best]), losses[best])
                self.beta, self.objective, self.view = points[best], values[best], between

    def _best_view(self) -> EvaluatedRows:
        if self.view is None:
            self.view = self.whole.look(self.beta, 0)
        return self.view

    def _go_on(self, checked: Checked, held: int, gap: float) -> bool:
        """Prepare the next round; False where nothing is left to try."""
        band = self.split.rows.shape[0]
        if checked.misplaced > TUNING.bad * band and self.retreats < TUNING.most_retreats:
            # The model was followed to where it says nothing.  The rows that it missed there need
            # not matter here: a band around the best point, and shorter steps.
            self.retreats += 1
            self.radius = self.radius / TUNING.shorter
            self._widen(min(TUNING.larger * band, band + 2 * checked.misplaced))
            return True
        self.gaps.append(gap)
        if held:
            self.longer = self.longer * TUNING.longer if not checked.misplaced else TUNING.longer
            self.radius = self.radius * self.longer
        elif not checked.misplaced:
            self.inner_tol *= TUNING.stricter
        self.split = self.split.grow(checked)
        waited = len(self.gaps) > TUNING.patience
        if waited and gap > self.gaps[-1 - TUNING.patience] / 2:
            if self.widenings == TUNING.most_widenings:
                return False
            self.widenings += 1
            self.gaps.clear()
            self._widen(TUNING.wider * band)
        return True

    def _widen(self, band: float) -> None:
        """The rows nearest to the kink from the best point join the band."""
        most = self.program.shape[0] - 1
        view = self._best_view()
        self.split = self.split.wider(view, view.width(min(int(band), most)))

    def _relative_gap(self) -> float:
        gap = max(self.objective - self.bound.value, 0.0)
        return gap / max(1.0, abs(self.objective))

    def _answer(self, status: Status, iterations: int) -> Solution:
        """As ``certify`` does it: both sides were read already, the rows beyond as a sum."""
        bound, self.view = self.bound, None
        assert bound.split is not None
        assert bound.alpha is not None
        assert bound.combined is not None
        multipliers = bound.split.multipliers(bound.alpha, bound.combined)
        answer = Certificate(self.beta, multipliers, bound.t, self.objective, bound.value)
        return Solution(status, answer, iterations, NAME, scale=self.scale)
