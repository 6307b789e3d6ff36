"""The convex-concave procedure for the ramp program, on the linear-program solvers.

From a start beta_0: take the rows beyond the wrong center, minimize the upper model (U) of
``programs.ramp`` they define, and repeat from its minimizer until those rows repeat themselves.
The objective falls at every step, and there are finitely many sets of rows, so it ends, at a local
optimum.

On noisy data that can take a hundred models.  After the first, a ``walk`` along the edges, which
takes a new model at every vertex, leads to such an optimum for the price of one or two.  Where rows
are many, Newton steps that take a new model each (``approach``) come before it, and no model is
minimized.

With ``lines`` it looks further.  If a line through that optimum leads lower (``line_search``), the
procedure goes on from there.  If none does, it descends once more from the minimizers of two other
models, one that caps every misplaced row and one that caps only the farthest (any set of rows
gives a model above F), and goes on from the lowest point found.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from lincent.problems.arrays import Certificate, Vector
from lincent.problems.centralization import Program
from lincent.problems.ramp import Mask, RampProgram
from lincent.solvers.lp import choose, screening
from lincent.solvers.ramp.approach import approach, worthwhile
from lincent.solvers.ramp.line_search import lowest_on_lines
from lincent.solvers.ramp.walk import walk
from lincent.solvers.solution import Controls, Solution, Status

NAME = "convex-concave"


@dataclass(frozen=True)
class Tuning:
    """Measured on the workloads of ``benchmarks/workloads.py`` at 1,000 x 24 to 20,000 x 30."""

    near_above: int = 4000
    """Rows from which on a model is solved from the point that it was made at."""
    near_rows: int = 15
    """Rows per column from which on that is worth it."""
    doubt: float = 0.1
    """Share of the rows that may change sides between that point and the minimizer."""
    lengths: tuple[float, ...] = (1.0, 0.5, 0.7, 1.5)
    """Lengths of the start that are looked at: the margin of a model is half of LCC's."""


TUNING = Tuning()
OTHER_CAPS = (0.0, 3.0)
"""Rows are capped from this share of the distance of the centers on, where one is exact."""
WORTH = 1e-8


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

    def times(self, unit: float) -> LocalSolution:
        """The solution of the program whose rows were divided by a unit."""
        return replace(self, history=tuple(unit * value for value in self.history))


def solve(
    program: RampProgram,
    start: Vector,
    solver: str,
    controls: Controls,
    rng: np.random.Generator,
    max_steps: int,
    *,
    lines: bool = False,
) -> LocalSolution:
    """Descend from ``start``, a point with d.beta >= s inside the box."""
    state = _Descent(program, start)
    status, model = Status.ITERATION_LIMIT, None
    while state.steps < max_steps:
        model, beyond = _step(state, solver, controls, rng)
        lowered = state.offer(model.beta)
        controls.tell(f"step {state.steps}: objective {state.value:.10e}")
        if controls.out_of_time():
            status = Status.TIME_LIMIT
            break
        if lowered and not np.array_equal(beyond, state.beyond):
            continue
        if lines and _look_further(state, solver, controls, rng, max_steps):
            controls.tell(f"step {state.steps}: objective {state.value:.10e} further on")
            continue
        status = Status.OPTIMAL if model.relative_gap <= controls.tol else Status.STALLED
        break
    return LocalSolution(status, state.beta, tuple(state.history), model, NAME)


def _step(
    state: _Descent, solver: str, controls: Controls, rng: np.random.Generator
) -> tuple[Certificate, Mask]:
    """A certified minimizer of a model, and the J of that model: by a walk, after the first."""
    program = state.program
    near = not state.steps and solver == "auto" and worthwhile(program)
    if near:
        start = _best_length(program.upper_model(state.beyond), state)
        point = approach(program, start, controls)
        near = not np.array_equal(point, start)  # else no step led lower: the walk would be long
        if near:
            state.offer(point)
    if (state.steps or near) and solver == "auto":
        found = walk(program, state.beta, state.projected, controls)
        good = found is not None and found[0].relative_gap <= controls.tol
        # A vertex above the point that Newton steps led to is no answer, and that point no vertex.
        if found is not None and good and (not near or state.above(found[0].beta)):
            return found
    model = program.upper_model(state.beyond)
    return _minimum(model, state, solver, controls, rng).certificate, state.beyond


def _minimum(
    model: Program, state: _Descent, solver: str, controls: Controls, rng: np.random.Generator
) -> Solution:
    """The certified minimizer of a model: with many rows, from the point that it was made at."""
    m, n = model.shape
    near = solver == "auto" and m >= max(TUNING.near_above, TUNING.near_rows * n)
    if near and not (model.hard or model.one_point or model.infeasible) and model.costs.min() > 0:
        band = min(int(TUNING.doubt * m) + 10 * n, m // 2)
        guess = screening.Guess(_best_length(model, state), band)
        found = screening.solve(model, controls, rng, start=guess)
        if found.certified(controls.tol):
            return found
    return choose.solve(model, solver, controls, rng)


def _best_length(model: Program, state: _Descent) -> Vector:
    """The point on the ray through the current one where the model is lowest, of a few."""
    points = [model.feasible(length * state.beta) for length in TUNING.lengths]
    rays = [length * state.projected for length in TUNING.lengths]
    values = [model.primal(point, ray) for point, ray in zip(points, rays, strict=True)]
    return points[int(np.argmin(values))]


def _look_further(
    state: _Descent, solver: str, controls: Controls, rng: np.random.Generator, max_steps: int
) -> bool:
    """Move to a lower point away from this local optimum; says whether there was one."""
    program = state.program
    lower = lowest_on_lines(program, state.beta, state.value)
    nobody = program.upper_model(np.zeros(program.shape[0], dtype=bool))
    if lower is not None and state.offer(nobody.feasible(lower)):
        return True
    enough = state.value - WORTH * max(1.0, abs(state.value))
    projected, reach = program.rows.dot(state.beta), float(program.difference @ state.beta)
    for share in OTHER_CAPS:
        model = program.upper_model(-2.0 * projected > share * reach)
        start = choose.solve(model, solver, controls, rng).certificate.beta
        found = solve(program, start, solver, controls, rng, max_steps)
        if found.objective < enough and state.offer(found.beta):
            return True
    return False


class _Descent:
    """The best point so far, and the values on the way to it."""

    def __init__(self, program: RampProgram, start: Vector) -> None:
        self.program = program
        projected = program.rows.dot(start)
        self.beta, self.projected = start, projected
        self.value = program.objective(start, projected)
        self.beyond: Mask = program.beyond(start, projected)
        self.history = [self.value]

    @property
    def steps(self) -> int:
        return len(self.history) - 1

    def above(self, beta: Vector) -> bool:
        """Whether the best point so far is above this one."""
        return self.program.objective(beta, self.program.rows.dot(beta)) < self.value

    def offer(self, beta: Vector) -> bool:
        """Take the point if it is lower; says whether it was."""
        projected = self.program.rows.dot(beta)
        value = self.program.objective(beta, projected)
        lower = value < self.value
        if lower:
            self.beta, self.projected, self.value = beta, projected, value
            self.beyond = self.program.beyond(beta, projected)
        self.history.append(self.value)
        return lower
