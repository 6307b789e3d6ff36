"""Steps toward the minimum of the regularized program, from its curvature.

With D_i = c_i / (hi - lo) for rows between the margins and 0 for the others, v = sum_i D_i y_i a_i
and s = sum_i D_i, the second derivative of (P) in beta, its threshold t always at its best, is

    H = I + A' D A - v v' / s         (without the last term if t is fixed or s = 0).

Three ways to a step H step = -gradient:

Whole       H formed and factored: an exact Newton step.  From step to step few rows cross a margin,
            so A'DA is brought up to date by the rows that did.
Sampled     H of a sample that stands for all rows, corrected by the gradients seen so far (limited
            memory BFGS).  Forming H reads the rows at a cost of n per entry; this does it for few.
Conjugate   H only multiplied, for problems large in both directions.
"""

from __future__ import annotations

from collections import deque
from typing import Protocol

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import lapack

from lincent.programs.centralization import Matrix, Vector
from lincent.programs.regularized import RegularizedProgram

MEMORY = 8
Inside = NDArray[np.bool_]
UPDATE_SHARE = 0.5
CG_STEPS = 200
CG_SHARE = 0.1


class Curvature(Protocol):
    """Where to go from a point, given which rows are inside the margins and its gradient."""

    def step(self, inside: Inside, gradient: Vector) -> tuple[Vector, float]:
        """The step in beta, and the shift of the threshold that goes with it."""

    def learn(self, taken: Vector, gradient: Vector) -> None:
        """A step was taken; it ended at this gradient."""


def between(program: RegularizedProgram, inside: Inside) -> Vector:
    """D: the curvature that each row contributes."""
    return np.where(inside, program.costs / program.width, 0.0)


class _Center:
    """The part of H that comes from the free threshold."""

    def __init__(self, program: RegularizedProgram, D: Vector) -> None:
        self.total = float(D.sum()) if program.free else 0.0
        self.active = self.total > 0.0
        self.v: Vector = program.rows.tdot(D * program.sign) if self.active else np.empty(0)

    def subtract(self, H: Matrix) -> None:
        if self.active:
            H -= np.outer(self.v / self.total, self.v)

    def multiply(self, x: Vector) -> Vector | float:
        return self.v * (float(self.v @ x) / self.total) if self.active else 0.0

    def shift(self, step: Vector) -> float:
        return float(self.v @ step) / self.total if self.active else 0.0


class Factored:
    """H factored.  The matrix ``gram`` = A'DA is used up."""

    def __init__(self, program: RegularizedProgram, D: Vector, gram: Matrix) -> None:
        H = gram
        self.center = _Center(program, D)
        self.center.subtract(H)
        H.flat[:: H.shape[0] + 1] += 1.0
        # Columns of very different size would spoil the factor: scale to unit diagonal.
        self.scale = 1.0 / np.sqrt(np.maximum(H.diagonal(), 1.0))
        H *= self.scale
        H *= self.scale[:, None]
        ridge = 0.0
        while True:
            self.factor, failed = lapack.dpotrf(H, lower=1, clean=0)
            if not failed:
                return
            # Rounding in the centering can leave H slightly indefinite.
            more = max(10 * ridge, 1e-14)
            H.flat[:: H.shape[0] + 1] += more - ridge
            ridge = more

    def solve(self, b: Vector) -> Vector:
        x, _ = lapack.dpotrs(self.factor, b * self.scale, lower=1)
        return np.asarray(x * self.scale)


class Whole:
    """Exact Newton steps."""

    def __init__(self, program: RegularizedProgram) -> None:
        self.program = program
        self.D: Vector | None = None
        self.gram: Matrix = np.empty((0, 0))

    def _update(self, D: Vector) -> None:
        rows = self.program.rows
        if self.D is not None:
            change = D - self.D
            entered, left = np.flatnonzero(change > 0), np.flatnonzero(change < 0)
            if entered.size + left.size < UPDATE_SHARE * D.size:
                if entered.size:
                    self.gram += rows.take(entered).gram(change[entered])
                if left.size:
                    self.gram -= rows.take(left).gram(-change[left])
                self.D = D
                return
        self.D, self.gram = D, rows.gram(D)

    def step(self, inside: Inside, gradient: Vector) -> tuple[Vector, float]:
        D = between(self.program, inside)
        self._update(D)
        H = Factored(self.program, D, self.gram.copy())
        step = -H.solve(gradient)
        return step, H.center.shift(step)

    def learn(self, taken: Vector, gradient: Vector) -> None:
        """Every step starts from the curvature at its own point."""


class Sampled:
    """Steps from the curvature of a sample, corrected by the gradients seen on all rows."""

    def __init__(self, sample: RegularizedProgram, inside: Inside) -> None:
        D = between(sample, inside)
        self.H = Factored(sample, D, sample.rows.gram(D))
        self.pairs: deque[tuple[Vector, Vector, float]] = deque(maxlen=MEMORY)
        self.last_gradient: Vector | None = None

    def learn(self, taken: Vector, gradient: Vector) -> None:
        if self.last_gradient is not None:
            change = gradient - self.last_gradient
            product = float(taken @ change)
            if product > 0.0:
                self.pairs.append((taken, change, product))
        self.last_gradient = gradient

    def step(self, inside: Inside, gradient: Vector) -> tuple[Vector, float]:
        if self.last_gradient is None:
            self.last_gradient = gradient
        q = gradient.copy()
        used = []
        for taken, change, product in reversed(self.pairs):
            share = float(taken @ q) / product
            q -= share * change
            used.append(share)
        q = self.H.solve(q)
        for (taken, change, product), share in zip(self.pairs, reversed(used), strict=True):
            q += (share - float(change @ q) / product) * taken
        return -q, -self.H.center.shift(q)


class Conjugate:
    """Truncated Newton steps: conjugate gradients, scaled by the size of the columns."""

    def __init__(self, program: RegularizedProgram) -> None:
        self.program = program
        self.squares = program.rows.column_scale() ** 2

    def step(self, inside: Inside, gradient: Vector) -> tuple[Vector, float]:
        rows = self.program.rows
        D = between(self.program, inside)
        center = _Center(self.program, D)
        diagonal = 1.0 + float(D.sum()) * self.squares
        x = np.zeros_like(gradient)
        residual = -gradient
        scaled = residual / diagonal
        direction = scaled
        size = float(residual @ scaled)
        # Near the solution the step is made more exact, for fast final convergence.
        enough = size * min(CG_SHARE, float(np.sqrt(np.linalg.norm(gradient)))) ** 2
        for _ in range(CG_STEPS):
            if size <= enough or size == 0.0:
                break
            product = direction + rows.tdot(D * rows.dot(direction)) - center.multiply(direction)
            length = size / float(direction @ product)
            x = x + length * direction
            residual = residual - length * product
            scaled = residual / diagonal
            previous, size = size, float(residual @ scaled)
            direction = scaled + (size / previous) * direction
        return x, center.shift(x)

    def learn(self, taken: Vector, gradient: Vector) -> None:
        """Every step starts from the curvature at its own point."""
