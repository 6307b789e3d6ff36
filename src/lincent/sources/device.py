"""Rows in the memory of a device: torch tensors and CuPy arrays, through the array API.

The data and everything as long as it (distances, masks, signs, costs that differ) stay on the
device, in float64.  Transferred are vectors as wide as the data, or of the rows of an exact solve:
the interior point keeps its iterate in NumPy and leaves products with the rows, the Gram matrix
above all, to the device.

A row-major X of many rows and few columns is an awkward shape for X'w: the sum runs over the long
side, and libraries give it to a handful of threads.  Here it is split into pieces along the long
side, multiplied as one batch, and the pieces are added.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from lincent.problems.arrays import Index, Mask, Matrix, Rows, Vector, root_mean
from lincent.sources.array_namespace import ArrayNamespace, DeviceNamespace, namespace
from lincent.sources.dense import origin_of, some_rows
from lincent.sources.gradients import JointPoint, JointSums, LossStructure, joint_sums
from lincent.sources.rows import ColumnStatistics, RowsBase, Source, row_blocks_of
from lincent.sources.shared_reads import merge_results

PIECES, LONG = 1024, 2**12
"""X'w is split into at most so many pieces, of at least so many rows."""
CONVERT_BYTES = 2**30
"""float32 data is converted piece by piece of this size, never as one."""


def combined(X: Any, w: Any, xp: Any) -> Any:
    """Return X'w with the long side in pieces; w is one vector or a few columns."""
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
    """Return ``reduce`` (sum, min, max, all) of each column, with the long side in pieces."""
    m, n = (int(k) for k in values.shape)
    pieces = min(PIECES, m // LONG)
    if pieces < 2:
        return reduce(values, axis=0)
    head = m // pieces * pieces
    parts = reduce(xp.reshape(values[:head], (pieces, head // pieces, n)), axis=1)
    return reduce(xp.concat([parts, values[head:]], axis=0), axis=0)


def numbers_on_device(X: Any) -> Any:
    """Return X in float64 or float32, without a copy where it is one of them."""
    xp = namespace(X)
    return X if X.dtype in (xp.float64, xp.float32) else xp.astype(X, xp.float64)


def check_finite_on_device(X: Any) -> None:
    """Raise an error with the first entry that is not finite."""
    entry = not_finite(X)
    if entry is not None:
        raise ValueError(
            f"X has NaN or an infinite value (row {entry[0]}, column {entry[1]}); "
            "fill or drop such rows first."
        )


def not_finite(X: Any) -> tuple[int, int] | None:
    """Return row and column of the first entry that is not finite, if there is one."""
    xp = namespace(X)
    for part in parts_of(X.shape):
        # A finite sum shows that all numbers are finite; only where it is not are they checked.
        if bool(xp.isfinite(xp.sum(X[part]))):
            continue
        finite = xp.isfinite(X[part])
        if not bool(xp.all(finite)):
            row, column = (int(k[0]) for k in xp.nonzero(~finite))
            return part.start + row, column
    return None


def parts_of(shape: tuple[int, ...]) -> list[slice]:
    """Return pieces of rows small enough to convert or check one at a time."""
    return list(row_blocks_of(int(shape[0]), int(shape[1]), CONVERT_BYTES))


class DeviceRows(RowsBase):
    """Signed rows held on the device."""

    is_remote = True

    def __init__(self, array: Any, device: ArrayNamespace) -> None:
        self.array, self.namespace = array, device
        self.shape: tuple[int, int] = (int(array.shape[0]), int(array.shape[1]))

    def local_dot(self, beta: Vector) -> Any:
        return self.array @ self.namespace.send(beta)

    def local_tdot(self, alpha: Any) -> Vector:
        total = combined(self.array, alpha, self.namespace.xp)
        return np.asarray(self.namespace.fetch(total))

    def gram(self, weight: Vector) -> Matrix:
        scaled = self.array * self.namespace.send(np.sqrt(weight))[:, None]
        return np.array(self.namespace.fetch(scaled.T @ scaled))

    def outer(self, weight: Vector) -> Matrix:
        scaled = self.array * self.namespace.send(np.sqrt(weight))
        return np.array(self.namespace.fetch(scaled @ scaled.T))

    def take(self, index: Any) -> Rows:
        return DeviceRows(self.array[self.namespace.send(index)], self.namespace)

    def columns(self, index: Index) -> Rows:
        return DeviceRows(self.array[:, self.namespace.send(index)], self.namespace)

    def dense(self) -> Matrix:
        return np.asarray(self.namespace.fetch(self.array))

    def column_scale(self) -> Vector:
        squares = down(self.array * self.array, self.namespace.xp.sum, self.namespace.xp)
        return root_mean(self.namespace.fetch(squares), self.shape[0])


class DeviceSource(Source):
    """An array on a device as a source of rows, optionally through a feature map.

    Rows are converted, and mapped, a part at a time when they are read: the features of all rows
    may need more memory than the rows.
    """

    namespace: DeviceNamespace

    def __init__(self, X: Any, *, centered: bool = False, mapping: Any = None) -> None:
        self.X, self.namespace, self._mapping = X, DeviceNamespace(X), mapping
        width = int(X.shape[1]) if mapping is None else mapping.width
        self.shape: tuple[int, int] = (int(X.shape[0]), width)
        self._origin: Any = None
        if centered and mapping is None:
            self.origin = origin_of(self.namespace.fetch(X[some_rows(self.shape[0])]))
            self._origin = None if self.origin is None else self.namespace.send(self.origin)
        double = X.dtype == self.namespace.xp.float64
        self.dtype = np.dtype(np.float64 if double else np.float32)
        self._direct = double and self.origin is None and mapping is None

    def __getitem__(self, rows: Any) -> DeviceSource:
        return DeviceSource(self.X[rows], mapping=self._mapping)

    def project(self, v: Vector) -> Vector:
        return np.asarray(self.namespace.fetch(self.local_project(v)))

    def local_project(self, v: Vector) -> Any:
        v = self.namespace.send(v)
        if self._direct:
            return self.X @ v
        return self.namespace.xp.concat([self._rows(part) @ v for part in parts_of(self.shape)])

    def combine(self, w: Vector) -> Vector:
        return self.local_combine(self.namespace.send(w))

    def local_combine(self, w: Any) -> Vector:
        xp = self.namespace.xp
        if self._direct:
            total = combined(self.X, w, xp)
        else:
            total = sum(combined(self._rows(part), w[part], xp) for part in parts_of(self.shape))
        return np.asarray(self.namespace.fetch(total))

    def class_means(self, sign: Any, weight: Any) -> Matrix:
        xp = self.namespace.xp
        high = xp.astype(sign > 0, xp.float64)
        low = 1.0 - high
        if weight.strides != (0,):
            local = self.namespace.send(weight)
            low, high = low * local, high * local
        totals = np.array([[float(xp.sum(low))], [float(xp.sum(high))]])
        return np.asarray(self.local_combine(xp.stack([low, high], axis=1)).T / totals)

    def gram(self, w: Vector) -> Matrix:
        root = self.namespace.xp.sqrt(self.namespace.doubles(w))[:, None]
        scaled = (self._rows(part) * root[part] for part in parts_of(self.shape))
        return np.array(self.namespace.fetch(sum(rows.T @ rows for rows in scaled)))

    def joint_sums(
        self,
        codes: Any,
        weight: Any,
        losses: LossStructure,
        points: list[JointPoint],
        center: Any = None,
    ) -> list[JointSums]:
        # Products are cheap here beside the maps of a further pass: all rows make the Gram matrix.
        points, parts = [replace(at, share=1.0) for at in points], []
        middle = None if center is None else self.namespace.send(center)
        for part in parts_of(self.shape):  # converted or mapped once for all points
            given = self._rows(part), codes[part], weight[part], losses
            parts.append(tuple(joint_sums(*given, at, self.namespace, middle) for at in points))
        return list(merge_results(parts))

    def spread(self, weight: Vector) -> ColumnStatistics:
        """Return statistics of each column over rows of positive weight: two passes."""
        xp, local = self.namespace.xp, self.namespace.doubles(weight)
        mean, parts = self.combine(weight) / float(weight.sum()), []
        for part in parts_of(self.shape):
            rows, some = self._rows(part), local[part]
            if weight.strides != (0,):
                counted = self.namespace.nonzero(some > 0)
                rows, some = rows[counted], some[counted]
            if not len(some):
                continue
            squares = combined((rows - self.namespace.send(mean)) ** 2, some, xp)
            ends = (down(rows, reduce, xp) for reduce in (xp.min, xp.max))
            columns = [self.namespace.fetch(one) for one in (squares, *ends)]
            parts.append(ColumnStatistics(mean, *columns))
        return ColumnStatistics.joined(parts)

    def take(self, index: Any, sign: Any, center: Vector) -> Rows:
        index = self.namespace.send(index)
        rows = self._rows(index)
        if rows is self.X:  # never written to
            rows = rows + 0.0
        rows -= self.namespace.send(center)
        rows *= sign[index][:, None]
        return DeviceRows(rows, self.namespace)

    def columns(self, index: Index, sign: Any, center: Vector) -> Rows:
        rows = self._rows(slice(None))[:, self.namespace.send(index)]
        rows = rows - self.namespace.send(center[index])
        return DeviceRows(rows * self.namespace.send(sign)[:, None], self.namespace)

    def array(self) -> Matrix:
        return np.asarray(self.namespace.fetch(self._rows(slice(None))))

    def column_scale(self, center: Vector) -> Vector:
        middle, xp = self.namespace.send(center), self.namespace.xp
        squares = ((self._rows(part) - middle) ** 2 for part in parts_of(self.shape))
        total = sum(down(part, xp.sum, xp) for part in squares)
        return root_mean(np.asarray(self.namespace.fetch(total)), self.shape[0])

    def constant_columns(self, index: Index) -> Mask:
        columns, xp = self.namespace.send(index), self.namespace.xp
        first, same = self._rows(slice(0, 1))[:, columns], True
        for part in parts_of(self.shape):
            same = same & down(self._rows(part)[:, columns] == first, xp.all, xp)
        return np.asarray(self.namespace.fetch(same))

    def _rows(self, part: Any) -> Any:
        """Return some rows in float64, less the origin, or mapped."""
        rows = self.namespace.doubles(self.X[part])
        if self._mapping is not None:
            return self._mapping(rows)
        return rows if self._origin is None else rows - self._origin
