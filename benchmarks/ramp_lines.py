"""Out of a local optimum of the ramp problem (FQCC), along lines.

On a line beta + t u the objective F is piecewise linear with at most two breakpoints per sample, so
that sorting them gives its *global* minimum on the line.  ``solve`` descends as ``solvers.ramp``
does, and from a local optimum goes on at a lower point of a line through it.  If there is none, it
descends once more from the minimizers of two other models.
"""

from __future__ import annotations

import numpy as np

from lincent.problems.arrays import Matrix, Vector
from lincent.problems.ramp import RampProgram
from lincent.solvers import ramp
from lincent.solvers.lp import dispatch
from lincent.solvers.ramp import Descent, LocalSolution
from lincent.solvers.solution import Controls, Status

FEATURES = 300
"""With more features lines are no longer cheap."""
ENTRIES = 4_000_000
"""Samples times lines that are searched."""
descend = ramp.solve


def solve(
    program: RampProgram,
    start: Vector,
    solver: str,
    controls: Controls,
    rng: np.random.Generator,
    max_steps: int,
) -> LocalSolution:
    """Descend from ``start``, and along lines from each local optimum."""
    state = Descent(program, start)
    status, model = Status.ITERATION_LIMIT, None
    while state.steps < max_steps:
        model, beyond = ramp.step(state, solver, controls, rng)
        lowered = state.offer(model.beta)
        if controls.out_of_time():
            status = Status.TIME_LIMIT
            break
        if lowered and not np.array_equal(beyond, state.beyond):
            continue
        if look_further(state, solver, controls, rng, max_steps):
            continue
        status = Status.OPTIMAL if model.relative_gap <= controls.tol else Status.STALLED
        break
    return LocalSolution(status, state.beta, tuple(state.history), model, ramp.NAME)


def look_further(
    state: Descent, solver: str, controls: Controls, rng: np.random.Generator, max_steps: int
) -> bool:
    """Move to a lower point away from this local optimum; return whether there was one."""
    program = state.program
    lower = lowest_on_lines(program, state.beta, state.value)
    convex = program.upper_model(np.zeros(program.shape[0], dtype=bool))
    if lower is not None and state.offer(convex.feasible(lower)):
        return True
    enough = state.value - 1e-8 * max(1.0, abs(state.value))
    projected, distance = program.rows.dot(state.beta), float(program.difference @ state.beta)
    # Any set J gives a model above F: all misplaced samples, or only the farthest.
    for share in (0.0, 3.0):
        model = program.upper_model(-2.0 * projected > share * distance)
        start = dispatch.solve(model, solver, controls, rng).certificate.beta
        local = descend(program, start, solver, controls, rng, max_steps)
        if local.objective < enough and state.offer(local.beta):
            return True
    return False


def lowest_on_lines(program: RampProgram, beta: Vector, value: float) -> Vector | None:
    """Return the lowest point on lines through a local optimum, or None if none is below it.

    The lines are the axes and the ray through zero; the edges of the vertex (one active constraint
    let go, the others kept); and inv(A'CA) a_i, which move sample i and disturb the others least.
    """
    m, n = program.shape
    most = ENTRIES // max(1, m)
    if n > FEATURES or most < n:
        return None
    projected = program.rows.dot(beta)
    edges, sample_lines = _edges(program, beta, projected), _sample_lines(program, projected)
    lines = np.hstack([np.eye(n), beta[:, None], edges, sample_lines])
    lines = lines[:, np.any(lines != 0, axis=0)][:, :most]
    lowest, point = value - 1e-9 * max(1.0, abs(value)), None
    step = max(1, 400_000 // max(1, m))
    for start in range(0, lines.shape[1], step):
        batch = lines[:, start : start + step]
        length, values = minimum_on_lines(program, beta, projected, batch)
        k = int(np.argmin(values))
        if values[k] < lowest:
            lowest, point = float(values[k]), beta + length[k] * batch[:, k]
    return point


def minimum_on_lines(
    program: RampProgram, beta: Vector, projected: Vector, lines: Matrix
) -> tuple[Vector, Vector]:
    """Return for each column u of ``lines`` the best t inside the box and d.beta >= s, and F there.

    With q = d.beta and p_i = -2 a_i.beta, and q_u, p_ui their change along u,

        F(t) = const - (q + t q_u) + sum_i c_i (s + p_i + t p_ui)_+
                                   - sum_i c_i (p_i - q + t (p_ui - q_u))_+.
    """
    along = np.column_stack([program.rows.dot(u) for u in np.ascontiguousarray(lines.T)])
    s, c, d = program.margin, program.costs, program.difference
    q, q_u = float(d @ beta), d @ lines
    low, high = _range(beta, lines, q - s, q_u)
    at = np.concatenate([s - 2 * projected, -2 * projected - q])[:, None]
    slope = np.concatenate([-2 * along, -2 * along - q_u])
    weight = np.concatenate([c, -c])[:, None]
    with np.errstate(divide="ignore", invalid="ignore"):
        breakpoints = np.where(slope != 0, -at / slope, np.inf)
    breakpoints = np.clip(breakpoints, low, high)
    order = np.argsort(breakpoints, axis=0)
    breakpoints = np.vstack([low, np.take_along_axis(breakpoints, order, axis=0), high])
    first = at + slope * low
    # Just above the lower end a hinge counts if it is positive or about to be.
    rising = (first > 0) | ((first == 0) & (slope > 0))
    jump = np.where(rising & (slope > 0), 0.0, weight * np.abs(slope))
    # Breakpoints outside the range were moved to its ends; their jump must not count inside.
    jump[~rising & (slope <= 0)] = 0.0
    jump = np.take_along_axis(jump, order, axis=0)
    value = -(q + q_u * low) - s * float(c.sum()) + (weight * np.maximum(first, 0.0)).sum(axis=0)
    begin = -q_u + (weight * slope * rising).sum(axis=0)
    slopes = begin + np.vstack([np.zeros_like(low), np.cumsum(jump, axis=0)])
    values = value + np.vstack(
        [np.zeros_like(low), np.cumsum(slopes * np.diff(breakpoints, axis=0), axis=0)]
    )
    best = np.argmin(values, axis=0)
    each = np.arange(lines.shape[1])
    return breakpoints[best, each], values[best, each]


def _range(beta: Vector, lines: Matrix, slack: float, q_u: Vector) -> tuple[Vector, Vector]:
    """Return how far each line goes back and forth before it leaves the box or d.beta >= s."""
    with np.errstate(divide="ignore", invalid="ignore"):
        ends = np.stack([(-1.0 - beta[:, None]) / lines, (1.0 - beta[:, None]) / lines])
        ends = np.where(lines == 0, np.array([-np.inf, np.inf])[:, None, None], ends)
        low, high = ends.min(axis=0).max(axis=0), ends.max(axis=0).min(axis=0)
        back = np.where(q_u > 0, -slack / q_u, -np.inf)
        forth = np.where(q_u < 0, -slack / q_u, np.inf)
    # t = 0 is inside, up to rounding.
    return np.minimum(np.maximum(low, back), 0.0), np.maximum(np.minimum(high, forth), 0.0)


def _edges(program: RampProgram, beta: Vector, projected: Vector) -> Matrix:
    size = float(np.mean(np.abs(projected))) + program.margin
    tight = np.flatnonzero(np.abs(2 * projected - program.margin) <= 1e-7 * size)
    at_box = np.flatnonzero(np.abs(beta) >= 1.0 - 1e-9)
    active = [program.rows.take(tight).dense(), np.eye(len(beta))[at_box]]
    if float(program.difference @ beta) <= program.margin * (1 + 1e-9):
        active.append(program.difference[None, :])
    together = np.vstack(active)
    if not 0 < len(together) <= 2 * len(beta) + 10:
        return np.empty((len(beta), 0))
    return np.asarray(np.linalg.pinv(together))


def _sample_lines(program: RampProgram, projected: Vector) -> Matrix:
    gram = program.rows.gram(program.costs)
    # Evenly along the projections, equal ones once: duplicated samples add no lines.
    _, chosen = np.unique(projected, return_index=True)
    if len(chosen) > 150:
        chosen = chosen[np.linspace(0, len(chosen) - 1, 150).astype(np.intp)]
    rows = program.rows.take(np.sort(chosen)).dense()
    return np.asarray(np.linalg.pinv(gram, hermitian=True) @ rows.T)
