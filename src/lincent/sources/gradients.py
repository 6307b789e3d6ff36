"""What all rows pull at a point of the regularized program: sums, from one read.

With z_i = a_i.beta - y_i t, u_i = clip((hi - z_i) / (hi - lo), 0, 1), alpha_i = c_i u_i, and
D_i = c_i / (hi - lo) for rows between the margins and 0 for the others (see programs.regularized),

    down, up  sum alpha_i of each class                      combined   sum alpha_i a_i
    squares  sum alpha_i u_i  beyond  sum c_i (v_i - u_i), v_i the pull before it is capped at 1
    gram  sum D_i a_i a_i'    along  sum D_i y_i a_i         curvature  sum D_i

say everything about objective, gradient, Hessian and dual bound.  Each is a sum over rows, so rows
in blocks add theirs, and nothing as long as the data leaves its place.


---

What all rows pull at a point of the joint program: sums by class and rule, from one read.

Both forms of ``problems.joint`` ask of a row of class c that it be beyond the margins in some
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
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from lincent.problems.arrays import Matrix, Rows, Vector
from lincent.problems.joint import feasible
from lincent.sources.array_namespace import HOST, ArrayNamespace

COMPACT_SHARE = 0.85
"""With a smaller share of rows between the margins, these are gathered for the Gram matrix."""


@dataclass(frozen=True)
class QueryPoint:
    """Where to look from, and the margins."""

    beta: Vector
    t: float
    low: float
    high: float


@dataclass(frozen=True)
class LossSums:
    """The sums above."""

    down: float
    up: float
    squares: float
    beyond: float
    combined: Vector
    gram: Matrix
    along: Vector
    curvature: float

    @classmethod
    def joined(cls, parts: list[LossSums]) -> LossSums:
        """Those of several blocks."""
        sums: list[Any] = [sum(getattr(part, f.name) for part in parts) for f in fields(cls)]
        return cls(*sums)

    @classmethod
    def joined_each(cls, parts: list[list[LossSums]]) -> list[LossSums]:
        """The same for several points: one list of each block."""
        return [cls.joined(list(same)) for same in zip(*parts, strict=True)]


class PullingRows(Protocol):
    """Signed rows with signs of their own."""

    sign: Any

    namespace: ArrayNamespace

    def measure(self, beta: Vector) -> Any: ...

    def gather(self, alpha: Any) -> Vector: ...

    def gram(self, weight: Any) -> Matrix: ...

    def take(self, index: Any) -> Rows: ...


def loss_sums(rows: PullingRows, cost: Any, at: QueryPoint) -> LossSums:
    """The sums over rows in one place; ``cost`` is a number, or an array there."""
    place, sign, width = rows.namespace, rows.sign, at.high - at.low
    v = rows.measure(at.beta)
    v *= -1.0
    v += at.high
    if at.t:
        v += at.t * sign
    v *= 1.0 / width
    v = v.clip(0.0, None)
    u = v.clip(None, 1.0)
    v -= u
    beyond = float((v * cost).sum())
    alpha = u * cost
    inside = (u > 0.0) & (u < 1.0)
    D = place.where(inside, cost) * (1.0 / width)
    return LossSums(
        down=float((alpha * (sign < 0)).sum()),
        up=float((alpha * (sign > 0)).sum()),
        squares=float((alpha * u).sum()),
        beyond=beyond,
        combined=rows.gather(alpha),
        gram=_gram(rows, inside, D),
        along=rows.gather(D * sign),
        curvature=float(D.sum()),
    )


def _gram(rows: PullingRows, inside: Any, D: Any) -> Matrix:
    if rows.namespace.fast_reads or rows.namespace.count(inside) > COMPACT_SHARE * len(inside):
        return rows.gram(D)
    index = rows.namespace.nonzero(inside)
    return rows.take(index).gram(np.asarray(D[index]))


@dataclass(frozen=True)
class SideCosts:
    """One cost per row, as weight times what a unit of it costs on each side; formed when asked."""

    weight: Vector
    low: float
    high: float

    def scaled(self, scale: float) -> SideCosts:
        return SideCosts(self.weight, self.low * scale, self.high * scale)

    def on(self, namespace: ArrayNamespace, sign: Any) -> Any:
        """The costs where the signs are."""
        cost = namespace.where(sign > 0, self.high) + namespace.where(sign < 0, self.low)
        return cost if self.weight.strides == (0,) else cost * namespace.send(self.weight)


Codes = NDArray[np.integer[Any]]

GOLDEN = (5**0.5 - 1) / 2


@dataclass(frozen=True)
class JointPoint:
    """Rules, the offsets in the last row, and the share of the rows that say how sums bend."""

    rules: Matrix
    share: float = 1.0


@dataclass(frozen=True)
class LossStructure:
    """Classes, directions in the scores, costs per weight, and which faces are opposite."""

    classes: Codes
    direction: Matrix
    cost: Vector
    edge: Codes
    low: float
    high: float
    ridge: float

    @classmethod
    def of_two(cls, cost: Vector, low: float, high: float) -> LossStructure:
        """One rule for two classes, which cost so much per weight."""
        side = np.array([[-1.0], [1.0]])
        return cls(np.arange(2), side, cost, np.zeros(2, dtype=np.intp), low, high, 1.0)

    @classmethod
    def native(cls, cost: Vector, low: float, high: float) -> LossStructure:
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
class JointSums:
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
    def joined_each(cls, parts: list[list[JointSums]]) -> list[JointSums]:
        """Those of several blocks, for several points: one list of each block."""
        return [
            # One after the other: a stack of matrices would be as large as all of them.
            cls(*(reduce(np.add, [getattr(one, f.name) for one in same]) for f in fields(cls)))
            for same in zip(*parts, strict=True)
        ]


def _some(count: int, share: float) -> Codes:
    """A share of some places, at least the first, spread over them and in no rhythm."""
    return np.flatnonzero(np.arange(count) * GOLDEN % 1.0 < share)


def joint_sums(
    X: Any,
    codes: Any,
    weight: Any,
    faces: LossStructure,
    point: JointPoint,
    namespace: ArrayNamespace = HOST,
) -> JointSums:
    """The sums over rows in one namespace."""
    n, count, send = int(X.shape[1]) + 1, len(faces.cost), namespace.send
    edges, rules = int(faces.edge.max()) + 1, point.rules
    loss, squares = np.zeros(count), np.zeros(count)
    combined, bend, gram = np.zeros((count, n)), np.zeros((edges, n)), np.zeros((edges, n, n))
    for code in np.unique(faces.classes):
        rows, mine = namespace.nonzero(codes == int(code)), np.flatnonzero(faces.classes == code)
        if not len(rows):
            continue
        some = namespace.empty((len(rows), n))
        some[:, :-1], some[:, -1] = X[rows], 1.0
        short = faces.high - some @ send(rules @ faces.direction[mine].T)
        pull = (short / faces.width).clip(0.0, 1.0)
        cost = weight[rows][:, None] * send(faces.cost[mine])
        alpha = cost * pull
        # Products with a row of ones: libraries of devices are slow to add up few long columns.
        totals = namespace.beside([alpha * (short - faces.width / 2 * pull), alpha * pull])
        sums = namespace.fetch(some[:, -1] @ totals)
        loss[mine], squares[mine] = sums[: len(mine)], sums[len(mine) :]
        combined[mine] = namespace.fetch(alpha.T @ some)
        bent = (short > 0.0) & (short < faces.width)
        np.add.at(bend, faces.edge[mine], namespace.fetch((cost * bent).T @ some))
        for k, face in enumerate(mine):
            edge, inside, times = faces.edge[face], namespace.nonzero(bent[:, k]), 1.0
            if point.share < 1.0 and len(inside):
                taken = _some(len(inside), point.share)
                inside, times = inside[taken], len(inside) / len(taken)
            bending = some[inside] * (times * cost[inside, k : k + 1]) ** 0.5
            # One and the same array: half the work.
            gram[edge] += namespace.fetch(bending.T @ bending)
    return JointSums(loss, squares, combined, bend / faces.width, gram / faces.width)
