"""Newton steps on the smoothed program: from a rough point to a good one in a few passes.

Within a distance w_i = w size_i of its breakpoint the hinge of row i is replaced by a parabola
(sizes: see ``screening``).  Then the objective has a gradient, to which every row contributes, and
a Hessian, to which only the rows of the band |a_i.beta - s| <= w_i contribute:

    alpha_i = c_i * clip((w_i - (a_i.beta - s)) / 2 w_i, 0, 1)
    gradient = g - sum_i alpha_i a_i                     Hessian = sum_band c_i / (2 w_i) a_i a_i'

One step from the optimum of a sample goes most of the way to the optimum of the whole (Le Cam's
one-step estimator; Portnoy and Koenker 1997), so w can shrink quickly.  A step that overshoots is
cut back to the best point on the way, which costs no pass over the data: a_i.beta is known at both
ends.  Nothing here needs to be exact: the point is only where the exact solve begins.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from lincent.problems.arrays import AllRows, EvaluatedRows, Vector
from lincent.problems.centralization import Program
from lincent.solvers.lp.simplex import clipped_newton_point

# Trade-offs, measured on the tall shapes of ``benchmarks/workloads.py``.
LENGTHS: tuple[float, ...] = (0.6, 0.36, 0.2, 0.1, 0.03)
"""Lengths tried where a full step overshoots."""
FURTHER: tuple[float, ...] = (2.0, 4.0, 8.0, 16.0, 32.0, 64.0)
"""Lengths tried where beta only grows."""
STEADY = 0.1
"""Fraction of the objective that a step may change for the point to be near."""


@dataclass
class Evaluated:
    """A point near the optimum, and all rows evaluated there."""

    view: EvaluatedRows
    objective: float
    band: int  # rows around the margin among which the active ones are expected

    @property
    def beta(self) -> Vector:
        return self.view.beta

    @cached_property
    def width(self) -> float:
        """Half the width of the band, in sizes of rows."""
        return self.view.width(self.band)


def evaluate(program: Program, whole: AllRows, beta: Vector, band: int) -> Evaluated:
    """Evaluate all rows at a point, with so many of them undecided."""
    view = whole.look(beta, band)
    return Evaluated(view, program.value(beta, view.loss), band)


def approach(
    program: Program,
    whole: AllRows,
    near: Evaluated,
    few: int,
    steps: int,
    rng: np.random.Generator,
    tell: Callable[[str], None],
) -> tuple[Evaluated, int]:
    """Approach the optimum until ``few`` rows are undecided; return the point and the steps.

    The band of a step is right if it holds the rows that the step takes across the margin.  Then
    the next one may be smaller; where rows from beyond it crossed, it stays as wide.  A step that
    took a second pass, to end before or beyond its aim, counts twice.
    """
    taken, reads, widest = 0, 0, near.band
    settled, astray = near.band <= few, False
    while not settled and reads < steps:
        aim = newton_step(program, near.view, near.width, rng)
        if aim is None:
            break
        taken += 1
        closer = evaluate(program, whole, aim, near.band)
        crossed = near.view.crossed(closer.view, near.width)
        closer, length, looks = _best_on_the_way(program, whole, near, closer)
        reads += looks
        tell(
            f"newton on {program.shape[0]} rows: objective {closer.objective:.10e}, "
            f"band {near.band}, {crossed:.0f} crossed, step {length:g}"
        )
        # Lost: the band was too narrow for the step.
        still, lost = length == 0.0, length < 1.0 and crossed > near.band
        if astray and still:  # this band is too wide and the last one was too narrow
            break
        astray = still and lost
        if lost:
            closer = replace(closer, band=min(2 * near.band, widest))
        elif still or _steady(program, near, closer):
            settled = near.band <= few and (still or crossed <= 0.02 * near.band)
            if still or crossed <= 0.05 * near.band:
                # Quadratic convergence allows no faster decrease.
                closer = replace(closer, band=max(near.band // 4, few))
        near = closer
    return near, taken


def _steady(program: Program, near: Evaluated, closer: Evaluated) -> bool:
    """Return whether a step hardly changes the objective.

    Where classes are separable each step makes beta longer: no row crosses then, and the scale of
    everything is still wrong.
    """
    change, value = closer.objective - near.objective, closer.objective - program.offset
    return abs(change) <= STEADY * abs(value)


def _best_on_the_way(
    program: Program, whole: AllRows, near: Evaluated, far: Evaluated
) -> tuple[Evaluated, float, int]:
    """Return the best of a few points along a step, how far along it is, and the passes.

    Where a step is worse, before its end; where it is better and beta only grows, beyond it.
    """
    better = far.objective < near.objective
    if better and _steady(program, near, far):
        return far, 1.0, 1
    lengths = np.array(FURTHER if better else LENGTHS)
    step = far.beta - near.beta
    losses = near.view.along(far.view, lengths)
    best, along = (far if better else near).objective, float(better)
    least = 0.0
    for length, loss in zip(lengths, losses, strict=True):
        point = near.beta + length * step
        inside = np.all((point >= program.lower) & (point <= program.upper))
        value = program.value(point, float(loss)) if inside else np.inf
        if value < best:
            best, along, least = value, float(length), float(loss)
    if along in (0.0, 1.0):
        # At 0 the point is nearer already than the smoothed optimum of this width.
        return (far if better else near), along, 1
    view = near.view.between(far.view, along, least)
    if view is None:
        return evaluate(program, whole, near.beta + along * step, near.band), along, 2
    return Evaluated(view, best, near.band), along, 1


def newton_step(
    program: Program, view: EvaluatedRows, width: float, rng: np.random.Generator
) -> Vector | None:
    """Return the next point, or None where the Hessian is singular."""
    if not width > 0:
        return None
    n = program.shape[1]
    # Fifty rows per column make the Hessian good enough, and fewer beyond 100 columns, where a row
    # costs n times as much; 40,000 entries cost nothing in any case, and categories can be rare.
    most = int(max(50 * min(n, 100), 40_000 / n))
    combined, H = view.smoothed(width, most, rng)
    return clipped_newton_point(program, view.beta, program.linear - combined, H)
