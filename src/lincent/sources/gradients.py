"""Sums over all rows at a point of a regularized problem: objective, gradient, Hessian and bound.

Binary (``LossSums``).  With z_i = a_i.beta - y_i t, u_i = clip((hi - z_i) / (hi - lo), 0, 1),
alpha_i = c_i u_i, and D_i = c_i / (hi - lo) for rows between the margins and 0 for the others (see
``problems.regularized``),

    down, up  sum alpha_i of each class                      combined   sum alpha_i a_i
    squares  sum alpha_i u_i  beyond  sum c_i (v_i - u_i), v_i the weight before it is capped at 1
    gram  sum D_i a_i a_i'    along  sum D_i y_i a_i         curvature  sum D_i

Multiclass (``JointSums``).  Both forms of ``problems.joint`` have losses phi(z) of some directions
z = f.direction of the scores f = (x, 1).rules of a row: s e_k of a separate classifier k, e_c - e_k
of the joint form (``LossStructure``).  With u the dual weight at z, w the weight of the row and c
the cost of the direction,

    loss   sum w c phi(z)       flow  sum w c u       squares  sum w c u^2
    combined  sum w c u (x, 1)             gram  sum w c [curved] (x, 1)(x, 1)' / (hi - lo)

by direction (``gram`` by pair of opposite directions, which have the same curvature).  The factors
that make multipliers feasible are one for each direction.

Each is a sum over rows, so blocks of rows add theirs, and vectors as long as the data stay in the
namespace of the rows.

A Gram matrix costs as many products for a row as it has entries, and is used for a step only: a
fraction of the rows gives it as well.  Its last row, ``bend``, costs no more than a gradient and is
that of all rows; ``curvature`` has the covariance of the fraction around the mean of all.  So an
inexact Newton step still leaves no flow into the intercepts, on which the dual bound depends most.
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from functools import reduce
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lincent.problems.arrays import Matrix, Vector
from lincent.problems.joint import feasible
from lincent.sources.array_namespace import HOST, ArrayNamespace

COMPACT_SHARE = 0.85
"""With a smaller fraction of rows between the margins, these are taken for the Gram matrix."""
GOLDEN = (5**0.5 - 1) / 2

Codes = NDArray[np.integer[Any]]


class _Sums:
    """Sums over rows: those of several blocks are added field by field."""

    @classmethod
    def joined_each(cls, parts: list[list[Any]]) -> list[Any]:
        """Add the sums of several blocks, for several points: one list of each block."""
        names = [field.name for field in fields(cls)]  # type: ignore[arg-type]
        return [
            # One after the other: a stack of matrices would be as large as all of them.
            cls(*(reduce(np.add, [getattr(one, name) for one in same]) for name in names))
            for same in zip(*parts, strict=True)
        ]


@dataclass(frozen=True)
class QueryPoint:
    """A point of the binary problem, and the margins."""

    beta: Vector
    t: float
    low: float
    high: float


@dataclass(frozen=True)
class LossSums(_Sums):
    """The sums of the binary problem."""

    down: float
    up: float
    squares: float
    beyond: float
    combined: Vector
    gram: Matrix
    along: Vector
    curvature: float


def loss_sums(rows: Any, cost: Any, at: QueryPoint) -> LossSums:
    """Compute the sums over ``SignedRows``; ``cost`` is a number or an array."""
    namespace, sign, width = rows.namespace, rows.sign, at.high - at.low
    v = rows.local_dot(at.beta)
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
    D = namespace.where(inside, cost) * (1.0 / width)
    if namespace.fast_reads or namespace.count(inside) > COMPACT_SHARE * len(inside):
        gram = rows.gram(D)
    else:
        index = namespace.nonzero(inside)
        gram = rows.gram_of(index, np.asarray(D[index]))
    return LossSums(
        down=float((alpha * (sign < 0)).sum()),
        up=float((alpha * (sign > 0)).sum()),
        squares=float((alpha * u).sum()),
        beyond=beyond,
        combined=rows.local_tdot(alpha),
        gram=gram,
        along=rows.local_tdot(D * sign),
        curvature=float(D.sum()),
    )


@dataclass(frozen=True)
class SideCosts:
    """One cost per row, as weight times the cost per weight of each class; formed when needed."""

    weight: Vector
    low: float
    high: float

    def scaled(self, scale: float) -> SideCosts:
        """Return scale times the costs."""
        return SideCosts(self.weight, self.low * scale, self.high * scale)

    def on(self, namespace: ArrayNamespace, sign: Any) -> Any:
        """Return the costs in the namespace of the signs."""
        cost = namespace.where(sign > 0, self.high) + namespace.where(sign < 0, self.low)
        return cost if self.weight.strides == (0,) else cost * namespace.send(self.weight)


@dataclass(frozen=True)
class JointPoint:
    """Classifiers, intercepts in the last row, and the fraction of rows for the Gram matrices."""

    rules: Matrix
    share: float = 1.0


@dataclass(frozen=True)
class LossStructure:
    """Losses of a multiclass problem: class, direction in the scores and cost per weight of each.

    ``edge`` numbers the pairs of opposite directions.
    """

    classes: Codes
    direction: Matrix
    cost: Vector
    edge: Codes
    low: float
    high: float
    ridge: float

    @classmethod
    def of_two(cls, cost: Vector, low: float, high: float) -> LossStructure:
        """Return the structure of one classifier for two classes, with these costs per weight."""
        side = np.array([[-1.0], [1.0]])
        return cls(np.arange(2), side, cost, np.zeros(2, dtype=np.intp), low, high, 1.0)

    @classmethod
    def native(cls, cost: Vector, low: float, high: float) -> LossStructure:
        """Return the joint structure: the cost of a class is divided over its directions."""
        n = len(cost)
        own, other = (part.reshape(-1) for part in np.divmod(np.arange(n * n), n))
        own, other = own[own != other], other[own != other]
        direction = np.eye(n)[own] - np.eye(n)[other]
        pairs = np.minimum(own, other) * n + np.maximum(own, other)
        edge = np.unique(pairs, return_inverse=True)[1].reshape(-1)
        return cls(own, direction, cost[own] / (n - 1), edge, low, high, 2.0)

    @property
    def width(self) -> float:
        """hi - lo."""
        return self.high - self.low

    @property
    def rules(self) -> int:
        """The number of classifiers."""
        return int(self.direction.shape[1])

    @property
    def edges(self) -> Matrix:
        """The direction of each pair of opposite directions."""
        _, first = np.unique(self.edge, return_index=True)
        return np.asarray(self.direction[first])

    def factors(self, flow: Vector) -> Vector:
        """Return factors in [0, 1] on the multipliers of each direction that balance all flows."""
        if self.rules == 1:
            return np.asarray(flow.min() / np.maximum(flow, 1e-300))
        other = np.argmin(self.direction, axis=1)
        table = np.zeros((self.rules, self.rules))
        table[self.classes, other] = flow
        return np.asarray(feasible(table)[self.classes, other])


@dataclass(frozen=True)
class JointSums(_Sums):
    """The sums of the multiclass problem."""

    loss: Vector
    squares: Vector
    combined: Matrix
    bend: Matrix
    gram: Matrix

    @property
    def flow(self) -> Vector:
        """The sum of w c u by direction."""
        return self.combined[:, -1]

    @property
    def curvature(self) -> Matrix:
        """The Gram matrices, with size and mean of all rows."""
        out = self.gram.copy()
        for gram, bend in zip(out, self.bend, strict=True):
            weight = float(gram[-1, -1])
            if weight > 0.0:
                gram -= np.outer(gram[-1], gram[-1] / weight)
                gram *= bend[-1] / weight
                gram += np.outer(bend, bend / bend[-1])
        return out


def joint_sums(
    X: Any,
    codes: Any,
    weight: Any,
    losses: LossStructure,
    point: JointPoint,
    namespace: ArrayNamespace = HOST,
) -> JointSums:
    """Compute the sums over rows in one namespace."""
    n, count, send = int(X.shape[1]) + 1, len(losses.cost), namespace.send
    edges = int(losses.edge.max()) + 1
    loss, squares = np.zeros(count), np.zeros(count)
    combined, bend, gram = np.zeros((count, n)), np.zeros((edges, n)), np.zeros((edges, n, n))
    for code in np.unique(losses.classes):
        rows, mine = namespace.nonzero(codes == int(code)), np.flatnonzero(losses.classes == code)
        if not len(rows):
            continue
        some = namespace.empty((len(rows), n))
        some[:, :-1], some[:, -1] = X[rows], 1.0
        short = losses.high - some @ send(point.rules @ losses.direction[mine].T)
        u = (short / losses.width).clip(0.0, 1.0)
        cost = weight[rows][:, None] * send(losses.cost[mine])
        alpha = cost * u
        # Products with a row of ones: libraries of devices are slow to add up few long columns.
        totals = namespace.beside([alpha * (short - losses.width / 2 * u), alpha * u])
        sums = namespace.fetch(some[:, -1] @ totals)
        loss[mine], squares[mine] = sums[: len(mine)], sums[len(mine) :]
        combined[mine] = namespace.fetch(alpha.T @ some)
        curved = (short > 0.0) & (short < losses.width)
        np.add.at(bend, losses.edge[mine], namespace.fetch((cost * curved).T @ some))
        for k, edge in enumerate(losses.edge[mine]):
            inside, times = namespace.nonzero(curved[:, k]), 1.0
            if point.share < 1.0 and len(inside):
                # A fraction of the rows, at least the first, evenly spread without a period.
                taken = np.flatnonzero(np.arange(len(inside)) * GOLDEN % 1.0 < point.share)
                inside, times = inside[taken], len(inside) / len(taken)
            scaled = some[inside] * (times * cost[inside, k : k + 1]) ** 0.5
            gram[edge] += namespace.fetch(scaled.T @ scaled)  # of one array: half the work
    return JointSums(loss, squares, combined, bend / losses.width, gram / losses.width)
