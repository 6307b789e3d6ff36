"""A quadratic with absolute values: the subproblem of Newton's method under an L1 term.

    minimize over x    x'Gx / 2 + b.x + |x|_1,        G positive definite

If the zeros and the signs s of the solution are known, the others solve G x = -(b + s).  So guess
them, solve, and go toward that point as far as the objective falls, at most until a coordinate
reaches zero, where it stays.  When no sign is wrong any more, zeros that want to move (a slope
above 1) are let go, several at once.  Every round lowers the objective, so no guess comes twice and
the last one is right (the feature-sign search of Lee, Battle, Raina and Ng 2007).
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import lapack

from lincent.programs.arrays import Matrix, Vector

WRONG = 1e-12
"""A slope is above 1 if it is by this much, relative to the size of its terms."""
ENTER_SHARE = 0.5
"""Zeros whose slope is beyond 1 by this share of the most are let go together."""
Index = NDArray[np.intp]


def minimize(G: Matrix, b: Vector, x: Vector) -> Vector:
    """The solution, begun at x."""
    x = x.copy()
    settled = alone = False
    for _ in range(100 + 20 * len(x)):
        slope = G @ x + b
        signs = np.sign(x)
        if settled or not np.any(signs):
            enter = _entering(slope, x, b, alone)
            if not enter.size:
                return x
            signs[enter] = -np.sign(slope[enter])
        free = np.flatnonzero(signs)
        target = np.zeros_like(x)
        target[free] = _solve(G[np.ix_(free, free)], -(b[free] + signs[free]))
        if np.array_equal(np.sign(target), signs):
            x, settled, alone = target, True, False
            continue
        moved = _toward(G, slope, x, target)
        if moved is not None:
            x, settled, alone = moved, False, False
        elif not alone:
            # Several at once were too many; one at a time the objective is sure to fall.
            alone = True
        else:
            return x  # nothing falls any more: rounding
    return x


def _entering(slope: Vector, x: Vector, b: Vector, alone: bool) -> Index:
    beyond = np.where(x == 0.0, np.abs(slope) - 1.0, 0.0)
    most = float(beyond.max(initial=0.0))
    if most <= WRONG * (1.0 + float(np.abs(b).max(initial=0.0))):
        return np.empty(0, dtype=np.intp)
    return np.array([beyond.argmax()]) if alone else np.flatnonzero(beyond >= ENTER_SHARE * most)


def _solve(G: Matrix, b: Vector) -> Vector:
    _, x, failed = lapack.dposv(G, b, lower=1)
    if failed:
        x = np.linalg.lstsq(G, b, rcond=None)[0]
    return np.asarray(x)


def _toward(G: Matrix, slope: Vector, x: Vector, target: Vector) -> Vector | None:
    """The lowest of the points on the way to the target where a coordinate is zero, or its end."""
    step = target - x
    crossing = np.flatnonzero(x * target < 0.0)
    zero_at = -x[crossing] / step[crossing]
    lengths = np.append(zero_at, 1.0)
    points = x + lengths[:, None] * step
    curve, down = float(step @ (G @ step)), float(slope @ step)
    values = lengths * down + lengths**2 * (curve / 2) + np.abs(points).sum(axis=1)
    k = int(values.argmin())
    if not values[k] < float(np.abs(x).sum()) * (1.0 - 1e-15):
        return None
    best: Vector = points[k]
    if lengths[k] < 1.0:
        best[crossing[np.abs(zero_at - lengths[k]) <= 1e-12 * lengths[k]]] = 0.0
    return best
