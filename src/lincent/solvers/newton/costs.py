"""Newton's method from small costs to those that are asked for: where it would go in short steps.

With costs s c for a small s the optimum is near beta = 0, all rows are between the margins there,
and one step leads to it.  From there s rises, each optimum, roughly found, the start of the next.
Rows then cross the margins a few at a time, where from zero at full costs a step takes most of them
across at once and is cut short: classes that are apart, rows of very different sizes.

At zero the gradient is g = -A'alpha, and a step along it moves the rows by s A g; the first s is
that at which this is as far as from zero to the upper margin.  Gram matrices are proportional to s,
so that what the rows between the margins have added up stays of use.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from lincent.problems.regularized import RegularizedProgram
from lincent.solvers.newton.descent import Led, Start, descend, lead
from lincent.solvers.newton.hessian import Whole
from lincent.solvers.newton.oracle import Reader
from lincent.solvers.newton.start import even_at_zero
from lincent.solvers.solution import Controls, Status


@dataclass(frozen=True)
class Tuning:
    """How costs rise; steps counted on kinds of ``benchmarks/workloads.py`` at 2,000 x 50."""

    loose: float = 0.3
    """The relative gap to which the optimum for smaller costs is found."""
    rise: tuple[float, ...] = (30.0, 30.0, 10.0, 10.0, 10.0)
    """By what the costs rise after an optimum that took none, one, two ... steps,"""
    slow_rise: float = 4.0
    """and after one that took more."""
    last: float = 0.4
    """From this share of the costs on, all of them come next."""
    steps: int = 30
    """Steps for smaller costs at most, before they rise in any case."""


TUNING = Tuning()


def scaled(program: RegularizedProgram, scale: float) -> RegularizedProgram:
    """The same program with all costs times the scale."""
    return program if scale == 1.0 else replace(program, costs=program.costs * scale)


def approach(program: RegularizedProgram, curvature: Whole, controls: Controls, goal: float) -> Led:
    """As ``lead``, through the optima for smaller costs."""
    scale, before, steps = _first_scale(program), 1.0, 0
    start: Start | None = None
    while scale < TUNING.last and steps < controls.max_iter:
        part = scaled(program, scale)
        curvature.with_costs(part, scale / before)
        most = min(TUNING.steps, controls.max_iter - steps)
        brief = replace(controls, tol=TUNING.loose, max_iter=most, watch=None)
        found = descend(part, curvature, brief, start)
        start, steps = Start(found.certificate.beta, found.certificate.t), steps + found.iterations
        if found.status in (Status.TIME_LIMIT, Status.STALLED):
            return Led(start, found.status, steps)
        taken = found.iterations
        before = scale
        scale *= TUNING.rise[taken] if taken < len(TUNING.rise) else TUNING.slow_rise
    curvature.with_costs(program, 1.0 / before)
    left = replace(controls, max_iter=max(controls.max_iter - steps, 1))
    led = lead(program, curvature, left, start, goal)
    return replace(led, steps=steps + led.steps)


def _first_scale(program: RegularizedProgram) -> float:
    reader = Reader(program)
    moved = program.rows.dot(reader.at_zero(even_at_zero(reader)).gradient)
    with np.errstate(over="ignore"):
        size = float(np.sqrt(np.mean(np.square(moved, dtype=np.float64))))
    return program.high / size if 0.0 < size < np.inf else 1.0
