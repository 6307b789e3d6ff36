"""From vertex to vertex of the ramp program, one exchange at a time.

Two models (U) of ``programs.ramp`` in a row differ in their linear term alone, by the rows that
went beyond the wrong center or came back.  So the vertex of one is a vertex of the next, and the
tableau of ``solvers.lp.crossover`` can go on from it.  It need not even reach the minimizer of a
model before the next is taken: after every exchange, the rows whose

    w_i = -(2 a_i + d).beta

has changed its sign have entered or left J.  The slope c_i (2 a_i + d) of those is added to the
objective or taken away, and the next exchange descends on the new model.  A model is never below F
and equals it where it was taken, so F falls with every exchange.  Where none is left the vertex
minimizes its own model: a local optimum of the kind at which the convex-concave procedure ends, for
the price of the exchanges and not of a linear program for each J on the way.

Only rows near a kink of either sort can be met soon.  The tableau holds these, the band; all others
are taken to stay on their side.  Every few exchanges one product with all rows shows whether they
did.  If not, the band is taken anew around the point that was reached; if F has risen there, around
the point before, and the next look comes sooner.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from lincent.problems.arrays import Certificate, Vector
from lincent.problems.centralization import Program, certify
from lincent.problems.ramp import Mask, RampProgram
from lincent.solvers.lp.crossover import Tableau
from lincent.solvers.lp.simplex import scales_and_sizes
from lincent.solvers.solution import Controls

Index = NDArray[np.intp]


@dataclass(frozen=True)
class Tuning:
    """What a walk trades; measured on ``benchmarks/workloads.py`` at 300 x 8 to 50,000 x 50."""

    most_columns: int = 300  # beyond, an exchange costs as much as a step of the interior point
    rows_per_column: int = 12  # of a band: fewer must be taken anew more often, more cost more
    least_rows: int = 320  # of a band: below it an exchange is all overhead
    wider: int = 8  # times that width, to which a band that lost rows grows
    stride: int = 16  # exchanges before the first look at all rows
    most_looks: int = 100  # at all rows; a walk that needs more is left to a solver
    on_kink: float = 1e-9  # of the spread: nearer than that, a hinge counts as met


TUNING = Tuning()


def walk(
    program: RampProgram, beta: Vector, projected: Vector, controls: Controls
) -> tuple[Certificate, Mask] | None:
    """The vertex from which no edge leads lower: its model's certificate, and the J of that model.

    None where it is not reached; ``projected`` is ``rows.dot(beta)``.
    """
    n = program.shape[1]
    if n > TUNING.most_columns:
        return None
    size = _sizes(program)
    width = max(TUNING.rows_per_column * n, TUNING.least_rows)
    wide = TUNING.wider * width
    stride, value = TUNING.stride, program.objective(beta, projected)
    band: _Band | None = None
    for _ in range(TUNING.most_looks):
        if controls.out_of_time():
            return None
        band = band or _Band(program, beta, projected, size, width)
        if not band.tableau.usable:
            return None
        ended = band.tableau.descend(stride)
        there = band.tableau.point()
        seen = program.rows.dot(there)
        reached = program.objective(there, seen)
        kept = band.kept(there, seen)
        if kept and ended:
            return band.certificate(there)
        if not kept:
            band, width = None, max(width, min(2 * width, wide))
            if reached > value:
                stride, width = stride // 2, width if stride > 1 else 2 * width
                continue
        beta, projected, value = there, seen, reached
        stride = min(2 * stride + 1, 2 * n + TUNING.stride)
    return None


def _sizes(program: RampProgram) -> Vector:
    """The length of each row in units of the columns: how fast it can come to a kink."""
    if program.rows.sparse or program.rows.far:
        return program.rows.sizes(np.diag(1.0 / program.rows.column_scale())) + 1e-300
    return scales_and_sizes(program.rows.dense())[1] + 1e-300


class _Band:
    """The rows near a kink at a point, and the tableau of the model on them."""

    def __init__(
        self, program: RampProgram, beta: Vector, projected: Vector, size: Vector, width: int
    ) -> None:
        self.program = program
        reach = float(program.difference @ beta)
        bends = np.abs(projected - program.margin / 2)
        self.near = _smallest(bends / size, width)
        self.watched = _smallest(np.abs(2.0 * projected + reach) / size, width)
        self.low, self.beyond = self._others(beta, projected)
        model = program.upper_model(self.beyond)
        linear = self._linear(model)
        rows, costs = model.rows.take(self.near), model.costs[self.near]
        unit = rows.column_scale()
        distance = np.concatenate(
            [
                bends[self.near],
                unit * np.maximum(beta - model.lower, 0.0),
                unit * np.maximum(model.upper - beta, 0.0),
                [abs(reach - model.separation)],
            ]
        )
        spread = float(bends.mean()) + model.margin
        self.tableau = RampTableau(
            replace(model, rows=rows, costs=costs, linear=linear),
            (distance / spread + TUNING.on_kink) ** -2.0,
            program.rows.take(self.watched).dense(),
            program.costs[self.watched],
        )

    def _others(self, beta: Vector, projected: Vector) -> tuple[Mask, Mask]:
        """Of the rows outside the band, those below the margin and those of J."""
        low, beyond = projected < self.program.margin / 2, self.program.beyond(beta, projected)
        low[self.near] = False
        beyond[self.watched] = False
        return low, beyond

    def _linear(self, model: Program) -> Vector:
        """The linear term of a model with the rows of the other side of the kink summed into it."""
        return model.linear - model.rows.tdot(np.where(self.low, model.costs, 0.0))

    def kept(self, beta: Vector, projected: Vector) -> bool:
        """Whether the rows outside the band are on their sides."""
        low, beyond = self._others(beta, projected)
        return bool(np.array_equal(low, self.low) and np.array_equal(beyond, self.beyond))

    def certificate(self, beta: Vector) -> tuple[Certificate, Mask] | None:
        """The vertex judged by its whole model."""
        beyond = self.beyond.copy()
        beyond[self.watched] = self.tableau.counted
        model = self.program.upper_model(beyond)
        self.tableau.program = replace(self.tableau.program, linear=self._linear(model))
        inside = self.tableau.certificate(beta)
        if inside is None:
            return None
        alpha = np.where(self.low, model.costs, 0.0)
        alpha[self.near] = inside.alpha
        return certify(model, inside.beta, alpha, inside.t), beyond


def _smallest(values: Vector, count: int) -> Index:
    if count >= len(values):
        return np.arange(len(values))
    return np.sort(np.argpartition(values, count)[:count])


class RampTableau(Tableau):
    """The tableau of the model taken at its own vertex: J follows every exchange."""

    def __init__(
        self, model: Program, stiffness: Vector, watched: np.ndarray, costs: Vector
    ) -> None:
        super().__init__(model, stiffness)
        if not self.usable:
            return
        m, n = model.shape
        self.unit = self.hinges[m : m + n].diagonal()
        self.slopes = -(2.0 * watched + model.difference)  # of the w_i
        self.slope_costs = costs
        self.counted: Mask = np.zeros(len(watched), dtype=bool)
        self._take_model()

    def point(self) -> Vector:
        """The vertex; the lower sides of the box are hinges, so the tableau has it."""
        return np.clip(self._vertex(), self.program.lower, self.program.upper)

    def _vertex(self) -> Vector:
        m, n = self.program.shape
        return self.program.lower + self.T[m : m + n, n] / self.unit

    def _exchanged(self) -> None:
        self._take_model()

    def _take_model(self) -> None:
        """Let J be the rows beyond the wrong center at this vertex."""
        beta = self._vertex()
        beyond = self.slopes @ beta > 0
        turned = np.flatnonzero(beyond != self.counted)
        if len(turned):
            m, n = self.program.shape
            sign = np.where(beyond[turned], -1.0, 1.0)
            slope = (sign * self.slope_costs[turned]) @ self.slopes[turned]
            self.T[-1, :n] += (slope / self.unit) @ self.T[m : m + n, :n]
            self.T[-1, n] += float(slope @ beta)
            self.counted = beyond
