"""Equation FQCC handed, as the paper writes it, to SciPy's sequential quadratic programming.

    variables    beta and one slack eps_i per row
    minimize     -|d.beta| + sum_i c_i eps_i
    subject to   |z_i - h| - |z_i + h| <= eps_i,     z_i = a_i.beta,  h = d.beta/2
                 d.beta >= s,   -1 <= beta <= 1,   eps_i >= -s

(the left side is the paper's y_i (|x_i - C+| - |x_i - C-|) on the line, for either label).  Slow,
with a local point at best, and here for comparison: ``FQCC(algorithm="general")``.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
from scipy.optimize import minimize

from lincent.problems.arrays import Matrix, Vector
from lincent.problems.ramp import RampProgram
from lincent.solvers.ramp.convex_concave import LocalSolution
from lincent.solvers.solution import Controls, Status

NAME = "SLSQP"
OUT_OF_ITERATIONS = 9  # what SciPy's SLSQP says then


class PaperForm:
    """Values and slopes of the paper's functions at (beta, eps)."""

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
        """eps_i minus the left side; nonnegative where the constraints hold."""
        return v[self.n :] - self._left(v[: self.n])

    def slack_slope(self, v: Vector) -> Matrix:
        z, h = self.A @ v[: self.n], float(self.d @ v[: self.n]) / 2
        near, far = np.sign(z - h), np.sign(z + h)
        left = (near - far)[:, None] * self.A - np.outer((near + far) / 2, self.d)
        return np.hstack([-left, np.eye(self.m)])

    def bounds(self) -> list[tuple[float, float]]:
        return [(-1.0, 1.0)] * self.n + [(-self.program.margin, np.inf)] * self.m

    def _left(self, beta: Vector) -> Vector:
        z, h = self.A @ beta, float(self.d @ beta) / 2
        return np.asarray(np.abs(z - h) - np.abs(z + h))


def sequential_quadratic(
    form: PaperForm, start: Vector, controls: Controls, watch: Callable[..., None]
) -> Any:
    """SciPy's answer."""
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
    """The point a general solver stops at, judged by the ramp objective."""
    form = PaperForm(program)
    watch = _Watch(controls, form.start(start))
    with warnings.catch_warnings():
        # The functions have kinks; what a smooth solver says about them is of no interest.
        warnings.simplefilter("ignore")
        try:
            result = run(form, form.start(start), controls, watch)
            point, status = result.x, _status(result)
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


def _status(result: Any) -> Status:
    if result.success:
        return Status.OPTIMAL
    limit = result.status == OUT_OF_ITERATIONS
    return Status.ITERATION_LIMIT if limit else Status.STALLED


def _feasible(program: RampProgram, beta: Vector) -> Vector:
    """Of beta and -beta the one with d.beta >= 0, moved into the box and onto d.beta >= s."""
    if float(program.difference @ beta) < 0:
        beta = -beta
    return program.upper_model(np.zeros(program.shape[0], dtype=bool)).feasible(beta)
