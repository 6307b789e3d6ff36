"""Rows in the memory of a device: torch tensors and CuPy arrays, through the array API.

The data and everything as long as it (distances, masks, signs, costs that differ) stay on the
device, in float64.  What crosses over is as wide as the data, or a vector of the rows an exact
solve works on: the interior point keeps its iterate in NumPy and leaves products with the rows,
the Gram matrix above all, to the device.

A row-major X of many rows and few columns is an awkward shape for X'w: the sum runs over the long
side, and libraries give it to a handful of threads.  Here it is cut into pieces along the long
side, multiplied as one batch, and the pieces are added.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from lincent.problems.arrays import Index, Matrix, Rows, Vector, root_mean
from lincent.sources.array_namespace import DeviceNamespace, namespace
from lincent.sources.dense import origin_of, some_rows
from lincent.sources.gradients import (
    JointPoint,
    JointSums,
    LossStructure,
    LossSums,
    QueryPoint,
    joint_sums,
    loss_sums,
)
from lincent.sources.rows import RowsBase, SignedRows, Source, Spread

PIECES = 1024
LONG = 2**12
"""X'w is cut into at most so many pieces, of at least so many rows."""
CONVERT_BYTES = 2**30
"""float32 data is converted piece by piece of this size, never as a whole."""


def combined(X: Any, w: Any, xp: Any) -> Any:
    """X'w with the long side cut into pieces; w is one vector or a few columns."""
    m = X.shape[0]
    columns = w if w.ndim == 2 else w[:, None]
    pieces = min(PIECES, m // LONG)
    if pieces < 2:
        total = X.T @ columns
    else:
        size = m // pieces
        head = size * pieces
        batch = xp.reshape(X[:head], (pieces, size, X.shape[1]))
        weights = xp.reshape(columns[:head], (pieces, size, columns.shape[1]))
        total = xp.sum(xp.matmul(xp.permute_dims(weights, (0, 2, 1)), batch), axis=0).T
        if head < m:
            total = total + X[head:].T @ columns[head:]
    return total if w.ndim == 2 else total[:, 0]


def down(values: Any, reduce: Callable[..., Any], xp: Any) -> Any:
    """``reduce`` (sum, min, max, all) of each column, with the long side cut into pieces, too."""
    m, n = (int(k) for k in values.shape)
    pieces = min(PIECES, m // LONG)
    if pieces < 2:
        return reduce(values, axis=0)
    head = m // pieces * pieces
    parts = reduce(xp.reshape(values[:head], (pieces, head // pieces, n)), axis=1)
    return reduce(xp.concat([parts, values[head:]], axis=0), axis=0)


def numbers_on_device(X: Any) -> Any:
    """X in float64 or float32, as it is where it is one of them."""
    xp = namespace(X)
    return X if X.dtype in (xp.float64, xp.float32) else xp.astype(X, xp.float64)


def check_finite_on_device(X: Any) -> None:
    """Name the first entry that is not finite."""
    found = not_finite(X)
    if found is not None:
        raise ValueError(
            f"X has NaN or an infinite value (row {found[0]}, column {found[1]}); "
            "fill or drop such rows first."
        )


def not_finite(X: Any) -> tuple[int, int] | None:
    """Row and column of the first entry that is not finite, if there is one."""
    xp = namespace(X)
    for part in parts_of(X.shape):
        # One sum says that all numbers are finite; only where it is not are they looked at.
        if bool(xp.isfinite(xp.sum(X[part]))):
            continue
        finite = xp.isfinite(X[part])
        if not bool(xp.all(finite)):
            row, column = (int(k[0]) for k in xp.nonzero(~finite))
            return part.start + row, column
    return None


def parts_of(shape: tuple[int, ...]) -> list[slice]:
    """Pieces of rows small enough to convert or check one at a time."""
    step = max(1, CONVERT_BYTES // (8 * max(1, int(shape[1]))))
    return [slice(k, min(k + step, int(shape[0]))) for k in range(0, int(shape[0]), step)]


class DeviceRows(RowsBase):
    """Signed rows held on the device."""

    is_remote = True

    def __init__(self, array: Any, device: DeviceNamespace) -> None:
        self.array, self.device = array, device
        self.namespace = device
        self.shape: tuple[int, int] = (int(array.shape[0]), int(array.shape[1]))

    def measure(self, beta: Vector) -> Any:
        return self.array @ self.device.send(beta)

    def gather(self, alpha: Any) -> Vector:
        return np.asarray(self.device.fetch(combined(self.array, alpha, self.device.xp)))

    def dot(self, beta: Vector) -> Vector:
        return np.asarray(self.device.fetch(self.measure(beta)))

    def tdot(self, alpha: Vector) -> Vector:
        return self.gather(self.device.send(alpha))

    def gram(self, weight: Vector) -> Matrix:
        scaled = self.array * self.device.send(np.sqrt(weight))[:, None]
        return np.array(self.device.fetch(scaled.T @ scaled))

    def outer(self, weight: Vector) -> Matrix:
        scaled = self.array * self.device.send(np.sqrt(weight))
        return np.array(self.device.fetch(scaled @ scaled.T))

    def take(self, index: Any) -> Rows:
        return DeviceRows(self.array[self.device.send(index)], self.device)

    def columns(self, index: Index) -> Rows:
        return DeviceRows(self.array[:, self.device.send(index)], self.device)

    def dense(self) -> Matrix:
        return np.asarray(self.device.fetch(self.array))

    def column_scale(self) -> Vector:
        xp = self.device.xp
        return root_mean(
            self.device.fetch(down(self.array * self.array, xp.sum, xp)), self.shape[0]
        )


class DeviceSource(Source):
    """An array on a device as a source of rows, as they are or seen through a map.

    Rows are converted, and mapped, a part at a time when they are read: the features of all rows
    may need more memory than the rows.
    """

    def __init__(self, X: Any, *, centered: bool = False, mapping: Any = None) -> None:
        self.X, self.device, self._mapping = X, DeviceNamespace(X), mapping
        self.namespace = self.device
        width = int(X.shape[1]) if mapping is None else mapping.width
        self.shape: tuple[int, int] = (int(X.shape[0]), width)
        centered = centered and mapping is None
        self.origin = (
            origin_of(self.device.fetch(X[some_rows(self.shape[0])])) if centered else None
        )
        self._origin = None if self.origin is None else self.device.send(self.origin)
        double = X.dtype == self.device.xp.float64
        self.dtype = np.dtype(np.float64 if double else np.float32)
        self._direct = double and self.origin is None and mapping is None

    def project(self, v: Vector) -> Vector:
        return np.asarray(self.device.fetch(self.measure(v)))

    def measure(self, v: Vector) -> Any:
        there = self.device.send(v)
        if self._direct:
            return self.X @ there
        pieces = [self._rows(part) @ there for part in parts_of(self.shape)]
        return self.device.xp.concat(pieces)

    def combine(self, w: Vector) -> Vector:
        return self.gather(self.device.send(w))

    def gather(self, w: Any) -> Vector:
        return np.asarray(self.device.fetch(self._gathered(w)))

    def _gathered(self, w: Any) -> Any:
        xp = self.device.xp
        if self._direct:
            return combined(self.X, w, xp)
        return sum(combined(self._rows(part), w[part], xp) for part in parts_of(self.shape))

    def class_means(self, sign: Any, weight: Any) -> Matrix:
        xp = self.device.xp
        high = xp.astype(sign > 0, xp.float64)
        low = 1.0 - high
        if weight.strides != (0,):
            there = self.device.send(weight)
            low, high = low * there, high * there
        totals = np.array([[float(xp.sum(low))], [float(xp.sum(high))]])
        return np.asarray(self.gather(xp.stack([low, high], axis=1)).T / totals)

    def gram(self, w: Vector) -> Matrix:
        root = self.device.xp.sqrt(self.device.doubles(w))[:, None]
        scaled = (self._rows(part) * root[part] for part in parts_of(self.shape))
        return np.array(self.device.fetch(sum(rows.T @ rows for rows in scaled)))

    def pulls(self, rows: Any, costs: Any, points: Sequence[QueryPoint]) -> list[LossSums]:
        if self._direct:
            return super().pulls(rows, costs, points)
        # A part is converted or mapped once for all that is asked of it.
        cost, found = self._there(rows, costs), []
        for part in parts_of(self.shape):
            piece = SignedRows(DeviceSource(self._rows(part)), rows.sign[part], rows.center)
            found.append([loss_sums(piece, cost[part], at) for at in points])
        return LossSums.joined_each(found)

    def __getitem__(self, rows: Any) -> DeviceSource:
        return DeviceSource(self.X[rows], mapping=self._mapping)

    def joint_sums(
        self,
        codes: Any,
        weight: Any,
        faces: LossStructure,
        points: list[JointPoint],
    ) -> list[JointSums]:
        """What all rows pull at some points of the joint program: one read for all."""
        # Products are cheap here beside the maps of a further read: all rows say how sums bend.
        points, found = [replace(at, share=1.0) for at in points], []
        for part in parts_of(self.shape):
            rows, mine = self._rows(part), (codes[part], weight[part])
            found.append([joint_sums(rows, *mine, faces, at, self.device) for at in points])
        return JointSums.joined_each(found)

    def spread(self, weight: Vector) -> Spread:
        """Mean, squares around it and extent of each column over rows that count: two reads."""
        xp, there = self.device.xp, self.device.doubles(weight)
        mean, parts = self.combine(weight) / float(weight.sum()), []
        for part in parts_of(self.shape):
            rows, some = self._rows(part), there[part]
            if weight.strides != (0,):
                counted = self.device.nonzero(some > 0)
                rows, some = rows[counted], some[counted]
            if not len(some):
                continue
            squares = combined((rows - self.device.send(mean)) ** 2, some, xp)
            ends = (down(rows, reduce, xp) for reduce in (xp.min, xp.max))
            parts.append(Spread(mean, *(self.device.fetch(one) for one in (squares, *ends))))
        return Spread.joined(parts)

    def take(self, index: Any, sign: Any, center: Vector) -> Rows:
        there = self.device.send(index)
        rows = self._rows(there)
        if rows is self.X:  # never written to
            rows = rows + 0.0
        rows -= self.device.send(center)
        rows *= sign[there][:, None]
        return DeviceRows(rows, self.device)

    def columns(self, index: Index, sign: Any, center: Vector) -> Rows:
        there = self.device.send(index)
        rows = self._rows(slice(None))[:, there] - self.device.send(center[index])
        return DeviceRows(rows * self.device.send(sign)[:, None], self.device)

    def array(self) -> Matrix:
        return np.asarray(self.device.fetch(self._rows(slice(None))))

    def column_scale(self, center: Vector) -> Vector:
        middle = self.device.send(center)
        xp = self.device.xp
        total = sum(
            down((self._rows(part) - middle) ** 2, xp.sum, xp) for part in parts_of(self.shape)
        )
        return root_mean(np.asarray(self.device.fetch(total)), self.shape[0])

    def constant_columns(self, index: Index) -> np.ndarray[Any, np.dtype[np.bool_]]:
        there, same = self.device.send(index), True
        first = self._rows(slice(0, 1))[:, there]
        for part in parts_of(self.shape):
            rows = self._rows(part)[:, there]
            same = same & down(rows == first, self.device.xp.all, self.device.xp)
        return np.asarray(self.device.fetch(same))

    def _rows(self, part: Any) -> Any:
        """Some rows in float64, around the origin."""
        rows = self.device.doubles(self.X[part])
        if self._mapping is not None:
            return self._mapping(rows)
        return rows if self._origin is None else rows - self._origin
