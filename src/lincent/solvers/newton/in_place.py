"""Newton's method over rows that stay where they are: on a cluster, on a device, in a stream.

Everything that a step needs is a sum over the rows (see ``passes.pulls``), so that one read gives
the objective at a point, its gradient, its Hessian and its duality gap.  The way is short, because
it begins near its end:

    draw      a sample of fixed size, brought here and solved by the methods for rows in memory;
              its optimum is off by about sqrt(n / rows drawn)
    pulls     the sums there; a full Newton step; the sums at its end, and so on
              (for several costs at once: one read answers all that are still on their way)

(P) is piecewise quadratic, and a step ends at the solution once the right rows are between the
margins: the reads are about as many for 10^5 rows as for 10^9.  A step that does not bring the
objective down is halved, at a read each.
"""

from __future__ import annotations

from collections.abc import Generator, Sequence
from dataclasses import dataclass, replace
from typing import Any, Protocol

import numpy as np

from lincent._memory import sample_entries
from lincent.problems.arrays import Matrix, Rows, Vector
from lincent.problems.regularized import RegularizedProgram
from lincent.solvers.newton import ridge
from lincent.solvers.newton.descent import NAME, PATIENCE, Best, Start
from lincent.solvers.newton.factor import Factored, Threshold
from lincent.solvers.newton.oracle import Reader, Reading
from lincent.solvers.newton.walks import answered
from lincent.solvers.solution import Controls, Solution, Status
from lincent.sources.gradients import LossSums, QueryPoint

SAMPLE_ENTRIES = 4_000_000
"""Entries of the sample (32 MB, less where memory is short): a larger one saves no read and is
slower to solve here."""
ROWS_PER_COLUMN = 50
"""At least so many rows, or a sample says little about its whole."""
SAMPLE_TOL = 1e-7
"""The gap to which the sample is solved: far below what the sample is off by."""
HALVINGS = 30


class RowsInPlace(Rows, Protocol):
    """Signed rows that answer in sums."""

    def pulls(self, costs: Any, points: Sequence[QueryPoint]) -> list[LossSums]: ...

    def draw(self, costs: Any, k: int, rng: np.random.Generator) -> tuple[Rows, Vector, Vector]: ...


@dataclass(frozen=True)
class ProgramInPlace:
    """The regularized program with rows, signs and costs left where they are.

    ``class_costs`` and ``means`` (the mean signed row by cost) are those of each class, negative
    first.
    """

    rows: RowsInPlace
    costs: Any
    class_costs: tuple[float, float]
    means: Matrix
    low: float
    high: float
    free: bool

    @property
    def width(self) -> float:
        return self.high - self.low


class _PlaceReader(Reader):
    """Readings from sums; what they know of single rows is empty."""

    def __init__(self, program: ProgramInPlace, scale: float) -> None:
        self.program: Any = program
        self.scale = scale
        low, high = program.class_costs
        self.class_costs = low * scale, high * scale
        self._means = program.means

    def reading(self, at: Start, sums: LossSums) -> Reading:
        """The point ``at`` from scaled sums."""
        words: Any = _Summed(sums)
        return self._reading(at.beta, at.t, np.empty(0), words, sums.combined)

    def multipliers(self, reading: Reading) -> Vector:
        return np.empty(0)  # left with the rows


class _Summed:
    """Sums in the words of ``Reader``."""

    def __init__(self, sums: LossSums) -> None:
        self.pull = np.empty(0)
        self.down, self.up = sums.down, sums.up
        self.total, self.excess = sums.up + sums.down, sums.up - sums.down
        self.squares, self.beyond = sums.squares, sums.beyond


def _scaled(sums: LossSums, scale: float) -> LossSums:
    if scale == 1.0:
        return sums
    return LossSums(*(scale * value for value in vars(sums).values()))


def solve_path(
    program: ProgramInPlace,
    scales: Sequence[float],
    controls: Controls,
    rng: np.random.Generator,
) -> list[Solution]:
    """The optima for the costs times each scale, all from one sample."""
    walks = [
        _newton(_PlaceReader(program, float(scale)), start, controls)
        for scale, start in zip(scales, _starts(program, scales, controls, rng), strict=True)
    ]

    def read(points: list[Start]) -> list[LossSums]:
        at = [QueryPoint(point.beta, point.t, program.low, program.high) for point in points]
        return program.rows.pulls(program.costs, at)

    return answered(walks, read)


def _starts(
    program: ProgramInPlace,
    scales: Sequence[float],
    controls: Controls,
    rng: np.random.Generator,
) -> list[Start]:
    """The optima of a sample, which is forgotten before the rows are read again."""
    rows, sign, costs = program.rows.draw(program.costs, _sample_size(*program.rows.shape), rng)
    if not np.min(sign, initial=1.0) < 0 < np.max(sign, initial=-1.0):  # one class only
        return [Start(np.zeros(program.rows.shape[1]), 0.0)] * len(scales)
    sample = RegularizedProgram(rows, sign, costs, program.low, program.high, program.free)
    loose = replace(controls, tol=max(SAMPLE_TOL, controls.tol), watch=None)
    near = ridge.solve_path(sample, scales, loose, rng)
    return [Start(found.certificate.beta, found.certificate.t) for found in near]


def _sample_size(m: int, n: int) -> int:
    return min(m, max(1, sample_entries(max(SAMPLE_ENTRIES, ROWS_PER_COLUMN * n * n)) // max(1, n)))


Walk = Generator[Start, LossSums, Solution]
"""Asks for the sums at a point, is sent them, and returns a solution in the end."""


def _newton(reader: _PlaceReader, start: Start, controls: Controls) -> Walk:
    """Steps from the start until the gap over all rows is below ``tol``."""
    sums = _scaled((yield start), reader.scale)
    point = reader.reading(start, sums)
    best, steps, since = Best(point, reader.unit), 0, 0
    while True:
        gap = best.relative_gap
        controls.reached(f"step {steps}", best.low.objective, gap)
        if gap <= controls.tol:
            status = Status.OPTIMAL
        elif since >= PATIENCE:
            status = Status.STALLED
        elif controls.out_of_time():
            status = Status.TIME_LIMIT
        elif steps >= controls.max_iter:
            status = Status.ITERATION_LIMIT
        else:
            point, sums = yield from _advance(reader, point, sums)
            steps += 1
            since = 0 if best.take(point) else since + 1
            continue
        return Solution(status, best.certificate(reader), steps, NAME)


def _advance(
    reader: _PlaceReader, point: Reading, sums: LossSums
) -> Generator[Start, LossSums, tuple[Reading, LossSums]]:
    """The end of a Newton step, or of the first of its halves that goes down."""
    threshold = Threshold(sums.along, sums.curvature if reader.program.free else 0.0)
    step, shift = Factored(threshold, sums.gram.copy()).solve(point.gradient, point.slope)
    length = 1.0
    for _ in range(HALVINGS):
        end = Start(point.beta + length * step, point.t + length * shift)
        sums = _scaled((yield end), reader.scale)
        found = reader.reading(end, sums)
        if found.objective < point.objective or found.bound > point.bound:
            break
        length /= 2
    return found, sums
