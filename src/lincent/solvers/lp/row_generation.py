"""Programs with few rows that matter, by generating them: wide data, and separable classes.

Where columns are as many as rows, or the classes are separable, most rows keep the margin at the
optimum and their multipliers are zero.  So solve a few rows, look at all, add those that miss the
margin, and repeat:

    minimize over beta    g.beta + sum_{i in W} c_i (s - a_i.beta)_+

Leaving out rows only lowers the objective, so the bound of every such program holds for the whole,
and the point becomes optimal when no row outside W misses the margin.  The first rows are those
that are worst at the corner of the box farthest along d.  Early rounds are solved loosely: they
are to say which rows matter, nothing else.

Classes far apart in many columns keep nearly all their rows at that very corner.  Where none is
missed it is the optimum, with multipliers of zero; where few are, few rows matter.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from lincent.problems.arrays import Certificate, Index
from lincent.problems.centralization import Program, certify
from lincent.solvers.lp import interior_point
from lincent.solvers.solution import Controls, Solution, Status

NAME = "row-generation"


@dataclass(frozen=True)
class Tuning:
    """Measured on text-like 4,000 x 10,000 and 20,000 x 47,000."""

    first_share: float = 0.1
    first_rows: int = 100
    """Rows of the first program: a share of all, but at least so many."""
    first_tol: float = 1e-2
    below_gap: float = 1e-2
    """Tolerance of the first program; later ones are solved to this share of the open gap."""
    guard: float = 0.05
    """While rounds are loose, rows within this share of the median distance join as well."""
    few: int = 5
    """With at most so many rows missed, the round that follows is solved to the end."""
    last_share: float = 0.1
    """The last rounds are solved to this share of ``tol``."""
    most_share: float = 0.7
    """Once this share of all rows is in, the program is solved whole instead."""
    rounds: int = 15
    least_rows: int = 500
    least_dense_rows: int = 1500
    """With fewer rows than this the whole is solved as fast (dense: kernel matrices)."""
    least_columns: int = 2000
    """Of classes that may be separable: with fewer columns the whole is solved as fast."""
    whole: bool = True
    """Or it is left to others."""


TUNING = Tuning()
AT_THE_CORNER = Tuning(most_share=0.25, whole=False)
"""Where few rows are missed at the corner: if many matter all the same, others are faster."""
CORNER_COLUMNS = 100
CORNER_ROWS = 100
"""With fewer columns, or more rows for each, screening takes no longer than the looks at all rows
(50,000 x 100: four fifths of the time)."""
CORNER_MISSED = 0.04
"""Of the rows, missed at the corner, up to which few are taken to matter: at 2,000 x 1,000 with up
to 2 % this is a tenth of an interior point's time, with 8 % a sixth or three times as much."""


def worthwhile(m: int, n: int, sparse: bool, *, after_naming: bool) -> bool:
    """Whether few rows may matter: more columns than rows, or none could be named on the kink."""
    if after_naming:
        return n >= TUNING.least_columns
    return n >= m >= (TUNING.least_rows if sparse else TUNING.least_dense_rows)


def worth_a_look(m: int, n: int) -> bool:
    """Whether a look at all rows pays, to know how many are missed at the corner."""
    return n >= CORNER_COLUMNS and m <= CORNER_ROWS * n


def missed_at_the_corner(program: Program) -> int:
    """How many rows miss the margin at the corner of the box farthest along d."""
    return int(np.count_nonzero(program.rows.dot(program.farthest_point) < program.margin))


def from_the_corner(program: Program, missed: int, controls: Controls) -> Solution:
    """The optimum where the corner misses so few rows, or what is known when many join."""
    if missed:
        return solve(program, controls, AT_THE_CORNER)
    nothing = np.zeros(program.shape[0])
    return Solution(Status.OPTIMAL, certify(program, program.farthest_point, nothing, 0.0), 1, NAME)


def solve(
    program: Program, controls: Controls, tuning: Tuning = TUNING, first: Index | None = None
) -> Solution:
    """The certified optimum of all rows, from programs of some of them.

    Where the first of them are given, they are nearly all that matter.
    """
    m = program.shape[0]
    chosen, best = np.zeros(m, dtype=bool), _Best(program)
    chosen[_worst(program, tuning) if first is None else first] = True
    tol, iterations, status = tuning.first_tol, 0, Status.STALLED
    if first is not None:
        tol = tuning.last_share * controls.tol
    for number in range(tuning.rounds):
        index = np.flatnonzero(chosen)
        some = program if len(index) == m else _part(program, index)
        least = tuning.last_share * controls.tol
        within = replace(controls, tol=max(tol, least), watch=None)
        found = interior_point.solve(some, within, enough=controls.tol)
        iterations += found.iterations
        missed = best.offer(found.certificate, index)
        joining = ~chosen & (missed > 0.0)
        count, gap = np.count_nonzero(joining), best.relative_gap
        more = f"  {len(index)} rows, {count} missed"
        controls.reached(f"rows, round {number + 1}", best.objective, gap, more)
        if gap <= controls.tol:
            status = Status.OPTIMAL
            break
        if found.status is Status.TIME_LIMIT or controls.out_of_time():
            status = Status.TIME_LIMIT
            break
        if tol <= least and count == 0:
            break
        near = tuning.guard * float(np.median(np.abs(missed))) if count > tuning.few else 0.0
        chosen |= missed > -near
        if np.count_nonzero(chosen) > tuning.most_share * m:
            if not tuning.whole:
                break
            chosen[:] = True
        tol = min(tol, gap) * tuning.below_gap if count > tuning.few else least
    return Solution(status, best.certificate(), max(iterations, 1), NAME)


def _worst(program: Program, tuning: Tuning) -> Index:
    """The rows that the farthest corner of the box misses most."""
    m = program.shape[0]
    missed = program.margin - program.rows.dot(program.farthest_point)
    count = min(m, max(int(tuning.first_share * m), tuning.first_rows))
    return np.argpartition(-missed, count - 1)[:count]


def _part(program: Program, index: np.ndarray) -> Program:
    return replace(program, rows=program.rows.take(index), costs=program.costs[index])


class _Best:
    """The lowest point over all rows, and the highest bound of some of them."""

    def __init__(self, program: Program) -> None:
        self.program = program
        m, n = program.shape
        self.objective, self.bound = np.inf, -np.inf
        self.beta, self.alpha, self.t = np.zeros(n), np.zeros(m), 0.0

    def offer(self, point: Certificate, index: np.ndarray) -> np.ndarray:
        """Take what is better; what each row misses of the margin at the point."""
        projected = self.program.rows.dot(point.beta)
        value = self.program.primal(point.beta, projected)
        if value < self.objective:
            self.objective, self.beta = value, point.beta
        # Rows left out have multipliers of zero: the bound holds for all rows.  The offset of the
        # program is that of all rows in either.
        if point.dual_objective > self.bound:
            self.bound, self.t = point.dual_objective, point.t
            self.alpha = np.zeros(self.program.shape[0])
            self.alpha[index] = point.alpha
        return np.asarray(self.program.margin - projected)

    @property
    def relative_gap(self) -> float:
        return self.certificate().relative_gap

    def certificate(self) -> Certificate:
        return Certificate(self.beta, self.alpha, self.t, self.objective, self.bound)
