"""What all rows pull at a point of the joint program: sums by class and rule, from one read.

Both forms of ``programs.joint`` ask of a row of class c that it be beyond the margins in some
directions of the scores f = (x, 1).rules, its faces: s e_k of a separate rule k, e_c - e_k of the
native form.  With z = f.face, u the pull of phi there, w the weight of the row and c the cost of
the face,

    loss   sum w c phi(z)       flow  sum w c u       squares  sum w c u^2
    combined  sum w c u (x, 1)             gram  sum w c [bent] (x, 1)(x, 1)' / (hi - lo)

by face (``gram`` by pair of opposite faces, which bend the same way) say everything about
objective, gradient, Hessian and dual bound: the factors that make multipliers feasible are one
for each face.  Each is a sum over rows, so rows in blocks add theirs.

A gram matrix costs as many products for a row as it has entries, and only a step is made of it: a
share of the rows says it as well.  Its last row, ``bend``, costs no more than a gradient and is
that of all rows; ``curvature`` has the covariance of the share around the mean of all.  So a step
that is not quite Newton's still leaves no flow into the offsets, on which the dual bound depends
most.
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from functools import reduce
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lincent.problems.arrays import Matrix, Vector
from lincent.problems.joint import feasible
from lincent.sources.place import HERE, Place

Codes = NDArray[np.integer[Any]]

GOLDEN = (5**0.5 - 1) / 2


@dataclass(frozen=True)
class FacePoint:
    """Rules, the offsets in the last row, and the share of the rows that say how sums bend."""

    rules: Matrix
    share: float = 1.0


@dataclass(frozen=True)
class Faces:
    """Classes, directions in the scores, costs per weight, and which faces are opposite."""

    classes: Codes
    direction: Matrix
    cost: Vector
    edge: Codes
    low: float
    high: float
    ridge: float

    @classmethod
    def of_two(cls, cost: Vector, low: float, high: float) -> Faces:
        """One rule for two classes, which cost so much per weight."""
        side = np.array([[-1.0], [1.0]])
        return cls(np.arange(2), side, cost, np.zeros(2, dtype=np.intp), low, high, 1.0)

    @classmethod
    def native(cls, cost: Vector, low: float, high: float) -> Faces:
        """A rule for each class; the cost of a class is shared by its faces."""
        n = len(cost)
        own, other = (part.reshape(-1) for part in np.divmod(np.arange(n * n), n))
        own, other = own[own != other], other[own != other]
        direction = np.eye(n)[own] - np.eye(n)[other]
        place = np.minimum(own, other) * n + np.maximum(own, other)
        edge = np.unique(place, return_inverse=True)[1].reshape(-1)
        return cls(own, direction, cost[own] / (n - 1), edge, low, high, 2.0)

    @property
    def width(self) -> float:
        return self.high - self.low

    @property
    def rules(self) -> int:
        return int(self.direction.shape[1])

    @property
    def edges(self) -> Matrix:
        """The direction of each pair of opposite faces."""
        _, first = np.unique(self.edge, return_index=True)
        return np.asarray(self.direction[first])

    def factors(self, flow: Vector) -> Vector:
        """Factors in [0, 1] on the multipliers of each face, after which no rule gains or loses."""
        if self.rules == 1:
            return np.asarray(flow.min() / np.maximum(flow, 1e-300))
        n = self.rules
        other = np.argmin(self.direction, axis=1)
        table = np.zeros((n, n))
        table[self.classes, other] = flow
        return np.asarray(feasible(table)[self.classes, other])


@dataclass(frozen=True)
class FacePulls:
    """The sums above."""

    loss: Vector
    squares: Vector
    combined: Matrix
    bend: Matrix
    gram: Matrix

    @property
    def flow(self) -> Vector:
        return self.combined[:, -1]

    @property
    def curvature(self) -> Matrix:
        """The gram matrices, with size and mean of all rows."""
        out = self.gram.copy()
        for gram, bend in zip(out, self.bend, strict=True):
            there = float(gram[-1, -1])
            if there > 0.0:
                gram -= np.outer(gram[-1], gram[-1] / there)
                gram *= bend[-1] / there
                gram += np.outer(bend, bend / bend[-1])
        return out

    @classmethod
    def joined_each(cls, parts: list[list[FacePulls]]) -> list[FacePulls]:
        """Those of several blocks, for several points: one list of each block."""
        return [
            # One after the other: a stack of matrices would be as large as all of them.
            cls(*(reduce(np.add, [getattr(one, f.name) for one in same]) for f in fields(cls)))
            for same in zip(*parts, strict=True)
        ]


def _some(count: int, share: float) -> Codes:
    """A share of some places, at least the first, spread over them and in no rhythm."""
    return np.flatnonzero(np.arange(count) * GOLDEN % 1.0 < share)


def face_pulls(
    X: Any, codes: Any, weight: Any, faces: Faces, point: FacePoint, place: Place = HERE
) -> FacePulls:
    """The sums over rows in one place."""
    n, count, send = int(X.shape[1]) + 1, len(faces.cost), place.send
    edges, rules = int(faces.edge.max()) + 1, point.rules
    loss, squares = np.zeros(count), np.zeros(count)
    combined, bend, gram = np.zeros((count, n)), np.zeros((edges, n)), np.zeros((edges, n, n))
    for code in np.unique(faces.classes):
        rows, mine = place.nonzero(codes == int(code)), np.flatnonzero(faces.classes == code)
        if not len(rows):
            continue
        some = place.empty((len(rows), n))
        some[:, :-1], some[:, -1] = X[rows], 1.0
        short = faces.high - some @ send(rules @ faces.direction[mine].T)
        pull = (short / faces.width).clip(0.0, 1.0)
        cost = weight[rows][:, None] * send(faces.cost[mine])
        alpha = cost * pull
        # Products with a row of ones: libraries of devices are slow to add up few long columns.
        totals = place.beside([alpha * (short - faces.width / 2 * pull), alpha * pull])
        sums = place.fetch(some[:, -1] @ totals)
        loss[mine], squares[mine] = sums[: len(mine)], sums[len(mine) :]
        combined[mine] = place.fetch(alpha.T @ some)
        bent = (short > 0.0) & (short < faces.width)
        np.add.at(bend, faces.edge[mine], place.fetch((cost * bent).T @ some))
        for k, face in enumerate(mine):
            edge, inside, times = faces.edge[face], place.nonzero(bent[:, k]), 1.0
            if point.share < 1.0 and len(inside):
                taken = _some(len(inside), point.share)
                inside, times = inside[taken], len(inside) / len(taken)
            bending = some[inside] * (times * cost[inside, k : k + 1]) ** 0.5
            # One and the same array: half the work.
            gram[edge] += place.fetch(bending.T @ bending)
    return FacePulls(loss, squares, combined, bend / faces.width, gram / faces.width)
