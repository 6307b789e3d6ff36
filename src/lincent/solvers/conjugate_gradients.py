"""Conjugate gradients with a diagonal preconditioner: only products with the matrix are needed."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from lincent.problems.arrays import Vector

LOOK_EVERY = 32
"""Steps between two looks at the clock."""


def conjugate_gradients(
    matrix: Callable[[Vector], Vector],
    b: Vector,
    inverse: Vector,
    share: float,
    most: int,
    late: Callable[[], bool] = lambda: False,
) -> Vector:
    """x with matrix(x) = b up to ``share`` of the absolute sum of b, or after ``most`` steps."""
    x, r = np.zeros_like(b), b.copy()
    z = r * inverse
    p = z.copy()
    error = float(r @ z)
    enough = share * float(np.abs(b).sum())
    for step in range(most):
        if float(np.abs(r).sum()) <= enough or (step % LOOK_EVERY == LOOK_EVERY - 1 and late()):
            break
        q = matrix(p)
        curvature = float(p @ q)
        if not curvature > 0.0:
            break
        length = error / curvature
        x += length * p
        r -= length * q
        np.multiply(r, inverse, out=z)
        error, before = float(r @ z), error
        p *= error / before
        p += z
    return x
