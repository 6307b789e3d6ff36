"""The ramp problem as the paper writes it, for SciPy's sequential quadratic programming (SLSQP).

    variables    beta and one slack eps_i per sample
    minimize     -|d.beta| + sum_i c_i eps_i
    subject to   |z_i - h| - |z_i + h| <= eps_i,     z_i = a_i.beta,  h = d.beta/2
                 d.beta >= s,   -1 <= beta <= 1,   eps_i >= -s

(the left side is the paper's y_i (|x_i - C+| - |x_i - C-|) on the line, for either label; Kraft
1988).  Slow, with a local point at best, and here for comparison (``GeneralFQCC``).
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
from scipy.optimize import minimize

from lincent import FQCC
from lincent.problems.arrays import Matrix, Vector
from lincent.problems.ramp import RampProgram
from lincent.solvers.ramp import LocalSolution
from lincent.solvers.solution import Controls, Status

NAME = "SLSQP"


class PaperForm:
    """Values and gradients of the paper's functions at (beta, eps)."""

    def __init__(self, program: RampProgram) -> None:
        self.program = program
        self.A: Matrix = program.rows.dense()
        self.d = program.difference
        self.m, self.n = program.shape

    def start(self, beta: Vector) -> Vector:
        return np.concatenate([beta, np.maximum(self._left(beta), -self.program.margin)])

    def objective(self, v: Vector) -> float:
        return -abs(float(self.d @ v[: self.n])) + float(self.program.costs @ v[self.n :])

    def gradient(self, v: Vector) -> Vector:
        slope = -self.d if float(self.d @ v[: self.n]) >= 0 else self.d
        return np.concatenate([slope, self.program.costs])

    def slack(self, v: Vector) -> Vector:
        """Return eps_i minus the left side; nonnegative where the constraints hold."""
        return v[self.n :] - self._left(v[: self.n])

    def slack_slope(self, v: Vector) -> Matrix:
        z, h = self.A @ v[: self.n], float(self.d @ v[: self.n]) / 2
        plus, minus = np.sign(z - h), np.sign(z + h)
        left = (plus - minus)[:, None] * self.A - np.outer((plus + minus) / 2, self.d)
        return np.hstack([-left, np.eye(self.m)])

    def bounds(self) -> list[tuple[float, float]]:
        return [(-1.0, 1.0)] * self.n + [(-self.program.margin, np.inf)] * self.m

    def _left(self, beta: Vector) -> Vector:
        z, h = self.A @ beta, float(self.d @ beta) / 2
        return np.asarray(np.abs(z - h) - np.abs(z + h))


def sequential_quadratic(
    form: PaperForm, start: Vector, controls: Controls, watch: Callable[..., None]
) -> Any:
    """Return SciPy's result."""
    apart = np.concatenate([form.d, np.zeros(form.m)])
    return minimize(
        form.objective,
        start,
        jac=form.gradient,
        method=NAME,
        callback=watch,
        bounds=form.bounds(),
        constraints=[
            {"type": "ineq", "fun": form.slack, "jac": form.slack_slope},
            {
                "type": "ineq",
                "fun": lambda v: apart @ v - form.program.margin,
                "jac": lambda v: apart,
            },
        ],
        options={"maxiter": controls.max_iter, "ftol": controls.tol},
    )


def solve(
    program: RampProgram,
    start: Vector,
    controls: Controls,
    run: Callable[..., Any] = sequential_quadratic,
) -> LocalSolution:
    """Return the point a general solver stops at, with its ramp objective."""
    form = PaperForm(program)
    watch = _Watch(controls, form.start(start))
    with warnings.catch_warnings():
        # The functions are not smooth; warnings of a smooth solver about that say nothing new.
        warnings.simplefilter("ignore")
        try:
            result = run(form, form.start(start), controls, watch)
            point, status = result.x, Status.OPTIMAL
            if not result.success:  # 9 is SLSQP's code of the iteration limit
                status = Status.ITERATION_LIMIT if result.status == 9 else Status.STALLED
        except _OutOfTimeError:
            point, status = watch.last, Status.TIME_LIMIT
    beta = _feasible(program, np.asarray(point[: form.n], dtype=np.float64))
    before = program.objective(start, program.rows.dot(start))
    after = program.objective(beta, program.rows.dot(beta))
    if not after < before:
        beta, after = start, before
    return LocalSolution(status, beta, (before, after), None, NAME)


class _OutOfTimeError(Exception):
    """The deadline passed inside a solver that knows none."""


class _Watch:
    """Keeps the last point and ends the solve at the deadline."""

    def __init__(self, controls: Controls, start: Vector) -> None:
        self.controls, self.last = controls, start

    def __call__(self, point: Vector, *rest: Any) -> None:
        self.last = np.array(point)
        if self.controls.out_of_time():
            raise _OutOfTimeError


def _feasible(program: RampProgram, beta: Vector) -> Vector:
    """Return beta or -beta, whichever has d.beta >= 0, moved into the box and onto d.beta >= s."""
    if float(program.difference @ beta) < 0:
        beta = -beta
    return program.upper_model(np.zeros(program.shape[0], dtype=bool)).feasible(beta)


class GeneralFQCC(FQCC):
    """FQCC by the general solver."""

    def _descend(
        self, program: RampProgram, start: Vector, limits: Controls, rng: Any
    ) -> LocalSolution:
        return solve(program, start, limits)
