"""From all rows to those that are short of the upper margin, by whole sets at a time.

Without a lower margin the loss is a square, (hi - z)^2 / (2 width) for z < hi, and a full Newton
step from a point with the rows J short of the margin ends at the least squares solution of J:

    J_0 = all rows,    J_k+1 = the rows short of the margin at the least squares solution of J_k

until a set comes again: that is the optimum.  Only a step on which the squares rise is cut to their
lowest point; what the loss itself does on the way is not looked at.  A whole step says of many rows
at once on which side they are, where a search stays with the few that are first on the way; with
as many columns as a fraction of the rows five to fifteen sets are enough, where a search takes
fifty steps (block pivoting; Judice and Pires 1994).

It is the way where next to no rows are beyond the lower margin: classes that columns can tell
apart.  There the optimum with that margin is the same or close by, and steps that go down in any
case (``descent``) lead to it from the lowest point that was seen.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from lincent.problems.arrays import Vector
from lincent.problems.regularized import RegularizedProgram
from lincent.solvers.newton.hessian import TUNING as STEPS
from lincent.solvers.newton.hessian import Curvature, LightFirst, Whole
from lincent.solvers.newton.oracle import Reader, Reading
from lincent.solvers.solution import Controls


@dataclass(frozen=True)
class Tuning:
    """When sets are exchanged; counted on kinds of ``benchmarks/workloads.py``, m from n / 5 up."""

    below: float = 0.02
    """Rows beyond the lower margin, of all, from which on its loss is not that of a square."""
    share: float = 0.02
    """The residual that conjugate gradients may leave: rows on the wrong side cost more."""
    sets: int = 40
    """Sets at most; 3 to 20 are usual."""
    deep: float = 1e6
    """So many times as far away the lower margin is as good as nowhere."""


TUNING = Tuning()
HALVINGS = 10
"""Of the way along which a lowest point is looked for."""


def parted(program: RegularizedProgram, z: Vector, curvature: Curvature) -> bool:
    """Whether next to no rows are beyond the lower margin; none, where other steps are cheap."""
    if isinstance(curvature, LightFirst) and not curvature.cheap:
        return False  # columns that depend on each other: each set would need a matrix of its own
    most = 0.0 if isinstance(curvature, Whole) else TUNING.below
    return int(np.count_nonzero(z <= program.low)) <= most * len(z)


def exchanged(
    reader: Reader, curvature: Curvature, controls: Controls, beta: Vector, t: float
) -> Reading:
    """Where sets lead from a least squares solution or a point near the optimum: the lowest one."""
    program = reader.program
    low, costs = program.high - TUNING.deep * program.width, program.costs * TUNING.deep
    squares = Reader(replace(program, low=low, costs=costs))
    point = squares.at(beta, t)
    if isinstance(curvature, LightFirst):
        curvature.light.share = TUNING.share
    best, lowest = point, np.inf
    for _ in range(TUNING.sets):
        step, shift = curvature.step(point)
        new = squares.at(point.beta + step, point.t + shift)
        same = np.array_equal(new.inside, point.inside)
        if new.objective > point.objective:
            length = _lowest(squares.program, point, new)
            new = squares.at(point.beta + length * step, point.t + length * shift)
        point = new
        z = program.positions(point.projected, point.t)
        objective = program.primal(point.beta, z, program.dual_weights(z))
        if objective < lowest:
            best, lowest = point, objective
        if same or curvature.coarse or controls.out_of_time():
            break
    if isinstance(curvature, LightFirst):
        curvature.light.share = STEPS.cg_share
    return reader.at(best.beta, best.t, best.projected)


def _lowest(program: RegularizedProgram, one: Reading, two: Reading) -> float:
    """How far from one point to another the lowest is: where the slope of squares is zero."""
    step = two.beta - one.beta
    flat, bend = float(one.beta @ step), float(step @ step)
    z = program.positions(one.projected, one.t)
    moved = program.positions(two.projected, two.t) - z
    low, high = 0.0, 1.0
    for _ in range(HALVINGS):
        length = (low + high) / 2
        pull = program.dual_weights(z + length * moved)
        rises = flat + length * bend > float((program.costs * pull) @ moved)
        low, high = (low, length) if rises else (length, high)
    return (low + high) / 2
