"""Scaling of a program to numbers near one.

With powers of two s and v, rows, d and g divided by s, and the box multiplied by v,

    rows/s, g/s, d/s,   margin v/s, separation v/s,   lo v, hi v,   offset v/s

is the same program for v beta, and its objective is v/s times the objective.  Powers of two change
no digit.  s brings data of any scale to one; v brings a separation that is tiny against the box to
where solvers see it.

A box that is far away does not matter, and solvers lose digits to it.  So a solver is given a
nearer one; an optimum inside it is the optimum, by convexity, and the certificate is for the whole
box.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from lincent.problems.arrays import Vector
from lincent.problems.centralization import Certificate, Program
from lincent.sources.dense import DenseRows

EXTREME = 2.0**40
"""Data whose centers differ by more than this, or less than its inverse, is scaled."""
TINY = 2.0**-30
"""A separation below this fraction of the largest is scaled."""
USUAL = 2.0**-7
"""The fraction it becomes: about that of the default margin on standardized data."""
FAR = 2.0**20
"""Where the nearer box begins for a column of unit scale: farther out solvers lose digits."""
AT_THE_BOX = 0.5
"""A point this far out may have been on its way beyond."""
MOST_ENTRIES = 20_000_000
"""Rows are copied when they are scaled, but not more than these."""


@dataclass(frozen=True)
class Scaled:
    """The same program to solve (``near``) and to certify (``whole``), and the way back."""

    near: Program
    whole: Program
    rows: float = 1.0
    point: float = 1.0

    def held(self, beta: Vector) -> bool:
        """Return whether the nearer box may hold a point back."""
        near, whole = self.near, self.whole
        low = (beta <= near.lower * AT_THE_BOX) & (near.lower > whole.lower)
        high = (beta >= near.upper * AT_THE_BOX) & (near.upper < whole.upper)
        return bool(np.any(low | high))

    def size(self, answer: Certificate) -> float:
        """Return the least objective that a gap of the original program is relative to, here."""
        unit = self.rows / self.point
        return min(max(abs(answer.objective), min(1.0, self.rows) / unit), 1.0)

    def back(self, answer: Certificate) -> Certificate:
        """Return the certificate of the original program."""
        if self.rows == self.point == 1.0:
            return answer
        unit = self.rows / self.point
        return replace(
            answer,
            beta=answer.beta / self.point,
            objective=answer.objective * unit,
            dual_objective=answer.dual_objective * unit,
            rounding=answer.rounding * unit,
            unit=min(1.0, self.rows),
        )


def of_unit_scale(program: Program) -> Scaled:
    """Return the scaled program; the program itself where its scale is ordinary."""
    s = _row_scale(program)
    v = _point_scale(program)
    if s == v == 1.0:
        return Scaled(program, program)
    unit = v / s
    rows = program.rows if s == 1.0 else DenseRows(program.rows.dense() / s)
    whole = replace(
        program,
        rows=rows,
        linear=program.linear / s,
        difference=program.difference / s,
        margin=program.margin * unit,
        separation=program.separation * unit,
        lower=program.lower * v,
        upper=program.upper * v,
        offset=program.offset * unit,
    )
    # A column of small scale reaches as far as it must.
    far = FAR / np.clip(np.abs(whole.difference), FAR * np.finfo(np.float64).tiny, 1.0)
    lower, upper = np.maximum(whole.lower, -far), np.minimum(whole.upper, far)
    return Scaled(replace(whole, lower=lower, upper=upper), whole, s, v)


def _row_scale(program: Program) -> float:
    size = float(np.abs(program.difference).max(initial=0.0))
    copied = program.shape[0] * program.shape[1] <= MOST_ENTRIES
    if not copied or not 0 < size < np.inf or 1 / EXTREME <= size <= EXTREME:
        return 1.0
    return float(2.0 ** np.round(np.log2(size)))


def _point_scale(program: Program) -> float:
    largest = program.largest_separation
    if not 0 < program.separation < TINY * largest:
        return 1.0
    return float(2.0 ** np.round(np.log2(USUAL) - np.log2(program.separation) + np.log2(largest)))
