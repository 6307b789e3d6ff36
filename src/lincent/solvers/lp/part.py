"""The optimum of some rows of a large program: a sample of it, or the band of a round.

Where such a part is little the simplex reaches its vertex in a few milliseconds; else, and where
exchanges lead nowhere, the interior point solves it.
"""

from __future__ import annotations

from dataclasses import replace

from lincent import _threads
from lincent.problems.arrays import Vector
from lincent.problems.centralization import Program
from lincent.solvers.lp import interior_point, simplex
from lincent.solvers.solution import Controls, Solution, Status


def solve(program: Program, controls: Controls, start: Vector | None = None) -> Solution:
    """Bring the part to ``controls.tol``, or as near as it gets."""
    rows, steps = program.rows, 0
    if simplex.worthwhile(*program.shape) and not (rows.sparse or rows.is_remote):
        with _threads.for_size(*program.shape):
            found = simplex.solve(program, controls, start)
        if found.status is Status.OPTIMAL:
            return found
        steps = found.iterations
    found = interior_point.solve(program, controls, start)
    return replace(found, iterations=steps + found.iterations)
