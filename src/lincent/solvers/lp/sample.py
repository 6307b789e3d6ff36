"""Some rows that stand for all, and a point near their optimum.

The optimum of k rows differs from that of the whole by chance alone, so nothing is gained by
knowing it better than that.  With a share p of the rows below the kink the sample's gradient is off
by about sqrt(p k n) rows, and so many of its k rows are in doubt (Portnoy and Koenker 1997).  A
kink smoothed over that many rows is as good, and Newton steps on it (see ``smoothing``) from the
discriminant direction cost a fraction of an exact solve.

Where rows of very different sizes meet, smoothing blurs what the few large ones say; there, and
where the steps do not settle, the sample is solved (``part``).
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from lincent.problems.arrays import AllRows, Rows, Vector
from lincent.problems.centralization import Program
from lincent.solvers.cholesky import NotPositiveDefiniteError, PositiveDefinite
from lincent.solvers.lp import part
from lincent.solvers.lp.smoothing import approach, look
from lincent.solvers.solution import Controls


@dataclass(frozen=True)
class Tuning:
    """What a sample trades; measured on the tall shapes of ``benchmarks/workloads.py``."""

    tol: float = 1e-3  # of an exact solve: the optimum of a sample is off by more than that
    steps: int = 12  # of Newton, then the sample is solved
    band: float = 4.0  # times sqrt(p n / sample) of the rows are in doubt after a sample
    least: int = 3  # rows per column that always are
    ridge: float = 1e-2  # of a column's own square, in the discriminant
    lengths: tuple[float, ...] = tuple(10.0 ** -np.arange(0.0, 6.5, 0.5))  # tried along it
    sketch_rows: int = 2000  # among which repetitions are looked for: a millisecond
    sketch_share: float = 0.5  # of them distinct, or fewer: a sort of all rows then pays


TUNING = Tuning()


def in_doubt(m: int, n: int, sample: int, below: float) -> int:
    """How many of m rows the optimum of a sample leaves in doubt; ``below`` is p of above."""
    # Above a quarter p says nothing more: both sides of the kink pull.
    share = TUNING.band * np.sqrt(min(below, 0.25) * n / sample)
    return int(min(1.0, share) * m) + TUNING.least * n


class Sample:
    """Some rows that stand for all."""

    def __init__(self, program: Program, rows: Rows, costs: Vector) -> None:
        self.program = replace(program, rows=rows, costs=costs)
        self.all_rows: AllRows = rows.all_rows(costs, program.margin)

    def release(self) -> None:
        """Let go of the rows: whoever still holds this sample does not hold them."""
        del self.program, self.all_rows

    def repeats(self, rng: np.random.Generator) -> bool:
        """Whether a few rows are mostly repetitions of each other; then so are all of them."""
        rows = self.program.rows.take(np.arange(min(TUNING.sketch_rows, self.program.shape[0])))
        keys = rows.dot(rng.standard_normal(rows.shape[1]))
        return len(np.unique(keys)) <= TUNING.sketch_share * len(keys)

    def part(self, k: int, rng: np.random.Generator) -> Sample:
        """About k of these rows, or all where there are no more."""
        if self.program.shape[0] <= k:
            return self
        return Sample(self.program, *self.all_rows.sample(k, rng))

    def optimum(self, controls: Controls) -> tuple[Vector, int]:
        """The optimum of these rows, and the iterations spent."""
        solved = part.solve(self.program, replace(controls, tol=TUNING.tol, watch=None))
        return solved.certificate.beta, solved.iterations

    def near_optimum(self, controls: Controls, rng: np.random.Generator) -> tuple[Vector, int]:
        """A point as near to it as chance is, and the steps spent."""
        program, (m, n) = self.program, self.program.shape
        try:
            start = program.feasible(discriminant(program))
        except NotPositiveDefiniteError:
            return self.optimum(controls)
        near = look(program, self.all_rows, start, m // 2)
        few = in_doubt(m, n, m, near.view.below / float(program.costs.sum()))
        near, steps = approach(program, self.all_rows, near, few, TUNING.steps, rng, controls.tell)
        return (near.beta, steps) if near.band <= few else self.optimum(controls)


def discriminant(program: Program) -> Vector:
    """The best point of a few along inv(A'CA) d."""
    rows, costs = program.rows, program.costs
    H = rows.gram(costs)
    H.flat[:: len(H) + 1] += TUNING.ridge * float(costs.sum()) * rows.column_scale() ** 2
    direction = PositiveDefinite(H, full=True).solve(program.difference)
    middle, half = (program.lower + program.upper) / 2, (program.upper - program.lower) / 2
    direction *= 0.9 / float(np.max(np.abs(direction) / half))
    along, base = rows.dot(direction), program.margin - rows.dot(middle)
    slope = float(program.linear @ direction)
    values = [
        length * slope + float(costs @ np.maximum(base - length * along, 0.0))
        for length in TUNING.lengths
    ]
    return np.asarray(middle + TUNING.lengths[int(np.argmin(values))] * direction)
