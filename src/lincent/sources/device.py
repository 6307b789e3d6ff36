"""Rows in the memory of a device: torch tensors and CuPy arrays, through the array API.

The data and everything as long as it (distances, masks, signs, costs that differ) stay on the
device, in float64.  Transferred are vectors as wide as the data, or of the rows of an exact solve:
the interior point keeps its iterate in NumPy and leaves products with the rows, the Gram matrix
above all, to the device.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from lincent.problems.arrays import Index, Matrix, Rows, Vector, root_mean
from lincent.sources.array_namespace import ArrayNamespace, DeviceNamespace, namespace
from lincent.sources.dense import origin_of, some_rows
from lincent.sources.rows import RowsBase, Source, row_blocks_of

CONVERT_BYTES = 2**30
"""float32 data is converted piece by piece of this size, never as one."""


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
        return np.asarray(self.namespace.fetch(self.namespace.tdot(self.array, alpha)))

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
        squares = self.namespace.square_sums(self.array)
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
        self.block_bytes = CONVERT_BYTES
        if centered and mapping is None:
            self.origin = origin_of(self.namespace.fetch(X[some_rows(self.shape[0])]))
            self._origin = None if self.origin is None else self.namespace.send(self.origin)
        double = X.dtype == self.namespace.xp.float64
        self.dtype = np.dtype(np.float64 if double else np.float32)

    def __getitem__(self, rows: Any) -> DeviceSource:
        return DeviceSource(self.X[rows], mapping=self._mapping)

    def block(self, part: Any) -> Any:
        rows = self.namespace.doubles(self.X[part])
        if self._mapping is not None:
            return self._mapping(rows)
        return rows if self._origin is None else rows - self._origin

    def take(self, index: Any, sign: Any, center: Vector) -> Rows:
        index = self.namespace.send(index)
        rows = self.block(index)
        rows -= self.namespace.send(center)
        rows *= sign[index][:, None]
        return DeviceRows(rows, self.namespace)

    def columns(self, index: Index, sign: Any, center: Vector) -> Rows:
        rows = self.block(slice(None))[:, self.namespace.send(index)]
        rows = rows - self.namespace.send(center[index])
        return DeviceRows(rows * self.namespace.send(sign)[:, None], self.namespace)
