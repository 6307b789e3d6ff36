"""Where the next point of a path is likely to be.

Between two breaks beta is linear in the margin s, so the line through the last two points is a
guess: exact where no coefficient reaches the box or those that do stay there, since

    beta(s) = beta(s1) + (s - s1) / (s1 - s0) (beta(s1) - beta(s0)).

A path of nearly the same rows, such as that of another fold, is a better one: ``guide`` is its
point at this margin and ``passed`` its point at the last.  What the two paths differ by shrinks
with the margin, as the paths do:

    beta(s) = guide + s / s1 (beta(s1) - passed).

The last point itself is the third, for where breaks are many.  The objective tells which is best.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from lincent.problems.arrays import Vector
from lincent.problems.centralization import Program


class Point(NamedTuple):
    """The optimum at a margin, or a guess of it, and a_i.beta of every row there."""

    margin: float
    beta: Vector
    projected: Vector

    def turned(self, other: Point) -> int:
        """How many rows are on different sides of the margin here and there."""
        here, there = self.projected < self.margin, other.projected < other.margin
        return int(np.count_nonzero(here != there))


class Guide(NamedTuple):
    """Another path at this margin and at the last."""

    here: Vector
    passed: Vector


def foresee(program: Program, last: Point, before: Point | None, guide: Guide | None) -> Point:
    """The best of the guesses, inside the box and above the separation."""
    margin = program.margin
    guesses = []
    if before is not None and before.margin != last.margin:
        share = (margin - last.margin) / (last.margin - before.margin)
        guesses.append(last.beta + share * (last.beta - before.beta))
    if guide is not None:
        guesses.append(guide.here + margin / last.margin * (last.beta - guide.passed))
    best, lowest = Point(margin, last.beta, last.projected), np.inf
    if guesses and margin <= last.margin:  # where it stays feasible
        lowest = program.primal(last.beta, last.projected)
    for guess in guesses:
        beta = program.feasible(guess)
        projected = program.rows.dot(beta)
        value = program.primal(beta, projected)
        if value < lowest:
            best, lowest = Point(margin, beta, projected), value
    return best
