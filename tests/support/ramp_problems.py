"""Ramp programs with outliers, starts, and points to look at."""

import numpy as np

from lincent.problems.centralization import lcc_program
from lincent.problems.ramp import RampProgram
from lincent.solvers.lp import dispatch
from lincent.solvers.solution import Controls
from lincent.sources.dense import DenseRows


def random_problem(seed, m=50, n=4, outliers=4):
    rng = np.random.default_rng(seed)
    y = np.where(np.arange(m) % 2, 1.0, -1.0)
    shift = rng.normal(size=n)
    X = rng.normal(size=(m, n)) + np.outer(y, shift) * 0.5
    far = rng.choice(m, outliers, replace=False)
    X[far] -= np.outer(y[far], shift) * 4
    low, high = X[y < 0].mean(axis=0), X[y > 0].mean(axis=0)
    rows = y[:, None] * (X - (low + high) / 2)
    costs = rng.uniform(0.5, 3.0, m)
    return RampProgram(DenseRows(rows), costs, 0.05, high - low), X, y


def start_of(program):
    linear = lcc_program(program.rows, program.difference, program.costs, program.margin)
    return dispatch.solve(linear, "auto", Controls(), np.random.default_rng(0)).certificate.beta


def value(program, beta):
    return program.objective(beta, program.rows.dot(beta))


def feasible_points(program, count, seed=0):
    rng = np.random.default_rng(seed)
    model = program.upper_model(np.zeros(program.shape[0], dtype=bool))
    for _ in range(count):
        beta = rng.uniform(-1, 1, program.shape[1])
        yield model.feasible(beta * np.sign(program.difference @ beta))
