"""Newton's method for several rules over rows that stay where they are.

One read gives the sums of ``passes.pair_pulls`` at some points, and with them objective, gradient,
Hessian and duality gap of each.  The Hessian of all K rules of n features is formed here,

    r I + C sum over pairs of faces of (face face') x gram,         K (n + 1) columns,

so that a fit takes a few reads, whatever the number of rows, where conjugate gradients would take
one for each product.  The way begins at the optimum of a sample.  For several C at once one read
answers all that are still on their way.

Of many rows a share says how the sums bend (``passes.pair_pulls``), ``ROWS`` for each feature, or
what ``WORK`` allows: a step then leaves about (features / rows of the share) of the distance to the
optimum, squared, where Newton's own leaves nothing but what bends on the way.  Where steps bring
less, the share grows.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Sequence

import numpy as np
from scipy.linalg import LinAlgError, cho_factor, cho_solve

from lincent.problems.arrays import Matrix
from lincent.solvers.newton.joint import JointSolution
from lincent.solvers.newton.walks import answered
from lincent.sources.gradients import JointPoint, JointSums, LossStructure

HALVINGS = 30
PATIENCE = 5
STILL = 1e-13
"""A step that lowers the objective by less than this share of it is none."""
JITTER = 1e-13
"""Offsets of all rules may move together, which changes nothing: this much holds them."""

ROWS = 100
"""That say how the sums bend, for each feature of each rule."""
WORK = 1e9
"""More of them where features are few: as many as take this many products, less than a second."""
WORTH = 0.25
"""A larger share spares little."""
FINER = 1e-2
"""Newton's last step goes far beyond the gap asked for; so must one by a share of the rows, or its
rules would depend on which rows were in it."""
SLOW, GROWTH = 0.1, 4.0
"""A step that leaves more than this share of the gap makes the share of rows so much larger."""

Read = Callable[[list[JointPoint]], list[JointSums]]
Walk = Generator[JointPoint, JointSums, JointSolution]


def solve_path(
    read: Read,
    faces: LossStructure,
    scales: Sequence[float],
    starts: Sequence[Matrix],
    rows: int,
    tol: float,
    max_iter: int,
    out_of_time: Callable[[], bool],
) -> list[JointSolution]:
    """The rules for each C, from a start each; all walks go on together over these many rows."""
    walks = [
        _newton(faces, float(scale), start, rows, tol, max_iter, out_of_time)
        for scale, start in zip(scales, starts, strict=True)
    ]
    return answered(walks, read)


class _Point:
    """Rules and what all rows say about them."""

    def __init__(self, faces: LossStructure, scale: float, rules: Matrix, sums: JointSums) -> None:
        self.faces, self.scale, self.rules, self.sums = faces, scale, rules, sums
        size = faces.ridge / 2 * float((rules[:-1] ** 2).sum())
        self.objective = size + scale * float(sums.loss.sum())
        factor = faces.factors(sums.flow)
        held = scale * (factor[:, None] * sums.combined[:, :-1]).T @ faces.direction
        total = faces.high * float(factor @ sums.flow)
        total -= faces.width / 2 * float(factor**2 @ sums.squares)
        self.bound = scale * total - float((held**2).sum()) / (2 * faces.ridge)

    def gradient(self) -> Matrix:
        out = -self.scale * self.sums.combined.T @ self.faces.direction
        out[:-1] += self.faces.ridge * self.rules[:-1]
        return np.asarray(out)

    def step(self) -> Matrix:
        n, k = self.rules.shape
        bend = np.einsum("ea,eb,eij->aibj", self.faces.edges, self.faces.edges, self.sums.curvature)
        hessian = self.scale * bend.reshape(n * k, n * k)
        diagonal = np.full((k, n), self.faces.ridge)
        diagonal[:, -1] = JITTER * max(float(hessian.diagonal().max()), 1.0)
        hessian.flat[:: n * k + 1] += diagonal.reshape(-1)
        right = self.gradient().T.reshape(-1)
        for _ in range(HALVINGS):
            try:
                move = cho_solve(cho_factor(hessian, lower=True, check_finite=False), right)
                return -np.asarray(move).reshape(k, n).T
            except LinAlgError:  # rounding; a little more on the diagonal
                diagonal *= 10
                hessian.flat[:: n * k + 1] += JITTER * diagonal.reshape(-1)
        return -self.gradient() / self.faces.ridge


def _newton(
    faces: LossStructure,
    scale: float,
    start: Matrix,
    rows: int,
    tol: float,
    max_iter: int,
    out_of_time: Callable[[], bool],
) -> Walk:
    start, share = start.copy(), max(ROWS * start.size, WORK / start.size**2) / max(rows, 1)
    share = share if share < WORTH else 1.0
    if faces.rules > 1:  # what all rules have in common says nothing, and is left out
        start[-1] -= start[-1].mean()
    point = _Point(faces, scale, start, (yield JointPoint(start, share)))
    bound, steps, since, before = point.bound, 0, 0, np.inf
    while True:
        gap = max(point.objective - bound, 0.0) / max(1.0, abs(point.objective))
        slow, before = gap > SLOW * before, gap
        share = min(1.0, GROWTH * share) if slow else share
        done = gap <= tol and (share == 1.0 or slow or gap <= FINER * tol)
        if done or since >= PATIENCE or steps >= max_iter or out_of_time():
            return JointSolution(
                point.rules, np.array([point.objective]), np.array([bound]), max(steps, 1)
            )
        new = yield from _advance(point, share)
        fell = point.objective - new.objective > STILL * abs(point.objective)
        since = 0 if fell or new.bound > bound else since + 1
        bound, steps = max(bound, new.bound), steps + 1
        if new.objective < point.objective:
            point = new
        elif share < 1.0:  # more rows must say where to go from here
            share = min(1.0, GROWTH * share)
            point = _Point(faces, scale, point.rules, (yield JointPoint(point.rules, share)))


def _advance(point: _Point, share: float) -> Generator[JointPoint, JointSums, _Point]:
    """The end of a Newton step, or of the first of its halves that goes down."""
    step, length = point.step(), 1.0
    for _ in range(HALVINGS):
        end = point.rules + length * step
        found = _Point(point.faces, point.scale, end, (yield JointPoint(end, share)))
        if found.objective < point.objective or found.bound > point.bound:
            break
        length /= 2
    return found
