"""Local optima of the ramp problem (FQCC) by a convex-concave procedure.

The objective F of ``problems.ramp`` is a sum of ramps, that is, of hinges minus hinges.  With J the
samples beyond the wrong center at some point, linearizing the concave part there gives an upper
model (U), a centralization problem that equals F at the point and is nowhere below it.  Minimizing
the model, taking J again, and so on (Yuille and Rangarajan 2003; Collobert et al. 2006) lowers F in
every step and ends at a local optimum, because there are finitely many sets J.

On noisy data that takes up to a hundred models.  Two shortcuts need the price of one or two:

``approach``    Newton steps of which each takes a new model: a step that lowers a model lowers F by
                at least as much, wherever the minimizer of the model is.  How far to go along a
                step F itself decides: it still falls where a model has long turned up.
``walk``        pivots of which each takes a new model.  Two models in a row differ in their linear
                term alone, so that the vertex of one is a vertex of the next, and the tableau of
                ``lp.simplex`` goes on from it.  After every pivot the samples for which
                w_i = -(2 a_i + d).beta has changed its sign have entered or left J.  Where no pivot
                is left the vertex minimizes its own model: a local optimum.  The tableau holds only
                a band of samples near their breakpoints; one pass over all samples after some
                pivots shows whether the others have stayed on their side.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from lincent.problems.arrays import Index, Mask, Vector
from lincent.problems.centralization import Certificate, Program, certify
from lincent.problems.ramp import RampProgram
from lincent.solvers.lp import dispatch, screening, simplex
from lincent.solvers.lp.simplex import Tableau
from lincent.solvers.solution import Controls, Solution, Status

NAME = "convex-concave"

# What the steps trade; measured on ``benchmarks/workloads.py``, 200 x 6 to 1,000,000 x 10.
NEAR_ABOVE = 4000
"""Samples from which on the model is minimized among those near the margin."""
LENGTHS: tuple[float, ...] = (1.0, 0.5, 0.7, 1.5)
"""Lengths of the start that are tried: a model has half the margin."""
LONGER: tuple[float, ...] = (2.0, 4.0, 8.0)
"""Lengths of a step that are tried while F falls,"""
SHORTER: tuple[float, ...] = (0.5, 0.2, 0.05)
"""and where it does not."""
WALK_FEATURES = 300
"""Features beyond which a pivot costs as much as a step of the interior point."""
BAND = 12
"""Samples per feature in the band: a smaller one must be renewed more often."""
LEAST_BAND = 320
"""Samples of the band at least: below, a pivot is all overhead."""


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
        """Return the solution of the problem whose samples were divided by ``unit``."""
        return replace(self, history=tuple(unit * value for value in self.history))


def solve(
    program: RampProgram,
    start: Vector,
    solver: str,
    controls: Controls,
    rng: np.random.Generator,
    max_steps: int,
) -> LocalSolution:
    """Descend from ``start``, a point with d.beta >= s inside the box."""
    state = Descent(program, start)
    status, model = Status.ITERATION_LIMIT, None
    while state.steps < max_steps:
        model, beyond = step(state, solver, controls, rng)
        lowered = state.offer(model.beta)
        controls.tell(f"step {state.steps}: objective {state.value:.10e}")
        if controls.out_of_time():
            status = Status.TIME_LIMIT
            break
        if lowered and not np.array_equal(beyond, state.beyond):
            continue
        status = Status.OPTIMAL if model.relative_gap <= controls.tol else Status.STALLED
        break
    return LocalSolution(status, state.beta, tuple(state.history), model, NAME)


class Descent:
    """The best point so far, and the objectives on the way to it."""

    def __init__(self, program: RampProgram, start: Vector) -> None:
        self.program = program
        self.beta, self.projected = start, program.rows.dot(start)
        self.value = program.objective(start, self.projected)
        self.beyond: Mask = program.beyond(start, self.projected)
        self.history = [self.value]

    @property
    def steps(self) -> int:
        return len(self.history) - 1

    def offer(self, beta: Vector) -> bool:
        """Take the point if it is lower; return whether it was."""
        projected = self.program.rows.dot(beta)
        value = self.program.objective(beta, projected)
        lower = value < self.value
        if lower:
            self.beta, self.projected, self.value = beta, projected, value
            self.beyond = self.program.beyond(beta, projected)
        self.history.append(self.value)
        return lower

    def best_length(self, model: Program) -> Vector:
        """Return the point on the ray through the current one where the model is lowest."""
        points = [model.feasible(length * self.beta) for length in LENGTHS]
        rays = [length * self.projected for length in LENGTHS]
        values = [model.primal(point, ray) for point, ray in zip(points, rays, strict=True)]
        return points[int(np.argmin(values))]


def step(
    state: Descent, solver: str, controls: Controls, rng: np.random.Generator
) -> tuple[Certificate, Mask]:
    """Return a certified minimizer of a model, and the J of that model."""
    program = state.program
    approached = not state.steps and solver == "auto" and is_applicable(program)
    if approached:
        start = state.best_length(program.upper_model(state.beyond))
        point = approach(program, start, controls)
        approached = not np.array_equal(point, start)  # else the walk would be long
        if approached:
            state.offer(point)
    if (state.steps or approached) and solver == "auto":
        walked = walk(program, state.beta, state.projected, controls)
        # A vertex above the point that Newton steps led to is no answer, and that point no vertex.
        if walked is not None and walked[0].relative_gap <= controls.tol:
            vertex = walked[0].beta
            if not approached or program.objective(vertex, program.rows.dot(vertex)) < state.value:
                return walked
    model = program.upper_model(state.beyond)
    return _minimum(model, state, solver, controls, rng).certificate, state.beyond


def _minimum(
    model: Program, state: Descent, solver: str, controls: Controls, rng: np.random.Generator
) -> Solution:
    """Return the certified minimizer of a model: with many samples, from where it was taken."""
    m, n = model.shape
    many = solver == "auto" and m >= max(NEAR_ABOVE, 15 * n)
    if many and not (model.hard or model.one_point or model.infeasible) and model.costs.min() > 0:
        band = min(m // 10 + 10 * n, m // 2)  # so many may change sides up to the minimizer
        guess = screening.Guess(state.best_length(model), band)
        solution = screening.solve(model, controls, rng, start=guess)
        if solution.certified(controls.tol):
            return solution
    return dispatch.solve(model, solver, controls, rng)


# Newton steps, each on a new model


def is_applicable(program: RampProgram) -> bool:
    """Return whether there are so many samples that Newton steps pay, but not too many for them."""
    m, n = program.shape
    dense = not (program.rows.sparse or program.rows.is_remote)
    usual = not program.hard and bool(program.costs.min() > 0)
    # Of fewer entries the walk from the first model is short, of more no step should read all.
    entries = 4_000 < m * n <= 10_000_000
    # With fewer than three samples per feature the classes are separable, and the box is met; with
    # many features a basis is dear, and steps lead too far from one.
    return bool(dense and usual and entries and n <= 64 and m >= 3 * n)


@np.errstate(all="ignore")  # a point that is not finite has no objective and is not taken
def approach(program: RampProgram, start: Vector, controls: Controls) -> Vector:
    """Return a point close to a local optimum of F, at most as high as the start."""
    m, n = program.shape
    point = _NearLocal(program, start)
    band, least, flat = 4.0 * n, 2.0 * n, 0  # hinges that the first step smooths, and the last
    largest = min(m // 2, 64 * n)  # a wider band is not worth a step
    for _ in range(64):  # what is left costs the walk less
        before = point.beyond
        length, gain = point.step(min(int(band), largest))
        stuck = length == 0.0 and band >= largest
        flat = 0 if gain > 1e-4 else flat + (length > 0.0)
        if stuck or flat == 2 or controls.out_of_time():
            break
        if length == 0.0:  # so narrow a band leads nowhere here, and would not later
            band = least = 2.0 * band
        else:
            turned = np.count_nonzero(before != point.beyond)
            band = max(turned / length, 0.25 * band, least)
    return point.beta


class _NearLocal(simplex.BandPoint):
    """A point on its way; of the program only what all models share is used."""

    value: float | None  # of F here, where it is known

    def __init__(self, program: RampProgram, start: Vector) -> None:
        self.ramp, self.value = program, None
        super().__init__(program.upper_model(np.zeros(program.shape[0], dtype=bool)), start)

    def step(self, band: int) -> tuple[float, float]:
        """Take a Newton step on a new model; return its length and its relative gain."""
        self.gain = 0.0
        return self._step(band), self.gain

    def _slope(self, alpha: Vector) -> Vector:
        # That of the model taken here: its linear term and its hinges in one product.
        ramp = self.ramp
        beyond = ramp.beyond(self.beta, self.program.margin - self.missed)
        capped = np.where(beyond, ramp.costs, 0.0)
        both = 2.0 * capped - alpha
        return both @ self.rows + (float(capped.sum()) - 1.0) * ramp.difference

    def move(self, step: Vector, along: Vector) -> float:
        """Go along a step as far as F falls: a model, which is above it, would stop too early."""
        ramp, slope = self.ramp, float(self.ramp.difference @ step)
        distance, doubled = float(ramp.difference @ self.beta), 2.0 * along
        capped = 2.0 * self.missed - ramp.margin  # -2 a_i.beta: a model's margin is half of s

        def value(length: float) -> float:
            ahead = distance + length * slope
            loss = np.minimum(capped - length * doubled, ahead)
            return float(np.maximum(loss, -ramp.margin, out=loss) @ ramp.costs) - ahead

        here = value(0.0) if self.value is None else self.value
        best, lowest = 1.0, value(1.0)
        limit = self._limit(step)
        for longer in LONGER:
            trial = value(longer) if longer <= limit else np.inf
            if trial >= lowest:
                break
            best, lowest = longer, trial
        if best == 1.0:
            for shorter in SHORTER:
                trial = value(shorter)
                if trial >= lowest and lowest < here:
                    break
                best, lowest = shorter, trial
        if not lowest < here:
            return 0.0
        self.value, self.gain = lowest, (here - lowest) / max(abs(lowest), 1e-300)
        self.stand(self.beta + best * step, self.missed - best * along)
        return best

    def _limit(self, step: Vector) -> float:
        """Return the length at which a step leaves the box or d.beta falls below its bound."""
        program = self.program
        slack = np.where(step > 0, program.upper, program.lower) - self.beta
        distance, slope = float(program.difference @ self.beta), float(program.difference @ step)
        apart = (program.separation - distance) / slope if slope < 0 else np.inf
        return float(min(np.min(slack[step != 0] / step[step != 0], initial=np.inf), apart))


# Pivots, each on a new model


def walk(
    program: RampProgram, beta: Vector, projected: Vector, controls: Controls
) -> tuple[Certificate, Mask] | None:
    """Return the vertex from which no edge leads lower: its model's certificate and J.

    None where it is not reached; ``projected`` is ``rows.dot(beta)``.
    """
    n = program.shape[1]
    if n > WALK_FEATURES:
        return None
    # By the length of each sample in scaled features: how fast it can come to a breakpoint.
    if program.rows.sparse or program.rows.is_remote:
        per_size = 1.0 / (program.rows.sizes(np.diag(1.0 / program.rows.column_scale())) + 1e-300)
    else:
        per_size = simplex.scales_and_sizes(program.rows.dense())[1]
    width = max(BAND * n, LEAST_BAND)
    wide = 8 * width  # to which a band that lost samples grows
    stride, value = 16, program.objective(beta, projected)
    band: _Band | None = None
    for _ in range(100):  # a walk that needs more passes is left to a solver
        if controls.out_of_time():
            return None
        band = band or _Band(program, beta, projected, per_size, width)
        if not band.tableau.usable:
            return None
        ended = band.tableau.descend(stride)
        vertex = band.tableau.point()
        vertex_projected = program.rows.dot(vertex)
        reached = program.objective(vertex, vertex_projected)
        kept = band.is_kept(vertex, vertex_projected)
        if kept and ended:
            return band.certificate(vertex)
        if not kept:
            band, width = None, max(width, min(2 * width, wide))
            if reached > value:
                stride, width = stride // 2, width if stride > 1 else 2 * width
                continue
        beta, projected, value = vertex, vertex_projected, reached
        stride = min(2 * stride + 1, 2 * n + 16)
    return None


class _Band:
    """The samples close to a breakpoint at a point, and the tableau of the model on them."""

    def __init__(
        self, program: RampProgram, beta: Vector, projected: Vector, per_size: Vector, width: int
    ) -> None:
        self.program = program
        separation = float(program.difference @ beta)
        distances = np.abs(projected - program.margin / 2)
        self.near = _smallest(distances * per_size, width)
        self.watched = _smallest(np.abs(2.0 * projected + separation) * per_size, width)
        self.low, self.beyond = self._others(beta, projected)
        model = program.upper_model(self.beyond)
        linear = self._linear(model)
        rows, costs = model.rows.take(self.near), model.costs[self.near]
        unit = rows.column_scale()
        distance = np.concatenate(
            [
                distances[self.near],
                unit * np.maximum(beta - model.lower, 0.0),
                unit * np.maximum(model.upper - beta, 0.0),
                [abs(separation - model.separation)],
            ]
        )
        typical = float(distances.mean()) + model.margin
        self.tableau = RampTableau(
            replace(model, rows=rows, costs=costs, linear=linear),
            (distance / typical + 1e-9) ** -2.0,
            program.rows.take(self.watched).dense(),
            program.costs[self.watched],
        )

    def _others(self, beta: Vector, projected: Vector) -> tuple[Mask, Mask]:
        """Return which samples outside the band violate the margin, and which are in J."""
        low, beyond = projected < self.program.margin / 2, self.program.beyond(beta, projected)
        low[self.near] = False
        beyond[self.watched] = False
        return low, beyond

    def _linear(self, model: Program) -> Vector:
        """Return the linear term of a model with the violating samples outside the band summed."""
        return model.linear - model.rows.tdot(np.where(self.low, model.costs, 0.0))

    def is_kept(self, beta: Vector, projected: Vector) -> bool:
        """Return whether the samples outside the band are on their sides."""
        low, beyond = self._others(beta, projected)
        return bool(np.array_equal(low, self.low) and np.array_equal(beyond, self.beyond))

    def certificate(self, beta: Vector) -> tuple[Certificate, Mask]:
        """Return the certificate of the vertex for its whole model."""
        beyond = self.beyond.copy()
        beyond[self.watched] = self.tableau.counted
        model = self.program.upper_model(beyond)
        self.tableau.program = replace(self.tableau.program, linear=self._linear(model))
        inside = self.tableau.certificate(beta)
        alpha = np.where(self.low, model.costs, 0.0)
        alpha[self.near] = inside.alpha
        return certify(model, inside.beta, alpha, inside.t), beyond


def _smallest(values: Vector, count: int) -> Index:
    if count >= len(values):
        return np.arange(len(values))
    return np.sort(np.argpartition(values, count)[:count])


class RampTableau(Tableau):
    """The tableau of the model taken at its own vertex: J follows every pivot."""

    def __init__(
        self, model: Program, stiffness: Vector, watched: np.ndarray, costs: Vector
    ) -> None:
        super().__init__(model, stiffness)
        if not self.usable:
            return
        m, n = model.shape
        self.unit = self.hinges[m : m + n].diagonal()
        self.slopes = -(2.0 * watched + model.difference)  # of the w_i
        self.slope_costs = costs
        self.counted: Mask = np.zeros(len(watched), dtype=bool)
        self._pivoted()

    def point(self) -> Vector:
        """Return the vertex; the lower bounds of the box are hinges, so the tableau has it."""
        return np.clip(self._vertex(), self.program.lower, self.program.upper)

    def _vertex(self) -> Vector:
        m, n = self.program.shape
        return self.program.lower + self.T[m : m + n, n] / self.unit

    def _pivoted(self) -> None:
        """Let J be the samples beyond the wrong center at this vertex."""
        beta = self._vertex()
        beyond = self.slopes @ beta > 0
        turned = np.flatnonzero(beyond != self.counted)
        if len(turned):
            m, n = self.program.shape
            sign = np.where(beyond[turned], -1.0, 1.0)
            slope = (sign * self.slope_costs[turned]) @ self.slopes[turned]
            self.T[-1, :n] += (slope / self.unit) @ self.T[m : m + n, :n]
            self.T[-1, n] += float(slope @ beta)
            self.counted = beyond
