"""The convex-concave procedure for the ramp program, on the linear-program solvers.

From a start beta_0: take the rows beyond the wrong center, minimize the upper model (U) of
``programs.ramp`` they define, and repeat from its minimizer until those rows repeat themselves.
The objective falls at every step, and there are finitely many sets of rows, so it ends.

All steps but the last need only go down, so they are solved to a loose tolerance; once the set of
rows repeats, its model is solved to the tolerance asked for.  A step that rounding would make go
up is not taken.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from lincent.programs.centralization import Certificate, Vector
from lincent.programs.ramp import Mask, RampProgram
from lincent.solvers import chain
from lincent.solvers.solution import Controls, Status

LOOSE = 1e-5
NAME = "convex-concave"


@dataclass(frozen=True)
class LocalSolution:
    """A local optimum: the point, how the objective fell, and the certificate of the last model.

    ``model`` bounds U at the point, not F: the optimum is local.
    """

    status: Status
    beta: Vector
    history: tuple[float, ...]
    model: Certificate | None
    solver: str

    @property
    def objective(self) -> float:
        return self.history[-1]

    @property
    def steps(self) -> int:
        return len(self.history) - 1


def solve(
    program: RampProgram,
    start: Vector,
    solver: str,
    controls: Controls,
    rng: np.random.Generator,
    max_steps: int,
) -> LocalSolution:
    """Descend from ``start``, a point with d.beta >= s inside the box."""
    state = _Descent(program, start)
    loose = replace(controls, tol=max(LOOSE, controls.tol))
    status, model = Status.ITERATION_LIMIT, None
    precise = False
    for step in range(max_steps):
        answer = chain.solve(
            program.upper_model(state.beyond), solver, controls if precise else loose, rng
        )
        model = answer.certificate
        before = state.beyond
        lowered = state.offer(model.beta)
        controls.tell(f"step {step + 1}: objective {state.value:.10e}  beyond {state.beyond.sum()}")
        if controls.out_of_time() or answer.status is Status.TIME_LIMIT:
            status = Status.TIME_LIMIT
            break
        settled = not lowered or np.array_equal(before, state.beyond)
        if settled and (precise or model.relative_gap <= controls.tol):
            status = Status.OPTIMAL if model.relative_gap <= controls.tol else Status.STALLED
            break
        precise = settled
    return LocalSolution(status, state.beta, tuple(state.history), model, NAME)


class _Descent:
    """The best point so far, and the values on the way to it."""

    def __init__(self, program: RampProgram, start: Vector) -> None:
        self.program = program
        projected = program.rows.dot(start)
        self.beta = start
        self.value = program.objective(start, projected)
        self.beyond: Mask = program.beyond(start, projected)
        self.history = [self.value]

    def offer(self, beta: Vector) -> bool:
        """Take the point if it is lower; says whether it was."""
        projected = self.program.rows.dot(beta)
        value = self.program.objective(beta, projected)
        if not value < self.value:
            return False
        self.beta, self.value = beta, value
        self.beyond = self.program.beyond(beta, projected)
        self.history.append(value)
        return True
