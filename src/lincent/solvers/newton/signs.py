"""A quadratic with absolute values: the subproblem of Newton's method under an L1 term.

    minimize over x    x'Gx / 2 + b.x + |x|_1,        G positive definite

If the zeros and the signs s of the solution are known, the others solve G x = -(b + s).  So guess
them, solve, and go toward that point as far as the objective falls; a coordinate that reaches zero
on the way stays there.  When no sign is wrong any more, zeros that want to move (a slope
above 1) are let go, several at once.  Every round lowers the objective, so no guess comes twice and
the last one is right (the feature-sign search of Lee, Battle, Raina and Ng 2007).
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import lapack

from lincent.problems.arrays import Matrix, Vector

WRONG = 1e-12
"""A slope is above 1 if it is by this much, relative to the size of its terms."""
ENTER_SHARE = 0.5
"""Zeros whose slope is beyond 1 by this share of the most are let go together."""
STILL = 1e-15
"""The share of the objective by which it must fall."""
PLACES = 2 ** np.arange(20) - 1
Index = NDArray[np.intp]


def minimize(G: Matrix, b: Vector, x: Vector) -> Vector:
    """The solution, begun at x."""
    x, slope = x.copy(), G @ x + b
    settled = alone = False
    for _ in range(100 + 20 * len(x)):
        signs = np.sign(x)
        if settled or not np.any(signs):
            enter = _entering(slope, x, b, alone)
            if not enter.size:
                return x
            signs[enter] = -np.sign(slope[enter])
        free = np.flatnonzero(signs)
        part = G[np.ix_(free, free)]
        target = _solve(part, -(b[free] + signs[free]))
        settled = np.array_equal(np.sign(target), signs[free])
        if not settled:
            nearer = _toward(part, b[free], signs[free], x[free], target)
            if nearer is None:
                if alone:
                    return x  # nothing falls any more: rounding
                # Several at once were too many; one at a time the objective is sure to fall.
                settled = alone = True
                continue
            target = nearer
        alone = False
        x = np.zeros_like(x)
        x[free] = target
        slope = G @ x + b
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


def _toward(G: Matrix, b: Vector, signs: Vector, x: Vector, target: Vector) -> Vector | None:
    """The lowest of some points on the way to the target, on which coordinates stay at zero once
    they have reached it: the first, the second, the fourth ... of these places, and the end.
    """
    crossing = np.flatnonzero(x * target < 0.0)
    zero_at = np.full(len(x), np.inf)
    zero_at[crossing] = x[crossing] / (x[crossing] - target[crossing])
    places = np.sort(zero_at[crossing])
    lengths = np.append(places[PLACES[: np.searchsorted(PLACES, len(places))]], 1.0)[:, None]
    points = np.where(zero_at <= lengths, 0.0, x + lengths * (target - x))
    # Coordinates that were let go and want to go the other way stay, or do so.
    points = np.concatenate([np.where(points * signs < 0.0, 0.0, points), points])
    values = np.einsum("ij,ij->i", points @ G / 2 + b, points) + np.abs(points).sum(axis=1)
    k = int(values.argmin())
    before = float(x @ (G @ x / 2 + b)) + float(np.abs(x).sum())
    return points[k] if values[k] < before - STILL * abs(before) else None
